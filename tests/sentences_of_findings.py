"""The sentences that a reader gets from a finding, as the terminal has them, and how well each reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from coinages import COINAGES

from plimsoll.report.finding_view import FindingView
from plimsoll.report.k6.outcome import views_of

MOST_WORDS = 30  # with numbers; a page has 25
MOST_WORDS_OF_STEP = 25
OF_FINDINGS = COINAGES | {
    r"\bleft over\b": "the backlog grows by so many a second",
    r"\bchance explains\b": "not significant",
    r"\bheld\b.{,30}\bup\b": "delayed",
    r"\bhad a use\b": "utilisation",
    r"\b(came|comes) in\b": "arrived, arrives",
}
_END = re.compile(r"(?<=[.!?])[\"”)]*\s+(?=\S)")
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|etc|No)\.")
_STATEMENT = re.compile(
    r"\b(?:CREATE INDEX|ALTER TABLE|SELECT|UPDATE|DELETE|INSERT)\b[^;:]*?(?=[;:]| \(\d|, if |\.? *$)"
)
_CODE = re.compile(r"`[^`]*`")
_INTERVAL = re.compile(r" \((?:\d+%|\d+% interval)[:]? [^()]*? to [^()]*?\)|(?<=\d)[^ ]* ± \S+")
_UNITS = r"[µm]?s|min|h|[KMGT]?i?B|cores?|users?|VUs?|requests?|operations?|items?|times|pairs?|rows?"
_AMOUNT = re.compile(rf"(?<![\w.])[-+±<≤>≥]?\d[\d.,]*\S*(?: (?:{_UNITS})\b(?:/s)?)?(?: \d+ (?:s|min)\b)?")
_NEGATION = re.compile(r"\b(?:not|no|none|nothing|never|cannot|neither|nobody)\b|n't\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;:.()]| (?:and|but|or|as|which|that|so|because|where|if) ")
_VOWELS = re.compile(r"[aeiouy]+")


def texts_of(finding: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each text with its place: what is read first comes first."""
    for view in views_of([finding]):
        yield from _texts_of_view(view)


def _texts_of_view(view: FindingView) -> Iterator[tuple[str, str]]:
    yield "answer", view.answer
    for place, texts in (
        ("caution", view.cautions),
        ("reason", view.reasons),
        ("limit", view.limit_evidence),
        ("next step", view.next_steps),
        ("sentence", view.sentences),
        ("note", view.caveats),
        ("evidence", view.rests_on),
        ("objective", [one.met_up_to for one in view.objectives]),
        ("row", [row.words for row in (*view.decided, *view.outcome)]),
    ):
        yield from ((place, text) for text in texts)


def sentences(text: str) -> list[str]:
    """Of a text of a finding: a statement of SQL is one word of it, and no full stop in it ends a sentence."""
    plain = _ABBREVIATION.sub(lambda match: match[1], _STATEMENT.sub("SQL", _CODE.sub("code", text)))
    return [part for part in _END.split(plain) if re.search(r"\w", part)]


def words(sentence: str) -> int:
    """How many words it has; a number with its unit is one, and so is its interval."""
    return len(plain_words(sentence))


def plain_words(sentence: str) -> list[str]:
    counted = _AMOUNT.sub("1", _INTERVAL.sub("", sentence))
    return [word for word in counted.split() if re.search(r"\w", word)]


def faults(finding: Mapping[str, Any]) -> list[str]:
    """What a reader would stumble over, each with its sentence."""
    return [
        f"{place}, {fault}: {one}"
        for place, text in texts_of(finding)
        for one in sentences(text)
        for fault in faults_of_sentence(one, MOST_WORDS_OF_STEP if place == "next step" else MOST_WORDS)
    ]


def faults_of_sentence(sentence: str, most_words: int = MOST_WORDS) -> Iterator[str]:
    if (count := words(sentence)) > most_words:
        yield f"{count} words"
    for coinage, instead in OF_FINDINGS.items():
        if match := re.search(coinage, sentence, re.IGNORECASE):
            yield f"{match[0]!r} (write: {instead})"
    if any(len(_NEGATION.findall(clause)) > 1 for clause in _CLAUSE.split(sentence)):
        yield "negated twice"


def reading_ease(texts: Iterable[str]) -> float:
    """Of Flesch (1948), "A new readability yardstick": 206.835 − 1.015 words a sentence − 84.6 syllables a word. A
    number is a word of one syllable."""
    counted = [plain_words(one) for text in texts for one in sentences(text)]
    total = sum(map(len, counted))
    syllables = sum(_syllables(word) for one in counted for word in one)
    return 206.835 - 1.015 * total / len(counted) - 84.6 * syllables / total


def _syllables(word: str) -> int:
    """Groups of vowels, without an "e" at the end that is not spoken."""
    letters = re.sub(r"[^a-z]", "", word.lower())
    silent = letters.endswith("e") and not letters.endswith("le")
    return max(1, len(_VOWELS.findall(letters)) - silent)
