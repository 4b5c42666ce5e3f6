"""Mistakes in a study, all at once; ports that are in use."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from command_line import TESTKIT, Cli, assert_one_clear_message

from plimsoll.runs.reader import RunReader

SCRIPT = "import http from 'k6/http';\nexport default function () { http.get(__ENV.BASE_URL); }\n"
STUDY = """targt: {url: 'http://127.0.0.1:1'}
workload:
  script: scrip.js
  operatons: []
  operations:
    - {name: a, exe: default, per_user_hour: x}
experiments:
  - capacty: {}
"""


def test_all_mistakes_of_a_study_come_at_once_with_lines_and_the_nearest_name(cli: Cli) -> None:
    cli.write(script_js=SCRIPT, study_yaml=STUDY)
    done = cli("capacity", "study.yaml")
    assert done.returncode == 2 and not cli.runs()
    assert_one_clear_message(done.stderr)
    for place, step in (
        ("study.yaml:1: targt", "Did you mean target?"),
        ("study.yaml:3: workload.script", "Did you mean script.js?"),
        ("study.yaml:4: workload.operatons", "Did you mean operations?"),
        ("study.yaml:6: workload.operations[0].exe", "Did you mean exec?"),
        ("study.yaml:6: workload.operations[0].per_user_hour", "Write a number here."),
        ("study.yaml:8: experiments[0].capacty", "Did you mean capacity?"),
    ):
        assert [line for line in done.stderr.splitlines() if place in line and line.endswith(step)], (
            place,
            done.stderr,
        )
    assert done.stderr.splitlines()[-1].startswith("6 mistakes.")


def test_one_mistake_is_one_line(cli: Cli) -> None:
    assert cli("capacity", "none.yaml").stderr.splitlines() == [
        "plimsoll: none.yaml: cannot read it: No such file or directory. "
        "Give the path of a study file, docs/study.md has one to begin with."
    ]


def test_the_lab_says_that_its_port_is_in_use(cli: Cli, known_server: Callable[..., str]) -> None:
    port = urlsplit(known_server()).port
    done = cli("lab", "tracker", "--port", port, "--issues", 100)
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.splitlines() == [
        f"plimsoll lab tracker: Port {port} of 127.0.0.1 cannot be used: Address already in use. "
        "Stop what listens there, or give another --port (0 takes a free one)."
    ]
    assert not list(cli.folder.iterdir())


def test_a_start_command_whose_port_is_in_use_never_has_the_other_server_measured(
    cli: Cli, known_server: Callable[..., str]
) -> None:
    url = known_server()
    port = urlsplit(url).port
    for start, said in (
        (f"{TESTKIT} --port {port}", "AddrInUse"),
        ("exec sleep 600", "was not ready within 3 s"),
    ):
        cli.write(
            script_js=SCRIPT,
            study_yaml=f"target: {{url: '{url}', start: \"{start}\", ready: /, time_limits: {{ready_s: 3}}}}\n"
            "workload: {script: script.js, operations: [{name: a, exec: default, per_user_hour: 100}]}\n",
        )
        done = cli("capacity", "-q", "study.yaml")
        assert done.returncode == 3 and not done.stdout, done.stderr
        assert_one_clear_message(done.stderr)
        assert said in done.stderr and "plimsoll-testkit (process " in done.stderr and "Stop it" in done.stderr
        run_directory = cli.runs()[-1]
        assert run_directory.name in done.stderr and not list(RunReader(run_directory).snapshots())
        assert cli("report", run_directory).returncode == 0
