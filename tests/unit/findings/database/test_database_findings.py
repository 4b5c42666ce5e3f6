"""What the events of a database become: ranking, change between loads, advice, notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from findings_as_json import checked

from plimsoll.findings.beside.further import findings_beside
from plimsoll.findings.database.index_effect import effect_words, needs_analyze
from plimsoll.report.finding_view import view
from plimsoll.report.text import answer_lines
from plimsoll.runs.reader import RunReader
from plimsoll.runs.writer import RunFacts, RunWriter

SOURCE = "postgresql:shop"


class Run:
    """The part of a RunReader that is read."""

    path = Path("runs/x")

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self._events = events
        self.manifest = {"experiment": "capacity"}

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        return self._events


def statement(key: str, share: float, mean_ms: float, calls: int = 100, **more: Any) -> dict[str, Any]:
    return {
        "id": key, "share": share, "mean_ms": mean_ms, "calls": calls, "total_ms": mean_ms * calls, "rows": 5 * calls,
    } | more  # fmt: skip


def step(
    level: float, start: float, statements: list[dict], verdict: str = "good", rows: int = 1000, **more: Any
) -> list:
    table = {"table": "public.item", "scans": 10, "rows_read": rows, "rows_per_scan": rows / 10, "written": 0}
    found = {"source": SOURCE, "statements": statements, "total_ms": 100.0, "tables": [table] if rows else []}
    return [
        {"kind": "step_started", "second": start, "level": level},
        {"kind": "step_ended", "second": start + 10, "level": level, "end_s": start + 10, "verdict": verdict, **more},
        {"kind": "database_step", "second": start + 10, **found},
    ]


def advice(**more: Any) -> dict[str, Any]:
    return {
        "sql": "CREATE INDEX CONCURRENTLY ON public.item USING btree (customer);", "table": "public.item",
        "method": "btree", "serves": "equality", "share": 0.7, "proven": True, "why_unproven": "",
        "table_rows": 200_000.0, "kept_share": 0.002, "is_order": False, "rows_written": 12, "needs": "",
        "statements": [{"id": "1", "share": 0.7, "cost_before": 5000.0, "cost_after": 8.0}],
    } | more  # fmt: skip


def whole(**more: Any) -> dict[str, Any]:
    return {
        "kind": "database_run", "second": 60.0, "source": SOURCE, "server": "PostgreSQL 15.4", "total_ms": 40_000.0,
        "statements": [statement("1", 0.7, 280.0), statement("2", 0.2, 2.0, 4000)], "others": 3, "hypopg": True,
        "tables": [
            {"table": "public.item", "scans": 100, "rows_read": 20_000_000, "rows_per_scan": 200_000, "written": 12}
        ],
        "advice": [advice()], "plans": [], "notes": [], "missing": [], "unused_indexes": [], "bloat": [],
    } | more  # fmt: skip


TEXTS = [
    {"kind": "database_statement", "source": SOURCE, "id": "1", "text": "SELECT * FROM item WHERE customer = $1"},
    {"kind": "database_statement", "source": SOURCE, "id": "2", "text": "SELECT * FROM item WHERE id = $1"},
]
BEGUN = {"kind": "experiment_started", "second": 0.0, "unit": "users"}
STEPS = [
    *step(100, 0, [statement("1", 0.7, 100.0), statement("2", 0.2, 1.0)], rows=1000),
    *step(200, 20, [statement("1", 0.7, 300.0), statement("2", 0.2, 1.1)], rows=4000),
    *step(400, 40, [statement("1", 0.7, 900.0)], "bad", rows=9000),
]
MAIN = {"experiment": "capacity", "status": "finished", "capacity": {"knee": 210.0}, "run": "runs/x"}


def found_of(*events: dict[str, Any], main: dict[str, Any] = MAIN) -> dict[str, Any]:
    [finding] = checked(findings_beside(Run([BEGUN, *TEXTS, *events]), [main]))
    return finding


def test_a_run_without_a_database_has_no_such_finding():
    assert findings_beside(Run([BEGUN]), [MAIN]) == []


def test_the_dearest_statement_and_its_index_are_the_answer():
    finding = found_of(*STEPS, whole())
    assert finding["question"] == "What takes the database's time?"
    assert finding["answer"].startswith(
        "2 statements take 90% of it, the first 70%: SELECT * FROM item WHERE customer = $1"
    )
    assert (
        "One missing index is named, for statements with 70% of the time, confirmed by the planner" in finding["answer"]
    )
    assert "CREATE INDEX CONCURRENTLY ON public.item USING btree (customer);" in finding["next"][0]


def test_statements_and_tables_are_compared_at_half_of_the_knee_and_at_the_knee():
    finding = found_of(*STEPS, whole())
    first = finding["database"]["statements"][0]
    assert (first["mean_half_ms"], first["mean_top_ms"]) == (100.0, 300.0)
    assert (finding["database"]["half"], finding["database"]["top"]) == ("100 users", "200 users")
    table = finding["database"]["tables"][0]
    assert (table["half_rows_per_s"], table["top_rows_per_s"]) == (100.0, 400.0)


def test_without_a_knee_the_highest_level_that_was_carried_counts():
    finding = found_of(*STEPS, whole(), main=MAIN | {"capacity": {"knee": None}})
    assert finding["database"]["top"] == "200 users"


def test_a_hold_compares_with_one_user_alone():
    alone = step(1, 0, [statement("1", 0.7, 90.0)], "undecided", step_kind="baseline")
    held = step(50, 20, [statement("1", 0.7, 110.0)], "undecided", step_kind="expected")
    finding = found_of(*alone, *held, whole(), main={"experiment": "hold", "status": "finished"})
    assert finding["database"]["half"] == "one user alone"
    assert finding["database"]["statements"][0]["mean_half_ms"] == 90.0


def test_a_killed_run_adds_its_steps_up():
    finding = found_of(*STEPS)
    first = finding["database"]["statements"][0]
    assert (first["calls"], first["mean_ms"]) == (300, pytest.approx(1300 / 3))
    assert any("its steps are added up" in note for note in finding["notes"])
    assert finding["database"]["tables"][0]["rows_read"] == 14_000


def test_without_statements_the_scanned_table_is_told_and_what_is_missing():
    sentence = "No statements: the extension pg_stat_statements is not there."
    event = {
        key: value
        for key, value in whole(missing=[sentence], advice=[]).items()
        if key not in ("statements", "total_ms")
    }
    finding = found_of(event)
    assert "pg_stat_statements could not be read" in finding["answer"]
    assert "20,000,000 rows of public.item" in finding["answer"]
    assert sentence in finding["notes"]


def test_an_idle_database_is_told_as_such():
    assert "no statement was executed" in found_of(whole(statements=[], total_ms=0.0, advice=[], tables=[]))["answer"]


RUN = {
    "id": "1", "share": 0.7, "cost_before": 5000.0, "cost_after": 8.0, "time_before_ms": 93.0, "time_after_ms": 7.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {},
            "not proven by a run. The planner's cost with a hypothetical index falls from 5,000 to 8, a factor of 625",
        ),
        (
            {"proof": "executed", "values": "drawn", "statements": [RUN]},
            "not proven for the application's own values; with values of the table's rows a run of it takes 93 ms",
        ),
        (
            {"proof": "executed", "statements": [RUN], "together_with": ["CREATE INDEX b;"]},
            "7 ms with it and CREATE INDEX b, a factor of 13.3",
        ),
        (
            {"proven": False, "why_unproven": "no hypopg"},
            "not proven: no hypopg; expected is that it reads about 0.2% of its 200,000 rows",
        ),
        (
            {"proven": False, "why_unproven": "x", "is_order": True},
            "in place of reading and sorting all of its 200,000 rows",
        ),
    ],
)  # fmt: skip
def test_the_effect_says_what_it_rests_on(more: dict[str, Any], words: str):
    assert words in effect_words(advice(**more))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"was_reset": True}, "was reset during the run"),
        ({"evicted": 3}, "let entries go 3 times"),
        ({"hidden_calls": 40}, "40 calls of other users are hidden"),
        ({"notes": ["3 statements were not planned"]}, "3 statements were not planned"),
    ],
)
def test_what_spoils_the_numbers_is_noted(more: dict[str, Any], words: str):
    assert any(words in note for note in found_of(whole(**more))["notes"])


def a_run(root: Path, started: float, event: dict[str, Any], experiment: str = "hold") -> RunReader:
    """A finished run directory with one database_run."""
    with RunWriter.create(root, RunFacts(experiment), clock=lambda: started, tables=False) as writer:
        for one in [*TEXTS, event]:
            details = {key: value for key, value in one.items() if key not in ("kind", "second")}
            writer.append_event(one["kind"], **details)
    return RunReader(writer.path)


MADE = ["CREATE INDEX item_customer_idx ON public.item USING btree (customer)"]
FASTER = [statement("1", 0.1, 0.4, 900), statement("2", 0.9, 2.0, 4000)]


def test_a_second_run_measures_what_the_index_that_the_first_advised_has_brought(tmp_path: Path):
    a_run(tmp_path, 1000.0, whole(indexes=[]))
    second = a_run(tmp_path, 2000.0, whole(indexes=MADE, advice=[], statements=FASTER))
    [finding] = checked(findings_beside(second, [MAIN]))
    assert "An index that was advised is there now" in finding["answer"]
    assert "from 280 ms to 0.4 ms" in finding["answer"]
    [effect] = finding["database"]["effects"]
    assert (effect["before_ms"], effect["after_ms"], effect["factor"]) == (280.0, 0.4, pytest.approx(700))
    [table] = [table for table in view(finding).tables if table.title == "Measured effect of advised indexes"]
    assert table.rows[0][1:] == ["280", "100", "0.4", "900", "700", "cost 5,000 → 8", TEXTS[0]["text"]]


@pytest.mark.parametrize(
    ("first", "second", "experiment"),
    [
        ({"indexes": []}, {"indexes": ["CREATE INDEX x ON public.item USING btree (state)"]}, "hold"),
        ({"indexes": MADE}, {"indexes": MADE}, "hold"),
        ({"indexes": [], "advice": []}, {"indexes": MADE}, "hold"),
        ({"indexes": []}, {"indexes": MADE}, "capacity"),
    ],
)
def test_no_effect_is_claimed_for_another_index_or_another_kind_of_run(
    tmp_path: Path, first: dict, second: dict, experiment: str
):
    a_run(tmp_path, 1000.0, whole(**first))
    later = a_run(tmp_path, 2000.0, whole(advice=[], statements=FASTER) | second, experiment)
    assert findings_beside(later, [MAIN])[0]["database"]["effects"] == []


def of_mariadb(*statements: dict[str, Any]) -> dict[str, Any]:
    """The database_run of a probe of MariaDB."""
    return {
        "kind": "database_run", "second": 60.0, "source": SOURCE, "server": "MariaDB 10.11.6", "total_ms": 40_000.0,
        "statements": list(statements), "others": 0, "statistics": "performance_schema", "notes": [], "missing": [],
        "tables": [{"table": "item", "rows_read": 20_000_000, "written": 0}],
    }  # fmt: skip


WITHOUT_INDEX = statement("1", 0.7, 280.0, rows_examined=100 * 200_000, no_index_calls=100)


def test_of_mariadb_the_statement_without_an_index_is_the_next_step():
    event = of_mariadb(WITHOUT_INDEX, statement("2", 0.2, 2.0))
    texts = [{**TEXTS[0], "text": "SELECT `id` FROM `item` WHERE `customer` = ?"}]
    [finding] = checked(findings_beside(Run([BEGUN, *texts, event]), [MAIN]))
    [step] = finding["next"]
    assert step.startswith("For SELECT `id` FROM `item` WHERE `customer` = ?: run ALTER TABLE `item` ADD INDEX")


def test_of_mariadb_a_second_run_measures_what_a_statement_gained_that_uses_an_index_now(tmp_path: Path):
    other = statement("2", 0.2, 90.0, rows_examined=100 * 5_000, no_index_calls=100)
    a_run(tmp_path, 1000.0, of_mariadb(WITHOUT_INDEX, other))
    second = a_run(tmp_path, 2000.0, of_mariadb(statement("1", 0.1, 0.4, 900, rows_examined=4_500), other))
    [finding] = checked(findings_beside(second, [MAIN]))
    assert "One statement uses an index now that used none in run" in finding["answer"]
    assert "from 280 ms to 0.4 ms" in finding["answer"]
    [effect] = finding["database"]["effects"]
    assert (effect["statement"], effect["sql"], effect["factor"]) == ("1", "", pytest.approx(700))
    [table] = [table for table in view(finding).tables if table.title == "Measured effect of indexes"]
    assert table.rows[0][:3] == ["(one that it did not use)", "280", "100"]
    third = a_run(tmp_path, 3000.0, of_mariadb(WITHOUT_INDEX, other))
    assert findings_beside(third, [MAIN])[0]["database"]["effects"] == []


def test_an_earlier_run_does_not_look_at_later_ones(tmp_path: Path):
    first = a_run(tmp_path, 1000.0, whole(indexes=MADE, advice=[]))
    a_run(tmp_path, 2000.0, whole(indexes=[]))
    assert findings_beside(first, [MAIN])[0]["database"]["effects"] == []


def test_two_databases_are_two_findings_with_their_labels():
    second = whole() | {"source": "postgresql:audit"}
    questions = [one["question"] for one in findings_beside(Run([BEGUN, *TEXTS, whole(), second]), [MAIN])]
    assert questions == ["What takes the database's time (shop)?", "What takes the database's time (audit)?"]


def test_the_report_shows_its_tables_and_the_terminal_its_sentences():
    finding = found_of(
        *STEPS,
        whole(
            plans=[{"id": "2", "scans": [{"table": "public.item", "why": "no index would pay"}]}],
            unused_indexes=[{"index": "public.old", "table": "public.item", "bytes": 5 * 2**20}],
            bloat=[{"name": "public.item", "kind": "table", "bytes": 90 * 2**20, "share": 0.6, "by": "pgstattuple"}],
        ),
    )
    shown = {table.title: table for table in view(finding).tables if table.rows}
    assert list(shown) == [
        "Statements", "Missing indexes", "Scans without advice", "Tables read in sequence",
        "Indexes that nothing used", "Bloat",
    ]  # fmt: skip
    assert shown["Statements"].rows[0][-1] == "SELECT * FROM item WHERE customer = $1"
    assert shown["Bloat"].rows == [["public.item", "table", "90 MiB", "60%", "pgstattuple"]]
    text = answer_lines([finding])
    assert "100 ms → 300 ms" in text
    assert "Missing index for equality on public.item" in text


@pytest.mark.parametrize(
    ("keys", "needed"),
    [
        ("btree (customer)", False),
        ("btree (customer, created DESC)", False),
        ("gin (name gin_trgm_ops)", False),
        ("btree (customer) WHERE (state = 'open'::text)", False),
        ("btree ((lower(email)))", True),
        ("btree (state, (lower(email))) WHERE (gone IS NULL)", True),
    ],
)
def test_only_an_expression_needs_an_analyze(keys: str, needed: bool):
    assert needs_analyze(f"CREATE INDEX CONCURRENTLY ON public.item USING {keys};") is needed


def test_the_next_best_index_is_named_with_what_it_was_compared_by():
    other = {"sql": "CREATE INDEX CONCURRENTLY ON public.item USING btree (state);", "cost_after": 90.0}
    others = [other | {"proof": "planner", "time_after_ms": None}]
    [sentence] = [
        text for text in found_of(whole(advice=[advice(alternatives=others)]))["sentences"] if "Missing" in text
    ]
    assert sentence.endswith("The next best of those compared is ON public.item USING btree (state): 90 of cost.")
    ran = [other | {"proof": "executed", "time_after_ms": 12.5}]
    made = advice(proof="executed", statements=[RUN], alternatives=ran)
    [sentence] = [text for text in found_of(whole(advice=[made]))["sentences"] if "Missing" in text]
    assert sentence.endswith("btree (state): 12.5 ms.")
