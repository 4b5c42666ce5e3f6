"""Whoever mistypes a flag or a value is told the nearest one, in every verb."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from plimsoll.cli.app import app
from plimsoll.cli.run.flags import FlagError, parse
from plimsoll.errors import InputError
from plimsoll_lab.__main__ import parser


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--duratoin", "5s", "script.js"], "there is no flag --duratoin. Did you mean --duration?"),
        (["--duratoin=5s", "script.js"], "there is no flag --duratoin. Did you mean --duration?"),
        (["--vu", "1", "--duratoin", "5s", "x.js"], "--vu. Did you mean --vus?; there is no flag --duratoin. Did you"),
        (["--zzzzz", "script.js"], "there is no flag --zzzzz. plimsoll run --help"),
        (["script.js", "other.js"], "'other.js' is one word too many"),
        (["--late-arrivals", "wiat", "script.js"], "'wiat' is none of wait, drop. Did you mean wait?"),
        (["--summary-mode", "fulll", "script.js"], "none of compact, full, legacy, disabled. Did you mean full?"),
        (
            ["--summary-trend-stats", "avgg", "script.js"],
            "'avgg' is no statistic of a trend; use some of avg, min, med",
        ),
        (["--summary-trend-stats", "avgg", "script.js"], "Did you mean avg?"),
    ],
)
def test_run_names_the_nearest_flag_or_value(words: list[str], told: str) -> None:
    with pytest.raises(FlagError) as error:
        parse(words)
    assert told in str(error.value) and error.value.exit_code == 255


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["hold", "--baselin", "5", "script.js"], "There is no flag --baselin. Did you mean --baseline?"),
        (["compare", "--trail", "5", "script.js"], "There is no flag --trail. Did you mean --trial?"),
        (["runs", "prune", "--older-then", "5d"], "There is no flag --older-then. Did you mean --older-than?"),
        (["capacity", "--zzzzz", "study.yaml"], "There is no flag --zzzzz."),
        (["holdd", "script.js"], "Did you mean 'hold'?"),
        (["runs", "lst"], "Did you mean 'list'?"),
    ],
)
def test_other_verbs_name_it_in_the_same_words(words: list[str], told: str) -> None:
    done = CliRunner().invoke(app, words, env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"})
    assert done.exit_code == 2 and told in " ".join(done.output.split()), done.output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["control", "runs", "lvel", "2"], "Did you mean level?"),
        (["analyze", "x.csv", "--model", "opne"], "Did you mean open?"),
    ],
)
def test_values_of_other_verbs_are_named_too(words: list[str], told: str) -> None:
    with pytest.raises(InputError) as error:
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["trackr"], "'trackr' is none of tracker, inventory"),
        (["trackr"], "Did you mean tracker?"),
        (["tracker", "--prot", "4"], "there is no flag --prot. Did you mean --port?"),
        (["links", "--source", "gcc"], "'gcc' is none of gc, rm, qm, cm. Did you mean gc?"),
    ],
)
def test_the_lab_names_targets_flags_and_values(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(words)
    assert told in capsys.readouterr().err
