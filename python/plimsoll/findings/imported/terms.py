"""What the answers about other tools' results share with their page, which loads no library that judging takes."""

SOURCE_QUESTION = "What does this result show, and what can it not?"
FAILS_MORE = 0.01  # of all requests, above the share at the lowest level: what k6 and SLOs call 99% of success
