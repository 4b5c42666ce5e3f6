"""Names of k6's surface that the other tests of scripts do not touch, each used as k6's users do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from script_checks import checks_of
from test_engine_runs_scripts import run_script

Server = Callable[..., str]


def failed(ended: dict) -> dict[str, tuple[int, int]]:
    found = checks_of(ended)
    assert found, "the script checked something"
    return {path: counts for path, counts in found.items() if counts[1]}


def test_every_method_of_http_sends_its_verb(tmp_path: Path, known_server: Server) -> None:
    text = """import http from 'k6/http';
    import { check } from 'k6';
    export default function () {
      const verbs = ['head', 'get', 'post', 'put', 'patch', 'del', 'options'];
      const sent = verbs.map((verb) => http[verb](__ENV.URL)).map((r) => [r.request.method, r.status].join());
      const named = http.get(http.url`${__ENV.URL}/${1}`);
      const jar = http.cookieJar();
      jar.set(__ENV.URL, 'a', 'b');
      const cookie = http.get(__ENV.URL).request.headers['Cookie'];
      http.setResponseCallback(http.expectedStatuses({ min: 400, max: 499 }, 201));
      http.get(__ENV.URL);
      check(null, {
        verbs: () => sent.join(';') === 'HEAD,200;GET,200;POST,200;PUT,200;PATCH,200;DELETE,200;OPTIONS,200',
        request: () => http.request('put', __ENV.URL, 'x').request.method === 'PUT',
        url: () => named.url.endsWith('/1') && named.status === 200,
        jar: () => cookie[0] === 'a=b' && jar.cookiesForURL(__ENV.URL).a[0] === 'b' && jar instanceof http.CookieJar,
      });
    }"""
    ended = run_script(tmp_path, text, known_server())
    assert failed(ended) == {}
    assert ended["summary"]["metrics"]["http_req_failed"]["values"]["passes"] == 2, "the last two were not expected"


def test_fail_throws_and_a_seed_repeats_its_numbers(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = """import { check, fail, randomSeed } from 'k6';
    export default function () {
      randomSeed(7);
      const first = [Math.random(), Math.random()];
      randomSeed(7);
      check(null, { repeats: () => Math.random() === first[0] && Math.random() === first[1] && first[0] !== first[1] });
      let caught = '';
      try { fail('for a reason'); } catch (error) { caught = error.message; }
      check(null, { throws: () => caught === 'for a reason' });
      fail('in the end');
    }"""
    ended = run_script(tmp_path, text)
    assert failed(ended) == {} and "in the end" in capfd.readouterr().err


def test_every_kind_of_metric_says_its_name_and_its_values(tmp_path: Path) -> None:
    text = """import { check } from 'k6';
    import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
    const made = [new Counter('cc'), new Gauge('gg'), new Rate('rr'), new Trend('tt')];
    export default function () {
      check(null, { names: () => made.map((metric) => metric.name).join('') === 'ccggrrtt' });
      for (const value of [1, 0, 2]) made.forEach((metric) => metric.add(value, { x: 'y' }));
    }"""
    metrics = run_script(tmp_path, text)["summary"]["metrics"]
    values = {name: metrics[name]["values"] for name in ("cc", "gg", "rr", "tt")}
    assert values["cc"]["count"] == 3 and (values["gg"]["value"], values["gg"]["max"]) == (2, 2)
    assert values["rr"]["rate"] == pytest.approx(2 / 3) and (values["tt"]["min"], values["tt"]["max"]) == (0, 2)


def test_a_script_knows_where_it_is(tmp_path: Path) -> None:
    text = """import { check } from 'k6';
    import exec from 'k6/execution';
    export const options = { scenarios: { one: { executor: 'per-vu-iterations', vus: 1, iterations: 3 } } };
    export default function () {
      check(exec, {
        executor: (e) => e.scenario.executor === 'per-vu-iterations' && e.scenario.name === 'one',
        numbers: (e) => [e.scenario.iterationInTest, e.scenario.iterationInInstance, e.vu.iterationInScenario,
          e.vu.iterationInInstance].every((number) => number === __ITER),
        vu: (e) => e.vu.idInInstance === __VU && e.vu.idInTest === __VU,
        time: (e) => e.instance.currentTestRunDuration >= 0 && e.instance.currentTestRunDuration < 60000,
      });
    }"""
    assert failed(run_script(tmp_path, text)) == {}


def test_scenarios_run_their_own_functions_with_their_own_environment_and_tags(tmp_path: Path) -> None:
    text = """import { check } from 'k6';
    import { Counter } from 'k6/metrics';
    const ran = new Counter('ran');
    const once = { executor: 'shared-iterations', vus: 1, iterations: 1 };
    export const options = { scenarios: {
      early: { ...once, exec: 'first', env: { WHO: 'early' }, tags: { kind: 'a' } },
      late: { ...once, exec: 'second', env: { WHO: 'late' }, tags: { kind: 'b' }, startTime: '300ms' },
    }, thresholds: { 'ran{kind:a}': ['count==1'], 'ran{scenario:late}': ['count==1'] } };
    const began = Date.now();
    export function first() { ran.add(1); check(null, { env: () => __ENV.WHO === 'early' }); }
    export function second() {
      ran.add(1);
      check(null, { env: () => __ENV.WHO === 'late', waited: () => Date.now() - began >= 295 });
    }"""
    ended = run_script(tmp_path, text)
    assert failed(ended) == {}
    verdicts = [
        row["verdict"] for m in ended["summary"]["metrics"].values() for row in m.get("thresholds", {}).values()
    ]
    assert verdicts == ["passed", "passed"]


def test_every_aggregate_and_comparison_of_thresholds_judges(tmp_path: Path) -> None:
    text = """import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
    const [c, g, r, t] = [new Counter('cc'), new Gauge('gg'), new Rate('rr'), new Trend('tt')];
    export const options = { thresholds: {
      cc: ['count>2', 'count>=3', 'count<3', 'rate>0'], gg: ['value==2', 'value===2', 'value!=2'],
      rr: ['rate<=0.7', 'rate<0.1'],
      tt: ['avg<=1', 'min==0', 'max<=2', 'med>0.5', 'p(100)>1.9', 'p(99.9)<1'],
    } };
    export default function () {
      for (const value of [1, 0, 2]) { c.add(1); g.add(value); r.add(value); t.add(value); }
    }"""
    metrics = run_script(tmp_path, text)["summary"]["metrics"]
    verdicts = {
        f"{m} {source}": row["ok"] for m in ("cc", "gg", "rr", "tt") for source, row in metrics[m]["thresholds"].items()
    }
    assert [key for key, passed in verdicts.items() if not passed] == [
        "cc count<3", "gg value!=2", "rr rate<0.1", "tt p(99.9)<1",
    ]  # fmt: skip
    assert len(verdicts) == 15


def test_every_metric_of_http_and_iterations_is_there(tmp_path: Path, known_server: Server) -> None:
    text = """import http from 'k6/http';
    import { group, sleep } from 'k6';
    export default function () { group('g', () => http.get(__ENV.URL)); sleep(0.01); }"""
    metrics = run_script(tmp_path, text, known_server(), options={"vus": 2, "iterations": 4})["summary"]["metrics"]
    phases = [
        f"http_req_{name}" for name in ("blocked", "connecting", "tls_handshaking", "sending", "waiting", "receiving")
    ]
    for name in (*phases, "http_req_duration", "iteration_duration", "group_duration"):
        assert (metrics[name]["type"], metrics[name]["contains"]) == ("trend", "time"), name
    assert metrics["http_req_failed"]["values"] == {"rate": 0, "passes": 0, "fails": 4}
    assert metrics["data_sent"]["values"]["count"] > 4 * 50 and metrics["vus_max"]["values"]["value"] == 2
    assert "vus" not in metrics  # it ended before the first second, at which k6 samples them too
    duration = metrics["http_req_duration"]["values"]["avg"]
    parts = sum(metrics[f"http_req_{name}"]["values"]["avg"] for name in ("sending", "waiting", "receiving"))
    assert parts == pytest.approx(duration, rel=0.01)


def test_the_console_writes_every_level_to_stderr(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    levels = ("log", "debug", "info", "warn", "error")
    calls = "".join(f"console.{level}('said', {{ at: '{level}' }}, 7);" for level in levels)
    run_script(tmp_path, f"export default function () {{ {calls} }}")
    lines = [line for line in capfd.readouterr().err.splitlines() if "said" in line]
    assert [line.split()[0] for line in lines] == [level.upper() for level in levels]
    assert all(f'said {{"at":"{level}"}} 7' in line for level, line in zip(levels, lines, strict=True)), lines


def test_thresholds_on_vus_are_judged_and_vus_are_those_of_the_load_and_not_of_its_end(tmp_path: Path) -> None:
    """As k6 2.2: `vus_max: ['value>100']` was never judged, so that a run which k6 fails ended with 0; and two VUs that
    loop to the end had "min=0"."""
    text = """import { sleep } from 'k6';
    export const options = { vus: 2, duration: '2s',
      thresholds: { vus_max: ['value>100', 'value<=2'], vus: ['value<2'] } };
    export default function () { sleep(0.05); }"""
    metrics = run_script(tmp_path, text)["summary"]["metrics"]
    assert metrics["vus"]["values"] == {"value": 2, "min": 2, "max": 2}
    assert metrics["vus_max"]["values"] == {"value": 2, "min": 2, "max": 2}
    judged = {**metrics["vus"]["thresholds"], **metrics["vus_max"]["thresholds"]}
    assert {source: one["verdict"] for source, one in judged.items()} == {
        "value<2": "failed", "value>100": "failed", "value<=2": "passed",
    }  # fmt: skip
    ended = run_script(tmp_path, text.replace("duration: '2s'", "iterations: 2"))["summary"]["metrics"]
    assert {one["verdict"] for one in ended["vus"]["thresholds"].values()} == {"undecided"}
    assert ended["vus"]["type"] == "gauge"
