"""A draft on a terminal: what was read, the operations in their order, what is left out and why, what was written."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence

from plimsoll.drafts.draft import Draft, DraftGroup, DraftOperation
from plimsoll.drafts.left_out import LeftOut
from plimsoll.drafts.recordings.correlation import Step
from plimsoll.plain_text import plain
from plimsoll.words import count_words, counted_words, ms_words, number, share_words

_MOST_NAMED = 4  # of a kind that is left out
_MOST_ROWS = 30
_WIDEST = 48
_WIDEST_IN_TABLE = 34
_COLUMNS_OF_A_LINE = 100
_BEGINNING = 12  # of a long name, before what is left out of its middle
_MOST_LINES = 8
_MOST_ASKED_NAMED = 12
_Column = tuple[str, Callable[[DraftOperation], str | None]]
_COLUMNS: tuple[_Column, ...] = (
    ("per user-hour", lambda one: number(one.per_user_hour)),
    ("share", lambda one: None if one.share is None else share_words(one.share)),
    ("time", lambda one: None if one.time_share is None else share_words(one.time_share)),
    ("sessions", lambda one: None if one.session_share is None else share_words(one.session_share)),
    ("failed", lambda one: None if one.failed_share is None else share_words(one.failed_share)),
    ("p95", lambda one: None if one.p95_ms is None else ms_words(one.p95_ms)),
    ("values", lambda one: count_words(len(one.rows)) if one.rows else "-"),
)


def screen_of(draft: Draft) -> str:
    """All of it, without a line break at the end."""
    table = _groups(draft.groups) if draft.groups else _steps(draft.steps) if draft.steps else _table(draft.operations)
    lines = [*_all_wrapped(draft.head), "", *table]
    if draft.taken:
        lines += ["", "Taken from answers, anew each time:", *_all_wrapped(draft.taken, "  ")]
    left_out = list(_left_out(draft.left_out))
    if left_out:
        lines += ["", "Left out:", *_all_wrapped(left_out, "  ")]
    if draft.asked:
        lines += ["", *_wrapped(_asked(draft.asked))]
    if draft.notes:
        lines += ["", *_all_wrapped(f"Note: {note}" for note in draft.notes)]
    if draft.files:
        lines += ["", f"Written: {', '.join(plain(path) for path in draft.files)}", *_next(draft)]
    return "\n".join(lines)


def _all_wrapped(texts: Iterable[str], indent: str = "") -> list[str]:
    return [line for text in texts for line in _wrapped(text, indent)]


def _next(draft: Draft) -> Iterator[str]:
    study = shlex.quote(str(next(path for path in draft.files if path.suffix == ".yaml")))
    study += "".join(f" -e {name}=…" for name, _ in draft.secrets)
    if draft.is_silent:
        yield "Next: start the service, then"
        yield f"      plimsoll capacity {plain(study)}"
    elif draft.url is None:
        yield "Next: put the address of the service under test into study.yaml (target.url), then"
        yield f"      plimsoll capacity {plain(study)}"
    else:
        yield f"Next: plimsoll capacity {plain(study)}"


def _table(operations: Sequence[DraftOperation]) -> Iterator[str]:
    shown = operations[:_MOST_ROWS]
    columns = [column for column in _COLUMNS if any(column[1](one) is not None for one in shown)]
    names = [_cut(plain(one.request), _WIDEST_IN_TABLE) for one in shown]
    rows = [[name, *(column[1](one) or "" for column in columns)] for name, one in zip(names, shown, strict=True)]
    yield from _aligned([["operation", *(title for title, _ in columns)], *rows])
    if len(operations) > len(shown):
        yield f"  and {count_words(len(operations) - len(shown))} more, in the study"


def _groups(groups: Sequence[DraftGroup]) -> Iterator[str]:
    shown = groups[:_MOST_ROWS]
    rows = [[_cut(one.name), count_words(one.users), count_words(one.requests)] for one in shown]
    yield from _aligned([["thread group", "users", "requests"], *rows])
    if len(groups) > len(shown):
        yield f"  and {count_words(len(groups) - len(shown))} more, in the study"


def _steps(steps: Sequence[Step]) -> Iterator[str]:
    names = [_cut(plain(one.request)) for one in steps[:_MOST_ROWS]]
    rows = [[name, ms_words(one.ms)] for name, one in zip(names, steps, strict=False)]
    yield from _aligned([["request, in this order", "recorded"], *rows])
    if len(steps) > _MOST_ROWS:
        yield f"  and {count_words(len(steps) - _MOST_ROWS)} more"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join([f"  {first:<{widths[0]}}", *cells]).rstrip()


def _left_out(left_out: Iterable[LeftOut]) -> Iterator[str]:
    kinds: dict[str, list[LeftOut]] = {}
    for one in left_out:
        kinds.setdefault(one.kind, []).append(one)
    for kind, ones in kinds.items():
        requests = counted_words(sum(one.requests for one in ones), "request")
        if kind == "write":
            yield f"{requests} that write, as a log has no bodies; add by hand what matters: {_named(ones)}"
        elif kind == "rare":
            yield f"{requests} of {counted_words(len(ones), 'rare operation')} ({ones[0].reason}): {_named(ones)}"
        elif kind == "failing":
            yield f"{requests} of {counted_words(len(ones), 'path')} that never succeeded: {_named(ones)}"
        elif kind == "bot":
            yield f"{requests} of bots: {_named(ones)}"
        elif kind in ("not_read", "not_usable", "not_imported"):
            yield from _by_reason(ones)
        else:
            yield f"{requests} {ones[0].request}: {ones[0].reason}"


def _by_reason(ones: Sequence[LeftOut]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for one in ones:
        reasons.setdefault(one.reason, []).append(_cut(plain(one.request)))
    for reason, names in list(reasons.items())[:_MOST_LINES]:
        yield f"{', '.join(_shortened(names))}: {plain(reason)}"
    rest = sum(map(len, list(reasons.values())[_MOST_LINES:]))
    if rest:
        yield f"{count_words(rest)} more, which --json lists"


def _named(ones: Sequence[LeftOut]) -> str:
    return ", ".join(_shortened([f"{_cut(plain(one.request))} ({_how_often(one)})" for one in ones]))


def _how_often(one: LeftOut) -> str:
    if one.kind == "write" and one.per_user_hour is not None:
        return f"{number(one.per_user_hour)} per user and hour"
    return count_words(one.requests)


def _shortened(names: Sequence[str]) -> list[str]:
    more = [f"{count_words(len(names) - _MOST_NAMED)} more"] if len(names) > _MOST_NAMED else []
    return [*names[:_MOST_NAMED], *more]


def _asked(asked: Sequence[tuple[str, int]]) -> str:
    named = [f"{_cut(plain(path))} {status or 'no answer'}" for path, status in asked]
    shown = (
        named
        if len(named) <= _MOST_ASKED_NAMED
        else [*named[:_MOST_ASKED_NAMED], f"{count_words(len(named) - _MOST_ASKED_NAMED)} more"]
    )
    return f"Asked of the service, by GET alone: {', '.join(shown)}."


def _cut(text: str, widest: int = _WIDEST) -> str:
    """The text, without its middle where it is too long: the end of a path says most."""
    return text if len(text) <= widest else f"{text[:_BEGINNING]}…{text[len(text) - widest + _BEGINNING + 1 :]}"


def _wrapped(text: str, indent: str = "") -> list[str]:
    """In lines of at most 100 columns, those after the first indented."""
    return textwrap.wrap(
        text,
        _COLUMNS_OF_A_LINE,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
