"""The real engine against the testkit's server: what scripts may do, and what their summary says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from script_checks import checks_of

from plimsoll.engine import EngineConfig, EngineRun, inspect
from plimsoll.errors import EngineError, InputError

Server = Callable[..., str]


def run_script(tmp_path: Path, text: str, url: str = "", **config: Any) -> dict[str, Any]:
    script = tmp_path / "script.js"
    script.write_text(text)
    run = EngineRun(EngineConfig(script=script, env={"URL": url}, **config)).begin()
    run_snapshots = list(run.snapshots())
    return {**run.result(), "snapshots": run_snapshots}


EVERYTHING = """
import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Counter, Trend } from 'k6/metrics';
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
import data from './data.json';
import { twice } from './lib/twice.js';
const trend = new Trend('my_trend', true);
const counter = new Counter('my_counter');
const shared = new SharedArray('rows', () => JSON.parse(open('./data.json')).rows);
export const options = { iterations: 4, vus: 2, thresholds: {
  'http_req_duration{name:GET /a b}': ['p(95)<5000'], checks: ['rate==1'], my_counter: ['count==8'],
  'http_req_duration{name:never}': ['avg<1'] } };
export function setup() { return { name: http.get(__ENV.URL).json('items.1.name') }; }
export default function (given) {
  group('outer', () => {
    const response = http.get(`${__ENV.URL}/x`, { tags: { name: 'GET /a b' } });
    check(response, {
      status: (r) => r.status === 200,
      selector: (r) => r.json('items.#.name').join() === 'a,b' && r.json('items.#') === 2,
      header: (r) => r.headers['Content-Type'] === 'application/json',
      timings: (r) => r.timings.duration > 0 && r.timings.waiting <= r.timings.duration,
      setup: () => given.name === 'b',
    });
  });
  const many = http.batch({ one: `${__ENV.URL}/1`, two: ['POST', `${__ENV.URL}/2`, { form: 'field' }] });
  check(null, {
    batch: () => many.one.status === 200 && many.two.request.method === 'POST',
    imports: () => twice(data.rows.length) === 6,
    shared: () => shared.length === 3 && shared[1].x === 2 && shared.map((row) => row.x).join() === '1,2,3',
    execution: () => exec.vu.idInTest >= 1 && exec.scenario.name === 'default' && __VU >= 1 && __ITER >= 0,
  });
  trend.add(3);
  counter.add(twice(1));
  sleep(0.01);
}
export function teardown(given) { if (given.name !== 'b') throw new Error('no data'); }
export function handleSummary(summary) { return { stdout: `iterations ${summary.metrics.iterations.values.count}` }; }
"""


def test_a_script_that_uses_every_module_passes_its_own_checks(tmp_path: Path, known_server: Server) -> None:
    (tmp_path / "data.json").write_text('{"rows": [{"x": 1}, {"x": 2}, {"x": 3}]}')
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "twice.js").write_text("export const twice = (n) => 2 * n;")
    ended = run_script(tmp_path, EVERYTHING, known_server())
    found = checks_of(ended)
    assert len(found) == 9 and all(counts == (4, 0) for counts in found.values()), found
    metrics = ended["summary"]["metrics"]
    assert metrics["http_reqs"]["values"]["count"] == 1 + 4 * 3
    assert metrics["my_trend"]["values"]["avg"] == 3
    verdicts = {key: row["verdict"] for m in metrics.values() for key, row in m.get("thresholds", {}).items()}
    assert verdicts == {"p(95)<5000": "passed", "rate==1": "passed", "count==8": "passed", "avg<1": "undecided"}
    assert ended["handled"] == {"stdout": "iterations 4"}


def test_open_is_relative_to_the_file_whose_top_level_runs_as_in_k6(tmp_path: Path) -> None:
    (tmp_path / "lib" / "deep").mkdir(parents=True)
    for folder, name in ((".", "main"), ("lib", "lib"), ("lib/deep", "deep")):
        (tmp_path / folder / "x.txt").write_text(name)
    (tmp_path / "lib" / "deep" / "deep.js").write_text(
        "import { read } from '../lib.js';\n"
        "export const deep = [open('./x.txt'), open('../x.txt'), read('x.txt')].join();"
    )
    (tmp_path / "lib" / "lib.js").write_text(
        "import { SharedArray } from 'k6/data';\nexport const lib = open('./x.txt');\n"
        "export const rows = new SharedArray('rows', () => ['./x.txt'].map((path) => open(path)));\n"
        "export function read(path) { return open(path); }"
    )
    ended = run_script(
        tmp_path,
        """import { lib, read, rows } from './lib/lib.js';
           import { deep } from './lib/deep/deep.js';
           const read_here = read('./x.txt'), called_there = [0].map(() => read('x.txt'))[0];
           export default function () {}
           export const handleSummary = () => ({ lib, rows: rows[0], deep, read_here, called_there });""",
    )
    assert ended["handled"] == {
        "lib": "lib", "rows": "lib", "deep": "deep,lib,deep", "read_here": "main", "called_there": "main",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"executor": "shared-iterations", "vus": 3, "iterations": 10}, 10),
        ({"executor": "per-vu-iterations", "vus": 3, "iterations": 10}, 30),
        ({"executor": "constant-arrival-rate", "rate": 50, "duration": "2s", "preAllocatedVUs": 2}, 100),
        ({"executor": "ramping-arrival-rate", "startRate": 0, "stages": [{"duration": "2s", "target": 100}]}, 100),
    ],
)
def test_executors_do_exactly_the_iterations_they_state(
    tmp_path: Path, known_server: Server, options: dict[str, Any], expected: int
) -> None:
    text = "import http from 'k6/http'; export default function () { http.get(__ENV.URL); }"
    ended = run_script(tmp_path, text, known_server(), options={"scenarios": {"s": options}}, threads=2)
    assert abs(ended["summary"]["metrics"]["iterations"]["values"]["count"] - expected) <= 1
    assert (
        sum(snapshot.done for snapshot in ended["snapshots"])
        == ended["summary"]["metrics"]["iterations"]["values"]["count"]
    )


@pytest.mark.parametrize("executor", ["constant-vus", "ramping-vus"])
def test_closed_executors_run_for_their_duration(tmp_path: Path, known_server: Server, executor: str) -> None:
    imports = "import http from 'k6/http'; import { sleep } from 'k6';"
    text = f"{imports} export default () => {{ http.get(__ENV.URL); sleep(0.05); }};"
    load = (
        {"vus": 4, "duration": "1s"}
        if executor == "constant-vus"
        else {"startVUs": 4, "stages": [{"duration": "1s", "target": 4}]}
    )
    ended = run_script(tmp_path, text, known_server(), options={"scenarios": {"s": {"executor": executor, **load}}})
    assert 20 <= ended["summary"]["metrics"]["iterations"]["values"]["count"] <= 84


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("export default function () {\n  const x = ;\n}", "script.js:2"),
        ("import { nothing } from './missing.js';\nexport default () => {};", "missing.js"),
        ("import x from 'https://example.org/x.js';\nexport default () => {};", "nothing is downloaded while a run"),
        ("export default () => {};\nopen('./nix.txt');", "nix.txt"),
        ("import x from 'k6/browser';\nexport default () => {};", "browsers are not supported yet"),
        ("const a = 1;\nundefinedThing();\nexport default () => {};", "script.js:2"),
        ("export const options = { scenarios: { a: { executor: 'warp' } } };\nexport default () => {};", "'warp'"),
        ("export const options = { scenarios: { a: { executor: 'constant-vus', duration: '1s', exec: 'nix' } } };"
         "\nexport function other() {}", "no function 'nix'"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_script_is_named_with_its_place(tmp_path: Path, text: str, wanted: str) -> None:
    script = tmp_path / "script.js"
    script.write_text(text)
    with pytest.raises(InputError) as caught:
        inspect(EngineConfig(script=script))
    assert wanted in str(caught.value)


def test_a_failing_server_is_data_and_not_an_exception(tmp_path: Path, known_server: Server) -> None:
    text = """import http from 'k6/http'; import { check } from 'k6';
      export default function () {
        check(http.get(__ENV.URL), { 'status 500': (r) => r.status === 500 && r.error_code === 1500 });
        check(http.get('http://127.0.0.1:9/'), { refused: (r) => r.status === 0 && r.error_code === 1212 });
        check(http.get(__ENV.SLOW, { timeout: '100ms' }), { timeout: (r) => r.error_code === 1050 });
      }"""
    slow = known_server("--service-ms", 60_000, "--constant")
    script = tmp_path / "script.js"
    script.write_text(text)
    run = EngineRun(EngineConfig(script=script, env={"URL": known_server("--status", 500), "SLOW": slow})).begin()
    list(run.snapshots())
    ended = run.result()
    assert set(checks_of(ended).values()) == {(1, 0)}
    assert ended["summary"]["metrics"]["http_req_failed"]["values"]["rate"] == 1


def test_an_endless_loop_is_stopped_and_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ended = run_script(tmp_path, "export default function () {\n  try { while (true) {} } catch (error) {}\n}")
    assert ended["summary"]["metrics"]["iterations"]["values"]["count"] == 1
    assert "loop that never ends" in capfd.readouterr().err


def test_the_level_changes_while_the_load_runs(tmp_path: Path, known_server: Server) -> None:
    script = tmp_path / "script.js"
    script.write_text("import http from 'k6/http'; export default function () { http.get(__ENV.URL); }")
    load = {"executor": "constant-arrival-rate", "rate": 100, "duration": "60s", "preAllocatedVUs": 5}
    config = EngineConfig(script=script, env={"URL": known_server()}, options={"scenarios": {"s": load}}, level=1.0)
    run = EngineRun(config).begin()
    planned = []
    for snapshot in run.snapshots():
        planned.append(snapshot.planned)
        if len(planned) == 2:
            run.set_level(3.0)
        if len(planned) == 5:
            run.stop()
            break
    list(run.snapshots())
    run.result()
    assert planned[0] == pytest.approx(100, rel=0.1) and planned[4] == pytest.approx(300, rel=0.1), planned


def test_a_second_summary_of_many_urls_merges_into_other(tmp_path: Path, known_server: Server) -> None:
    text = "import http from 'k6/http'; export const options = { iterations: 1500 };" \
           "export default function () { http.get(`${__ENV.URL}/issue/${__ITER}`); }"  # fmt: skip
    ended = run_script(tmp_path, text, known_server())
    names = {
        series.tags["name"] for snapshot in ended["snapshots"] for series in snapshot.series if "name" in series.tags
    }
    assert "other" in names and len(names) <= 1001
    assert ended["summary"]["metrics"]["http_reqs"]["values"]["count"] == 1500


def test_snapshots_are_plain_json(tmp_path: Path, known_server: Server) -> None:
    text = "import http from 'k6/http'; export default function () { http.get(__ENV.URL); }"
    ended = run_script(tmp_path, text, known_server())
    assert json.loads(json.dumps(ended["snapshots"][0].to_json()))["second"] == 0


def test_the_warning_of_too_many_series_names_the_line_that_made_them(
    tmp_path: Path, known_server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    text = """import http from 'k6/http';
    export const options = { iterations: 1100 };
    export default function () {
      const id = __ITER;
      http.get(`${__ENV.URL}/issue/${id}`);
    }"""
    run_script(tmp_path, text, known_server())
    warning = capfd.readouterr().err
    assert f"{tmp_path}/script.js:5\n" in warning and "http.get(`${__ENV.URL}/issue/${id}`)" in warning
    assert "tags: {name:" in warning and warning.count("WARN") == 1


def test_a_response_shows_its_fields_when_they_are_read_written_or_listed(tmp_path: Path, known_server: Server) -> None:
    text = """import http from 'k6/http';
    import { check } from 'k6';
    export const options = { iterations: 1 };
    export default function () {
      const r = http.post(`${__ENV.URL}/x?y=1`, { a: '1 2' }, { headers: { 'X-One': '1' } });
      check(r, {
        listed: () => JSON.parse(JSON.stringify(r)).status === 200 && 'timings' in r,
        request: () => r.request.method === 'POST' && r.request.body === 'a=1+2',
        sent: () => r.request.headers['X-One'][0] === '1',
        agent: () => r.request.headers['User-Agent'][0].startsWith('plimsoll/'),
        url: () => r.url === `${__ENV.URL}/x?y=1` && r.request.url === r.url,
        once: () => r.timings === r.timings && r.headers === r.headers,
        text: () => r.status_text === '200 Known' && r.proto === 'HTTP/1.1' && r.remote_ip === '127.0.0.1',
        written: () => { r.body = 'mine'; return r.body === 'mine'; },
      });
    }"""
    ended = run_script(tmp_path, text, known_server())
    assert {name: counts for name, counts in checks_of(ended).items() if counts != (1, 0)} == {}


@pytest.mark.parametrize(("grace", "all_sent"), [("20s", True), ("0s", False)])
def test_what_waits_at_the_plans_end_is_sent_within_graceful_stop_and_else_counted(
    tmp_path: Path, known_server: Server, grace: str, all_sent: bool
) -> None:
    url = known_server("--servers", 1, "--service-ms", 50, "--constant")
    load = {"executor": "constant-arrival-rate", "rate": 40, "duration": "2s", "maxVUs": 2, "gracefulStop": grace}
    text = "import http from 'k6/http'; export default function () { http.get(__ENV.URL); }"
    ended = run_script(tmp_path, text, url, options={"scenarios": {"s": load}})
    done, dropped, planned = (
        sum(getattr(one, key) for one in ended["snapshots"]) for key in ("done", "dropped", "planned")
    )
    assert planned == 80
    assert (done, dropped) == (80, 0) if all_sent else (done < 50 and done + dropped in range(78, 81))


def test_a_batch_keeps_its_limits_and_the_order_of_its_requests(tmp_path: Path, known_server: Server) -> None:
    url = known_server("--servers", 0, "--service-ms", 100, "--constant")
    text = """import http from 'k6/http';
    import { check } from 'k6';
    export const options = { iterations: 1, batchPerHost: 2 };
    export default function () {
      const began = Date.now();
      const responses = http.batch([1, 2, 3, 4].map((n) => ['GET', `${__ENV.URL}/${n}`]));
      const took = Date.now() - began;
      const all = (rs) => rs.reduce((sum, r) => sum + r.timings.duration, 0);
      check(responses, {
        'in order': (rs) => rs.map((r) => r.url.slice(-1)).join('') === '1234',
        'not all at once': () => took >= 200,
        'not one by one': () => all(responses) > 1.3 * took,
      });
    }"""
    assert checks_of(run_script(tmp_path, text, url)) == {
        "::in order": (1, 0),
        "::not all at once": (1, 0),
        "::not one by one": (1, 0),
    }


@pytest.mark.parametrize(
    "load",
    [
        {"executor": "per-vu-iterations", "vus": 1, "iterations": 3},
        {"executor": "shared-iterations", "vus": 1, "iterations": 3},
        {"executor": "constant-vus", "vus": 1, "duration": "700ms"},
    ],
    ids=lambda load: load["executor"],
)
def test_min_iteration_duration_keeps_the_vu(tmp_path: Path, load: dict[str, Any]) -> None:
    text = """import { Trend } from 'k6/metrics';
    const began = new Trend('began_ms');
    let before = 0;
    export default function () {
      const now = Date.now();
      if (before) began.add(now - before);
      before = now;
    }"""
    ended = run_script(tmp_path, text, options={"scenarios": {"s": load}, "minIterationDuration": "300ms"})
    apart = ended["summary"]["metrics"]["began_ms"]["values"]
    assert apart["min"] >= 295


THINKING = "import http from 'k6/http'; export default () => { http.get(__ENV.URL); };"


@pytest.mark.parametrize(
    "think_time",
    ["200ms", {"distribution": "uniform", "min": 100, "max": 300}, {"distribution": "exponential", "mean": 200}],
)
def test_vus_rest_for_their_think_time_and_no_time_counts_it(
    tmp_path: Path, known_server: Server, think_time: Any
) -> None:
    load = {"executor": "constant-vus", "vus": 40, "duration": "4s", "thinkTime": think_time}
    url = known_server("--servers", 0, "--service-ms", 20, "--constant")
    ended = run_script(tmp_path, THINKING, url, options={"scenarios": {"s": load}}, threads=2)
    metrics = ended["summary"]["metrics"]
    cycle_s = 0.2 + metrics["iteration_duration"]["values"]["avg"] / 1000
    assert metrics["iteration_duration"]["values"]["med"] < 100
    # The interactive response time law, X = N / (R + Z); the mean of 800 exponential cycles is known to 3.5%.
    assert sum(second.done for second in ended["snapshots"]) == pytest.approx(4 * 40 / cycle_s, rel=0.1)
    assert {second.vus for second in ended["snapshots"][1:3]} == {40}, "a VU that rests is active"


def test_vus_with_a_think_time_do_not_begin_in_step(tmp_path: Path, known_server: Server) -> None:
    load = {"executor": "constant-vus", "vus": 300, "duration": "3s", "thinkTime": "3s"}
    ended = run_script(tmp_path, THINKING, known_server(), options={"scenarios": {"s": load}})
    assert all(60 < second.done < 140 for second in ended["snapshots"][:3]), [one.done for one in ended["snapshots"]]


def test_a_lower_level_and_a_stop_end_a_rest_at_once(tmp_path: Path, known_server: Server) -> None:
    script = tmp_path / "script.js"
    script.write_text(THINKING)
    load = {"executor": "constant-vus", "vus": 10, "duration": "1h", "thinkTime": "1h"}
    run = EngineRun(
        EngineConfig(script=script, env={"URL": known_server()}, options={"scenarios": {"s": load}})
    ).begin()
    seconds = run.snapshots()
    assert next(seconds).vus == 10
    run.set_level(0.5)
    assert any(second.vus == 5 for second in seconds)
    run.stop()
    assert not [second for second in seconds if second.in_flight]


def test_a_run_that_has_not_begun_says_so(tmp_path: Path) -> None:
    script = tmp_path / "script.js"
    script.write_text("export default function () {}")
    run = EngineRun(EngineConfig(script=script))
    for use in (run.next_snapshot, run.result):
        with pytest.raises(EngineError, match="has not begun"):
            use()
