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


@pytest.mark.parametrize(
    "more",
    [
        "// uses __ENV.WHO",
        "/* __ENV.WHO\n * and __ENV['WHO'] */",
        "const x = 1; // __ENV.WHO",
        "const u = `http://x/${ /* __ENV.WHO */ 1 }`;",
        "const r = /['\"`]/; // __ENV.WHO",
        "// import { who } from './who.js'",
        "const d = 4 / 2; // __ENV.WHO / 2",
        "const s = 'it\\'s'; // `__ENV.WHO`",
    ],
)
def test_what_only_a_comment_names_is_not_read(more: str) -> None:
    """Seen: a sweep over a variable that a comment named held four loads that were all the same."""
    assert reading_of("WHO", f"{SCRIPT}\n{more}") == "never"


@pytest.mark.parametrize(
    "more",
    [
        "const u = 'http://x/' + __ENV.WHO;",
        "const u = `http://x/${__ENV.WHO}`;",
        "const u = `http://x/${ `//${ __ENV.WHO }` }`;",
        "const r = /[//]/; const u = __ENV.WHO;",
        "const r = /a\\/\\/b/.test(x), u = __ENV.WHO;",
        "if (x) /[//]/.test(x) && __ENV.WHO;",
        "const f = () => { return /'/.test(x) }; const u = __ENV.WHO; // it's",
        "const q = '/*'; const u = __ENV.WHO; const e = '*/';",
        'const q = "//"; const u = __ENV.WHO;',
        "const q = x.replace(/\\/*$/, ''), u = __ENV.WHO; /* end */",
        "const t = `\\`//`; const u = __ENV.WHO;",
        "const d = (a + b) / 2; const u = __ENV.WHO; // half",
        "const d = a[0] / 2 + __ENV.WHO / 2;",
    ],
)
def test_what_looks_like_a_comment_and_is_none_hides_nothing(more: str) -> None:
    assert reading_of("WHO", f"{SCRIPT}\n{more}") == "read"


def test_a_sweep_over_what_a_comment_names_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"never reads __ENV\.CMT"):
        swept(tmp_path / "script.js", f"// uses __ENV.CMT\n{SCRIPT}", CMT=("1", "2"))
