"""What a database's finding says of missing indexes: those advised, what they brought, and scans without advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.findings.database.before import Effect
from plimsoll.findings.database.index_effect import effect_words, needs_analyze, proof_of
from plimsoll.findings.database.tables import capital, short, table
from plimsoll.words import ms_words, number, share_words

UNKNOWN_INDEX = "(one that it did not use)"
_PROOFS = {
    "executed": "compared by runs with the index",
    "planner": "confirmed by the planner with hypothetical indexes",
    "none": "not proven",
}


def proofs(advice: Sequence[Mapping[str, Any]]) -> str:
    """How many of the indexes rest on what."""
    counts = {proof: sum(proof_of(one) == proof for one in advice) for proof in _PROOFS}
    if max(counts.values()) == len(advice):
        return next(words for proof, words in _PROOFS.items() if counts[proof])
    return ", ".join(f"{counts[proof]} {words}" for proof, words in _PROOFS.items() if counts[proof])


def advice_sentence(one: Mapping[str, Any]) -> str:
    needs = f" First {one['needs']}" if one["needs"] else ""
    words = f"Missing index for {one['serves']} on {one['table']}: {one['sql']}{needs} This is {effect_words(one)}."
    return words + _next_best(one)


def _next_best(one: Mapping[str, Any]) -> str:
    """The best of the others that were compared by the same means."""
    key, unit = ("time_after_ms", " ms") if proof_of(one) == "executed" else ("cost_after", " of cost")
    others = [
        each for each in one.get("alternatives") or () if each["proof"] == proof_of(one) and each[key] is not None
    ]
    if not others:
        return ""
    best = min(others, key=lambda each: each[key])
    keys = best["sql"].replace("CREATE INDEX CONCURRENTLY ", "").rstrip(";")
    return f" The next best of those compared is {keys}: {number(best[key])}{unit}."


def advice_table(advice: Sequence[Mapping[str, Any]], texts: Mapping[str, str]) -> dict[str, Any]:
    rows = [
        [
            share_words(one["share"]),
            one["sql"] + (f" -- first {one['needs']}" if one["needs"] else ""),
            one["serves"],
            effect_words(one),
            f"{one['rows_written']:,}",
        ]
        for one in advice
    ]
    note = (
        "Share: of the statements that each would serve. A planner's cost is no time: create one, run again, compare. "
        "Each index is kept up to date with every row written (counted in this run where the table was also scanned)."
    )
    columns = ["Share of time", "Index", "For", "Effect", "Rows written"]
    return table("Missing indexes", note, columns, rows, words=["For", "Effect"], codes=["Index"])


def measured_words(effects: Sequence[Effect]) -> str:
    """The measured effect of indexes that were advised, for the answer."""
    if not effects:
        return ""
    best = max(effects, key=lambda one: one.factor)
    count = len({one.sql or one.statement for one in effects})
    if not best.sql:
        uses = "One statement uses an index now that" if count == 1 else f"{count} statements use an index now that"
        return (
            f" {uses} used none in run {best.run}: the mean of the one that gained most went from "
            f"{ms_words(best.before_ms)} to {ms_words(best.after_ms)}."
        )
    made = (
        "An index that was advised is there now" if count == 1 else f"{count} indexes that were advised are there now"
    )
    return (
        f" {made} (run {best.run} had none): the mean of the statement that gained most went from "
        f"{ms_words(best.before_ms)} to {ms_words(best.after_ms)}."
    )


def effect_table(effects: Sequence[Effect]) -> dict[str, Any]:
    rows = [
        [
            one.sql or UNKNOWN_INDEX, number(one.before_ms), f"{one.calls_before:,}", number(one.after_ms),
            f"{one.calls_after:,}", number(one.factor), _predicted_words(one.predicted), one.text,
        ]
        for one in effects
    ]  # fmt: skip
    earlier = f" {effects[0].run}" if effects else ""
    title = "Measured effect of advised indexes"
    note = f"Indexes that the earlier run{earlier} advised and that are there now: the same statements in both runs."
    if any(not one.sql for one in effects):
        title = "Measured effect of indexes"
        note = f"Statements that used no index in the earlier run{earlier} and use one now."
    columns = ["Index", "Mean before, ms", "Calls", "Mean now, ms", "Calls now", "Times less", "Predicted", "Statement"]
    return table(title, note, columns, rows, words=["Predicted"], codes=["Index", "Statement"])


def _predicted_words(item: Mapping[str, Any]) -> str:
    if item.get("time_after_ms") is not None:
        return f"{ms_words(item['time_before_ms'])} → {ms_words(item['time_after_ms'])} in a run"
    if item.get("cost_after") is None:
        return "less (not proven)"
    return f"cost {number(item['cost_before'])} → {number(item['cost_after'])}"


def unanswered_table(
    whole: Mapping[str, Any], advice: Sequence[Mapping[str, Any]], texts: Mapping[str, str]
) -> dict[str, Any]:
    rows = []
    for plan in whole.get("plans") or ():
        text = short(texts.get(plan["id"], ""), 200)
        if plan.get("note"):
            rows.append([text, "", plan["note"]])
        rows += [[text, scan["table"], f"{capital(scan['why'])}."] for scan in plan["scans"] if scan.get("why")]
    note = (
        "Tables that the dearest statements read in sequence, or by an index that gives many more rows than they need, "
        "and why no index is named."
    )
    return table(
        "Scans without advice", note, ["Statement", "Table", "Why"], rows, words=["Table", "Why"], codes=["Statement"]
    )


def next_steps(whole: Mapping[str, Any], advice: Sequence[Mapping[str, Any]]) -> list[str]:
    steps = []
    for one in advice[:5]:
        first = f"{one['needs']} " if one["needs"] else ""
        analyze = f" ANALYZE {one['table']};" if needs_analyze(one["sql"]) else ""
        steps.append(
            f"Run {first}{one['sql']}{analyze} then the same experiment again, and compare the statement's mean."
        )
    if advice and not whole.get("hypopg"):
        steps.append("To have B-tree indexes put before the planner, install hypopg and run CREATE EXTENSION hypopg;")
    if any(proof_of(one) != "executed" for one in advice):
        steps.append(
            "To have indexes proven by runs, name a database of the same data as trial_dsn (docs/probes/postgresql.md)."
        )
    return steps
