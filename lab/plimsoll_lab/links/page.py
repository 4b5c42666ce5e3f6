"""/ldx/web: the administration page, as text a browser shows. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

MIB = 2**20
_HEAD = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>Link index</title>"
    "<style>body{font:15px sans-serif;margin:2em}table{border-collapse:collapse;margin:1em 0}"
    "td,th{padding:.3em .8em;border:1px solid #bbb;text-align:right}"
    "th:first-child,td:first-child{text-align:left}</style>"
)


def administration_page(status: Mapping[str, Any], histories: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Status of the index and its sources, and the change log of each."""
    size = f"{status['indexBytes'] / MIB:.1f}"
    parts = [
        f"{_HEAD}<h1>Link index</h1><p>{status['links']:,} links, {size} MiB; each source is polled every "
        f"{status['pollEverySeconds']:g} s by {status['threadsPerSource']} threads.</p><h2>Data sources</h2>",
        _table(
            ("Source", "State", "Polls", "Retrieved", "Changes", "Problem"),
            [
                (name, one["state"], one["polls"], one["retrieved"], one["changes"], one["problem"] or "")
                for name, one in status["sources"].items()
            ],
        ),
    ]
    for name, rows in histories.items():
        parts.append(f"<h2>Change log of {escape(name)}</h2>")
        shown = [
            (_time(row["startedMs"]), row["kind"], row["retrieved"], row["changes"], row["durationSeconds"],
             f"{row['indexBytes'] / MIB:.1f}", row["problem"] or "")
            for row in rows
        ]  # fmt: skip
        head = ("Started", "Kind", "Retrieved", "Changes", "Duration (s)", "Index (MiB)", "Problem")
        parts.append(_table(head, shown))
    return "".join(parts)


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    cells = "".join(f"<th>{escape(one)}</th>" for one in head)
    lines = "".join("<tr>" + "".join(f"<td>{escape(str(one))}</td>" for one in row) + "</tr>" for row in rows)
    return f"<table><tr>{cells}</tr>{lines}</table>"


def _time(started_ms: int) -> str:
    return datetime.fromtimestamp(started_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
