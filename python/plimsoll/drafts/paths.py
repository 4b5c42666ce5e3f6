"""Paths of requests as templates, by evidence: `/issues/17/links` is `/issues/{}/links`.

A segment is an id by its form (digits, dates, UUIDs, long tokens), or because very many stand at one place.
A word stays a word beside ids of a form: `/issues/search` and `/issues/{}` are two.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache

PLACE = "{}"
MANY_WORDS = 200  # different words at one place: no service has so many sisters below one path
MANY_NEW_WORDS = (
    40  # the same where a fifth of them came once or twice, so that there are more which nobody asked for yet
)
MANY_SLUGS = 25  # the same where most have digits or three words: titles, names of files
MANY_WITH_DIGITS = 8  # of segments with digits in them, as user17
MOST_SEGMENTS = 24
_FEW_TIMES, _NEW_SHARE = 2, 0.2
_ALWAYS_WORDS = frozenset(
    ("me", "self", "current", "search", "new", "latest", "all", "count", "counts", "stats", "status", "health")
)
_ID = re.compile(
    r"""\d[\d.,:_-]*                                      # 17, 2026-11-28, 1.5
    |[A-Za-z]{1,12}[-_:.~]\d+                             # DEMO-17, user_3
    |[0-9A-Fa-f]{8}-?(?:[0-9A-Fa-f]{4}-?){3}[0-9A-Fa-f]{12}   # UUID
    |(?=[A-Fa-f]*\d)[0-9A-Fa-f]{8,}                       # hex with a digit
    |(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9]{18,}   # ULID, KSUID
    |(?=[^\d]*\d)(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[A-Za-z0-9_=-]{14,}   # base 64
    |[\w.+-]+(?:@|%40)[\w-]+\.[\w.-]+                     # an e-mail address
    """,
    re.VERBOSE,
)
_WORD_ENDS = re.compile(r"[A-Za-z][-_+]|%20")
_VERSION = re.compile(r"v?\d{1,2}(?:\.\d{1,2})?")


def shape_of(path: str) -> str:
    """The path with a place for each segment that is an id by its form."""
    segments = path.split("/", MOST_SEGMENTS)
    if len(segments) > MOST_SEGMENTS:
        segments[-1] = PLACE
    return "/".join(
        PLACE if segment and _is_id(segment) and not _is_version(segments, at) else segment
        for at, segment in enumerate(segments)
    )


def values_in(path: str, shape: str) -> list[str]:
    """The segments of the path that stand where the shape has places."""
    wanted = shape.split("/")
    return [have for have, want in zip(path.split("/", len(wanted) - 1), wanted, strict=False) if want == PLACE]


class Places:
    """Where very many different segments stand, learned from shapes: the path before them, and which are values.

    Shapes have a method and a space in front; all methods learn together.
    """

    def __init__(self) -> None:
        self._digits_alone: dict[str, bool] = {}

    def applied(self, shape: str) -> str:
        """The shape that stands for this one by what was learned; itself, mostly."""
        if not self._digits_alone:
            return shape
        method, _, path = shape.partition(" ")
        segments = path.split("/")
        for depth in range(1, len(segments)):
            self._apply_at(segments, depth)
        return f"{method} {'/'.join(segments)}"

    def learn(self, counts: Mapping[str, int]) -> dict[str, str]:
        """Each shape that is one of very many alike, and the shape that stands for them. `counts`: how many requests of
        each succeeded; those without any are no evidence."""
        paths = {shape: shape.partition(" ")[2].split("/") for shape in counts}
        for depth in range(1, max(map(len, paths.values()), default=0)):
            below: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
            for shape, segments in paths.items():
                if len(segments) > depth:
                    below["/".join(segments[:depth])][segments[depth]] += counts[shape]
            for parent, children in below.items():
                digits_alone = _are_values(children)
                if digits_alone is not None:
                    self._digits_alone[parent] = digits_alone and self._digits_alone.get(parent, True)
            for segments in paths.values():
                if len(segments) > depth:
                    self._apply_at(segments, depth)
        found = {shape: f"{shape.partition(' ')[0]} {'/'.join(segments)}" for shape, segments in paths.items()}
        return {old: new for old, new in found.items() if old != new}

    def _apply_at(self, segments: list[str], depth: int) -> None:
        digits_alone = self._digits_alone.get("/".join(segments[:depth]))
        if digits_alone is not None and _may_be_value(segments[depth]):
            segments[depth] = PLACE if not digits_alone or _has_digit(segments[depth]) else segments[depth]


def _are_values(children: Mapping[str, int]) -> bool | None:
    """Whether of the segments at one place those with digits are values (True), or all (False), or none (None);
    `children` with their successful requests."""
    asked = {one: count for one, count in children.items() if count > 0 and _may_be_value(one)}
    with_digits = sum(map(_has_digit, asked))
    slugs = sum(1 for one in asked if _has_digit(one) or len(_WORD_ENDS.findall(one)) > 1)
    new = sum(1 for count in asked.values() if count <= _FEW_TIMES)
    if (
        len(asked) >= MANY_WORDS
        or (len(asked) >= MANY_NEW_WORDS and new >= _NEW_SHARE * len(asked))
        or (len(asked) >= MANY_SLUGS and 2 * slugs >= len(asked))
    ):
        return False
    return True if with_digits >= MANY_WITH_DIGITS else None


def _may_be_value(segment: str) -> bool:
    return segment not in (PLACE, "") and segment.lower() not in _ALWAYS_WORDS and not _VERSION.fullmatch(segment)


def _has_digit(segment: str) -> bool:
    return any(sign.isdigit() for sign in segment)


@lru_cache(maxsize=1 << 15)
def _is_id(segment: str) -> bool:
    return _ID.fullmatch(segment) is not None


def _is_version(segments: list[str], at: int) -> bool:
    """A number of one digit after "api", as in /api/2/issues."""
    return (
        re.fullmatch(r"\d(?:\.\d)?", segments[at]) is not None
        and at + 1 < len(segments)
        and segments[at - 1].lower() in ("api", "rest", "version")
    )
