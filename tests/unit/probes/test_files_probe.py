"""Sizes of files and folders: sparse files, SQLite's log, hard links, what is gone, and what it may cost."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.files.sizes import FilesProbe
from plimsoll.study.probes.files import FilesOptions


def values_of(path: Path) -> dict[str, float]:
    [row] = FilesProbe(FilesOptions(path=str(path))).observe()
    assert row.source == "files:data"
    return dict(row.values)


def test_a_folder_counts_what_is_allocated_below_it_once_for_each_file(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a").write_bytes(b"x" * 100_000)
    os.link(tmp_path / "deep" / "er" / "a", tmp_path / "same")
    (tmp_path / "out").symlink_to("/usr")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    found = values_of(tmp_path)
    assert 100_000 <= found["size_bytes"] < 200_000 and found["files"] == 3


def test_a_sqlite_database_counts_with_its_write_ahead_log(tmp_path: Path) -> None:
    path = tmp_path / "app.sqlite"
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("CREATE TABLE t (a)")
    database.executemany("INSERT INTO t VALUES (?)", [("x" * 1000,)] * 200)
    database.commit()
    found = values_of(path)
    assert found["wal_bytes"] >= 200_000 and found["size_bytes"] > found["wal_bytes"] and found["files"] == 2
    database.close()
    assert "wal_bytes" not in values_of(path)


def test_a_path_that_is_gone_says_what_to_do_and_is_asked_again(tmp_path: Path) -> None:
    probe = FilesProbe(FilesOptions(path="data"), tmp_path)
    with pytest.raises(ProbeUnavailable, match=r"data cannot be read .* Correct `path`"):
        probe.observe()
    (tmp_path / "data").write_bytes(b"x" * 5000)
    assert probe.observe()[0].values["size_bytes"] >= 5000


def test_a_folder_that_costs_much_is_counted_less_often(tmp_path: Path) -> None:
    now, cpu = [0.0], [0.0]

    def cpu_clock() -> float:
        cpu[0] += 0.05
        return cpu[0]

    probe = FilesProbe(FilesOptions(path="."), tmp_path, lambda: now[0], cpu_clock)
    counted = 0
    for second in range(100):
        now[0] = float(second)
        counted += bool(probe.observe())
    assert counted == 10  # 50 ms each, at half a percent of a core
