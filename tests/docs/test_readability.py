"""Pages that read well: sentences of at most 25 words, and the words of the field in place of coinages.

Older pages are mended one by one, and then stand in this list too.
"""

from __future__ import annotations

import re

import pytest
from coinages import COINAGES
from markdown_pages import ROOT, sentences, words

MENDED = (
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "docs/analyze.md",
    "docs/attribution.md",
    "docs/capacity.md",
    "docs/coming-from-gatling.md",
    "docs/coming-from-jmeter.md",
    "docs/coming-from-k6.md",
    "docs/coming-from-locust.md",
    "docs/compare.md",
    "docs/decompose.md",
    "docs/drain.md",
    "docs/experiments.md",
    "docs/findings.md",
    "docs/glossary.md",
    "docs/grow.md",
    "docs/hold.md",
    "docs/probes/README.md",
    "docs/probes/cgroup.md",
    "docs/probes/clock.md",
    "docs/probes/consumer.md",
    "docs/probes/core_speed.md",
    "docs/probes/files.md",
    "docs/probes/generator.md",
    "docs/probes/host.md",
    "docs/probes/jvm.md",
    "docs/probes/logs.md",
    "docs/probes/mysql.md",
    "docs/probes/otlp.md",
    "docs/probes/peers.md",
    "docs/probes/process.md",
    "docs/probes/profile.md",
    "docs/probes/prometheus.md",
    "docs/probes/sockets.md",
    "docs/probes/telemetry.md",
    "docs/probes/waits.md",
    "docs/python.md",
    "docs/reading-a-report.md",
    "docs/reliability.md",
    "docs/remote-targets.md",
    "docs/report-cost.md",
    "docs/run-directory.md",
    "docs/runs.md",
    "docs/size.md",
    "docs/study.md",
    "docs/sweep.md",
    "docs/tutorial.md",
    "lab/README.md",
    "lab/docs/lab.md",
)
MOST_WORDS = 25


def coinages_in(text: str) -> list[str]:
    """Each coinage of the text, what to write instead, and its sentence."""
    return [
        f"{match[0]!r} (write: {instead}) in: {sentence}"
        for sentence in sentences(text)
        for coinage, instead in COINAGES.items()
        if (match := re.search(coinage, sentence, re.IGNORECASE))
    ]


@pytest.mark.parametrize("name", MENDED)
def test_no_sentence_of_a_mended_page_is_longer_than_25_words(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    long = [f"{words(one)} words: {one}" for one in sentences(text) if words(one) > MOST_WORDS]
    assert long == []


@pytest.mark.parametrize("name", MENDED)
def test_a_mended_page_has_no_coinages(name: str) -> None:
    assert coinages_in((ROOT / name).read_text(encoding="utf-8")) == []


def test_a_long_sentence_and_a_coinage_would_be_seen() -> None:
    page = (
        "# Head\n\n- "
        + "word " * 26
        + "end.\n- short\n\n| "
        + "cell " * 40
        + "|\n\n```\n"
        + "code " * 40
        + "\n```\nWork piles\nup."
    )
    assert [words(one) for one in sentences(page)] == [27, 1, 3]
    assert any(re.search(coinage, sentences(page)[-1], re.IGNORECASE) for coinage in COINAGES)
