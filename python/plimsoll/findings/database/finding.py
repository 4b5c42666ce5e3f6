"""What takes the database's time? Statements, scanned tables and missing indexes, from the run directory alone.

The events of the PostgreSQL and MySQL probes are read: database_statement (texts), database_step (each step's
differences of the statements' and tables' counters), database_run (the whole run's, of PostgreSQL with index advice,
unused indexes and bloat). A run that was killed has no database_run; its steps are added up then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plimsoll.findings.database.advice import (
    advice_sentence,
    advice_table,
    effect_table,
    measured_words,
    next_steps,
    proofs,
    unanswered_table,
)
from plimsoll.findings.database.before import Effect, effects_of
from plimsoll.findings.database.loads import Loads, loads_of
from plimsoll.findings.database.tables import short, table
from plimsoll.findings.database.without_index import ran_without_index, without_index
from plimsoll.findings.evidence import EVENTS, Evidence, as_data
from plimsoll.words import amount_words, ms_words, number, share_words, size_words

if TYPE_CHECKING:
    from plimsoll.runs.reader import RunReader

QUESTION = "What takes the database's time?"
MOST_STATEMENTS = 12
MOST_SAID = 3
LEAST_SCANNED_ROWS = 10_000
LEAST_BLOAT, LEAST_BLOAT_BYTES = 0.3, 10 * 2**20
LEAST_UNUSED_BYTES = 2**20


def database_findings(run: RunReader, main: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a finding for each database that was watched has of its own; none where none was. `run`: a RunReader;
    `main`: its main finding, which tells the knee."""
    events = run.events()
    sources = list(
        dict.fromkeys(one["source"] for one in events if one.get("kind") in ("database_run", "database_step"))
    )
    found = []
    for source in sources:
        texts = {
            one["id"]: one["text"]
            for one in events
            if one.get("kind") == "database_statement" and one["source"] == source
        }
        whole = [one for one in events if one.get("kind") == "database_run" and one["source"] == source]
        loads = loads_of(events, source, main)
        effects = effects_of(run, source, whole[-1], texts) if whole else []
        finding = _finding(whole[-1] if whole else loads.added_up(), texts, loads, effects)
        label = f" ({source.partition(':')[2]})" if len(sources) > 1 else ""
        found.append({"question": QUESTION.replace("?", f"{label}?")} | finding)
    return found


def _finding(
    whole: Mapping[str, Any], texts: Mapping[str, str], loads: Loads, effects: Sequence[Effect]
) -> dict[str, Any]:
    statements = [
        dict(one) | {"text": texts.get(one["id"], "(its text is not known)")} | loads.change_of(one["id"])
        for one in whole.get("statements") or ()
    ]
    advice, tables = list(whole.get("advice") or ()), loads.with_growth(whole.get("tables") or ())
    return {
        "answer": _answer(whole, statements, advice, tables) + measured_words(effects),
        "facts": _facts(whole, statements, loads),
        "sentences": [_statement_sentence(one) for one in statements[:MOST_SAID]]
        + [advice_sentence(one) for one in advice],
        "tables": [
            _statement_table(statements[:MOST_STATEMENTS], whole, loads),
            effect_table(effects),
            advice_table(advice, texts),
            unanswered_table(whole, advice, texts),
            _scan_table(tables, loads),
            _unused_table(whole),
            _bloat_table(whole),
        ],
        "notes": _notes(whole, loads),
        "next": [*next_steps(whole, advice), *_next_without_index(statements, tables)],
        "evidence": _evidence(whole, statements, loads),
        "database": {
            "server": whole.get("server"),
            "total_ms": whole.get("total_ms"),
            "statements": statements,
            "advice": advice,
            "tables": tables,
            "unused_indexes": list(whole.get("unused_indexes") or ()),
            "bloat": list(whole.get("bloat") or ()),
            "effects": [vars(one) | {"factor": one.factor} for one in effects],
            "half": loads.words(loads.half),
            "top": loads.words(loads.top),
        },
    }


def _evidence(whole: Mapping[str, Any], statements: Sequence[Mapping[str, Any]], loads: Loads) -> list[dict[str, Any]]:
    """The statements and tables whose counters were read, and the steps whose differences are compared."""
    calls = sum(one["calls"] for one in statements)
    about = f"Differences of their counters over the run, {amount_words(calls, 'call')}"
    compared = [(name, load) for name, load in (("Half", loads.half), ("Top", loads.top)) if load is not None]
    return as_data(
        [
            Evidence(len(statements), "statements", EVENTS, about),
            Evidence(len(whole.get("tables") or ()), "tables", EVENTS, "Their counters over the run"),
            *(
                Evidence(
                    load.seconds, "seconds", EVENTS, f"{name} load, its own differences",
                    levels=(load.level, load.level), level_unit=loads.unit,
                )
                for name, load in compared
            ),
        ]
    )  # fmt: skip


def _answer(
    whole: Mapping[str, Any],
    statements: Sequence[Mapping[str, Any]],
    advice: Sequence[Mapping[str, Any]],
    tables: Sequence[Mapping[str, Any]],
) -> str:
    if not statements:
        if not whole.get("total_ms") and "total_ms" in whole:
            return "Nothing: no statement was executed in this database during the run."
        words = f"It cannot be said by statement: {_statistics(whole)} could not be read."
        read = [one for one in tables if one["rows_read"] >= LEAST_SCANNED_ROWS]
        if read:
            rows = number(read[0]["rows_read"])
            words += f" Sequential scans read {rows} rows of {read[0]['table']}, the most of all tables."
        return words
    first = statements[0]
    words = f"One statement takes {share_words(first['share'])} of it"
    few, share = 0, 0.0
    for one in statements:
        few, share = few + 1, share + one["share"]
        if share >= 0.8:
            break
    if few > 1:
        words = f"{few} statements take {share_words(share)} of it, the first {share_words(first['share'])}"
    words += (
        f": {short(first['text'], 120)} (mean {ms_words(first['mean_ms'])}, {amount_words(first['calls'], 'call')})."
    )
    if not advice:
        return words + _without_advice(whole, statements)
    count = f"{len(advice)} missing indexes are named" if len(advice) > 1 else "One missing index is named"
    share = min(1.0, sum({one["id"]: one["share"] for entry in advice for one in entry["statements"]}.values()))
    return f"{words} {count}, for statements with {share_words(share)} of the time, {proofs(advice)}."


def _statistics(whole: Mapping[str, Any]) -> str:
    """What counts the statements."""
    return str(whole.get("statistics") or "pg_stat_statements")


def _without_advice(whole: Mapping[str, Any], statements: Sequence[Mapping[str, Any]]) -> str:
    """Where no index is named: none is missing, or the server only tells which statements used none."""
    if "statistics" not in whole:
        return " No missing index was found for the dearest statements."
    without = [one for one in statements if ran_without_index(one)]
    if not without:
        return " None of the dearest statements ran without an index."
    first, count = without[0], len(without)
    words = f"{count} of the dearest statements ran" if count > 1 else "One of the dearest statements ran"
    each = number(first["rows_examined"] / first["calls"])
    return (
        f" {words} without an index, with {share_words(sum(one['share'] for one in without))} of the time: "
        f"{short(first['text'], 80)} read {each} rows a call."
    )


def _facts(whole: Mapping[str, Any], statements: Sequence[Mapping[str, Any]], loads: Loads) -> list[list[str]]:
    rows = [["Server", str(whole["server"])]] if whole.get("server") else []
    if statements:
        rows.append(["Time of all statements", ms_words(whole["total_ms"])])
        rows.append(["Statements that ran", number(len(whole["statements"]) + int(whole.get("others") or 0))])
    if loads.half is not None and loads.top is not None:
        rows.append(["Compared", f"{loads.words(loads.half)} and {loads.words(loads.top)}"])
    return rows


def _statement_sentence(one: Mapping[str, Any]) -> str:
    words = (
        f"{share_words(one['share'])} of the time, mean {ms_words(one['mean_ms'])}, {number(one['calls'])} calls, "
        f"{number(one['rows'] / one['calls'])} rows each"
    )
    if one.get("mean_top_ms") is not None:
        words += f", {ms_words(one['mean_half_ms'])} → {ms_words(one['mean_top_ms'])} under load"
    if "rows_examined" in one:
        words += f", {number(one['rows_examined'] / one['calls'])} rows read for them"
    if one.get("no_index_calls"):
        words += f", {amount_words(one['no_index_calls'], 'call')} without an index"
    return f"{words}: {short(one['text'], 150)}"


def _statement_table(statements: Sequence[Mapping[str, Any]], whole: Mapping[str, Any], loads: Loads) -> dict[str, Any]:
    compared = loads.half is not None and loads.top is not None
    examined = any("rows_examined" in one for one in statements)
    columns = ["Share of time", "Mean, ms", "Calls", "Rows per call"]
    columns += ["Rows read per call", "Without index"] if examined else ["Blocks per call"]
    columns += [f"Mean at {loads.short(loads.half)}, ms", f"at {loads.short(loads.top)}, ms"] if compared else []
    rows = []
    for one in statements:
        row = [
            share_words(one["share"]),
            number(one["mean_ms"]),
            f"{one['calls']:,}",
            number(one["rows"] / one["calls"]),
        ]
        if examined:
            row.append(number(one.get("rows_examined", 0) / one["calls"]))
            row.append(share_words(one.get("no_index_calls", 0) / one["calls"]))
        else:
            row.append(number((one.get("blocks_hit", 0) + one.get("blocks_read", 0)) / one["calls"]))
        if compared:
            row += [_number_or_none(one.get("mean_half_ms")), _number_or_none(one.get("mean_top_ms"))]
        rows.append([*row, one["text"]])
    rest = max(0.0, 1 - sum(one["share"] for one in statements))
    others = int(whole.get("others") or 0) + max(0, len(whole.get("statements") or ()) - len(statements))
    constants = "?" if "statistics" in whole else "$n"
    note = f"Differences of {_statistics(whole)} over the run, the dearest first; constants are {constants}."
    if others:
        note += f" {others} other statements took {share_words(rest)}."
    return table("Statements", note, [*columns, "Statement"], rows, codes=["Statement"])


def _scan_table(tables: Sequence[Mapping[str, Any]], loads: Loads) -> dict[str, Any]:
    compared = loads.half is not None and loads.top is not None
    counted = all("scans" in one for one in tables)
    columns = ["Table", "Sequential scans", "Rows read", "Rows per scan", "Rows written"]
    columns = columns if counted else ["Table", "Rows read", "Rows written"]
    columns += [f"Rows/s at {loads.short(loads.half)}", f"Rows/s at {loads.short(loads.top)}"] if compared else []
    rows = []
    for one in tables:
        row = [one["table"], number(one["rows_read"]), f"{one['written']:,}"]
        if counted:
            row[1:2] = [f"{one['scans']:,}", number(one["rows_read"]), number(one["rows_per_scan"])]
        if compared:
            row += [_number_or_none(one.get("half_rows_per_s")), _number_or_none(one.get("top_rows_per_s"))]
        rows.append(row)
    note = "Rows read from the beginning of a table to its end; where rows per scan grow, the table grows."
    note = note if counted else "Rows that were read in sequence, without an index."
    return table("Tables read in sequence", note, columns, rows, words=["Table"])


def _unused_table(whole: Mapping[str, Any]) -> dict[str, Any]:
    rows = [
        [one["index"], one["table"], size_words(one["bytes"])]
        for one in whole.get("unused_indexes") or ()
        if one["bytes"] >= LEAST_UNUSED_BYTES
    ]
    since = whole.get("unused_since")
    note = (
        f"No scan since {since or 'the statistics of the database began'}, unique ones left out. Other times of the "
        "month, or a standby, may use them: see there before you drop one."
    )
    return table("Indexes that nothing used", note, ["Index", "Table", "Size"], rows, words=["Index", "Table"])


def _bloat_table(whole: Mapping[str, Any]) -> dict[str, Any]:
    rows = [
        [one["name"], one["kind"], size_words(one["bytes"]), share_words(one["share"]), one["by"]]
        for one in whole.get("bloat") or ()
        if one["share"] >= LEAST_BLOAT and one["bytes"] >= LEAST_BLOAT_BYTES
    ]
    note = (
        "Share of the pages that VACUUM FULL or REINDEX CONCURRENTLY would free; an estimate rests on the widths that "
        "ANALYZE saw."
    )
    return table("Bloat", note, ["Name", "Kind", "Size", "Air", "By"], rows, words=["Name", "Kind", "By"])


def _notes(whole: Mapping[str, Any], loads: Loads) -> list[str]:
    notes = [str(text) for text in [*(whole.get("missing") or ()), *(whole.get("notes") or ())]]
    if whole.get("was_reset"):
        notes.append(f"{_statistics(whole)} was reset during the run: only what came after is counted.")
    if whole.get("evicted") or whole.get("began_anew"):
        count = int(whole.get("evicted") or 0)
        times = f" {count} times" if count else ""
        notes.append(
            f"pg_stat_statements was full and let entries go{times}, so that rare statements are missing: raise "
            "pg_stat_statements.max."
        )
    if whole.get("hidden_calls"):
        notes.append(
            f"{number(whole['hidden_calls'])} calls of other users are hidden from this role: GRANT pg_monitor to it."
        )
    if whole.get("partial"):
        notes.append("The run has no end that was read: its steps are added up, and indexes were not looked for.")
    return notes


def _next_without_index(statements: Sequence[Mapping[str, Any]], tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """What to do for the dearest statements that a server without advice says used no index."""
    found = [(one, without_index([one], one["text"], tables)) for one in statements[:MOST_STATEMENTS]]
    return [
        f"For {short(one['text'], 80)}: {scan.remedy}. Then run the same experiment again, and compare its mean."
        for one, scan in found
        if scan is not None
    ][:MOST_SAID]


def _number_or_none(value: float | None) -> str:
    return "–" if value is None else number(value)
