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


def merged_shapes(counts: Mapping[str, int]) -> dict[str, str]:
    """Each shape that is one of very many alike, and the shape that stands for them. `counts`: shapes with how many
    requests each had, a method and a space in front."""
    merged: dict[str, str] = {}
    current = dict(counts)
    for depth in range(1, MOST_SEGMENTS + 1):
        replaced = _merge_at(current, depth)
        if not replaced:
            if not any(shape.count("/") >= depth for shape in current):
                break
            continue
        merged = {old: replaced.get(new, new) for old, new in merged.items()} | {
            old: new for old, new in replaced.items() if old in counts
        }
        following: dict[str, int] = defaultdict(int)
        for shape, count in current.items():
            following[replaced.get(shape, shape)] += count
        current = dict(following)
    return {old: new for old, new in merged.items() if old != new}


def _merge_at(counts: Mapping[str, int], depth: int) -> dict[str, str]:
    """What becomes a place at that depth: the segments below one path, all methods together."""
    below: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    parts = {shape: shape.partition(" ")[2].split("/") for shape in counts}
    for shape, segments in parts.items():
        if len(segments) > depth:
            below["/".join(segments[:depth])][segments[depth]] += counts[shape]
    places = {parent: values for parent, children in below.items() if (values := _values_among(children))}
    replaced = {}
    for shape, segments in parts.items():
        if len(segments) > depth and segments[depth] in places.get("/".join(segments[:depth]), ()):
            method = shape.partition(" ")[0]
            replaced[shape] = f"{method} {'/'.join([*segments[:depth], PLACE, *segments[depth + 1 :]])}"
    return replaced


def _values_among(children: Mapping[str, int]) -> set[str]:
    """Those of the segments at one place that are values and no words; `children` with their successful requests."""
    words = {one for one in children if one not in (PLACE, "") and one.lower() not in _ALWAYS_WORDS}
    words = {one for one in words if not _VERSION.fullmatch(one)}
    with_digits = {one for one in words if any(sign.isdigit() for sign in one)}
    asked = {one: children[one] for one in words if children[one] > 0}
    slugs = sum(1 for one in asked if one in with_digits or len(re.findall(r"[A-Za-z][-_+]|%20", one)) > 1)
    new = sum(1 for count in asked.values() if count <= _FEW_TIMES)
    is_many = (
        len(asked) >= MANY_WORDS
        or (len(asked) >= MANY_NEW_WORDS and new >= _NEW_SHARE * len(asked))
        or (len(asked) >= MANY_SLUGS and 2 * slugs >= len(asked))
    )
    if is_many:
        return words
    return with_digits if len(with_digits & asked.keys()) >= MANY_WITH_DIGITS else set()


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
