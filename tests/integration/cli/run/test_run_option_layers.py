"""Where an option may be said, and which of several counts: defaults, file, script, environment, flags."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli

SCRIPT = """import exec from 'k6/execution';
export const options = OPTIONS;
export function setup() { return { options: exec.test.options, seen: __ENV }; }
export default function () {}
"""


def told(cli: Cli, options: dict[str, Any], *flags: str, **environment: str) -> dict[str, Any]:
    """What the script sees of its options and of __ENV, and the metrics."""
    cli.write(script_js=SCRIPT.replace("OPTIONS", json.dumps(options)))
    done = cli("run", "-q", "--summary-export", "s.json", *flags, "script.js", env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    exported = json.loads((cli.folder / "s.json").read_text())
    return {**exported["setup_data"], "metrics": exported["metrics"]}


def test_each_layer_counts_before_the_one_below(cli: Cli) -> None:
    file = {"userAgent": "file", "batch": 1, "batchPerHost": 1, "maxRedirects": 1, "iterations": 9}
    (cli.folder / "k6.json").write_text(json.dumps(file))
    script = {"userAgent": "script", "batch": 2, "batchPerHost": 2, "iterations": 3}
    found = told(cli, script, "--config", "k6.json", "--user-agent", "flag", K6_BATCH="3", K6_USER_AGENT="variable")[
        "options"
    ]
    assert (found["userAgent"], found["batch"], found["batchPerHost"], found["maxRedirects"]) == ("flag", 3, 2, 1)
    assert found["scenarios"]["default"]["iterations"] == 3


def test_a_file_gives_a_load_to_a_script_that_states_none(cli: Cli) -> None:
    (cli.folder / "k6.json").write_text(json.dumps({"vus": 2, "iterations": 6}))
    assert told(cli, {}, "-c", "k6.json")["metrics"]["iterations"]["count"] == 6
    assert told(cli, {"iterations": 4}, K6_CONFIG="k6.json")["metrics"]["iterations"]["count"] == 4
    assert told(cli, {"iterations": 4}, K6_ITERATIONS="5")["metrics"]["iterations"]["count"] == 5
    assert told(cli, {"iterations": 4}, "-i", "7", K6_ITERATIONS="5")["metrics"]["iterations"]["count"] == 7


def test_the_environment_is_the_system_s_and_that_of_flags(cli: Cli) -> None:
    env = told(cli, {}, "-e", "MINE=1", THEIRS="2")["seen"]
    assert (env["MINE"], env["THEIRS"]) == ("1", "2")
    assert told(cli, {}, "--include-system-env-vars=false", "-e", "MINE=1", THEIRS="2")["seen"] == {"MINE": "1"}


@pytest.mark.parametrize(
    ("options", "flags", "environment", "code", "words"),
    [
        ({}, ["-u", "5", "-i", "1"], {}, 104, "--iterations: 1 is fewer than the 5 VUs"),
        ({}, ["-u", "0", "-d", "1s"], {}, 104, "--vus: must be at least 1"),
        ({}, ["-d", "1s", "-s", "1s:5"], {}, 104, "cannot stand beside"),
        ({}, [], {"K6_SUMMARY_TREND_STATS": "avg,p90"}, 255, "K6_SUMMARY_TREND_STATS"),
        ({}, ["--execution-segment", "2"], {}, 104, "--execution-segment: '2' is no part"),
        ({}, ["-c", "nix.json"], {}, 104, "nix.json"),
        ({}, ["--nix"], {}, 255, "--nix"),
        ({}, ["-o", "influxdb"], {}, 255, "json, csv, parquet"),
        ({}, ["--out", "json=none/x"], {}, 255, "none/x"),
        ({"paused": "yes"}, [], {}, 104, "options.paused"),
    ],
)
def test_a_mistake_is_named_where_it_was_made(
    cli: Cli, options: dict[str, Any], flags: list[str], environment: dict[str, str], code: int, words: str
) -> None:
    cli.write(script_js=SCRIPT.replace("OPTIONS", json.dumps(options)))
    done = cli("run", "-q", *flags, "script.js", env={**os.environ, **environment})
    assert (done.returncode, done.stdout) == (code, "") and words in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not Path(cli.folder / "runs").exists()


SEGMENTED = """import { sleep } from 'k6';
import exec from 'k6/execution';
export const options = { scenarios: {
  shared: { executor: 'shared-iterations', vus: 7, iterations: 101 },
  each: { executor: 'per-vu-iterations', vus: 7, iterations: 3 },
  open: { executor: 'constant-arrival-rate', rate: 53, duration: '1s', preAllocatedVUs: 7, gracefulStop: '5s' },
} };
export default function () {}
"""


def test_the_segments_of_a_sequence_do_together_what_the_whole_does(cli: Cli) -> None:
    cli.write(script_js=SEGMENTED)
    counts = []
    cuts = ["0", "1/5", "1/2", "1"]
    for index, segment in enumerate(["0:1", *(f"{a}:{b}" for a, b in pairwise(cuts))]):
        sequence = [] if index == 0 else ["--execution-segment-sequence", ",".join(cuts)]
        flags = ["--execution-segment", segment, *sequence, "--summary-export", "s.json"]
        done = cli("run", "-q", *flags, "script.js")
        assert done.returncode == 0, done.stderr
        counts.append(json.loads((cli.folder / "s.json").read_text())["metrics"]["iterations"]["count"])
    assert counts[0] == 101 + 21 + 53
    assert sum(counts[1:]) == counts[0] and all(counts), counts
