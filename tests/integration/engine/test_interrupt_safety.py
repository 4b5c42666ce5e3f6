"""What a script does without end fails that iteration with its place; the VU goes on, and so do the others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from plimsoll.engine import EngineConfig, EngineRun
from plimsoll.errors import InputError

MEMORY = 32 * 2**20


def run_script(tmp_path: Path, text: str, **config: Any) -> dict[str, Any]:
    script = tmp_path / "script.js"
    script.write_text(text)
    run = EngineRun(EngineConfig(script=script, vu_memory_bytes=MEMORY, **config)).begin()
    list(run.snapshots())
    return run.result()


def survives(tmp_path: Path, bad: str) -> dict[str, Any]:
    """One VU does what is bad in its first iteration, and two more good ones."""
    text = f"""import {{ check }} from 'k6';
export const options = {{ iterations: 3, vus: 1 }};
export default async function () {{
  if (__ITER === 0) {{
    const kept = []; let chain;
    {bad}
  }}
  check(JSON.parse('[1]'), {{ goesOn: (value) => value[0] === 1 }});
}}"""
    ended = run_script(tmp_path, text)
    checks = {check["name"]: check["passes"] for check in ended["summary"]["root_group"]["checks"]}
    assert checks["goesOn"] == 2
    assert ended["summary"]["metrics"]["iterations"]["values"]["count"] == 3
    return ended


ENDLESS = """import { check } from 'k6';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 6, iterations: 2 } } };
const again = async () => { for (;;) await null; };
const endless = [
  () => { for (;;) {} },
  () => { /(a+)+$/.test('a'.repeat(40) + 'b'); },
  () => { for (;;) { try { for (;;) {} } catch (error) {} } },
  async () => { for (;;) await null; },
  async () => { await new Promise(() => setTimeout(again)); },
  () => { [3, 1, 2].sort(() => { for (;;) {} }); },
];
export default async function () {
  if (__ITER === 0) await endless[__VU - 1]();
  check(JSON.parse('[1]'), { goesOn: (value) => value[0] === 1 });
}"""


def test_what_computes_without_end_is_stopped(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A thread for each, so that all are stopped at the same time."""
    ended = run_script(tmp_path, ENDLESS, threads=6)
    said = capfd.readouterr().err
    assert ended["summary"]["root_group"]["checks"][0]["passes"] == 6
    assert ended["summary"]["metrics"]["iterations"]["values"]["count"] == 12
    # Of the two that are stopped at the same place of the default function it is said once.
    assert said.count("the script computed for over 10 s without a request or sleep") == 5, said
    places = [line for line in said.splitlines() if line.startswith(f"ERROR {tmp_path}/script.js:")]
    assert len(places) == 5, said


@pytest.mark.parametrize(
    "bad",
    [
        "for (;;) kept.push(new Array(1000).fill(7)); ",
        "for (;;) Promise.reject(1).catch(() => {});",
        "for (;;) try { for (;;) chain = [chain]; } catch (error) {}",
        "const all = {}; for (let n = 0; ; n += 1) all['key' + n] = { n };",
        "new ArrayBuffer(100000000);",
        "await (async () => { await null; for (;;) kept.push({}); })();",
        "const s = 'y'.repeat(4000000); JSON.stringify(new Array(200).fill(s));",
        "const again = () => Promise.resolve().then(again); await again();",
    ],
    ids=["arrays", "rejections", "caught", "objects", "at once", "in a promise", "stringified", "chain of promises"],
)
def test_what_allocates_without_end_is_stopped(tmp_path: Path, capfd: pytest.CaptureFixture[str], bad: str) -> None:
    survives(tmp_path, bad)
    said = capfd.readouterr().err
    assert re.search(r"script\.js:\d+: the script used over 32 MiB of memory and was stopped", said), said


@pytest.mark.parametrize(
    "bad",
    [
        "const deeper = () => deeper() + 1; deeper();",
        "const deeper = (n) => [1].map(() => deeper(n + 1)); deeper(0);",
        "const deeper = () => check(1, { a: () => deeper() }); deeper();",
        "const o = { toJSON() { return [JSON.stringify(o)]; } }; JSON.stringify(o);",
        "const deeper = () => { JSON.parse('[{\"a\":'.repeat(60) + '1' + '}]'.repeat(60)); deeper(); }; deeper();",
        "JSON.parse('['.repeat(1000000));",
        "let text = 'x'; for (;;) text += text;",
        "let o = {}; for (let n = 0; n < 1000000; n += 1) o = { o }; JSON.stringify(o);",
        "new RegExp('('.repeat(100000) + ')'.repeat(100000)).test('a');",
        "eval('['.repeat(100000));",
    ],
    ids=[
        "calls",
        "map",
        "check",
        "toJSON",
        "parse at the end",
        "parse",
        "text",
        "stringify",
        "regular expression",
        "source",
    ],
)
def test_what_nests_without_end_is_stopped(tmp_path: Path, capfd: pytest.CaptureFixture[str], bad: str) -> None:
    survives(tmp_path, bad)
    said = capfd.readouterr().err
    assert "ERROR" in said and "script.js:6" in said, said


def test_a_script_that_needs_more_than_its_memory_to_load_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"script\.js:1: the script used over 32 MiB of memory"):
        run_script(tmp_path, "const all = new Array(10000000).fill(1);\nexport default () => all.length;")
