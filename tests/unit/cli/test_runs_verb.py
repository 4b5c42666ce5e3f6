"""`plimsoll runs` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest
from typer.testing import CliRunner, Result

from plimsoll.cli.app import app
from plimsoll.cli.messages import say
from plimsoll.errors import InputError, PlimsollError
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets.redactor import Redactor


def made(root: Path, at: float, answer: str = "Carries 168 users. At 200 it does not.") -> Path:
    series = {"metric": "http_reqs", "kind": "counter", "tags": {"name": "/"}, "value": 3.0}
    facts = RunFacts("hold", t0_unix=at)
    with RunWriter.create(root, facts, tables=False, redactor=Redactor(), clock=lambda: at) as writer:
        writer.append_snapshot({"second": 0, "series": [series]})
        writer.append_resource({"second": 0, "source": "host", "values": {"cpu_share": 0.5}})
        writer.write_findings([{"question": "How much?", "answer": answer, "valid": True}])
    return writer.path


def plimsoll(*words: object, root: Path) -> Result:
    return CliRunner().invoke(app, ["runs", *map(str, words), "--runs", str(root)], catch_exceptions=True)


def test_a_list_tells_each_run_and_the_size_of_all(tmp_path: Path) -> None:
    run = made(tmp_path, 1e9)
    done = plimsoll("list", root=tmp_path)
    assert run.name in done.output and "Carries 168 users." in done.output and "At 200" not in done.output
    assert "1 run in" in done.output
    [listed] = json.loads(plimsoll("list", "--json", root=tmp_path).output)
    assert listed["path"] == str(run) and listed["experiment"] == "hold"
    assert "0 runs in" in plimsoll("list", root=tmp_path / "nothing").output


def test_a_run_is_shown_and_its_seconds_come_as_json_with_names(tmp_path: Path) -> None:
    made(tmp_path, 1e9)
    done = plimsoll("show", "latest", root=tmp_path)
    assert "At 200 it does not" in done.output and "series.jsonl.zst" in done.output
    [second] = map(json.loads, plimsoll("show", "latest", "--series", root=tmp_path).output.splitlines())
    assert second["series"] == [{"metric": "http_reqs", "kind": "counter", "tags": {"name": "/"}, "value": 3.0}]
    [row] = map(json.loads, plimsoll("show", "latest", "--resources", root=tmp_path).output.splitlines())
    assert row["values"] == {"cpu_share": 0.5}


@pytest.mark.parametrize(
    ("status", "valid", "verdict", "told"),
    [
        ("finished", True, "passed", "  finished  2"),
        ("finished", True, "failed", "  finished, thresholds failed  2"),
        ("finished", False, "failed", "  invalid, thresholds failed  2"),
        ("interrupted", False, "passed", "  interrupted, invalid  2"),
    ],
)
def test_a_list_says_how_a_plain_run_ended_and_what_it_did(
    tmp_path: Path, status: Literal["finished", "interrupted"], valid: bool, verdict: str, told: str
) -> None:
    with RunWriter.create(tmp_path, RunFacts("run"), tables=False, redactor=Redactor()) as writer:
        rows = {"count>9": {"verdict": verdict}}
        writer.append_event("note", summary={"iterations": {"values": {"count": 4}, "thresholds": rows}})
        writer.write_findings([{"question": "Did the generator limit this run?", "answer": "No.", "valid": valid}])
        writer.finish(status)
    listed = plimsoll("list", root=tmp_path).output
    assert told in listed and "4 iterations, no requests, " in listed and "No." not in listed
    shown = plimsoll("show", "latest", root=tmp_path).output
    thresholds = "The threshold passed." if verdict == "passed" else "1 of 1 threshold failed."
    assert f"What did it do?\n  {thresholds} 4 iterations, no requests.\n" in shown and "Did the generator" in shown
    assert told.rstrip("2").strip() in shown


def test_a_run_without_an_answer_says_how_to_get_one(tmp_path: Path) -> None:
    """Seen: two empty lines of a run that was killed."""
    writer = RunWriter.create(tmp_path, RunFacts("capacity"), tables=False, redactor=Redactor())
    writer.append_snapshot({"second": 0, "series": []})
    assert "`plimsoll analyze " in plimsoll("show", "latest", root=tmp_path).output


def test_a_search_lists_what_has_the_words(tmp_path: Path) -> None:
    one, two = made(tmp_path, 1e9, "Carries 57 users."), made(tmp_path, 1e9 + 9)
    done = plimsoll("search", "57", "users", root=tmp_path)
    assert one.name in done.output and two.name not in done.output


def test_a_search_without_a_hit_says_so(tmp_path: Path) -> None:
    made(tmp_path, 1e9)
    told = plimsoll("search", "57", "lions", root=tmp_path)
    assert told.output == f"No run in {tmp_path} has 57, lions. Try fewer words; `plimsoll runs list` shows all runs.\n"
    assert json.loads(plimsoll("search", "lions", "--json", root=tmp_path).output) == []


def test_a_prune_takes_months_and_terabytes(tmp_path: Path) -> None:
    old = made(tmp_path, 1e9)
    assert (
        old.name in plimsoll("prune", "--older-than", "365d", "--keep-size", "2TB", "--dry-run", root=tmp_path).output
    )


def test_nothing_is_deleted_where_nobody_can_be_asked(tmp_path: Path) -> None:
    run = made(tmp_path, 1e9)
    for words in (("delete", run), ("prune", "--older-than", "1d")):
        done = plimsoll(*words, root=tmp_path)
        assert isinstance(done.exception, InputError) and "--yes" in str(done.exception) and run.exists()
    assert plimsoll("delete", run.name[-4:], "--yes", root=tmp_path).exit_code == 0 and not run.exists()


def test_a_prune_shows_what_goes_what_stays_and_what_is_kept(tmp_path: Path) -> None:
    old, kept = made(tmp_path, 1e9), made(tmp_path, 1e9 + 9)
    assert "is kept" in plimsoll("keep", kept, root=tmp_path).output
    shown = plimsoll("prune", "--older-than", "30d", "--dry-run", root=tmp_path)
    lines = {line.split()[0]: line for line in shown.output.splitlines() if "hold" in line}
    assert old.name in lines["goes"] and kept.name in lines["kept"] and old.exists()
    assert "1 run deleted" in plimsoll("prune", "--older-than", "30d", "--yes", root=tmp_path).output
    assert not old.exists() and kept.exists()
    assert "no longer kept" in plimsoll("keep", kept, "--off", root=tmp_path).output
    assert "1 run deleted" in plimsoll("prune", "--keep-size", "100B", "--yes", root=tmp_path).output


def test_what_interrupted_deletions_left_is_told_and_pruned_although_no_run_goes(tmp_path: Path) -> None:
    made(tmp_path, 1e9)
    left = tmp_path / ".deleted-20260101-000000-hold-0001"
    left.mkdir()
    (left / "series.jsonl").write_bytes(bytes(5_000_000))
    words = "4.77 MiB more are left of interrupted deletions"
    assert (
        words in plimsoll("list", root=tmp_path).output
        and words not in plimsoll("list", "--json", root=tmp_path).output
    )
    assert words in plimsoll("prune", "--keep-size", "1GB", "--dry-run", root=tmp_path).output and left.exists()
    done = plimsoll("prune", "--keep-size", "1GB", root=tmp_path)
    assert "4.77 MiB removed" in done.output and not left.exists()
    assert words not in plimsoll("list", root=tmp_path).output


@pytest.mark.parametrize("words", ["prune", "prune --keep-size much", "show nothing", "delete /tmp"])
def test_what_is_wrong_is_told(tmp_path: Path, words: str) -> None:
    assert isinstance(plimsoll(*words.split(), root=tmp_path).exception, InputError)


def test_a_run_goes_into_one_file_and_comes_back(tmp_path: Path) -> None:
    run = made(tmp_path / "a", 1e9)
    file = tmp_path / "run.tar.zst"
    assert str(file) in plimsoll("export", "latest", "-o", file, root=tmp_path / "a").output
    done = plimsoll("import", file, root=tmp_path / "b")
    assert done.output.strip() == str(tmp_path / "b" / run.name)


def test_a_message_does_not_steer_the_terminal_by_the_name_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    error = InputError("there is no run \x1b[2J\x9b31m\r in\truns", "Look.")
    say(str(error), error)
    assert capsys.readouterr().err == "plimsoll: there is no run �[2J�31m� in\truns. Look.\n"


def long_run(root: Path) -> Path:
    """A plain run with many thresholds and checks that failed, a long path and several findings' worth of notes."""
    rows = {f"p({at})<{at}": {"verdict": "failed", "ok": False, "observed": 5.0 + at} for at in range(1, 40)}
    times = {"type": "trend", "contains": "time", "values": {"p(95)": 12.0, "max": 13.0}, "thresholds": rows}
    requests = {"type": "counter", "values": {"count": 1200, "rate": 40.0}}
    checks = [{"name": f"the answer of page {at} is whole", "group": "", "passes": 3, "fails": 2} for at in range(30)]
    summary = {"http_req_duration{name:a long name of a page}": times, "http_reqs": requests}
    script = root / "a/folder/with/quite/a/long/name/in/which/the/script/of/this/run/is" / "script.js"
    script.parent.mkdir(parents=True)
    script.write_text("export default function () {}")
    with RunWriter.create(root, RunFacts("run", script=script), tables=False, redactor=Redactor()) as writer:
        note = {"summary": summary, "threw": 0, "lasted_s": 30.0, "checks": checks, "causes": {}}
        writer.append_event("note", **note)
        notes = [f"Note {at} of what one should know before this is trusted, at some length." for at in range(9)]
        finding = {"question": "Did the generator limit this run?", "answer": f"No: {'it was idle ' * 30}."}
        steps = [f"Do this {at} and {'that ' * 20}." for at in range(9)]
        writer.write_findings([{**finding, "valid": False, "notes": notes, "invalid_because": notes, "next": steps}])
    for at in range(20):
        (writer.path / f"file-{at}").write_text("x")
    return writer.path


def test_a_run_is_shown_on_one_screen_and_whole_with_details(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen: 26 to 39 lines, up to 143 columns wide, of a plain run."""
    monkeypatch.chdir(tmp_path)
    run = long_run(Path("runs"))
    lines = plimsoll("show", "latest", root=Path("runs")).output.splitlines()
    assert len(lines) <= 25 and max(map(len, lines)) <= 100, "\n".join(lines)
    assert lines[0] == str(run) and "What did it do?" in lines and any("files, " in line for line in lines)
    assert any("✗ http_req_duration{name:a long name of a page} p(1)<1: failed." in line for line in lines)
    whole = plimsoll("show", "latest", "--details", root=Path("runs")).output
    assert whole.count("✗") == 40 and "file-19" in whole and "Note 8" in " ".join(whole.split())


def test_a_plain_run_that_was_killed_is_told_by_what_it_recorded(tmp_path: Path) -> None:
    """Seen: no word of its requests in the list."""
    tags = {"name": "/", "status": "200"}
    times = {"metric": "http_req_duration", "kind": "trend", "tags": tags, "count": 40, "sum": 400.0, "min": 10.0,
             "max": 10.0, "buckets": [[4609434218613702656 >> 42, 40]]}  # fmt: skip
    series = [
        {"metric": "http_reqs", "kind": "counter", "tags": tags, "value": 40.0},
        {"metric": "http_req_failed", "kind": "rate", "tags": tags, "passes": 1, "total": 40},
        times,
    ]
    writer = RunWriter.create(tmp_path, RunFacts("run"), tables=False, redactor=Redactor())
    for second in range(3):
        writer.append_snapshot({"second": second, "series": series})
    assert "requests" not in plimsoll("list", root=tmp_path).output, "it goes on, and is asked again and again"
    before = (writer.path / "manifest.json").read_bytes()
    writer.finish()
    (writer.path / "manifest.json").write_bytes(before)
    listed = plimsoll("list", root=tmp_path).output
    assert "  killed  " in listed and "120 requests, 40/s, 2.5% failed, p95 " in listed
    assert "It did not reach its end, so thresholds were not" in plimsoll("show", "latest", root=tmp_path).output


def test_tags_and_notes_are_listed_shown_and_found(tmp_path: Path) -> None:
    run = made(tmp_path, 1e9)
    assert (
        "has the tags baseline and after the index"
        in plimsoll("tag", run, "baseline", "after  the index", root=tmp_path).output
    )
    assert (
        "has the tags baseline, after the index and x" in plimsoll("tag", run, "x", "x", "--add", root=tmp_path).output
    )
    plimsoll("note", run, "the cache was\nemptied", root=tmp_path)
    assert "[baseline]  [after the index]  [x]" in plimsoll("list", root=tmp_path).output
    shown = plimsoll("show", run, root=tmp_path).output
    assert "Tags: baseline, after the index and x" in shown and "the cache was emptied" in shown
    assert run.name in plimsoll("search", "INDEX", "cache", root=tmp_path).output
    assert "has no tags" in plimsoll("tag", run, root=tmp_path).output
    for words in (("note", run, " "), ("tag", run, "x" * 41), ("tag", run, *map(str, range(21)))):
        assert isinstance(plimsoll(*words, root=tmp_path).exception, InputError)


def test_tags_that_somebody_wrote_steer_no_terminal_and_follow_no_link(tmp_path: Path) -> None:
    run = made(tmp_path, 1e9)
    (run / "tags.json").write_text('["\\u001b[2J", 7, "' + "x" * 99 + '"]')
    (run / "notes.jsonl").write_text('{"text": "\\u001b[2J", "t_unix": 1e300}\n{"text": 7}\nno JSON\n')
    for words in (("list",), ("show", run)):
        assert "\x1b" not in plimsoll(*words, root=tmp_path).output
    secret = tmp_path / "secret"
    secret.write_text('["told"]')
    for name in ("tags.json", "notes.jsonl"):
        (run / name).unlink()
        (run / name).symlink_to(secret)
    assert "told" not in plimsoll("list", root=tmp_path).output
    assert isinstance(plimsoll("note", run, "more", root=tmp_path).exception, PlimsollError)
    plimsoll("tag", run, "own", root=tmp_path)
    assert secret.read_text() == '["told"]' and not (run / "tags.json").is_symlink()
