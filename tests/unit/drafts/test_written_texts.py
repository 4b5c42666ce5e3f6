"""The files of a draft: whatever paths and values hold, script and study load; nothing is written over unasked."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import plimsoll
from plimsoll.drafts.draft import Draft, DraftOperation
from plimsoll.drafts.names import named_template, operation_names
from plimsoll.drafts.script_text import script_of, values_of
from plimsoll.drafts.study_text import study_of
from plimsoll.engine import EngineConfig, inspect
from plimsoll.errors import InputError
from plimsoll.study import load_study, parse_study

LINE = '{0} - - [28/Nov/2026:10:00:{1:02} +0000] "GET {2} HTTP/1.1" 200 2 "-" "Firefox" 0.120\n'
PATHS = (
    "/issues/17",
    "/a`b/${x}",
    "/o'neil/\\x22q\\x22",
    "/c*/d",
    "/e?x=`${1}`&y='",
    "/$&/{id}/9",
    "/ü",
    "//evil.org/x",
)


def _log(folder: Path) -> Path:
    path = folder / "access.log"
    path.write_text("".join(LINE.format(f"1.1.1.{at % 3}", at, PATHS[at % len(PATHS)]) for at in range(48)))
    return path


def test_study_and_script_load_whatever_the_paths_hold(tmp_path: Path) -> None:
    draft = plimsoll.new(access_log=_log(tmp_path), output=tmp_path / "load")
    study = load_study(tmp_path / "load" / "study.yaml")
    assert study.expected_users == draft.expected_users
    exported = _exports(tmp_path / "load" / "script.js")
    assert {one.exec for one in study.workload.operations} == exported == {one.exec for one in draft.operations}  # type: ignore[union-attr]


def test_the_objectives_in_its_comments_are_objectives(tmp_path: Path) -> None:
    plimsoll.new(access_log=_log(tmp_path), output=tmp_path / "load")
    text = (tmp_path / "load" / "study.yaml").read_text()
    commented = re.sub(r"^# (objectives:.*|  - .*)$", r"\1", text, flags=re.MULTILINE)
    assert len(parse_study(commented).objectives) >= 2


def test_files_that_are_there_stay_unless_forced(tmp_path: Path) -> None:
    log, folder = _log(tmp_path), tmp_path / "load"
    folder.mkdir()
    (folder / "script.js").write_text("mine")
    with pytest.raises(InputError, match=r"has script\.js already.*--force"):
        plimsoll.new(access_log=log, output=folder)
    assert [path.name for path in folder.iterdir()] == ["script.js"] and (folder / "script.js").read_text() == "mine"
    plimsoll.new(access_log=log, output=folder, force=True)
    assert {path.name for path in folder.iterdir()} == {"script.js", "study.yaml", "values.json"}


def test_values_are_for_their_owner_alone(tmp_path: Path) -> None:
    plimsoll.new(access_log=_log(tmp_path), output=tmp_path / "load")
    path = tmp_path / "load" / "values.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert all(rows for rows in json.loads(path.read_text()).values())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "nothing to begin with"),
        ({"url": "example.org"}, "no URL"),
        ({"url": "http://me:pw@example.org"}, "user or password"),
        ({"access_log": "a", "openapi": "b"}, "given together"),
        ({"access_log": []}, "no access log"),
        ({"access_log": "none.log"}, "cannot be read"),
        ({"openapi": "none.yaml"}, "cannot be read"),
        ({"openapi": "http://[/"}, "--openapi: the URL cannot be read"),
        ({"access_log": "a", "token": "t"}, "no service is asked"),
        ({"access_log": "a", "least_share": 2.0}, "no share"),
        ({"url": "http://127.0.0.1:1", "token": "s\n3"}, "no header can hold"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_written(
    arguments: dict[str, object], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=words) as caught:
        plimsoll.new(**arguments)  # type: ignore[arg-type]
    assert "pw" not in str(caught.value).replace("password", "") and list(tmp_path.iterdir()) == []


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    log = _log(tmp_path)
    with pytest.raises(InputError, match="is no folder"):
        plimsoll.new(access_log=log, output=log)


TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)


CODE = st.sampled_from(["`", "${", "}", "'", "\\", "*/", "//", "\n", "\u2028", "export function x() {}", "{id}", '"'])
CODE_TEXTS = TEXTS | st.lists(CODE, max_size=6).map("".join)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=CODE_TEXTS, query=CODE_TEXTS, values=st.lists(CODE_TEXTS, max_size=3), source=CODE_TEXTS)
def test_any_text_makes_a_script_and_a_study(
    tmp_path: Path, path: str, query: str, values: list[str], source: str
) -> None:
    template, places = named_template(f"/{path}/{{id}}")
    [(name, function)] = operation_names([("GET", template)])
    rows = tuple(dict.fromkeys(places, value) | {"query": query} for value in values)
    draft = Draft(
        source, "http://127.0.0.1:1", (source,), (DraftOperation(name, function, "GET", template, 1.5, rows, query),)
    )
    assert parse_study(study_of(draft, source or "x")).workload.operations[0].exec == function  # type: ignore[union-attr]
    (tmp_path / "values.json").write_text(values_of(draft) or "", errors="backslashreplace")
    (tmp_path / "script.js").write_text(script_of(draft))
    assert _exports(tmp_path / "script.js") == {function}


def test_names_are_all_different_and_functions_too() -> None:
    names = operation_names(
        [("GET", "/a/b"), ("GET", "/a-b"), ("GET", "/A/b"), ("HEAD", "/"), ("GET", "/ä"), ("GET", "/")]
    )
    assert len({name for name, _ in names}) == len({function for _, function in names}) == 6
    assert all(
        re.fullmatch(r"[a-z][a-z0-9_]*", name) and re.fullmatch(r"[a-z]\w*", function) for name, function in names
    )


def test_places_have_names_that_javascript_takes() -> None:
    assert named_template("/a/{issue-id}/{2}/{query}/{issue_id}") == (
        "/a/{issue_id}/{_2}/{_query}/{issue_id_}",
        ["issue_id", "_2", "_query", "issue_id_"],
    )


def _exports(script: Path) -> set[str]:
    return set(inspect(EngineConfig(script))["exports"]) - {"options"}
