"""Sentences that stand before an answer and are none: findings write them, a list of runs leaves them out."""

INTERRUPTED = "Interrupted: this rests on what was measured until then."
SAME = "A and B are the same: this comparison shows how often chance alone looks like a difference."
