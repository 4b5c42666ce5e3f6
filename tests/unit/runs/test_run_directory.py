"""Writing and reading run directories, also of killed writers and on disks that take no more."""

from __future__ import annotations

import errno
import itertools
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from writing_process import one_second

from plimsoll.errors import RunDirectoryError
from plimsoll.runs import RunFacts, RunReader, RunWriter, latest, list_runs
from plimsoll.runs.directory import LineFile, is_being_written, json_text, try_lock
from plimsoll.runs.format.lines import unpacked
from plimsoll.runs.format.tables import write_tables
from plimsoll.study import Redactor
from plimsoll.verbs.session import finish

WRITER = Path(__file__).with_name("writing_process.py")


def write_run(root: Path, seconds: int = 20, **facts) -> RunWriter:
    writer = RunWriter.create(root, RunFacts("capacity", t0_unix=1e9, **facts), clock=lambda: 1e9 + 100)
    for second in range(seconds):
        writer.append_snapshot(one_second(second))
        row = {"t_unix": 1e9 + second, "second": second, "source": "host", "values": {"cpu_share": second / 100}}
        writer.append_resource(row)
    writer.append_event("level", second=3, level=100)
    return writer


def test_a_finished_run_reads_back_as_written(tmp_path):
    writer = write_run(tmp_path, seed=7, options={"width": 0.1}, level_unit="users")
    writer.write_findings([{"schema": 1, "answer": "168 users"}])
    writer.finish()
    reader = RunReader(writer.path)
    assert re.fullmatch(r"20010909-014820-capacity-[0-9a-f]{4}", writer.path.name)
    assert reader.state == "finished"
    assert reader.manifest["schema"] == 1
    assert (reader.manifest["seed"], reader.manifest["ended_unix"]) == (7, 1e9 + 100)
    assert "hostname" not in json.dumps(reader.manifest)
    assert list(reader.snapshots()) == [one_second(second) for second in range(20)]
    assert reader.events("level") == [{"t_unix": 1e9 + 3, "second": 3, "kind": "level", "level": 100}]
    assert reader.findings()[0]["answer"] == "168 users"
    assert reader.operations() == ("a",)
    assert reader.requests() == ("GET /",)


def test_tables_are_the_same_from_columns_and_from_lines(tmp_path):
    writer = write_run(tmp_path)
    live = RunReader(writer.path)
    before = [live.seconds_table(), live.series_table(), live.resources_table()]
    writer.finish()
    reader = RunReader(writer.path)
    after = [reader.seconds_table(), reader.series_table(), reader.resources_table()]
    for one, other in zip(before, after, strict=True):
        assert one.to_pylist() == other.to_pylist()
    assert before[0].num_rows == before[1].num_rows == before[2].num_rows == 20


def test_a_finished_run_without_its_lines_is_read_from_its_columns(tmp_path):
    writer = write_run(tmp_path)
    writer.finish()
    (writer.path / "series.jsonl.zst").unlink()
    reader = RunReader(writer.path)
    assert list(reader.snapshots()) == [one_second(second) for second in range(20)]
    assert [one.second for one in reader.snapshots(5, 8)] == [5, 6, 7]


def test_duckdb_reads_the_columns_as_they_are(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    writer = write_run(tmp_path)
    writer.finish()
    query = f"SELECT scenario, sum(count), sum(list_sum(bucket_count)) FROM '{writer.path}/series.parquet' GROUP BY 1"
    expected = sum(1 + second % 5 for second in range(20))
    with duckdb.connect() as connection:
        assert connection.execute(query).fetchall() == [("a", expected, expected)]


@pytest.mark.parametrize(("start", "end"), [(0, 5), (3, 12), (7.5, 9), (15, None), (None, 4), (30, 40), (5, 5)])
def test_a_histogram_over_a_window_holds_that_window_only(tmp_path, start, end):
    writer = write_run(tmp_path)
    reader = RunReader(writer.path)
    inside = [s for s in range(20) if (start is None or s >= start) and (end is None or s < end)]
    for _ in range(2):  # the second time by the index of lines
        histogram = reader.histogram("http_req_duration", operation="a", from_s=start, to_s=end)
        assert histogram.count == sum(1 + second % 5 for second in inside)
    assert reader.histogram("http_req_duration", operation="b").count == 0
    writer.finish()


def test_a_live_reader_sees_the_lines_added_since(tmp_path):
    writer = write_run(tmp_path, seconds=5)
    reader = RunReader(writer.path)
    assert reader.state == "running"
    assert len(list(reader.snapshots())) == 5
    writer.append_snapshot(one_second(5))
    assert [one.second for one in reader.snapshots(from_s=4)] == [4, 5]
    writer.finish("interrupted")
    assert RunReader(writer.path).state == "interrupted"


def test_columns_of_load_and_resources_come_as_arrays(tmp_path):
    writer = write_run(tmp_path)
    reader = RunReader(writer.path)
    columns = reader.per_second("planned", "level")
    assert columns["planned"].tolist() == list(range(20))
    seconds, values = reader.resource("host", "cpu_share")
    assert values == pytest.approx(np.arange(20) / 100)
    assert seconds.shape == (20,)
    assert reader.resource("host", "nothing")[0].shape == (0,)
    writer.finish()


@pytest.mark.parametrize("attempt", range(6))
def test_a_writer_killed_at_any_moment_leaves_a_readable_run(tmp_path, attempt):
    command = [sys.executable, str(WRITER), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        path = Path(process.stdout.readline().strip())
        time.sleep(random.Random(attempt).uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
    reader = RunReader(path)
    assert reader.state == "killed"
    read = list(reader.snapshots())
    assert read == [one_second(second) for second in range(len(read))]
    assert reader.resources_table().num_rows in (len(read), len(read) - 1, len(read) + 1)
    assert all(event["kind"] == "level" for event in reader.events())
    assert isinstance(reader.findings(), list)
    assert latest(tmp_path) == path


def test_tables_that_a_run_left_out_are_made_later_and_tell_how_far_they_are(tmp_path):
    writer = RunWriter.create(tmp_path, RunFacts("run"), tables=False)
    for second in range(4):
        writer.append_snapshot(one_second(second))
    writer.finish()
    assert not list(writer.path.glob("*.parquet"))
    from_lines = RunReader(writer.path).series_table()
    told = []
    write_tables(writer.path, lambda what, share: told.append(share))
    assert told == [0.0, 0.25, 0.5, 0.75]
    assert len(list(writer.path.glob("*.parquet"))) == 3
    assert RunReader(writer.path).series_table().equals(from_lines)


def test_the_end_of_a_run_tells_how_far_its_tables_are(tmp_path, monkeypatch):
    monkeypatch.setattr("plimsoll.verbs.session.TELL_EVERY_S", 0.0)
    writer = RunWriter.create(tmp_path, RunFacts("hold"))
    for second in range(4):
        writer.append_snapshot(one_second(second))
    told = []
    finish(writer, [], "finished", told.append)
    assert told[:2] == ["writing the Parquet tables: 0%", "writing the Parquet tables: 25%"]


@pytest.mark.parametrize("cut", [1, 2, 10, 20])
def test_a_torn_last_line_is_ignored(tmp_path, cut):
    writer = write_run(tmp_path, seconds=4)
    file = writer.path / "series.jsonl.zst"
    os.close(writer._series._handle)  # as of a writer that was killed
    writer._series._handle = -1
    os.truncate(file, file.stat().st_size - cut)
    assert [one.second for one in RunReader(writer.path).snapshots()] == [0, 1, 2]
    writer.finish("failed")
    assert RunReader(writer.path).seconds_table().num_rows == 3


def test_a_full_disk_is_told_with_the_next_step_and_leaves_whole_lines(tmp_path):
    script = f"""
import resource, sys
sys.path.insert(0, {str(WRITER.parent)!r})
from writing_process import one_second
from plimsoll.runs import RunFacts, RunWriter
from plimsoll.errors import RunDirectoryError
writer = RunWriter.create({str(tmp_path)!r}, RunFacts("hold"))
resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
try:
    for second in range(1000):
        writer.append_snapshot(one_second(second))
except RunDirectoryError as error:
    print(second, error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    written, _, message = done.stdout.partition(" ")
    assert "cannot write" in message
    assert "choose another place with --runs" in message
    reader = RunReader(latest(tmp_path))
    assert len(list(reader.snapshots())) == int(written) > 0
    assert unpacked(reader.path / "series.jsonl.zst").endswith(b"\n")


def test_the_device_that_is_always_full_is_told_so():
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    file = LineFile(Path("/dev/full"))
    with pytest.raises(RunDirectoryError, match="Free some disk space"):
        file.append({"second": 1})
    file.close()


def test_a_place_that_is_a_file_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunDirectoryError, match="choose another place"):
        RunWriter.create(tmp_path / "file" / "runs", RunFacts("hold"))


@pytest.mark.parametrize(
    ("number", "step"), [(errno.EROFS, "Read-only"), (errno.EACCES, "permissions"), (errno.EIO, "disk")]
)
def test_a_place_that_refuses_is_told_with_the_next_step(tmp_path, monkeypatch, number, step):
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(RunDirectoryError, match=f"{step}.*[Cc]hoose another place"):
        RunWriter.create(tmp_path / "runs", RunFacts("hold"))


def test_what_is_no_run_directory_is_told(tmp_path):
    with pytest.raises(RunDirectoryError, match="not a run directory"):
        RunReader(tmp_path)
    (tmp_path / "manifest.json").write_text('{"schema": 99}')
    with pytest.raises(RunDirectoryError, match="schema 99"):
        RunReader(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(RunDirectoryError, match="not valid JSON"):
        RunReader(tmp_path)


def test_the_latest_run_is_found_and_none_is_told(tmp_path):
    with pytest.raises(RunDirectoryError, match="no run"):
        latest(tmp_path / "none")
    paths = []
    for now in (1e9, 1e9 + 5, 1e9 + 2):
        writer = RunWriter.create(tmp_path, RunFacts("hold"), clock=lambda now=now: now)
        writer.finish()
        paths.append(writer.path)
    (tmp_path / "something else").mkdir()
    assert latest(tmp_path) == paths[1]
    assert list_runs(tmp_path) == [paths[0], paths[2], paths[1]]


def test_runs_of_one_second_are_listed_as_they_began_whatever_they_are(tmp_path):
    began = []
    for now, experiment in ((1e9 + 0.25, "run"), (1e9 + 0.375, "hold"), (1e9 + 0.5, "a-study"), (1e9 + 0.75, "drain")):
        writer = RunWriter.create(tmp_path, RunFacts(experiment), clock=lambda now=now: now)
        writer.finish()
        began.append(writer.path)
    assert [path.name[-4:] for path in began] == ["4000", "6000", "8000", "c000"]
    assert latest(tmp_path) == began[-1]
    again = [RunWriter.create(tmp_path, RunFacts("run"), clock=lambda: 1e9 + 0.99999) for _ in range(3)]
    for writer in again:
        writer.finish()
    assert list_runs(tmp_path)[-3:] == [writer.path for writer in again]
    assert again[-1].path.name[:15] == "20010909-014641"


@pytest.mark.parametrize(
    ("error", "status"), [(None, "finished"), (KeyboardInterrupt, "interrupted"), (OSError, "failed")]
)
def test_leaving_the_block_records_the_outcome(tmp_path, error, status):
    try:
        with RunWriter.create(tmp_path, RunFacts("hold")) as writer:
            if error is not None:
                raise error
    except (KeyboardInterrupt, OSError):
        pass
    assert RunReader(writer.path).state == status
    with pytest.raises(RunDirectoryError, match="has ended"):
        writer.append_event("note")
    writer.finish("failed")
    assert RunReader(writer.path).state == status


def test_secrets_reach_no_file_of_the_run(tmp_path):
    secret = "s3cr3tword"
    study = {
        "target": {"environment": {"ANYTHING": secret + "-env"}, "start": f"run --password {secret}"},
        "db": {"dsn": f"postgres://u:{secret}@h/d"},
    }
    writer = RunWriter.create(tmp_path, RunFacts("hold", study=study, options={"token": secret}))
    tags = {"name": f"http://h/?token={secret}", "scenario": "a"}
    series = {"metric": "http_reqs", "kind": "counter", "tags": tags, "value": 1}
    writer.append_snapshot({"second": 0, "series": [series]})
    writer.append_event("error", message=f"login with {secret} failed")
    writer.write_findings([{"evidence": f"cookie={secret}"}])
    writer.finish()
    for path in writer.path.rglob("*"):
        assert not path.is_file() or secret.encode() not in unpacked(path), path.name
    assert writer.redactor.text(secret) == "***"
    assert isinstance(writer.redactor, Redactor)


def test_several_threads_write_whole_lines(tmp_path):
    writer = RunWriter.create(tmp_path, RunFacts("hold"))
    rows = [{"t_unix": 0, "second": i, "source": "x" * 500, "values": {"v": i}} for i in range(200)]
    threads = [threading.Thread(target=lambda: [writer.append_resource(row) for row in rows]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(RunReader(writer.path).resources())) == 800
    writer.finish()


def test_numbers_that_json_cannot_hold_become_null():
    data = {"a": math.inf, "b": [np.float64(1.5), math.nan], "c": np.arange(2), "d": Path("x"), "e": (1, 2)}
    assert json.loads(json_text(data)) == {"a": None, "b": [1.5, None], "c": [0, 1], "d": "x", "e": [1, 2]}


def test_the_manifest_is_never_seen_half_written(tmp_path):
    writer = RunWriter.create(tmp_path, RunFacts("hold"))
    stop = threading.Event()

    def rewrite() -> None:
        for number in itertools.count():
            if stop.is_set():
                return
            writer.set_t0(float(number))

    thread = threading.Thread(target=rewrite)
    thread.start()
    try:
        for _ in range(100):
            assert RunReader(writer.path).manifest["schema"] == 1
    finally:
        stop.set()
        thread.join()
    writer.finish()
    assert not [path for path in writer.path.iterdir() if path.name.startswith(".")]


def test_open_files_are_closed_after_a_run(tmp_path):
    before = psutil.Process().num_fds()
    for _ in range(5):
        write_run(tmp_path, seconds=2).finish()
    assert psutil.Process().num_fds() <= before + 1


def test_who_looks_at_the_first_instant_does_not_take_the_lock_from_the_writer(tmp_path: Path) -> None:
    """Whoever asks whether a file is being written holds its lock for an instant."""
    path = tmp_path / "lines.jsonl"
    path.touch()
    looking = os.open(path, os.O_RDONLY)
    assert try_lock(looking, shared=True)
    threading.Timer(0.02, os.close, [looking]).start()
    writer = LineFile(path)
    assert is_being_written(path)
    writer.close()
    assert not is_being_written(path)
