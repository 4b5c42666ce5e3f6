"""Log files: kinds of lines, rates, first lines without secrets, rotation, truncation, bounded reading."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.files.log_patterns import BUILT_IN, number_in
from plimsoll.probes.files.logs import LogProbe
from plimsoll.study.probes.logs import LogOptions
from plimsoll.study.secrets.redactor import Redactor

LINES = {
    "oom_killer": [
        "[12.3] Out of memory: Killed process 4711 (java) total-vm:8 kB",
        "[12.3] Memory cgroup out of memory: Killed process 4711 (python)",
        "kernel: java invoked oom-killer: gfp_mask=0xcc0",
        "systemd[1]: app.service: A process of this unit has been killed by the OOM killer.",
    ],
    "out_of_memory": [
        "java.lang.OutOfMemoryError: Java heap space",
        "MemoryError",
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
        "fatal error: runtime: out of memory",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "OSError: [Errno 12] Cannot allocate memory",
        "2026-11-22 10:00:00 UTC [7] ERROR:  out of memory",
    ],
    "slow_query": [
        "2026-11-22 10:00:00 UTC [7] LOG:  duration: 1234.567 ms  statement: SELECT 1",
        "# Query_time: 1.234567  Lock_time: 0.000010 Rows_sent: 1",
        '{"t":{},"s":"I","msg":"Slow query","attr":{"type":"command","durationMillis":1234}}',
        "WARN  SqlLog - Slow query took 1234.5 ms: select * from t",
        "SLOW QUERY 1234 ms",
    ],
    "missing_index": [
        "WARN PgUtil Doing LIKE search without index for jsonb->>'title', CQL >>> SQL",
        "Missing index on users.email",
        '{"planSummary":"COLLSCAN"}',
        "query uses no index",
    ],
    "stack_trace": [
        "Traceback (most recent call last):",
        'Exception in thread "main" java.lang.IllegalStateException: closed',
        "org.postgresql.util.PSQLException: ERROR: deadlock detected",
        "java.lang.NullPointerException",
        "panic: runtime error: index out of range",
        "thread 'main' panicked at src/main.rs:4:5:",
        "TypeError: Cannot read properties of undefined",
    ],
    "error_level": [
        "2026-11-22 10:00:00,123 ERROR [http-1] c.e.Shop - no",
        "2026-11-22 10:00:00 UTC [7] FATAL:  sorry, too many clients already",
        'time="2026" level=error msg="no"',
        '{"level":"error","msg":"no"}',
        '{"severity": "CRITICAL"}',
        "[ERROR] no",
    ],
}
INNOCENT = [
    "2026-11-22 10:00:00 INFO 17 errors were corrected, none is left",
    "GET /errors/ERRORS_OF_THE_DAY 200",
    "duration: 17 s",
    "Caused by: java.io.IOException: closed",
    '{"level":"info","msg":"memory is fine"}',
    "the index is not missing",
    "\tat org.example.Exception.main(Exception.java:7)",
]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def probe_of(tmp_path: Path, **options: object) -> LogProbe:
    given = LogOptions.model_validate({"label": "app", "files": ["*.log"], **options})
    return LogProbe(given, tmp_path, Redactor(["hunter2-planted"]), Clock())


def values_of(probe: LogProbe) -> dict[str, float]:
    return {name: value for one in probe.observe() for name, value in one.values.items()}


@pytest.mark.parametrize(("kind", "line"), [(kind, line) for kind, lines in LINES.items() for line in lines])
def test_each_program_s_own_words_are_known(kind: str, line: str) -> None:
    assert len(list(BUILT_IN[kind].matches(f"something else\n{line}\nsomething else\n"))) == 1


@pytest.mark.parametrize("line", INNOCENT)
def test_innocent_lines_are_of_no_kind(line: str) -> None:
    assert [kind for kind, one in BUILT_IN.items() if list(one.matches(f"{line}\n"))] == []


@pytest.mark.parametrize("line", LINES["slow_query"])
def test_slow_queries_tell_their_ms(line: str) -> None:
    [(match, _)] = BUILT_IN["slow_query"].matches(line)
    unit, value = number_in(match)
    assert (unit, value) == ("ms", pytest.approx(1234, abs=1))


def test_only_what_is_new_is_counted_with_rates_and_zeros(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("ERROR before the run\n")
    probe = probe_of(tmp_path, patterns={"deadlock": "deadlock detected", "took": r"took (?P<ms>\d+)ms"})
    assert probe.observe() == ()
    assert values_of(probe)["error_level_per_s"] == 0.0
    with log.open("a") as file:
        file.write("ERROR deadlock detected\nINFO took 30ms\nINFO took 50ms\nERROR not fini")
        file.flush()
        values = values_of(probe)
        assert (values["error_level_per_s"], values["deadlock_per_s"], values["took_per_s"]) == (1.0, 1.0, 2.0)
        assert (values["took_mean_ms"], values["took_max_ms"]) == (40.0, 50.0)
        file.write("shed\n")
    values = values_of(probe)
    assert (values["error_level_per_s"], values["took_per_s"]) == (1.0, 0.0)
    assert "took_mean_ms" not in values
    probe.close()


def test_the_first_line_of_each_kind_is_kept_without_secrets_and_once(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.touch()
    probe = probe_of(tmp_path)
    probe.observe()
    log.write_text(
        "ERROR \x1b[31mlogin\x07 of postgres://u:pw12345@db/x with token=abcdef and hunter2-planted failed "
        + "x" * 1000
        + "\nERROR a second one\n"
    )
    probe.observe()
    [note] = probe.take_notes()
    assert note.startswith(
        "first line of error_level in a.log: ERROR  [31mlogin  of postgres://***@db/x with token=***"
    )
    assert not any(secret in note for secret in ("pw12345", "abcdef", "hunter2", "\x1b", "\x07"))
    assert len(note) < 400
    probe.close()


def test_a_renamed_file_is_read_to_its_end_before_its_successor(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.touch()
    probe = probe_of(tmp_path)
    probe.observe()
    with log.open("a") as old:
        old.write("ERROR 1\n")
        log.rename(tmp_path / "a.log.1")
        old.write("ERROR 2\nERROR without an end")
    log.write_text("ERROR 4\n")
    counts = [values_of(probe)["error_level_per_s"] for _ in range(2)]
    assert counts == [4.0, 0.0]
    assert probe.take_notes() == ["first line of error_level in a.log: ERROR 1"]
    probe.close()


def test_a_file_that_was_renamed_to_a_name_of_the_pattern_is_gone_on_with(tmp_path: Path) -> None:
    log, older = tmp_path / "a.log", tmp_path / "a-1.log"
    log.write_text("ERROR before\n" * 100)
    older.write_text("ERROR long before\n" * 100)
    probe = probe_of(tmp_path)
    probe.observe()
    older.rename(tmp_path / "a-2.log")
    log.rename(older)
    log.write_text("ERROR 1\n")
    with older.open("a") as late, (tmp_path / "a-2.log").open("a") as later:
        late.write("ERROR 2\n")
        later.write("ERROR 3\n")
    assert sum(values_of(probe)["error_level_per_s"] for _ in range(12)) == 3.0
    with older.open("a") as late, log.open("a") as new:
        late.write("ERROR 4\n")
        new.write("ERROR 5\n")
    assert sum(values_of(probe)["error_level_per_s"] for _ in range(12)) == 2.0
    probe.close()


def test_a_file_that_has_no_successor_yet_is_gone_on_with_too(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("ERROR before\n" * 100)
    probe = probe_of(tmp_path)
    probe.observe()
    log.rename(tmp_path / "a-1.log")
    assert sum(values_of(probe)["error_level_per_s"] for _ in range(12)) == 0.0
    log.write_text("ERROR 1\n")
    assert sum(values_of(probe)["error_level_per_s"] for _ in range(12)) == 1.0
    assert probe.take_notes() == ["first line of error_level in a.log: ERROR 1"]
    probe.close()


def test_two_names_of_one_file_count_once(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.touch()
    (tmp_path / "current.log").symlink_to(log)
    probe = probe_of(tmp_path)
    probe.observe()
    log.write_text("ERROR 1\n")
    assert values_of(probe)["error_level_per_s"] == 1.0
    probe.close()


def test_old_lines_of_a_file_that_becomes_readable_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, log = tmp_path / "closed.log", tmp_path / "a.log"
    closed.write_text("ERROR before\n" * 100)
    log.touch()
    opened = Path.open

    def refused(path: Path, *arguments: Any) -> Any:
        if path == closed:
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments)

    monkeypatch.setattr(Path, "open", refused)
    probe = probe_of(tmp_path)
    probe.observe()
    assert probe.take_notes() == ["closed.log cannot be read (Permission denied)."]
    monkeypatch.undo()
    assert sum(values_of(probe)["error_level_per_s"] for _ in range(12)) == 0.0
    with closed.open("a") as file:
        file.write("ERROR 1\n")
    assert values_of(probe)["error_level_per_s"] == 1.0
    probe.close()


def test_a_file_that_was_cut_is_read_from_its_beginning(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("something long before\n" * 10)
    probe = probe_of(tmp_path)
    probe.observe()
    log.write_text("ERROR 1\n")
    assert values_of(probe)["error_level_per_s"] == 1.0
    probe.close()


def test_files_that_come_later_are_read_whole_and_those_that_went_are_told(tmp_path: Path) -> None:
    probe = probe_of(tmp_path)
    with pytest.raises(ProbeUnavailable, match=r"there is no file \*\.log\. Correct `files`"):
        probe.observe()
    log = tmp_path / "new.log"
    log.write_text("ERROR 1\n")
    (tmp_path / "old.log.gz").write_bytes(b"ERROR\n")
    probe.observe()
    log.write_text("ERROR 1\nERROR 2\n")
    assert values_of(probe)["error_level_per_s"] == 1.0
    log.unlink()
    for _ in range(11):
        try:
            probe.observe()
        except ProbeUnavailable:
            break
    assert "new.log is gone." in probe.take_notes()
    probe.close()


def test_more_than_is_read_is_skipped_and_said(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.touch()
    probe = probe_of(tmp_path, most_bytes_per_s=4096)
    probe.observe()
    log.write_text("ERROR skipped\n" * 10_000 + "ERROR the last\n" * 10)
    values = values_of(probe)
    assert values["log_bytes_per_s"] == log.stat().st_size
    assert 0 <= values["log_skipped_bytes_per_s"] - (log.stat().st_size - 4096) < 20
    assert 0 < values["error_level_per_s"] < 300
    assert any(re.search(r"\d KiB/s were skipped, and counts are too low", note) for note in probe.take_notes())
    probe.close()


def test_a_line_without_an_end_does_not_grow_for_ever(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.touch()
    probe = probe_of(tmp_path)
    probe.observe()
    with log.open("a") as file:
        for _ in range(5):
            file.write("x" * 50_000)
            file.flush()
            probe.observe()
    assert len(probe._files[str(log)]._held) <= 64 << 10
    probe.close()
