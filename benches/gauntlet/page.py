"""docs/gauntlet.md, made from the records: the scores, a row for each run, every miss, and how to do it again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from catalogue import HELD_OUT, every
from scoring import NARROW_GOAL, RIGHT_GOAL, end_score, is_disturbed, is_narrow, repeats, tally
from truth import RULE, SECONDS, WARM_UP_S

from plimsoll.stats.estimates.wilson import wilson_interval

MARK = "<!-- made by benches/gauntlet -->"
COLUMNS = (
    "product", "run", "carried /s", "truth", "not carried /s", "truth", "width", "valid", "limit", "took",
    "target's core", "code",
)  # fmt: skip


def write(page: Path, records: Sequence[dict[str, Any]], revision: str) -> None:
    """Put the tables behind the mark of the page; what stands before it is kept. `revision`: one, or several with
    commas, of which the last record of each product and run counts."""
    head = page.read_text().partition(MARK)[0] if page.exists() else "# The gauntlet\n\n"
    counted = [one for one in records if one["revision"] in revision.split(",") and not is_disturbed(one)]
    newest = {(one["product"], one["run"]): one for one in counted}
    page.write_text(f"{head}{MARK}\n\n{text_of(list(newest.values()), revision)}")


def text_of(records: Sequence[dict[str, Any]], revision: str) -> str:
    """The tables in Markdown."""
    lines = [f"Code of {revision}, {_days(records)}; k6 2.2, trials of {SECONDS} s after {WARM_UP_S} s of warm-up.", ""]
    lines += ["## Scores", "", *_scores(records), "", "## Runs", "", _row(COLUMNS), _row(["---"] * len(COLUMNS))]
    ordered = sorted(records, key=lambda one: (one["product"], one["run"]))
    lines += [_row(_cells(one)) for one in ordered]
    lines += ["", "*: held out from tuning. Limit: what the answer names.", "", "## Misses", "", *_misses(ordered)]
    lines += ["", "## Sentences that the run's own data contradict", "", *_contradicted(ordered)]
    lines += ["", "## The rule of the truth trials", "", "```" + RULE + "```", "", "## Products", ""]
    lines += [_row(("product", "language", "stack", "from")), _row(["---"] * 4)]
    lines += [_row((_marked(p.name), p.language, p.stack, p.source)) for p in every().values()]
    return "\n".join(lines) + "\n"


def _scores(records: Sequence[dict[str, Any]]) -> list[str]:
    groups = {
        "all": list(records),
        "held out from tuning": [one for one in records if one["product"] in HELD_OUT],
        "the others": [one for one in records if one["product"] not in HELD_OUT],
    }
    lines = [_row(("products", "runs", "ends right", "border", "wrong", "two ends ≤ 10% apart")), _row(["---"] * 6)]
    for name, some in groups.items():
        seen = tally(some)
        narrow = _share(seen.narrow, seen.runs)
        lines.append(_row((name, seen.runs, _share(seen.right, seen.ends), seen.border, seen.wrong, narrow)))
    own = repeats(records)
    lines += [
        "",
        f"k6 against itself: of {own.pairs} levels that it offered twice it said the same of {own.same}, and the "
        f"opposite of {own.opposite}. Where it contradicts itself no answer is counted.",
    ]
    lines += ["", f"Goals: {RIGHT_GOAL:.0%} of the ends right, {NARROW_GOAL:.0%} of the brackets narrow."]
    return lines


def _cells(record: dict[str, Any]) -> list[object]:
    name = _marked(record["product"])
    if record["status"] != "answered":
        return [name, record["run"], "no answer", *[""] * 8, record["revision"]]
    rate = record["declared_per_s"]
    limit = record["limit"]
    ends = {end: f"{record[end] * rate:,.4g}" if record[end] is not None else "–" for end in ("good", "bad")}
    width = f"{record['width']:.1%}" if record["width"] is not None else "–"
    said = f"{limit['kind']} {limit['where'] or ''}".strip()
    core = record.get("truth_good") or record.get("truth_bad")
    used = f"{_trials(core)[0]['target_cores']:.0%}" if core else ""
    truths = {end: _truth(record, end) for end in ("good", "bad")}
    valid = "yes" if record["valid"] else "no"
    return [
        name, record["run"], ends["good"], truths["good"], ends["bad"], truths["bad"], width, valid, said,
        f"{record['asked_s']:.0f} s", used, record["revision"],
    ]  # fmt: skip


def _truth(record: dict[str, Any], end: str) -> str:
    truth = record.get(f"truth_{end}")
    if truth is None:
        return ""
    return f"**{truth['verdict']}**" if end_score(record, end) == "wrong" else str(truth["verdict"])


def _misses(records: Sequence[dict[str, Any]]) -> list[str]:
    lines = []
    for one in records:
        name = f"{_marked(one['product'])}, run {one['run']}"
        if one["status"] != "answered":
            lines.append(f"- {name}: no answer. {' '.join(one['why'].split())[-200:]}")
            continue
        for end, asserted in (("good", "carried"), ("bad", "not carried")):
            if (
                end_score(one, end) in ("wrong", "border")
                or (one.get(f"truth_{end}") or {}).get("verdict") == "no truth"
            ):
                lines.append(
                    f"- {name}: {asserted} at {one[end] * one['declared_per_s']:,.4g}/s; k6: {_told(one, end)}."
                )
        if not is_narrow(one):
            lines.append(f"- {name}: no bracket of 10%: {one['answer']}")
    return lines or ["None."]


def _contradicted(records: Sequence[dict[str, Any]]) -> list[str]:
    lines = ["By the rules of benches/gauntlet/contradictions.py; levels are multiples of the declared load.", ""]
    found = [
        f"- {_marked(one['product'])}, run {one['run']}: {said}"
        for one in records
        for said in one.get("contradictions", [])
    ]
    return [*lines, *(found or ["None."])]


def _told(record: dict[str, Any], end: str) -> str:
    truth = record[f"truth_{end}"]
    return f"{truth['verdict']} ({'; '.join(map(_trial, _trials(truth)))})"


def _trials(truth: dict[str, Any]) -> list[dict[str, Any]]:
    """The trials of an end; of older records the only one."""
    return list(truth.get("trials") or [truth])


def _trial(trial: dict[str, Any]) -> str:
    return (
        f"{trial['verdict']}: {trial['completed_per_s']:,.4g} of {trial['asked_per_s']:,.4g}/s, "
        f"{trial['dropped_share']:.1%} dropped, {trial['failed_share']:.1%} failed, p50 "
        f"{trial['p50_first_third_ms']:,.3g} → {trial['p50_last_third_ms']:,.3g} ms, in flight "
        f"{trial['in_flight_first_half']:,.0f} → {trial['in_flight_end']:,.0f}{_speed(trial)}"
    )


def _speed(trial: dict[str, Any]) -> str:
    """How fast the product's core was beside the search, where both were measured."""
    if not trial.get("core_speed") or not trial.get("searched_speed"):
        return ""
    return f", its core at {trial['core_speed'] / trial['searched_speed']:.0%} of its speed in the search"


def _share(part: int, whole: int) -> str:
    if not whole:
        return "–"
    interval = wilson_interval(part, whole)
    return f"{part} of {whole}: {part / whole:.0%} ({interval.low:.0%} to {interval.high:.0%})"


def _marked(name: str) -> str:
    return f"{name}*" if name in HELD_OUT else name


def _days(records: Sequence[dict[str, Any]]) -> str:
    days = sorted({one["day"] for one in records})
    return " to ".join(sorted({days[0], days[-1]})) if days else "no run yet"


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
