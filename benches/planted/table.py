"""The table of planted limits: per kind and in all how often the first and the first two names were right."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

from plants import DEVELOPMENT, HEALTHY, HELD_OUT, KINDS

from plimsoll.stats.estimates.wilson import wilson_interval

COLUMNS = ("kind", "of", "n", "right first", "in first two", "what it said instead", "not counted")
MARK = "<!-- table: made by benches/planted/suite.py -->"
TARGETS = {"first": 0.85, "second": 0.95, "healthy": 0.95}


def write_page(kept: Path, page: Path, revision: str | None, printed: bool) -> None:
    """Put the table of the kept trials behind the mark of the page: those of the `revision` (several with commas), or
    of the newest that there is."""
    records = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    at = revision or (records[-1]["revision"] if records else "")
    text = table_text([one for one in records if one["revision"] in at.split(",")], at)
    if printed:
        print(text)
    head = page.read_text().partition(MARK)[0] if page.exists() else "# What stops it: how often that is right\n\n"
    page.write_text(f"{head}{MARK}\n\n{text}")


def table_text(records: list[dict[str, Any]], revision: str) -> str:
    """The table with its totals, in Markdown."""
    by_kind: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in records:
        by_kind[one["kind"]].append(one)
    lines = [_row(COLUMNS), _row(["---"] * len(COLUMNS))]
    lines += [_row(_cells(kind, by_kind[kind])) for kind in (*KINDS, HEALTHY) if by_kind[kind]]
    totals = [
        (f"development kinds ({len(DEVELOPMENT)})", [one for kind in DEVELOPMENT for one in by_kind[kind]]),
        (f"held-out kinds ({len(HELD_OUT)})", [one for kind in HELD_OUT for one in by_kind[kind]]),
        ("all plants", [one for kind in KINDS for one in by_kind[kind]]),
    ]
    lines += [_row(_total(name, some)) for name, some in totals if some]
    days = sorted({one["day"] for one in records})
    when = f"{days[0]} to {days[-1]}" if len(set(days)) > 1 else "".join(days[:1])
    seeds = ", ".join(str(seed) for seed in sorted({one["seed"] for one in records}))
    invalid = sum(1 for one in records if one["status"] == "judged" and one.get("valid") is False)
    about = f"Code of {revision}, seeds {seeds}, {when}. {len(records)} trials; rates with Wilson's 95% interval."
    about += f" The answers of {invalid} call themselves invalid (a late generator, mostly); they count."
    about += _machine(records)
    return "\n".join([about, "", *lines, ""])


def _cells(kind: str, records: list[dict[str, Any]]) -> list[str]:
    judged = _counted(records)
    group = "development" if kind in DEVELOPMENT else "held out" if kind in HELD_OUT else "both"
    wrong = Counter(
        one["verdict"]["first"]["kind"] if "verdict" in one else "no answer"
        for one in judged if not one.get("right_first")
    )  # fmt: skip
    instead = ", ".join(f"{name} {count}" for name, count in wrong.most_common(4))
    name = f"{kind} (“none” is right)" if kind == HEALTHY else kind
    first = _share(sum(one.get("right_first", False) for one in judged), len(judged))
    second = "" if kind == HEALTHY else _share(sum(one.get("right_second", False) for one in judged), len(judged))
    return [name, group, str(len(judged)), first, second, instead, _uncounted(records)]


def _machine(records: list[dict[str, Any]]) -> str:
    """How busy the machine was with other work."""
    foreign = [one["machine"]["foreign_cores"] for one in records if "machine" in one]
    if not foreign:
        return ""
    return f" Other work used {fmean(foreign):.1f} of the machine's {os.cpu_count()} cores on average."


def _counted(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Trials that count: a run without an answer is a wrong one."""
    return [one for one in records if one["status"] in ("judged", "no answer")]


def _total(name: str, records: list[dict[str, Any]]) -> list[str]:
    judged = _counted(records)
    first, second = (sum(one.get(key, False) for one in judged) for key in ("right_first", "right_second"))
    return [f"**{name}**", "", str(len(judged)), _share(first, len(judged)), _share(second, len(judged)), "", ""]


def _uncounted(records: list[dict[str, Any]]) -> str:
    words = []
    for status in ("disturbed", "not planted", "skipped"):
        some = [one for one in records if one["status"] == status]
        why = f": {some[0]['why']}" if some and status != "disturbed" else ""
        words += [f"{len(some)} {status}{why}"] if some else []
    return "; ".join(words)


def _share(count: int, of: int) -> str:
    if not of:
        return "–"
    interval = wilson_interval(count, of)
    return f"{count / of:.0%} ({interval.low:.0%}–{interval.high:.0%})"


def _row(cells: Any) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
