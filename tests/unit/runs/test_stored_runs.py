"""The runs on a disk: listing, finding, deleting, pruning, exporting and importing them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from writing_process import one_second

import plimsoll
from plimsoll.errors import InputError, RunDirectoryError
from plimsoll.runs.format.zstandard import ZstdFile
from plimsoll.runs.interrupted import SAME
from plimsoll.runs.kept import archive, catalogue, tidying, unfinished
from plimsoll.runs.kept.catalogue import StoredRun
from plimsoll.runs.kept.plain_run import words_of_summary
from plimsoll.runs.kept.tidying import pruning
from plimsoll.runs.reader import RunReader
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets.redactor import Redactor
from plimsoll.verbs.stored import named_run, unlisted_runs

DAY = 86_400.0
ANSWER = "Carries 168 users. At 200 it does not."


def made(root: Path, at: float = 1e9, experiment: str = "hold", answer: str = ANSWER, valid: bool = True) -> Path:
    """A finished run that began then."""
    facts = RunFacts(experiment, study={"target": {"url": "http://shop.test/"}}, t0_unix=at)
    with RunWriter.create(root, facts, tables=False, redactor=Redactor(), clock=lambda: at) as writer:
        for second in range(3):
            writer.append_snapshot(one_second(second))
        writer.append_event("note", message=f"The target was not reset ({at:.0f}).")
        (writer.logs / "start.log").write_text("begun\n")
        writer.write_findings([{"question": "How much?", "answer": answer, "valid": valid}])
    return writer.path


def names(runs: list[StoredRun]) -> list[Path]:
    return [one.path for one in runs]


def test_runs_are_listed_newest_first_with_what_they_were(tmp_path: Path) -> None:
    old, new = made(tmp_path, 1e9), made(tmp_path, 1e9 + 60, "capacity", valid=False)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "20260101-000000-hold-0000").mkdir()  # without a manifest
    found = plimsoll.stored_runs(tmp_path)
    assert names(found) == [new, old]
    first = found[0]
    assert (first.experiment, first.about, first.status) == ("capacity", "http://shop.test/", "finished")
    assert (first.answer, first.valid, first.kept, first.began_unix) == ("Carries 168 users.", False, False, 1e9 + 60)
    assert first.size_bytes == sum(path.stat().st_size for path in new.rglob("*") if path.is_file())
    assert json.dumps(first.to_json()) and plimsoll.stored_runs(tmp_path / "nothing") == []


def test_a_plain_run_is_told_by_its_summary_and_a_running_one_as_that(tmp_path: Path) -> None:
    summary = {
        "http_reqs": {"values": {"count": 1200, "rate": 40.0}},
        "http_req_failed": {"values": {"rate": 0.0125}},
        "http_req_duration": {"values": {"p(95)": 12.345}},
    }
    writer = RunWriter.create(tmp_path, RunFacts("run"), tables=False, redactor=Redactor())
    writer.append_event("note", summary=summary)
    [found] = plimsoll.stored_runs(tmp_path)
    assert found.answer == "1,200 requests, 40/s, 1.2% failed, p95 12.3 ms." and found.status == "running"
    writer.finish()
    assert plimsoll.stored_runs(tmp_path)[0].status == "finished"


ANSWERED = {
    "http_reqs": {"values": {"count": 16.0, "rate": 8.0}},
    "http_req_failed": {"values": {"rate": 1.0}},
}
ITERATIONS = {"iterations": {"values": {"count": 40.0, "rate": 19.73}}}


@pytest.mark.parametrize(
    ("summary", "answer"),
    [
        (ITERATIONS, "40 iterations, 19.7/s, no requests."),
        (ANSWERED | {"http_req_duration": {"values": {"p(95)": 0.0, "max": 0.0}}},
         "16 requests, 8/s, none was answered."),
        (ANSWERED | {"http_req_duration": {"values": {"p(95)": 2.0, "max": 3.0}}},
         "16 requests, 8/s, 100% failed, p95 2 ms."),
        (ITERATIONS | {"checks": {"values": {"rate": 0.25}}},
         "40 iterations, 19.7/s, no requests, 75% of the checks failed."),
        (ITERATIONS | {"checks": {"values": {"rate": 0.0, "passes": 0, "fails": 0}}},
         "40 iterations, 19.7/s, no requests."),
        (ITERATIONS | {"vus": {"thresholds": {"value>0": {"ok": True, "verdict": "passed"}}}},
         "40 iterations, 19.7/s, no requests, the threshold passed."),
        ({}, ""),
    ],
)  # fmt: skip
def test_a_plain_run_is_told_by_what_it_did_and_never_by_what_its_generator_did(
    tmp_path: Path, summary: dict[str, Any], answer: str
) -> None:
    with RunWriter.create(tmp_path, RunFacts("run"), tables=False, redactor=Redactor()) as writer:
        writer.append_event("note", summary=summary)
        question = "Did the generator limit this run?"
        writer.write_findings([{"question": question, "answer": "No: it was idle. All is well.", "valid": True}])
    [found] = plimsoll.stored_runs(tmp_path)
    assert (found.answer, found.failed_thresholds) == (answer, ())


def test_a_damaged_summary_says_nothing() -> None:
    assert words_of_summary({"http_reqs": 7, "iterations": {"values": []}, "vus": {"thresholds": [1]}}) == ""


def test_thresholds_that_failed_are_counted_and_named(tmp_path: Path) -> None:
    rows = {"count>9": {"ok": False, "verdict": "failed"}, "rate>0": {"ok": True, "verdict": "passed"}}
    with RunWriter.create(tmp_path, RunFacts("run"), tables=False, redactor=Redactor()) as writer:
        writer.append_event("note", summary={"iterations": {**ITERATIONS["iterations"], "thresholds": rows}})
    [found] = plimsoll.stored_runs(tmp_path)
    assert found.failed_thresholds == ("iterations: count>9",)
    assert found.answer == "40 iterations, 19.7/s, no requests, 1 of 2 thresholds failed (iterations: count>9)."
    assert json.loads(json.dumps(found.to_json()))["failed_thresholds"] == ["iterations: count>9"]


def test_the_answer_of_an_interrupted_run_is_what_it_found(tmp_path: Path) -> None:
    made(tmp_path, answer=f"Interrupted: this rests on what was measured until then. {ANSWER}")
    assert plimsoll.stored_runs(tmp_path)[0].answer == "Carries 168 users."


def test_a_run_of_a_study_is_one_with_the_runs_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "20260101-000000-shop-0001"
    folder.mkdir()
    parts = [{"status": "finished"}, {"status": "planned"}]
    (folder / "study.json").write_text(json.dumps({"study": {"name": "shop"}, "parts": parts}))
    inner = made(folder)
    [found] = plimsoll.stored_runs(tmp_path)
    assert (found.experiment, found.about, found.status) == ("study", "shop", "interrupted")
    assert found.answer == "1 of 2 experiments are done." and found.size_bytes > catalogue.size_of(inner) > 0
    assert names(plimsoll.search_runs(["168 users"], tmp_path)) == [folder]
    plimsoll.delete_runs([folder])
    assert not folder.exists()


@pytest.mark.parametrize("manifest", ["{", "[" * 100_000, "[]", '{"script": 7, "study": [], "started_unix": "x"}'])
def test_a_run_whose_manifest_is_damaged_is_listed_all_the_same(tmp_path: Path, manifest: str) -> None:
    path = made(tmp_path)
    (path / "manifest.json").write_text(manifest)
    (path / "findings.json").write_text('{"answer": 7}')
    [found] = plimsoll.stored_runs(tmp_path)
    assert found.path == path and found.began_unix == 0.0
    plimsoll.delete_runs([path])


def test_files_that_are_no_files_are_not_read(tmp_path: Path) -> None:
    path = made(tmp_path)
    for name in ("findings.json", "events.jsonl"):
        (path / name).unlink()
        os.mkfifo(path / name)
    [found] = plimsoll.stored_runs(tmp_path)
    assert found.answer == "" and plimsoll.search_runs(["168"], tmp_path) == []


def test_runs_are_found_by_words_in_answers_notes_targets_and_names(tmp_path: Path) -> None:
    one = made(tmp_path, 1e9, answer="Carries 57 users.")
    two = made(tmp_path, 1e9 + 5.5, answer="Limited by the DATABASE.")
    for words, wanted in [
        (["57"], [one]),
        (["database", "shop.test"], [two]),
        (["not reset"], [two, one]),
        ([two.name[-4:], "hold"], [two]),
        (["57", "database"], []),
    ]:
        assert names(plimsoll.search_runs(words, tmp_path)) == wanted, words


def test_a_run_is_named_by_path_name_end_of_it_or_as_the_latest(tmp_path: Path) -> None:
    one, two = made(tmp_path, 1e9 + 0.25), made(tmp_path, 1e9 + 0.5)
    for name in (one, str(one), one.name, "4000", "hold-4000"):
        assert plimsoll.find_run(name, tmp_path).path == one
    assert plimsoll.find_run("latest", tmp_path).path == two
    with pytest.raises(InputError, match=r"2 runs in .* end with 000"):
        plimsoll.find_run("000", tmp_path)
    assert named_run("4000", tmp_path) == one and named_run("latest", tmp_path) == two
    assert named_run(str(one), tmp_path) == one
    for name in ("results.csv", "a/4000", "latest/x"):  # no run is meant: told by who reads the file
        assert named_run(name, tmp_path) == Path(name)
    for name in ("nothing", tmp_path / "nothing"):
        with pytest.raises(InputError, match=r"no run"):
            plimsoll.find_run(name, tmp_path)
    with pytest.raises(InputError, match="there is no run latest"):
        plimsoll.find_run("latest", tmp_path / "empty")


def test_only_real_run_directories_are_deleted_and_what_links_lead_to_stays(tmp_path: Path) -> None:
    run = made(tmp_path / "runs")
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine")
    (run / "logs" / "away").symlink_to(precious)
    link = tmp_path / "runs" / "20260101-000000-hold-ffff"
    link.symlink_to(made(tmp_path / "elsewhere"))
    plain = tmp_path / "runs" / "20260101-000000-hold-0001"
    plain.mkdir()
    named = tmp_path / "project"
    named.mkdir()
    (named / "manifest.json").write_text("{}")
    for wrong in (link, plain, named, tmp_path / "nothing", precious):
        with pytest.raises(InputError, match="is no run directory"):
            plimsoll.delete_runs([run, wrong])
        assert run.exists()
    plimsoll.delete_runs([run])
    assert not run.exists() and (precious / "file").read_text() == "mine"
    assert link.resolve().exists() and plain.exists() and named.exists()


def test_a_run_that_goes_on_is_neither_deleted_nor_exported_nor_pruned(tmp_path: Path) -> None:
    writer = RunWriter.create(tmp_path, RunFacts("hold"), tables=False, redactor=Redactor(), clock=lambda: 1e9)
    for refused in (lambda: plimsoll.delete_runs([writer.path]), lambda: plimsoll.export_run(writer.path)):
        with pytest.raises(InputError, match="still running"):
            refused()
    assert plimsoll.prune_runs(tmp_path, keep_bytes=1, older_than_s=1.0).gone == ()
    writer.finish()
    assert names(list(plimsoll.prune_runs(tmp_path, older_than_s=1.0).gone)) == [writer.path]


def stored(days_ago: float, size: int, kept: bool = False, status: str = "finished") -> StoredRun:
    ended = 1e9 - days_ago * DAY
    return StoredRun(Path(f"{days_ago:g}"), ended - 60, ended, "hold", "", status, "", True, size, kept)


@pytest.mark.parametrize(
    ("older_than_days", "keep", "gone"),
    [
        (10, None, ["40", "30", "20"]),
        (25, None, ["40", "30"]),
        (None, 250, ["40", "30"]),
        (None, 399, ["40"]),
        (None, 400, []),
        (None, 0, ["40", "30", "20", "1"]),
        (25, 100, ["40", "30", "20"]),
    ],
)
def test_old_runs_go_and_then_the_oldest_until_the_rest_fits(
    older_than_days: float | None, keep: int | None, gone: list[str]
) -> None:
    runs = [stored(20, 100), stored(1, 100), stored(40, 100), stored(30, 100)]
    found = pruning(runs, 1e9, None if older_than_days is None else older_than_days * DAY, keep)
    assert sorted((str(one.path) for one in found.gone), key=float, reverse=True) == gone
    assert len(found.gone) + len(found.staying) == 4 and found.freed_bytes == 100 * len(gone)


def test_kept_and_running_runs_stay_and_count() -> None:
    runs = [stored(40, 100, kept=True), stored(30, 100), stored(20, 100), stored(10, 100, status="running")]
    found = pruning(runs, 1e9, 5 * DAY, None)
    assert [str(one.path) for one in found.gone] == ["20", "30"]
    assert [str(one.path) for one in pruning(runs, 1e9, None, 300).gone] == ["30"]


def test_pruning_deletes_what_it_shows_and_leaves_what_is_kept(tmp_path: Path) -> None:
    old, kept, new = (made(tmp_path, at) for at in (1e9, 1e9 + 60, 1e9 + 120))
    plimsoll.keep_run(kept)
    with pytest.raises(InputError, match="--older-than"):
        plimsoll.prune_runs(tmp_path)
    keep_bytes = sum(one.size_bytes for one in plimsoll.stored_runs(tmp_path)) - 1
    found = plimsoll.prune_runs(tmp_path, keep_bytes=keep_bytes, dry_run=True)
    assert names(list(found.gone)) == [old] and old.exists()
    plimsoll.prune_runs(tmp_path, keep_bytes=keep_bytes)
    assert [path.exists() for path in (old, kept, new)] == [False, True, True]
    plimsoll.prune_runs(tmp_path, older_than_s=1.0)
    assert names(plimsoll.stored_runs(tmp_path)) == [kept] and plimsoll.stored_runs(tmp_path)[0].kept
    plimsoll.keep_run(kept, False)
    plimsoll.prune_runs(tmp_path, older_than_s=1.0)
    assert plimsoll.stored_runs(tmp_path) == [] and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".tar.zst", ".zip"])
def test_an_exported_run_is_the_same_when_it_is_imported(tmp_path: Path, suffix: str) -> None:
    run = made(tmp_path / "a")
    (run / "linked").symlink_to("/etc/passwd")
    (run / ".reserve").write_text("0")
    file = plimsoll.export_run(run, tmp_path / f"run{suffix}")
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="is there already"):
        plimsoll.export_run(run, file)
    back = plimsoll.import_run(file, tmp_path / "b")
    assert back == tmp_path / "b" / run.name
    wanted = {path.relative_to(run): path.read_bytes() for path in run.rglob("*.*") if not path.name.startswith(".")}
    assert {path.relative_to(back): path.read_bytes() for path in back.rglob("*") if path.is_file()} == wanted
    assert list(RunReader(back).snapshots()) == [one_second(second) for second in range(3)]
    with pytest.raises(InputError, match="is there already"):
        plimsoll.import_run(file, tmp_path / "b")
    assert [path.name for path in (tmp_path / "b").iterdir()] == [run.name]


@pytest.mark.parametrize("suffix", [".tar.zst", ".zip"])
@pytest.mark.parametrize("mtime", [-1e9, 0.0, 5e9, 2e10, 1e17])
def test_a_run_with_files_of_any_time_is_exported(tmp_path: Path, suffix: str, mtime: float) -> None:
    run = made(tmp_path / "a")
    os.utime(run / "manifest.json", (mtime, mtime))
    back = plimsoll.import_run(plimsoll.export_run(run, tmp_path / f"run{suffix}"), tmp_path / "b")
    assert (back / "manifest.json").read_bytes() == (run / "manifest.json").read_bytes()


@pytest.mark.parametrize("suffix", [".tar.zst", ".zip"])
@pytest.mark.parametrize("name", [b"a\xffb", b"a\nb", b"a\\b"])
def test_a_file_that_import_would_refuse_is_told_at_the_export(tmp_path: Path, suffix: str, name: bytes) -> None:
    run = made(tmp_path / "a")
    (run / os.fsdecode(name)).touch()
    with pytest.raises(InputError, match=r"Rename that file") as raised:
        plimsoll.export_run(run, tmp_path / f"run{suffix}")
    str(raised.value).encode()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_hidden_folders_are_not_exported(tmp_path: Path) -> None:
    run = made(tmp_path / "a")
    (run / ".git").mkdir()
    (run / ".git" / "config").touch()
    back = plimsoll.import_run(plimsoll.export_run(run, tmp_path / "run.zip"), tmp_path / "b")
    assert (run / "manifest.json").exists() and not (back / ".git").exists()


def test_a_name_that_says_no_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.tar\.zst or \.zip"):
        plimsoll.export_run(made(tmp_path), tmp_path / "run.txt")


NAME = "20260101-000000-hold-0001"
MANIFEST = ("manifest.json", b'{"schema": 1, "status": "finished", "experiment": "hold"}')


def tar_of(*members: tuple[str, Any]) -> bytes:
    """A tar.zst of these files; a text is a link to it, a number is a device."""
    raw = io.BytesIO()
    with ZstdFile(raw, "wb") as packed, tarfile.open(fileobj=packed, mode="w|") as tar:
        for name, content in members:
            about = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                about.size = len(content)
                tar.addfile(about, io.BytesIO(content))
            else:
                about.type = tarfile.SYMTYPE if isinstance(content, str) else tarfile.CHRTYPE
                about.linkname = content if isinstance(content, str) else ""
                tar.addfile(about)
    return raw.getvalue()


def zip_of(*members: tuple[str, bytes]) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive_file:
        for name, content in members:
            archive_file.writestr(name, content)
    return raw.getvalue()


WHOLE = (f"{NAME}/{MANIFEST[0]}", MANIFEST[1])


@pytest.mark.parametrize(
    "data",
    [
        tar_of(WHOLE, (f"{NAME}/../../escaped", b"x")),
        tar_of(WHOLE, ("/tmp/escaped", b"x")),
        tar_of(WHOLE, ("escaped", b"x")),
        tar_of(WHOLE, (f"{NAME}/link", "/etc/passwd")),
        tar_of(WHOLE, (f"{NAME}/device", 1)),
        tar_of(WHOLE, ("20260101-000000-hold-0002/manifest.json", b"{}")),
        tar_of(WHOLE, (f"{NAME}/.keep", b"")),
        tar_of(WHOLE, WHOLE),
        tar_of(WHOLE, (f"{NAME}/{'d/' * 2_000}x", b"")),
        tar_of(WHOLE, (f"{NAME}/{'d/' * 10}x", b"")),
        tar_of(WHOLE, (f"{NAME}/\x1b[2J", b"")),
        zip_of(WHOLE, (f"{NAME}/{'d/' * 2_000}x", b"")),
        tar_of(("project/manifest.json", b"{}")),
        tar_of((f"{NAME}/findings.json", b"{}")),
        tar_of(),
        tar_of(WHOLE)[:-20],
        zip_of(WHOLE, (f"{NAME}/../../escaped", b"x")),
        zip_of(WHOLE, (f"{NAME}\\..\\escaped", b"x")),
        zip_of(WHOLE)[:-30],
        b"",
        b"PK",
        b"hello",
    ],
)
def test_a_file_that_no_export_made_is_refused_and_leaves_nothing(tmp_path: Path, data: bytes) -> None:
    root = tmp_path / "deep" / "runs"
    (tmp_path / "file").write_bytes(data)
    with pytest.raises((InputError, RunDirectoryError)):
        plimsoll.import_run(tmp_path / "file", root)
    assert list(root.iterdir()) == [] and {path.name for path in tmp_path.iterdir()} == {"deep", "file"}


def test_a_name_that_is_refused_is_not_told_whole(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(zip_of(WHOLE, (f"{NAME}/{'d/' * 2_000}x", b"")))
    with pytest.raises(InputError, match=r"holds .*…', which no exported run has") as raised:
        plimsoll.import_run(tmp_path / "file", tmp_path / "runs")
    assert len(str(raised.value)) < 400


def test_a_run_nested_without_end_is_listed_and_its_deletion_says_what_to_do(tmp_path: Path) -> None:
    run = made(tmp_path / "runs")
    before = os.getcwd()
    os.chdir(run)
    try:
        for _ in range(3_000):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(before)
    assert names(plimsoll.stored_runs(tmp_path / "runs")) == [run]
    try:
        plimsoll.delete_runs([run])
    except RunDirectoryError as error:
        assert "rm -r '" in str(error)
    finally:
        subprocess.run(["rm", "-rf", tmp_path / "runs"], check=True)  # pytest cannot


@pytest.mark.parametrize("make", [tar_of, zip_of])
def test_a_file_that_unpacks_to_more_than_is_free_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[..., bytes]
) -> None:
    (tmp_path / "file").write_bytes(make(WHOLE, (f"{NAME}/series.jsonl", bytes(5_000_000))))
    monkeypatch.setattr(archive, "free_bytes", lambda _: archive.FLOOR_BYTES + 2_000_000)
    with pytest.raises(RunDirectoryError, match="more than is free"):
        plimsoll.import_run(tmp_path / "file", tmp_path / "runs")
    assert list((tmp_path / "runs").iterdir()) == []


@pytest.fixture
def left(tmp_path: Path) -> list[Path]:
    """What a killed import and a killed deletion left beside a run, and what an import has that goes on."""
    made(tmp_path, 1e9)
    folders = [tmp_path / ".import-0123", tmp_path / ".deleted-20260101-000000-hold-0001"]
    for folder in folders:
        (folder / "logs").mkdir(parents=True)
        (folder / "logs" / "start.log").write_bytes(bytes(2_000_000))
        os.utime(folder, (1e9, 1e9))
    return folders


def test_what_a_killed_import_or_deletion_left_goes_with_the_next_pruning(tmp_path: Path, left: list[Path]) -> None:
    fresh, worked_in = tmp_path / ".import-4567", tmp_path / ".import-89ab"
    for folder in (fresh, worked_in):
        folder.mkdir()
    os.utime(worked_in, (1e9, 1e9))
    with unfinished.held(worked_in):
        plimsoll.prune_runs(tmp_path, keep_bytes=1 << 40, dry_run=True)
        assert all(folder.exists() for folder in left)
        plimsoll.prune_runs(tmp_path, keep_bytes=1 << 40)
        assert not any(folder.exists() for folder in left) and fresh.exists() and worked_in.exists()


def test_what_a_killed_import_or_deletion_left_goes_with_the_next_deletion(tmp_path: Path, left: list[Path]) -> None:
    [run] = plimsoll.stored_runs(tmp_path)
    plimsoll.delete_runs([run.path])
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_import_or_deletion_left_goes_with_the_next_import(tmp_path: Path, left: list[Path]) -> None:
    [run] = plimsoll.stored_runs(tmp_path)
    file = plimsoll.export_run(run.path, tmp_path / "run.zip")
    with pytest.raises(InputError, match="is there already"):
        plimsoll.import_run(file, tmp_path)
    assert not any(folder.exists() for folder in left)


def test_a_run_that_is_there_again_is_deleted_although_its_deletion_was_interrupted(tmp_path: Path) -> None:
    run = made(tmp_path)
    (tmp_path / f".deleted-{run.name}" / "x").mkdir(parents=True)
    with unfinished.held(tmp_path / f".deleted-{run.name}"):
        plimsoll.delete_runs([run])
    assert not run.exists()


def test_a_deletion_that_is_interrupted_is_ended_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, other = made(tmp_path, 1e9), made(tmp_path, 1e9 + 60)

    def interrupted(path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(tidying.shutil, "rmtree", interrupted)
        plimsoll.delete_runs([run])
    assert len(list(tmp_path.glob(".deleted-*"))) == 1
    plimsoll.delete_runs([other])
    assert list(tmp_path.iterdir()) == []


def test_of_a_comparison_of_one_with_itself_the_answer_is_listed_and_not_what_stands_before_it(tmp_path: Path) -> None:
    """Seen: "A and B are the same: …" of a comparison whose answer was "Undecided"."""
    made(tmp_path, experiment="compare", answer=f"{SAME} Undecided whether B is slower than A: p95. Same: p50.")
    assert plimsoll.stored_runs(tmp_path)[0].answer == "Undecided whether B is slower than A: p95."


def test_runs_that_are_not_listed_are_named_with_the_reason(tmp_path: Path) -> None:
    """Seen: nothing, of a run that was renamed and of one whose manifest was gone."""
    made(tmp_path, 1e9).rename(tmp_path / "nightly")
    lost = made(tmp_path, 1e9 + 60)
    (lost / "manifest.json").unlink()
    listed = made(tmp_path, 1e9 + 120)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "20260101-000000-hold-0000").mkdir()
    assert names(plimsoll.stored_runs(tmp_path)) == [listed]
    missing, renamed = unlisted_runs(tmp_path)
    assert missing == f"{lost.name} is not listed: its manifest.json is missing. Restore it, or delete the folder."
    assert renamed.startswith("nightly is not listed: it is a run under another name. plimsoll report reads it;")
    assert unlisted_runs(tmp_path / "nothing") == []
