"""Asynchronous scripts: timers, promises and requests beside the script, with k6's rules for when an iteration ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.engine import EngineConfig, EngineRun
from plimsoll.errors import InputError

Server = Callable[..., str]


def run_script(tmp_path: Path, text: str, url: str = "", **config: Any) -> dict[str, Any]:
    script = tmp_path / "script.js"
    script.write_text(text)
    run = EngineRun(EngineConfig(script=script, env={"URL": url}, **config)).begin()
    list(run.snapshots())
    return run.result()


def values_of(ended: dict[str, Any], metric: str) -> dict[str, float]:
    values: dict[str, float] = ended["summary"]["metrics"][metric]["values"]
    return values


def failed_checks(ended: dict[str, Any]) -> list[str]:
    checks: list[dict[str, Any]] = ended["summary"]["root_group"]["checks"]
    assert checks
    return [check["name"] for check in checks if check["fails"] or not check["passes"]]


def test_requests_beside_the_script_are_in_flight_together(tmp_path: Path, known_server: Server) -> None:
    url = known_server("--servers", 0, "--service-ms", 200, "--constant")
    text = """import http from 'k6/http';
    import { check } from 'k6';
    export const options = { iterations: 2 };
    export default async function () {
      const began = Date.now();
      const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
      const all = await Promise.all(numbers.map((n) => http.asyncRequest('GET', `${__ENV.URL}/${n}`)));
      check(all, {
        'all came': () => all.every((r) => r.status === 200 && r.timings.duration >= 195),
        'in the order of the calls': () => all.map((r) => r.url.slice(-1)).join('') === '12345678',
        'together': () => Date.now() - began < 800,
      });
    }"""
    ended = run_script(tmp_path, text, url)
    assert failed_checks(ended) == []
    assert values_of(ended, "http_reqs")["count"] == 16
    assert values_of(ended, "iteration_duration")["max"] < 1600


def test_a_request_goes_on_while_the_script_sleeps_or_makes_another(tmp_path: Path, known_server: Server) -> None:
    url = known_server("--servers", 0, "--service-ms", 200, "--constant")
    text = """import http from 'k6/http';
    import { check, sleep } from 'k6';
    export const options = { iterations: 1 };
    export default async function () {
      const began = Date.now();
      const beside = http.asyncRequest('POST', `${__ENV.URL}/beside`, { a: 1 });
      sleep(0.25);
      http.get(`${__ENV.URL}/blocking`);
      const blocked = Date.now() - began;
      const response = await beside;
      check(response, {
        'the blocking calls blocked': () => blocked >= 445,
        'the answer was there already': () => Date.now() - began - blocked < 150,
        'it was measured when it came': (r) => r.timings.duration >= 195 && r.timings.duration < 245,
        'its request': (r) => r.request.method === 'POST' && r.request.body === 'a=1',
      });
    }"""
    assert failed_checks(run_script(tmp_path, text, url)) == []


def test_the_iteration_lasts_until_nothing_is_left_to_run(tmp_path: Path, known_server: Server) -> None:
    text = """import http from 'k6/http';
    import { check } from 'k6';
    export const options = { iterations: 3 };
    export default function () {
      setTimeout(() => {
        const late = (r) => check(r, { late: () => r.status === 200 });
        http.asyncRequest('GET', __ENV.URL).then((r) => setTimeout(late, 50, r));
      }, 100);
    }"""
    ended = run_script(tmp_path, text, known_server())
    assert failed_checks(ended) == []
    assert values_of(ended, "checks")["passes"] == 3
    assert values_of(ended, "iteration_duration")["min"] >= 150


def test_timers_run_in_the_order_of_their_times(tmp_path: Path) -> None:
    text = """import { check, sleep } from 'k6';
    import timers, { setTimeout as set } from 'k6/timers';
    export const options = { iterations: 2 };
    export default async function () {
      const order = [];
      const note = (...words) => order.push(words.join(' '));
      set(note, 20, 'c', 'with arguments');
      setTimeout(note, 10, 'a');
      setTimeout(note, 10, 'b');
      setTimeout(note, -1, 'at once');
      clearTimeout(setTimeout(note, 5, 'never'));
      clearTimeout(undefined);
      let ticks = 0;
      const interval = setInterval(() => { ticks += 1; if (ticks === 3) clearInterval(interval); }, 15);
      Promise.resolve().then(() => note('job'));
      note('script');
      sleep(0.012);
      note('slept');
      await new Promise((resolve) => setTimeout(resolve, 120));
      check(order, {
        'in order': () => order.join() === 'script,slept,job,at once,a,b,c with arguments',
        'an interval repeats until it is cleared': () => ticks === 3,
        'the global functions are those of the module': () => timers.setTimeout === setTimeout && set === setTimeout,
      });
    }"""
    assert failed_checks(run_script(tmp_path, text)) == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("async function () {\n  await null;\n  throw new Error('mine');\n}", "script.js:4: mine"),
        ("function () {\n  Promise.reject(new TypeError('mine'));\n}", "script.js:3: TypeError: mine"),
        ("function () {\n  setTimeout(() => {\n    undefinedName();\n  }, 5);\n}", "script.js:4: ReferenceError"),
        ("async function () {\n  setTimeout(() => Promise.reject('text'), 1);\n}", "the script threw: text"),
        ("async function () {\n  setTimeout('text', 1);\n}", "script.js:3: TypeError: setTimeout() wants a function"),
    ],
)
def test_what_nobody_handles_fails_the_iteration_with_its_place(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], body: str, message: str
) -> None:
    text = f"import http from 'k6/http'; export const options = {{ iterations: 2 }};\nexport default {body}"
    ended = run_script(tmp_path, text)
    errors = capfd.readouterr().err
    assert errors.count(message) == 1, errors  # of both iterations, once
    assert values_of(ended, "iterations")["count"] == 2


def test_a_failed_iteration_leaves_nothing_to_the_next(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = """import { Counter } from 'k6/metrics';
    import http from 'k6/http';
    import { check } from 'k6';
    export const options = { iterations: 2 };
    const ran = new Counter('ran');
    export default async function () {
      setTimeout(() => ran.add(1), 30);
      setInterval(() => ran.add(1), 10);
      await null;
      if (__ITER === 0) throw new Error('the first fails');
      check(await new Promise((resolve) => setTimeout(resolve, 5, 'resolved')), { own: (got) => got === 'resolved' });
      throw new Error('and the second');
    }"""
    ended = run_script(tmp_path, text)
    assert "ran" not in ended["summary"]["metrics"] or values_of(ended, "ran")["count"] == 0
    assert failed_checks(ended) == []
    assert capfd.readouterr().err.count("ERROR") == 2


def test_a_rejection_that_is_handled_in_time_fails_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], known_server: Server
) -> None:
    text = """import http from 'k6/http';
    import { check } from 'k6';
    export const options = { iterations: 1 };
    export default async function () {
      const rejected = Promise.reject(new Error('later'));
      await null;
      let caught = 0;
      try { await rejected; } catch (error) { caught += 1; }
      const refused = http.asyncRequest('GET', 'http://127.0.0.1:1/', null, { throw: true });
      try { await refused; } catch (error) { caught += 1; }
      check(caught, { both: (n) => n === 2 });
    }"""
    assert failed_checks(run_script(tmp_path, text)) == []
    assert "ERROR" not in capfd.readouterr().err


def test_a_promise_that_nothing_resolves_ends_the_iteration_as_in_k6(tmp_path: Path) -> None:
    text = """import { check } from 'k6';
    export const options = { iterations: 3, vus: 1 };
    export default async function () {
      check(null, { reached: () => true });
      await new Promise(() => {});
      check(null, { never: () => true });
    }"""
    ended = run_script(tmp_path, text)
    assert [check["name"] for check in ended["summary"]["root_group"]["checks"]] == ["reached"]
    assert values_of(ended, "iterations")["count"] == 3


def test_setup_teardown_and_handle_summary_may_be_asynchronous(tmp_path: Path, known_server: Server) -> None:
    text = """import http from 'k6/http';
    import { check } from 'k6';
    export const options = { scenarios: { s: { executor: 'shared-iterations', exec: 'main' } } };
    const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    export async function setup() {
      await rest(10);
      return { status: (await http.asyncRequest('GET', __ENV.URL)).status };
    }
    export const main = async (data) => { await rest(1); check(data, { data: () => data.status === 200 }); };
    export async function teardown(data) { await rest(1); http.get(`${__ENV.URL}/teardown/${data.status}`); }
    export async function handleSummary(data) {
      await rest(1);
      return { stdout: `${data.metrics.http_reqs.values.count}` };
    }
    """
    ended = run_script(tmp_path, text, known_server())
    assert failed_checks(ended) == []
    assert ended["handled"] == {"stdout": "2"}


def test_setup_that_awaits_what_never_comes_says_so(tmp_path: Path) -> None:
    text = "export async function setup() { await new Promise(() => {}); }\nexport default function () {}"
    with pytest.raises(InputError, match=r"setup\(\) awaits a promise that nothing can resolve"):
        run_script(tmp_path, text)


def test_tags_and_lag_of_a_request_are_those_of_its_call(tmp_path: Path, known_server: Server) -> None:
    url = known_server("--servers", 0, "--service-ms", 50, "--constant")
    text = """import http from 'k6/http';
    import { group } from 'k6';
    export const options = {
      iterations: 1,
      thresholds: {
        'http_reqs{group:::outer}': ['count==1'], 'http_reqs{group:::other}': ['count==1'],
        'http_reqs{name:named}': ['count==1'],
      },
    };
    export default async function () {
      let first;
      group('outer', () => { first = http.asyncRequest('GET', `${__ENV.URL}/a`, null, { tags: { name: 'named' } }); });
      const second = http.asyncRequest('GET', `${__ENV.URL}/b`);
      group('other', () => http.get(`${__ENV.URL}/c`));
      await Promise.all([first, second]);
    }"""
    metrics = run_script(tmp_path, text, url)["summary"]["metrics"]
    counts = {name: metric["values"]["count"] for name, metric in metrics.items() if name.startswith("http_reqs{")}
    assert counts == {"http_reqs{group:::outer}": 1, "http_reqs{name:named}": 1, "http_reqs{group:::other}": 1}
    assert metrics["http_reqs"]["values"]["count"] == 3


def test_graceful_stop_cuts_timers_and_requests(tmp_path: Path, known_server: Server) -> None:
    url = known_server("--servers", 0, "--service-ms", 60_000, "--constant")
    text = """import http from 'k6/http';
    export async function timers() { for (;;) await new Promise((resolve) => setTimeout(resolve, 10)); }
    export async function requests() { await http.asyncRequest('GET', __ENV.URL); }
    export function interval() { setInterval(() => {}, 0); }
    export async function jobs() {
      setTimeout(() => {}, 60000);
      for (;;) await http.asyncRequest('GET', 'http://127.0.0.1:1/');
    }
    """
    load = {"executor": "constant-vus", "vus": 1, "duration": "1s", "gracefulStop": "200ms"}
    names = ("timers", "requests", "interval", "jobs")
    scenarios = {name: {**load, "exec": name} for name in names}
    metrics = run_script(tmp_path, text, url, options={"scenarios": scenarios})["summary"]["metrics"]
    assert "iterations" not in metrics or metrics["iterations"]["values"]["count"] == 0


def test_an_abort_of_an_asynchronous_script_ends_the_test(tmp_path: Path) -> None:
    text = """import exec from 'k6/execution';
    export const options = { iterations: 5, vus: 1 };
    export default async function () {
      setTimeout(() => {}, 60000);
      await null;
      try { exec.test.abort('enough'); } catch (error) { throw new Error('caught'); }
    }"""
    assert run_script(tmp_path, text)["aborted"] == {"by_script": True, "message": "enough"}


def test_timers_of_the_init_context_run_before_the_load(tmp_path: Path) -> None:
    text = """import { check } from 'k6';
    export const options = { iterations: 1 };
    let ready = 'no';
    setTimeout(() => { ready = 'timer'; }, 60000);
    const value = await new Promise((resolve) => setTimeout(resolve, 30000, 4));
    export default function () { check(null, { ran: () => ready === 'timer', awaited: () => value === 4 }); }"""
    assert failed_checks(run_script(tmp_path, text)) == []


def test_a_top_level_that_never_ends_is_a_mistake_of_the_script(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="top level of the script awaits a promise that nothing can resolve"):
        run_script(tmp_path, "await new Promise(() => {});\nexport default function () {}")
    with pytest.raises(InputError, match=r"script\.js:1.*top"):
        run_script(tmp_path, "await Promise.reject(new Error('top'));\nexport default function () {}")


def test_an_error_that_comes_again_is_written_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Ten times the same two lines stood there, for each thread. What differs is written, up to ten."""
    again = "export const options = { vus: 4, iterations: 40 }; export default function () { throw new Error('same'); }"
    run_script(tmp_path, again, threads=2)
    assert capfd.readouterr().err.count("ERROR") == 1
    differs = again.replace("'same'", "`number ${__ITER % 15} of ${__VU}`")
    run_script(tmp_path, differs, threads=2)
    said = capfd.readouterr().err
    assert said.count("ERROR") == 11 and said.count("ERROR more script errors follow and are not shown") == 1
