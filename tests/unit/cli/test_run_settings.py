"""Flags as k6 takes them, and what counts where file, environment and flags disagree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plimsoll.cli.run.checks import Summary, checked, outputs, plain_url, script_environment
from plimsoll.cli.run.flags import FlagError, parse
from plimsoll.cli.run.k6_options import BY_KEY, OPTIONS, Area
from plimsoll.cli.run.settings import Settings, overlaid, settings
from plimsoll.errors import InputError


def given(*argv: str) -> dict[str, Any]:
    return {key: value for key, value in parse(argv).items() if key in BY_KEY}


def test_every_flag_and_variable_is_there_once() -> None:
    flags = [option.flag for option in OPTIONS if option.flag]
    variables = [option.variable for option in OPTIONS if option.env != "-"]
    assert len(set(flags)) == len(flags) and len(set(variables)) == len(variables)
    assert {"K6_STAGES", "K6_NO_VU_CONNECTION_REUSE", "K6_BLACKLIST_IPS", "K6_SETUP_TIMEOUT"} <= set(variables)


@pytest.mark.parametrize(
    ("argv", "wanted"),
    [
        (["-u", "5", "--duration=30s"], {"vus": 5, "duration": "30s"}),
        (["-s", "30s:10", "--stage", "1m:0"],
         {"stages": [{"duration": "30s", "target": 10}, {"duration": "1m", "target": 0}]}),
        (["--throw", "--no-setup=false", "-q"], {"throw": True, "noSetup": False, "quiet": True}),
        (["-wq"], {"throw": True, "quiet": True}),
        (["--http-debug"], {"httpDebug": "headers"}),
        (["--http-debug=full"], {"httpDebug": "full"}),
        (["--tag", "a=1", "--tag", "b=c=d"], {"tags": {"a": "1", "b": "c=d"}}),
        (["--blacklist-ip", "10.0.0.0/8,1.2.3.4", "--blacklist-ip", "::1"],
         {"blacklistIPs": ["10.0.0.0/8", "1.2.3.4", "::1"]}),
        (["--dns", "ttl=1m,select=first"], {"dns": {"ttl": "1m", "select": "first"}}),
        (["-o", "json=a", "--out", "csv=b"], {"out": ["json=a", "csv=b"]}),
        (["--include-system-env-vars=false"], {"includeSystemEnvVars": False}),
        (["--system-tags", "status, url"], {"systemTags": ["status", "url"]}),
    ],
)  # fmt: skip
def test_flags_are_read_as_k6_writes_them(argv: list[str], wanted: dict[str, Any]) -> None:
    assert given(*argv, "script.js") == wanted
    assert parse([*argv, "script.js"])["script"] == Path("script.js")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--nix"], "--nix"),
        (["--vus", "x"], "-u/--vus: 'x' is not a whole number"),
        (["--duration", "10"], "-d/--duration: '10' has no unit; write 10s, 10m or 10h"),
        (["--stage", "10"], "not duration:target"),
        (["--stage", "soon:10"], "'soon' is not a duration"),
        (["--tag", "a"], "write name=value"),
        (["--env", "1A=x"], "write NAME=value"),
        (["--no-setup=maybe"], "neither true nor false"),
        (["--dns", "foo"], "ttl=5m"),
        (["--summary-trend-stats", "avg,p90"], "'p90' is no statistic"),
        (["--summary-trend-stats", "p(101)"], "is no statistic"),
        (["--summary-time-unit", "h"], "none of s, ms, us"),
        (["--summary-mode", "nix"], "none of compact"),
        (["--rate", "0"], "not a number above 0"),
        (["--header", "x"], "'Name: value'"),
    ],
)
def test_a_wrong_flag_is_named_and_ends_with_the_code_of_k6(argv: list[str], words: str) -> None:
    with pytest.raises(FlagError) as caught:
        parse([*argv, "script.js"])
    assert words in str(caught.value) and caught.value.exit_code == 255


def test_flags_count_before_variables_and_these_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "k6.json"
    file.write_text(json.dumps({"vus": 1, "batch": 1, "userAgent": "file", "out": ["json=file"], "linger": True}))
    told = settings(
        parse(["--config", str(file), "--vus", "3", "script.js"]),
        {"K6_VUS": "2", "K6_USER_AGENT": "variable", "K6_OUT": "csv=variable", "K6_SETUP_TIMEOUT": "5", "OTHER": "x"},
    )
    assert told.below == {"vus": 1, "batch": 1, "userAgent": "file"}
    assert told.above == {"vus": 3, "userAgent": "variable", "setupTimeout": "5"}
    assert told.run["out"] == ["csv=variable"] and told.run["linger"] is True
    assert told.origins["vus"] == "--vus" and told.origins["userAgent"] == "K6_USER_AGENT"
    assert told.origins["batch"] == f"{file}: batch"


def test_a_load_of_flags_replaces_that_of_variables_but_not_the_vus() -> None:
    told = settings(parse(["-i", "7", "script.js"]), {"K6_STAGES": "5s:10,1m:20", "K6_VUS": "4"})
    assert told.above == {"vus": 4, "iterations": 7}
    assert overlaid({"duration": "1s", "rps": 5}, {"rps": 6}) == {"duration": "1s", "rps": 6}


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("stages", "5s:10,1m:20", [{"duration": "5s", "target": 10}, {"duration": "1m", "target": 20}]),
        ("tags", "a:1,b:2", {"a": "1", "b": "2"}),
        ("noCookiesReset", "true", True),
        ("duration", "1500", "1500"),
        ("blockHostnames", "a.com,*.b.com", ["a.com", "*.b.com"]),
        ("summaryTrendStats", "avg,max", ["avg", "max"]),
        ("dns", "ttl=0", {"ttl": "0"}),
        ("rps", "100", 100),
    ],
)
def test_variables_are_read_as_k6_writes_them(option: str, text: str, value: Any) -> None:
    assert settings(parse(["script.js"]), {BY_KEY[option].variable: text}).above == {option: value}


def test_a_wrong_variable_is_named() -> None:
    with pytest.raises(FlagError, match="K6_THROW: 'yes' is neither true nor false"):
        settings(parse(["script.js"]), {"K6_THROW": "yes"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"summaryMode": "ful"}', "summaryMode: 'ful' is none of compact, full, legacy, disabled. Did you mean full?"),
        ('{"summaryMode": ["full"]}', "summaryMode: not a text"),
        ('{"noThresholds": "no"}', "noThresholds: neither true nor false"),
    ],
)
def test_an_option_of_the_run_in_a_file_is_looked_at_as_a_flag_is(tmp_path: Path, text: str, words: str) -> None:
    """A mode that there is none of printed the compact summary, and "no" switched on."""
    file = tmp_path / "config.json"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        settings(parse(["--config", str(file), "script.js"]), {})
    assert f"--config {file}: {words}" in str(caught.value) and caught.value.exit_code == 104


def test_the_file_may_ask_for_a_full_summary(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{"summaryMode": "full", "noThresholds": false}')
    flags = parse(["--config", str(file), "script.js"])
    assert checked(flags, settings(flags, {})).mode == "full"


@pytest.mark.parametrize(("text", "words"), [("{", "not JSON"), ("[]", "not an object"), (None, "No such file")])
def test_a_file_that_is_no_configuration_is_named(tmp_path: Path, text: str | None, words: str) -> None:
    file = tmp_path / "k6.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError) as caught:
        settings(parse(["script.js"]), {"K6_CONFIG": str(file)})
    assert words in str(caught.value) and caught.value.exit_code == 104


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--type", "archive"], "archives are not read"),
        (["--traces-output", "otel"], "--traces-output"),
        (["--log-output", "loki"], "redirect it with 2>"),
        (["--new-machine-readable-summary"], "--new-machine-readable-summary"),
    ],
)
def test_what_is_not_there_is_refused_and_not_ignored(argv: list[str], words: str) -> None:
    flags = parse([*argv, "script.js"])
    with pytest.raises(FlagError, match=words):
        checked(flags, settings(flags, {}))


def test_flags_without_an_effect_on_the_run_are_taken() -> None:
    flags = parse(["-v", "-l", "-a", ":0", "--profiling-enabled", "--compatibility-mode", "base", "-t", "js", "x.js"])
    assert checked(flags, settings(flags, {})) == Summary("compact", None)


def test_a_disabled_summary_and_no_thresholds_reach_the_script_s_options() -> None:
    flags = parse(["--summary-mode", "disabled", "--no-thresholds", "script.js"])
    told = settings(flags, {})
    assert checked(flags, told) == Summary(None, None)
    assert told.above == {"noSummary": True, "thresholds": {}}


@pytest.mark.parametrize("argv", [[], ["script.js", "--url", "http://x"]])
def test_a_script_or_an_address_is_needed_and_not_both(argv: list[str]) -> None:
    flags = parse(argv)
    with pytest.raises(FlagError, match="--url"):
        checked(flags, settings(flags, {}))


def test_outputs_have_a_kind_and_a_file() -> None:
    assert outputs({"out": ["json=a.gz", "csv"]}) == [("json", "a.gz"), ("csv", "file.csv")]
    assert outputs({"out": "parquet=p"}) == [("parquet", "p")]
    with pytest.raises(FlagError, match="no outputs but json, csv, parquet"):
        outputs({"out": ["influxdb=http://x"]})


def test_the_environment_of_a_script_has_the_system_s_unless_they_are_left_out() -> None:
    system = {"HOME": "/h", "A": "1"}
    assert script_environment({"env": ["A=2", "B=x=y"]}, system) == {"HOME": "/h", "A": "2", "B": "x=y"}
    assert script_environment({"env": ["A", "NIX"], "includeSystemEnvVars": False}, system) == {"A": "1"}


def test_a_plain_address_has_a_method_headers_and_a_body(tmp_path: Path) -> None:
    body = tmp_path / "body.txt"
    body.write_text("text")
    argv = ["--url", "http://x/", "--header", "A: b:c", "--body", f"@{body}", "--rate", "5"]
    assert plain_url(parse(argv)) == {
        "url": "http://x/", "method": "POST", "headers": [("A", "b:c")], "body": "text", "rate": 5.0,
    }  # fmt: skip
    assert plain_url(parse(["script.js"])) is None
    with pytest.raises(FlagError, match="--body @nix"):
        plain_url(parse(["--url", "http://x/", "--body", "@nix"]))


def test_options_of_the_run_do_not_reach_the_script() -> None:
    told = settings(parse(["-q", "--out", "json=x", "-e", "A=b", "script.js"]), {})
    assert told == Settings(run=told.run, origins=told.origins) and all(
        BY_KEY[key].area is Area.RUN for key in told.run
    )
