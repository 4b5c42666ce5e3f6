"""VUs of a thread share runtimes of JavaScript: nothing of one may be seen by another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.engine import EngineConfig, EngineRun

Server = Callable[..., str]

#: More than a runtime has members.
VUS = 70


def run(tmp_path: Path, url: str, source: str, iterations: int = 3) -> dict[str, Any]:
    """The summary of a script that `VUS` virtual users run that many times each."""
    script = tmp_path / "script.js"
    script.write_text(source)
    options = {"scenarios": {"all": {"executor": "per-vu-iterations", "vus": VUS, "iterations": iterations}}}
    running = EngineRun(EngineConfig(script=script, env={"URL": url}, options=options, threads=1)).begin()
    list(running.snapshots())
    return dict(running.result()["summary"])


def assert_all_checks(summary: dict[str, Any], count: int) -> None:
    checks = summary["metrics"]["checks"]["values"]
    assert (checks["fails"], checks["passes"]) == (0, count)


def test_globals_prototypes_and_errors_are_each_vus_own(tmp_path: Path, known_server: Server) -> None:
    summary = run(
        tmp_path,
        known_server("--site"),
        """import http from 'k6/http';
        import { check, sleep } from 'k6';
        import encoding from 'k6/encoding';
        globalThis.mine = __VU;
        Array.prototype.owner = () => __VU;
        Object.getPrototypeOf(new Map()).owner = __VU;
        let own = null;
        export default function () {
          const thrown = (f) => { try { return f(); } catch (error) { return error; } };
          const failed = thrown(() => http.get(5, { timeout: 'never' }));
          sleep(0.001 * (__VU % 7));
          const r = http.get(`${__ENV.URL}/echo`, { responseType: 'text' });
          own = own || Object.getPrototypeOf(r);
          own.owner = __VU;
          sleep(0.001 * (__VU % 3));
          check(r, {
            'a global': () => globalThis.mine === __VU && __VU > 0,
            'a prototype': () => [].owner() === __VU && new Map().owner === __VU,
            'a response': () => r.owner === __VU && r instanceof Object && r.timings instanceof Object,
            'data': () => r.json() instanceof Object && r.json('headers') instanceof Array,
            'fields': () => r.headers instanceof Object && r.request.headers instanceof Object,
            'an error': () => failed instanceof Error && thrown(() => null.x) instanceof TypeError,
            'bytes': () => encoding.b64decode('aGk=') instanceof ArrayBuffer,
            'elements': () => new Uint8Array(encoding.b64decode('aGk='))[1] === 105,
            'a function': () => typeof http.get.bind(null) === 'function'
              && http.get.call(null, `${__ENV.URL}/echo`).status === 200,
          });
        }""",
    )
    assert_all_checks(summary, VUS * 3 * 9)


def test_promises_and_timers_run_in_their_own_vu(tmp_path: Path, known_server: Server) -> None:
    summary = run(
        tmp_path,
        known_server("--site"),
        """import http from 'k6/http';
        import { check, sleep } from 'k6';
        const steps = [];
        export default async function () {
          steps.length = 0;
          Promise.resolve(__VU).then((vu) => steps.push(vu));
          sleep(0.002);
          setTimeout(() => steps.push(__VU), __VU % 5);
          const answer = await http.asyncRequest('GET', `${__ENV.URL}/status/201?vu=${__VU}`);
          await new Promise((resolve) => setTimeout(resolve, 6));
          check(answer, {
            'is its own': (r) => r.status === 201 && r.url.endsWith(`vu=${__VU}`),
            'steps': () => steps.length === 2 && steps.every((vu) => vu === __VU),
          });
        }""",
    )
    assert_all_checks(summary, VUS * 3 * 2)


def test_functions_of_the_host_are_the_same_for_all_and_cannot_be_changed(tmp_path: Path, known_server: Server) -> None:
    summary = run(
        tmp_path,
        known_server("--site"),
        """import http, { get } from 'k6/http';
        import { check, sleep } from 'k6';
        const refuses = (f) => { try { f(); return false; } catch (error) { return error instanceof TypeError; } };
        http.mine = __VU;
        JSON.mine = __VU;
        export default function () {
          const refused = refuses(() => { get.owner = __VU; }) && refuses(() => { delete get.name; });
          sleep(0.001 * (__VU % 5));
          const proto = Object.getPrototypeOf(get(`${__ENV.URL}/status/200`));
          const status = Object.getOwnPropertyDescriptor(proto, 'status').get;
          check(null, {
            'frozen': () => refused && get.owner === undefined && get.name === 'get' && Object.isFrozen(status),
            'their holders are not': () => http.mine === __VU && JSON.mine === __VU,
            'called as others are': () => get.call(null, `${__ENV.URL}/status/201`).status === 201,
          });
        }""",
    )
    assert_all_checks(summary, VUS * 3 * 3)


@pytest.mark.parametrize(
    ("bad", "goes_on"),
    [
        ("throw new Error('of one');", False),
        ("const f = () => f(); f();", False),
        ("Promise.reject(new Error('of one'));", True),
        ("const kept = []; for (;;) kept.push('x'.repeat(100000) + kept.length);", False),
    ],
)
def test_what_goes_wrong_in_one_vu_goes_right_in_the_others(
    tmp_path: Path, known_server: Server, bad: str, goes_on: bool
) -> None:
    summary = run(
        tmp_path,
        known_server("--site"),
        f"""import http from 'k6/http';
        import {{ check, sleep }} from 'k6';
        export default function () {{
          sleep(0.001);
          if (__VU % 10 === 3) {{ {bad} }}
          const r = http.get(`${{__ENV.URL}}/status/200`);
          check(r, {{ 'answered': () => r.status === 200 }});
        }}""",
        iterations=1,
    )
    assert_all_checks(summary, VUS if goes_on else VUS - VUS // 10)


def test_garbage_of_all_is_collected_while_others_wait(tmp_path: Path, known_server: Server) -> None:
    summary = run(
        tmp_path,
        known_server("--site"),
        """import { check, sleep } from 'k6';
        export default function () {
          const held = { name: 'of ' + __VU, list: [] };
          held.self = held;
          for (let i = 0; i < 2000; i++) { const a = { i }, b = { a }; a.b = b; if (i % 500 === 0) held.list.push(a); }
          sleep(0.002);
          check(held, { 'is whole': () => held.self.name === 'of ' + __VU && held.list.every((a) => a.b.a === a) });
        }""",
        iterations=10,
    )
    assert_all_checks(summary, VUS * 10)
