"""What is given to `plimsoll run` is text, and what is none is told without being shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.cli.run.flags import FlagError, parse
from plimsoll.cli.run.settings import settings
from plimsoll.cli.run.told_secrets import redactor_of_words
from plimsoll.cli.run.verb import _run
from plimsoll.study.secrets.forms import forms_of

SCRIPT = """export const options = {iterations: 1, vus: 1};
export default function () { console.log(`it is ${__ENV.ODD}`); }
"""
ODD = b"abc\xffdef".decode("utf-8", "surrogateescape")
HINT = "write mock=name=value,… or file=path, with name=…"


@pytest.fixture(autouse=True)
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.js").write_text(SCRIPT)


def run(*words: str) -> None:
    flags = parse(["-q", *words])
    _run(flags, settings(flags, {}))


@pytest.mark.parametrize(
    "words",
    [
        ("s.js", "--secret-source", f"mock=a={ODD}"),
        ("s.js", "--secret-source", f"file={ODD}"),
        ("s.js", "--env", f"PASSWORD={ODD}"),
        ("s.js", "--tag", f"a={ODD}"),
        ("s.js", "--out", f"json={ODD}"),
        ("s.js", "--console-output", ODD),
        ("s.js", "--import-map", ODD),
        ("s.js", "--user-agent", ODD),
        ("--url", f"http://127.0.0.1:1/{ODD}"),
        ("--url", "http://127.0.0.1:1/", "--header", f"a: {ODD}"),
        ("--url", "http://127.0.0.1:1/", "--body", ODD),
    ],
)
def test_a_flag_that_is_not_utf_8_is_refused_by_its_name_and_not_shown(words: tuple[str, ...]) -> None:
    with pytest.raises(FlagError, match="it is not UTF-8 text") as raised:
        run(*words)
    assert str(raised.value).startswith(words[-2]) and "abc" not in str(raised.value)


@pytest.mark.parametrize("name", ["ODD", "PASSWORD"])
def test_a_variable_of_the_system_that_is_not_utf_8_ends_no_run(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, ODD)
    run("s.js", "--console-output", "log")
    shown = "abc�def" if name == "ODD" else "undefined"
    assert f"it is {shown}" in Path("log").read_text()


def test_a_secret_that_is_not_utf_8_is_known_in_its_bytes() -> None:
    assert "abc%FFdef" in forms_of(ODD) and "abc%25FFdef" in forms_of(ODD)
    assert forms_of("a lone \ud800 of JSON")


def test_a_secret_with_two_values_is_refused_without_them() -> None:
    with pytest.raises(FlagError, match="the secret 'a' has two values") as raised:
        run("s.js", "--secret-source", "mock=a=first,b=x,a=second")
    assert "first" not in str(raised.value)


@pytest.mark.parametrize("flag", ["mock=", "file=", "mock", "mock=default", "http=x"])
@pytest.mark.parametrize("is_one_word", [False, True])
def test_the_hint_about_a_source_is_not_hidden(flag: str, is_one_word: bool) -> None:
    words = ["run", "s.js", *([f"--secret-source={flag}"] if is_one_word else ["--secret-source", flag])]
    assert redactor_of_words(words, {}).message(HINT) == HINT


@pytest.mark.parametrize("flag", ["mock=token=hunter2hunter2", "mock=hunter2hunter2", "vault=hunter2hunter2"])
def test_values_of_a_source_stay_hidden(flag: str) -> None:
    told = redactor_of_words(["run", "--secret-source", flag], {}).message(f"cannot read {flag}")
    assert "hunter2" not in told
