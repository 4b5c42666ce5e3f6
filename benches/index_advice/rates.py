"""The table: per kind how often the advice was right, with Wilson's interval, what was predicted and measured."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from cases import HEALTHIES, PLANTED, PLANTS, TUNED_WITH

from plimsoll.stats.estimates.wilson import wilson_interval

BEGIN, END = "<!-- index advice: made by benches/index_advice.py -->", "<!-- end of index advice -->"
TOGETHER = "<!-- several conditions: made by benches/index_advice.py -->", "<!-- end of several conditions -->"
FASTER, GOOD = ("right", "said"), ("none", "not slower")
NEAR, NOISE_MS = 1.5, 0.05  # times the quickest index; below so many ms a difference is one of the measurement


def write_page(page: Path, text: str, marks: tuple[str, str] = (BEGIN, END)) -> None:
    """Put the table between the marks of the page; ValueError without them."""
    head, begin, rest = page.read_text().partition(marks[0])
    _, end, tail = rest.partition(marks[1])
    if not begin or not end:
        raise ValueError(f"{page} has no marks {marks[0]} and {marks[1]}: put both where the table belongs.")
    page.write_text(f"{head}{begin}\n\n{text}\n{end}{tail}")


def table_text(records: list[dict[str, Any]]) -> str:
    """Both tables and the totals, in Markdown."""
    judged = [one for one in records if "verdict" in one]
    by_kind = {kind: [one for one in judged if one["kind"] == kind] for kind in (*PLANTS, *HEALTHIES)}
    planted = [_planted_cells(kind, by_kind[kind]) for kind in PLANTS if by_kind[kind]]
    healthy = [_healthy_cells(kind, by_kind[kind]) for kind in HEALTHIES if by_kind[kind]]
    return "\n".join([
        _about(records), "", *_totals(judged), "",
        *_table(["planted", "half", "n", "proven and faster", "said “not proven”, and faster", "else",
                 "predicted: cost falls (median)", "measured: mean falls (median trial)", "times less"], planted), "",
        *_table(["healthy", "half", "n", "none advised, or not slower", "else", "advised",
                 "a call of the load with it", "a call of the statement itself"], healthy), "",
        *_rivals_table(judged),
    ])  # fmt: skip


def _rivals_table(judged: list[dict[str, Any]]) -> list[str]:
    """The advised index beside those that somebody might make, by kind; nothing where no trial has any."""
    with_rivals = [one for one in judged if one.get("rivals_ms") and one.get("advised_ms") is not None]
    rows = []
    for kind in dict.fromkeys(one["kind"] for one in with_rivals):
        for path in ("probe", "run"):
            some = [one for one in with_rivals if (one["kind"], one["path"]) == (kind, path)]
            if not some:
                continue
            last = some[-1]
            quickest, best_ms = _quickest(last)
            advised = "; ".join(one["sql"].partition(" USING ")[2].rstrip(";") for one in last["advised"]) or "none"
            decided = "run" if path == "run" else "planner or estimate"
            rows.append([
                kind, _half(kind), decided, _of(sum(map(_is_near, some)), some),
                f"{last['without_ms']:.3g}", f"{last['advised_ms']:.3g}", advised, f"{best_ms:.3g}", quickest,
            ])  # fmt: skip
    columns = ["several conditions", "half", "decided by", f"within {NEAR} times the quickest", "without, ms",
               "advised, ms", "advised (last trial)", "quickest, ms", "quickest"]  # fmt: skip
    return [*_table(columns, rows), ""] if rows else []


def _quickest(record: dict[str, Any]) -> tuple[str, float]:
    """The index of all that were tried with the shortest run."""
    times = {**record["rivals_ms"], "the advised one": record["advised_ms"]}
    best = min(times, key=lambda name: times[name])
    return best.removeprefix("ON ticket "), times[best]


def _is_near(record: dict[str, Any]) -> bool:
    best_ms = _quickest(record)[1]
    return bool(record["advised_ms"] <= max(NEAR * best_ms, best_ms + NOISE_MS))


def _about(records: list[dict[str, Any]]) -> str:
    days, seeds = sorted({one["day"] for one in records}), sorted({one["seed"] for one in records})
    failed = [one for one in records if "verdict" not in one]
    noise = sorted(
        abs(1 - one["before_ms"][1] / one["before_ms"][0]) for one in records if all(one.get("before_ms") or [0])
    )
    words = f"Code of {', '.join(sorted({one['revision'] for one in records}))}, seeds {', '.join(map(str, seeds))}, "
    words += f"{' to '.join(dict.fromkeys((days[0], days[-1])))}; {len(records)} trials, "
    words += _by_command([one for one in records if one["path"] == "command"])
    if noise:
        tenth = noise[min(len(noise) - 1, round(0.9 * len(noise)))]
        words += (
            f"Two runs without a change differ by {median(noise):.0%} in the median, in nine of ten trials by at most "
        )
        words += f"{tenth:.0%}. "
    return words + f"{len(failed)} trials failed{': ' + failed[0]['why'] if failed else ''}."


def _by_command(records: list[dict[str, Any]]) -> str:
    """How many went through the command line, and what the product itself said of the effect there."""
    verified = [one for one in records if one.get("verified")]
    told = sum(bool(one["effects_ms"]) for one in verified)
    unclear = sum("Cannot tell" in " ".join(one["verified"]) for one in verified)
    words = f"{len(records)} of them by the command line. "
    if verified:
        words += f"Of the {len(verified)} of these with advice, the last hold told the statement's measured effect in "
        words += f"{told}; `capacity --verify` could tell what it changed in the capacity in {len(verified) - unclear}"
        asked = [one for one in verified if "verified_effects_ms" in one]  # the first trials did not keep it
        effects = sum(bool(one["verified_effects_ms"]) for one in asked)
        words += f", and the statement's effect in {effects} of {len(asked)}. "
    return words


def _totals(judged: list[dict[str, Any]]) -> list[str]:
    planted = [one for one in judged if one["part"] == PLANTED]
    healthy = [one for one in judged if one["part"] != PLANTED]
    claimed = [one for one in planted if one["proven"]]
    said = [one for one in planted if one["for_target"] and not one["proven"]]
    lines = []
    for name, of in (
        ("all kinds", planted),
        ("kinds held out", [one for one in planted if one["kind"] not in TUNED_WITH]),
    ):
        lines.append(f"- planted, {name}: an index was advised and the statement is faster {_share(of, FASTER)}")
    lines.append(f"- where the planner or a run confirmed the index: faster {_share(claimed, FASTER)}")
    lines.append(f"- where the advice says that it is not proven (a column of its own): faster {_share(said, FASTER)}")
    lines.append(f"- healthy: none advised, or the load not slower {_share(healthy, GOOD)}")
    decided = [*claimed, *(one for one in planted if not one["for_target"]), *healthy]
    for path, name in (("probe", "by planner or estimate"), ("run", "by a run")):
        rivals = [
            one for one in planted if one.get("rivals_ms") and one["path"] == path and one["advised_ms"] is not None
        ]
        for half, some in (("", rivals), (" held out", [one for one in rivals if one["kind"] not in TUNED_WITH])):
            near = sum(map(_is_near, some))
            lines.append(
                f"- several conditions{half}, decided {name}: the advised index runs within {NEAR} times the quickest "
                f"(or {NOISE_MS} ms of it) **{_of(near, some)}**"
            )
    lines.append(
        f"- direction right, what is said to be not proven too: {_share([*planted, *healthy], (*FASTER, *GOOD))}"
    )
    lines.append(f"- direction right, what is said to be not proven left out: {_share(decided, (*FASTER, *GOOD))}")
    return lines


def _planted_cells(kind: str, records: list[dict[str, Any]]) -> list[str]:
    proven, said = (sum(one["verdict"] == name for one in records) for name in ("right", "said"))
    costs = [low / max(high, 0.01) for one in records for low, high in one["costs"][:1] if high is not None]
    claimed = [one for one in records if one["proven"] or not one["for_target"]]
    times = [one for one in records if one["after_ms"]]
    gains = [min(one["before_ms"]) / one["after_ms"] for one in times]
    measured = ""
    if times:
        middle = sorted(times, key=lambda one: min(one["before_ms"]) / one["after_ms"])[len(times) // 2]
        measured = f"{min(middle['before_ms']):.3g} → {middle['after_ms']:.3g} ms"
    return [
        kind, _half(kind), str(len(records)), _of(proven, claimed), str(said) if said else "", _else(records, FASTER),
        f"{median(costs):,.3g} times" if costs else "", measured, _range(gains),
    ]  # fmt: skip


def _healthy_cells(kind: str, records: list[dict[str, Any]]) -> list[str]:
    good, made = sum(one["verdict"] in GOOD for one in records), [one for one in records if one["advised"]]
    indexes = dict.fromkeys(one["sql"].partition(" ON ")[2] for record in made for one in record["advised"])
    loads = [f"{min(one['load_before_ms']):.3g} → {one['load_after_ms']:.3g} ms" for one in made]
    statements = [f"{min(one['before_ms']):.3g} → {one['after_ms']:.3g} ms" for one in made]
    return [
        kind, _half(kind), str(len(records)), _of(good, records), _else(records, GOOD), "; ".join(indexes),
        ", ".join(loads), ", ".join(statements),
    ]  # fmt: skip


def _half(kind: str) -> str:
    return "tuned with" if kind in TUNED_WITH else "held out"


def _else(records: list[dict[str, Any]], good: tuple[str, ...]) -> str:
    others = Counter(one["verdict"] for one in records if one["verdict"] not in good)
    return ", ".join(f"{name} {count}" for name, count in others.most_common())


def _range(gains: list[float]) -> str:
    if not gains:
        return ""
    low, high = f"{min(gains):,.2g}", f"{max(gains):,.2g}"
    return " to ".join(dict.fromkeys(f"{float(text.replace(',', '')):,.10g}" for text in (low, high)))


def _share(records: list[dict[str, Any]], good: tuple[str, ...]) -> str:
    return f"**{_of(sum(one['verdict'] in good for one in records), records)}**, {len(records)} trials"


def _of(count: int, records: list[dict[str, Any]]) -> str:
    if not records:
        return "–"
    interval = wilson_interval(count, len(records))
    return f"{count} of {len(records)}: {count / len(records):.0%} ({interval.low:.0%}–{interval.high:.0%})"


def _table(columns: list[str], rows: list[list[str]]) -> list[str]:
    return [_row(columns), _row(["---"] * len(columns)), *map(_row, rows)]


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
