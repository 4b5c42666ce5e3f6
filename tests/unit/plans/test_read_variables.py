"""Whether a script reads a variable, and that a sweep over one that it never reads is refused before any load."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.plans.read_variables import names_read, reading_of
from plimsoll.plans.requests import SweepRequest, TrialChoices
from plimsoll.plans.trials import sweep_setup

SCRIPT = """
import http from 'k6/http';
import { check } from "k6";
const data = JSON.parse(open('./data.json'));
export const options = { vus: 2, duration: '10s' };
export default function () { http.get(`${__ENV.BASE_URL}/${__ENV['SIZE']}?r=${__ENV?.R}`); }
"""


def test_what_is_read_by_name_is_read_and_what_no_text_names_is_not() -> None:
    assert names_read(SCRIPT) == ["BASE_URL", "SIZE", "R"]
    assert [reading_of(name, SCRIPT) for name in ("SIZE", "R", "WHO", "S")] == ["read", "read", "never", "never"]


@pytest.mark.parametrize(
    "more",
    [
        "const name = 'W' + 'HO'; const who = __ENV[name];",
        "const { WHO } = __ENV;",
        "setup(__ENV);",
        "import { who } from './who.js';",
        "import './who.js';",
        "import who from'https://jslib.example.org/who.js';",
        "const who = require('./who');",
        "const who = require(place);",
        "const who = await import(`./${place}.js`);",
        "export * from '../who.ts';",
        "const who = eval(text);",
        "const who = globalThis['__' + 'ENV'].WHO;",
    ],
)
def test_what_may_read_it_out_of_sight_leaves_it_open(more: str) -> None:
    assert reading_of("WHO", f"{SCRIPT}\n{more}") == "maybe"


@pytest.mark.parametrize(
    "more", ["import data from './who.json';", "const http2 = require('k6/http');", "const from = 1;"]
)
def test_data_and_k6_s_own_modules_read_nothing(more: str) -> None:
    assert reading_of("WHO", f"{SCRIPT}\n{more}") == "never"


def swept(script: Path, text: str, **over: tuple[str, ...]) -> tuple[list[str], dict[str, object]]:
    script.write_text(text)
    (script.parent / "data.json").write_text("{}")
    said: list[str] = []
    return said, dict(sweep_setup(SweepRequest(script, over), TrialChoices(), said.append).plan.analysis)


def test_a_sweep_over_what_the_script_never_reads_is_refused_with_what_it_reads(tmp_path: Path) -> None:
    """Seen: three values of a variable that nothing reads were held, and "does not depend on WHO" was the answer."""
    script = tmp_path / "script.js"
    with pytest.raises(InputError, match=r"--over SISE: .*never reads __ENV\.SISE") as found:
        swept(script, SCRIPT, SISE=("1", "2"))
    assert "Did you mean SIZE?" in str(found.value)
    with pytest.raises(InputError, match=r"It reads BASE_URL, SIZE, R\."):
        swept(script, SCRIPT, WHO=("a", "b"), R=("1", "2"))
    assert swept(script, SCRIPT, R=("1", "2"))[0] == []


def test_where_a_module_may_read_it_there_is_only_a_note(tmp_path: Path) -> None:
    (tmp_path / "who.js").write_text("export const who = __ENV.WHO;")
    text = f"import {{ who }} from './who.js';\n{SCRIPT}"
    said, _ = swept(tmp_path / "script.js", text, WHO=("a", "b"))
    assert len(said) == 1 and "does not mention WHO" in said[0]


def test_several_levels_that_are_not_swept_by_name_are_a_parameter(tmp_path: Path) -> None:
    """Seen: "26.6 ms at WHO=a, 64.5 ms at WHO=a" of `--over WHO=a,b --users 1,4`."""
    script = tmp_path / "script.js"
    script.write_text("export default function () { __ENV.WHO }")
    plan = sweep_setup(SweepRequest(script, {"WHO": ("a", "b")}), TrialChoices(users=(1.0, 4.0)), print).plan
    assert plan.analysis["over"] == {"WHO": ["a", "b"], "users": ["1", "4"]}
    assert plan.analysis["level_parameter"] == "users" and [one.level for one in plan.levels] == [1.0, 4.0]
    one = sweep_setup(SweepRequest(script, {"WHO": ("a", "b")}), TrialChoices(users=(4.0,)), print).plan
    assert one.analysis["over"] == {"WHO": ["a", "b"]} and one.analysis["level_parameter"] is None
