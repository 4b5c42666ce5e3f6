"""A script that cannot run: file, line, the line itself, what would be right; no load, no run directory."""

from __future__ import annotations

import pytest
from command_line import Cli, assert_one_clear_message

BODY = "export default function () {}\n"
MISTAKES = {
    "syntax": (
        "export default function () {\n  const x = ;\n}\n",
        ["script.js:2", "const x = ;", "unexpected token"],
    ),
    "unknown module": (
        f"// one\nimport grpc from 'k6/net/grpc';\n{BODY}",
        ["script.js:2", "import grpc", "gRPC is not supported yet"],
    ),
    "package": (
        f"import _ from 'lodash';\n{BODY}",
        ["script.js:1", "'lodash'", "npm install lodash"],
    ),
    "remote": (
        f"import x from 'https://a.example/x.js';\n{BODY}",
        ["script.js:1", "nothing is downloaded while a run goes on", "/vendor/a.example/x.js"],
    ),
    "missing file": (
        f"import {{\n  a,\n}} from './other.js';\n{BODY}",
        ["script.js:3", "'./other.js'", "check the path"],
    ),
    "missing export": (
        f"import {{ nosuch }} from 'k6';\n{BODY}",
        ["script.js:1", "'nosuch'", "import { nosuch }"],
    ),
    "no default": (
        "export function other () {}\n",
        ["script.js", "no function 'default'", "it exports: other"],
    ),
    "throws": (
        f"\nnosuch();\n{BODY}",
        ["script.js:2", "nosuch is not defined"],
    ),
    "options": (
        f"export const options = {{ duraton: '3s', vus: -1 }};\n{BODY}",
        ["Did you mean duration?", "options.vus: -1"],
    ),
}


OF_OPTIONS = ("no default", "options")


@pytest.mark.parametrize("verb", ["run", "capacity"])
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_a_script_is_told_with_its_place(cli: Cli, name: str, verb: str) -> None:
    text, said = MISTAKES[name]
    code = 2 if verb == "capacity" else 104 if name in OF_OPTIONS else 107
    cli.write(script_js=text)
    done = cli(verb, "script.js")
    assert done.returncode == code and not done.stdout
    assert_one_clear_message(done.stderr)
    assert [words for words in said if words not in done.stderr] == [], done.stderr
    assert "Correct" in done.stderr.splitlines()[-1]
    assert not cli.runs()


def test_a_mistake_in_an_imported_file_names_that_file(cli: Cli) -> None:
    cli.write(script_js=f"import {{ a }} from './inner.js';\n{BODY}", inner_js="\n\nexport const a = );\n")
    done = cli("run", "script.js")
    assert done.returncode == 107 and "inner.js:3" in done.stderr and "export const a = );" in done.stderr


def test_a_script_that_is_not_there_is_said(cli: Cli) -> None:
    for verb, code in (("run", 107), ("capacity", 2)):
        done = cli(verb, "none.js")
        assert done.returncode == code
        assert done.stderr == "plimsoll: none.js: there is no such script. Give the path of a k6 script.\n"


def test_a_script_on_standard_input_is_run_with_paths_from_the_current_folder(cli: Cli) -> None:
    """grafana/k6 1399, 1836: `k6 run - < script.js`, as k6's container is started."""
    cli.write(other_js="export const words = () => 'from beside';", data_txt="from a file")
    script = """import { words } from './other.js';
const data = open('data.txt');
export default function () { console.log(words(), data, import.meta.resolve('./other.js').endsWith('/other.js')); }"""
    done = cli("run", "-", input=script)
    assert done.returncode == 0, done.stderr
    assert "from beside from a file true" in done.stderr
    mistaken = cli("run", "-", input="export default function () { nothing(); }")
    assert "standard-input.js:1: ReferenceError" in mistaken.stderr
    assert "1 of 1 iteration ended with an exception" in mistaken.stderr
    assert "all iterations ended with an exception" in cli("runs", "list").stdout


def test_no_script_on_standard_input_is_said(cli: Cli) -> None:
    empty = cli("run", "-", input="")
    assert empty.returncode and "the script on standard input is empty" in empty.stderr
    assert_one_clear_message(empty.stderr)
    other = cli("capacity", "-", input="export default function () {}")
    assert other.returncode and "standard input is not read by this verb" in other.stderr


@pytest.mark.parametrize("verb", ["run", "capacity", "hold"])
def test_an_address_in_place_of_a_script_is_given_back_with_its_flag(cli: Cli, verb: str) -> None:
    done = cli(verb, "http://127.0.0.1:9/fast")
    assert done.returncode and "plimsoll run --url http://127.0.0.1:9/fast" in done.stderr
    assert_one_clear_message(done.stderr)


def test_setup_that_fails_keeps_what_was_recorded(cli: Cli) -> None:
    cli.write(script_js=f"export function setup() {{ throw new Error('boom'); }}\n{BODY}")
    done = cli("run", "-q", "script.js")
    assert done.returncode == 107 and "script.js:1: boom" in done.stderr
    assert_one_clear_message(done.stderr)
    (run_directory,) = cli.runs()
    assert f"plimsoll report runs/{run_directory.name}" in done.stderr
    assert cli("report", run_directory).returncode == 0


def test_a_study_that_names_a_function_that_is_not_there_is_said_before_any_load(cli: Cli) -> None:
    cli.write(
        script_js=BODY, study_yaml="workload: {script: script.js, operations: [{name: a, exec: b, per_user_hour: 1}]}\n"
    )
    done = cli("capacity", "study.yaml")
    assert done.returncode == 2 and "no function 'b'" in done.stderr and "it exports: default" in done.stderr
    assert not cli.runs()
