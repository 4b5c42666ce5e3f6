"""The modules of k6 that need neither network nor event loop, against known values, and how scripts import them."""

from __future__ import annotations

from pathlib import Path

import pytest
from script_checks import SCRIPTS, checks_of, failures_of, run_to_the_end

from plimsoll.engine import EngineConfig, inspect
from plimsoll.errors import ScriptError


def test_encoding_says_what_rfc_4648_says() -> None:
    assert failures_of("encoding.js") == []


def test_hashes_and_hmac_have_the_values_of_their_standards() -> None:
    assert failures_of("crypto.js") == []


def test_text_coding_random_numbers_and_binary_files_are_global() -> None:
    assert failures_of("globals.js") == []


def test_shared_arrays_are_arrays_that_nothing_changes() -> None:
    assert failures_of("shared_array.js", threads=2, options={"vus": 4, "iterations": 8}) == []


def test_check_group_fail_sleep_and_seeds_are_as_in_k6() -> None:
    ended = run_to_the_end(SCRIPTS / "k6.js")
    found = checks_of(ended)
    assert [path for path, (passes, fails) in found.items() if fails or not passes] == []
    assert "::outer::inner::deep" in found
    groups = ended["summary"]["metrics"]["group_duration"]["values"]
    assert groups["max"] >= groups["min"] >= 0


def test_a_test_of_a_check_that_throws_is_recorded_and_a_tag_of_a_check_is_a_series(tmp_path: Path) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        """import { check } from 'k6';
        export const options = { thresholds: { 'checks{kind:own}': ['rate==1'] } };
        export default function () {
          check(1, { tagged: true }, { kind: 'own' });
          check(1, { before: true, throws: () => { throw new Error('inside'); }, after: true });
        }"""
    )
    ended = run_to_the_end(script)
    assert checks_of(ended) == {"::before": (1, 0), "::tagged": (1, 0), "::throws": (0, 1)}
    assert ended["summary"]["metrics"]["checks{kind:own}"]["thresholds"]["rate==1"]["ok"]


def test_metrics_take_numbers_and_refuse_names_values_and_tags_that_are_none(capfd: pytest.CaptureFixture[str]) -> None:
    ended = run_to_the_end(SCRIPTS / "metrics.js", options={"iterations": 3})
    assert [path for path, (_, fails) in checks_of(ended).items() if fails] == []
    metrics = {name: metric["values"] for name, metric in ended["summary"]["metrics"].items()}
    assert metrics["my_counter"]["count"] == 3 * (2 + 2.5 + 1 + 4)
    assert metrics["my_gauge"] == {"value": 5, "min": 5, "max": 7}
    assert (metrics["my_rate"]["passes"], metrics["my_rate"]["fails"]) == (6, 6)
    assert (metrics["my_trend"]["min"], metrics["my_trend"]["max"]) == (3, 7)
    assert "odd_values" not in metrics
    assert ended["summary"]["metrics"]["my_trend"]["contains"] == "time"
    warnings = [line for line in capfd.readouterr().err.splitlines() if "odd_values" in line]
    assert len(warnings) == 1 and "is no number" in warnings[0]


def test_a_value_that_is_no_number_throws_with_the_option_throw(tmp_path: Path) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        """import { check } from 'k6';
        import { Trend } from 'k6/metrics';
        const trend = new Trend('mine');
        export const options = { throw: true };
        export default function () {
          let message = '';
          try { trend.add('foo'); } catch (error) { message = error.message; }
          check(message, { says: (text) => text.includes("'foo' is no number") });
        }"""
    )
    assert checks_of(run_to_the_end(script)) == {"::says": (1, 0)}


def test_execution_tells_of_vu_scenario_and_run_and_tags_stay_on_the_vu(capfd: pytest.CaptureFixture[str]) -> None:
    thresholds = {"tagged{mine:x}": ["count==1"], "tagged{a:b}": ["count==4"], "iterations{mine:x}": ["count==4"]}
    ended = run_to_the_end(SCRIPTS / "execution.js", options={"thresholds": thresholds})
    found = checks_of(ended)
    assert len(found) == 20 and [path for path, (_, fails) in found.items() if fails] == []
    metrics = ended["summary"]["metrics"]
    assert all(row["ok"] for name in thresholds for row in metrics[name]["thresholds"].values())
    assert capfd.readouterr().err.count("exec.vu.tags cannot be replaced") == 1


def test_options_that_a_script_sees_have_the_load_as_scenarios(tmp_path: Path) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        """import { check } from 'k6';
        import exec from 'k6/execution';
        export const options = { vus: 2, iterations: 2, tags: { a: 'b' } };
        export default function () {
          const { scenarios, tags } = exec.test.options;
          const { executor, vus } = scenarios.default;
          check(null, { load: () => executor === 'shared-iterations' && vus === 2 && tags.a === 'b' });
        }"""
    )
    assert checks_of(run_to_the_end(script)) == {"::load": (2, 0)}


def test_progress_follows_the_time_of_a_scenario_with_a_duration(tmp_path: Path) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        """import { sleep } from 'k6';
        import exec from 'k6/execution';
        import { Trend } from 'k6/metrics';
        const progress = new Trend('progress');
        export const options = { vus: 1, duration: '1s' };
        export default function () { progress.add(exec.scenario.progress); sleep(0.05); }"""
    )
    values = run_to_the_end(script)["summary"]["metrics"]["progress"]["values"]
    assert values["min"] < 0.1 and 0.8 < values["max"] <= 1


def test_files_are_read_in_parts_and_csv_as_records() -> None:
    assert failures_of("files.js", threads=2, options={"vus": 2, "iterations": 4}) == []


def test_secrets_are_read_from_sources_and_no_log_shows_them(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "vault.txt").write_text("token=from = file\n")
    sources = ("mock=default,token=hunter2", f"file=name=vault,filename={tmp_path}/vault.txt")
    assert failures_of("secrets.js", secret_sources=sources, options={"iterations": 2}) == []
    log = capfd.readouterr().err
    assert "hunter2" not in log and "from = file" not in log
    assert "the token is ***SECRET_REDACTED***, other ***SECRET_REDACTED***" in log
    assert "no access with ***SECRET_REDACTED***" in log


NOT_YET = {
    "k6/net/grpc": "gRPC is not supported yet",
    "k6/html": "regular expression",
    "k6/crypto/x509": "not supported yet",
    "k6/browser": "send the requests of the page with k6/http",
    "k6/experimental/streams": "not supported yet",
    "k6/experimental/redis": "keep shared data in a SharedArray",
    "k6/experimental/timers": "remove the import",
    "k6/x/sql": "extensions of k6 are not supported",
    "k6/nonsense": "supported are k6, k6/http",
    "plimsoll:text": "supported are k6, k6/http",
}


@pytest.mark.parametrize("module", NOT_YET)
def test_a_module_that_cannot_be_imported_is_said_with_what_to_do(tmp_path: Path, module: str) -> None:
    script = tmp_path / "script.js"
    script.write_text(f"import x from '{module}';\nexport default function () {{}}\n")
    with pytest.raises(ScriptError) as caught:
        inspect(EngineConfig(script=script))
    assert f"{script}:1" in str(caught.value) and NOT_YET[module] in str(caught.value)


def test_scripts_without_imports_have_their_globals(tmp_path: Path) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        """export function handleSummary() {
          console.log('said');
          return { stdout: [typeof console.error, typeof __ENV.PATH, __VU, __ITER, typeof open].join() };
        }
        export default function () {}"""
    )
    ended = run_to_the_end(script, env={"PATH": "x"})
    assert ended["handled"] == {"stdout": "function,string,0,0,function"}
