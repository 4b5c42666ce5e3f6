"""Every number that a flag takes has bounds, and a message that names the flag."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest
import typer
import typer.models

from plimsoll.cli.app import app
from plimsoll.cli.run.flags import FlagError, parse
from plimsoll.cli.run.k6_options import BY_KEY
from plimsoll.errors import InputError


def _types(hint: Any) -> set[Any]:
    """The plain types in `list[float] | None`."""
    parts = get_args(hint)
    return {hint} if not parts else {one for part in parts for one in _types(part)}


def _spelled(name: str, info: typer.models.OptionInfo) -> str:
    given = (str(one) for one in (info.default, *(info.param_decls or ())))  # typer takes the first for a default
    return next((one for one in given if one.startswith("--")), f"--{name.replace('_', '-')}")


NUMBERS = sorted(
    (str(command.callback.__name__), _spelled(name, info))
    for command in app.registered_commands
    if command.callback is not None
    for name, hint in get_type_hints(command.callback, include_extras=True).items()
    if get_origin(hint) is Annotated and isinstance(info := get_args(hint)[1], typer.models.OptionInfo)
    if {int, float} & _types(get_args(hint)[0])
)


def test_there_are_numbers_to_try() -> None:
    assert len(NUMBERS) > 60 and {verb for verb, _ in NUMBERS} > {"capacity", "hold", "analyze", "size", "compare"}


@pytest.mark.parametrize(("verb", "flag"), NUMBERS)
def test_a_number_out_of_all_reason_is_refused_by_its_flag(
    verb: str, flag: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    command: Any = typer.main.get_command(app)
    argument = [] if verb == "demo" else ["missing.yaml"]
    for text in ("nan", "inf", "1e300", "-1e300", "9" * 400, "1" * 40 + "x", ""):
        with pytest.raises(Exception) as caught:
            command.main([verb, f"{flag}={text}", *argument], prog_name="plimsoll", standalone_mode=False)
        message = getattr(caught.value, "format_message", caught.value.__str__)()
        assert isinstance(caught.value, InputError) or type(caught.value).__name__ == "BadParameter", message
        assert flag in message and len(message) < 600, message


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["-u", "99999999999"], "at most 1,000,000"),
        (["-s", "1s:999999999999"], "at most 1,000,000"),
        (["--rate", "1e18"], "at most 1,000,000"),
        (["--rate", "nan"], "at most 1,000,000"),
        (["--rps", "9" * 300], "at most 1,000,000"),
        (["-d", "99999999h"], "over 30 days"),
        (["-d", "1s" * 100], "is not a duration"),
        (["-i", "9" * 30], "too many"),
        (["--threads", "99999"], "from 1 to 1,024"),
        (["--seed", "9" * 30], "is not a whole number from 0"),
        (["--seed", "²"], "is not a whole number from 0"),
        (["--batch", "1e3"], "is not a whole number"),
    ],
)
def test_numbers_of_run_have_bounds(argv: list[str], words: str) -> None:
    with pytest.raises(FlagError, match=words):
        parse([*argv, "script.js"])


def test_a_duration_of_zero_needs_no_unit_as_in_go_and_is_told_with_the_options() -> None:
    assert parse(["-d", "0", "script.js"])["duration"] == "0s"


def test_usual_numbers_of_run_are_taken() -> None:
    given = parse(["-u", "5000", "-d", "72h", "-i", "10000000", "-s", "5m:200", "--rps", "50", "script.js"])
    assert (given["vus"], given["duration"], given["iterations"]) == (5000, "72h", 10_000_000)
    assert given["stages"] == [{"duration": "5m", "target": 200}]
    assert BY_KEY["setupTimeout"].read("30000") == "30000"


def test_a_configuration_without_end_is_refused() -> None:
    from plimsoll.cli.run.settings import settings

    with pytest.raises(InputError, match="it has over 1 MiB"):
        settings({"config": "/dev/zero"}, {})


def test_a_body_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from plimsoll.cli.run import checks as run_checks

    monkeypatch.setattr(run_checks, "_MOST_BODY", 1 << 16)
    with pytest.raises(FlagError, match="characters"):
        run_checks.plain_url({"url": "http://h/", "body": "@/dev/zero", "method": None, "header": [], "rate": None})
