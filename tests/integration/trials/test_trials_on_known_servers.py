"""compare, decompose and sweep through the command line, on servers whose times are known.

A machine busy with other things may spoil trials, which are then left out and named; so nothing here depends on all of
them being counted.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.experiments.trials.plan import TrialLevel, TrialPlan, TrialVariant
from plimsoll.runs.reader import RunReader

Server = Callable[..., str]
Verb = Callable[..., tuple[int, dict[str, Any], str]]

SCRIPT = """import http from 'k6/http';
export const options = { vus: 4, duration: '1s' };
export default function () { http.get(__ENV.BASE_URL, { tags: { name: 'GET /' } }); }
"""
LAYERS = """import http from 'k6/http';
const get = (times) => { for (let i = 0; i < times; i++) http.get(__ENV.BASE_URL); };
const gone = () => http.get('http://127.0.0.1:9/');
export function whole() { get(4); }
export function inner() { get(1); }
export default function () { get(Number(__ENV.R)); }
"""
SHORT = ("--trial", 1, "--warm-up", 0, "-q")


def slower(finding: dict[str, Any], statistic: str) -> dict[str, Any]:
    return next(one for one in finding["comparisons"] if one["primary"] and one["statistic"] == statistic)


def test_a_doubled_service_time_is_found_and_a_changed_plan_is_refused(
    tmp_path: Path, known_server: Server, verb: Verb
) -> None:
    (tmp_path / "script.js").write_text(SCRIPT)
    a, b = (known_server("--servers", 0, "--service-ms", ms, "--constant") for ms in (10, 20))
    command = ("compare", "script.js", "--a", a, "--b", b, "--primary", "p50", *SHORT)
    code, finding, words = verb(*command, "--pairs", 3)
    run = tmp_path / finding["run"]
    assert len(RunReader(run).trials()) == 6 and (run / "report.html").is_file()
    kept = slower(finding, "p50")
    if finding["valid"] and kept["pairs"] == 3 and kept["pair_sd"] < 0.1:
        assert code == 99 and finding["verdict"] == "slower", words
        assert 1.5 < kept["ratio"] < 2.2 and kept["interval"][0] > 1
    assert "All comparisons" in (run / "report.html").read_text()
    code, finding, words = verb(*command, "--pairs", 5, "--resume", run)
    assert code == 2 and "repetitions: 3 there, 5 now" in words and finding == {}


def test_a_comparison_ends_once_one_side_answers_no_more(tmp_path: Path, known_server: Server, verb: Verb) -> None:
    (tmp_path / "script.js").write_text(SCRIPT)
    alive, gone = known_server("--servers", 0, "--service-ms", 5, "--constant"), "http://127.0.0.1:9"
    code, finding, words = verb("compare", "script.js", "--a", alive, "--b", gone, "--pairs", 20, *SHORT)
    trials = RunReader(tmp_path / finding["run"]).trials()
    assert code == 3 and not finding["valid"], words
    assert [trial["answered"] for trial in trials if trial["variant"] == "b"] == [0, 0] and len(trials) <= 4
    assert any(f"Nothing of {gone} answered in trials" in note for note in finding["notes"]), finding["notes"]


def test_commands_make_the_target_each_arm_in_the_plan_s_random_order(
    tmp_path: Path, switched_server: str, verb: Verb
) -> None:
    (tmp_path / "script.js").write_text(SCRIPT)
    switches = [f"echo {ms} > service_ms; echo {arm} >> commands" for arm, ms in (("a", 20), ("b", 40))]
    code, finding, words = verb(
        "compare", "script.js", "--switch-a", switches[0], "--switch-b", switches[1],
        "--reset", "echo reset >> commands", "-e", f"BASE_URL={switched_server}",
        "--pairs", 3, "--primary", "p50", *SHORT,
    )  # fmt: skip
    run = RunReader(tmp_path / finding["run"])
    arms = [trial["variant"] for trial in run.trials()]
    assert arms == [trial.variant for trial in _planned(run).trials()]
    assert {tuple(arms[at : at + 2]) for at in (0, 2, 4)} == {("a", "b"), ("b", "a")}, "both orders occur"
    ran = (tmp_path / "commands").read_text().split()
    assert ran == [word for arm in arms for word in (arm, "reset")], "the switch, then the reset, before each trial"
    assert [variant["facts"]["switch"] for variant in run.plan()["variants"]] == switches
    kept = slower(finding, "p50")
    if finding["valid"] and kept["pairs"] == 3 and kept["pair_sd"] < 0.1:
        assert code == 99 and finding["verdict"] == "slower", words
        assert 1.5 < kept["ratio"] < 2.2 and kept["interval"][0] > 1
        assert (finding["a"], finding["b"]) == tuple(switches)


def test_requests_without_an_answer_when_a_trial_ends_are_failures_of_it(
    tmp_path: Path, hanging_server: str, verb: Verb
) -> None:
    (tmp_path / "script.js").write_text("""import http from 'k6/http';
export const options = { scenarios: { work: { executor: 'constant-arrival-rate', rate: 40, duration: '10s',
  preAllocatedVUs: 60, maxVUs: 200, gracefulStop: '1s' } } };
export default function () { http.get(__ENV.BASE_URL, { tags: { name: 'GET /' } }); }
""")
    arms = ("--a", f"{hanging_server}/quick", "--b", f"{hanging_server}/hangs")
    _, finding, words = verb("compare", "script.js", *arms, "--pairs", 2, "--primary", "p50", "--trial", 3, "-q")
    trials = RunReader(tmp_path / finding["run"]).trials()
    cut = {trial["trial"]: trial["causes"].get("no answer when the load ended", 0) for trial in trials}
    assert all(cut[trial["trial"]] == 0 for trial in trials if trial["variant"] == "a")
    assert all(8 <= cut[trial["trial"]] <= 16 for trial in trials if trial["variant"] == "b"), cut
    if finding["valid"]:
        every = slower(finding, "p50")
        assert every["failed_a"] == 0 and every["failed_b"] == pytest.approx(0.1, abs=0.04), words


def test_a_version_of_a_script_that_asks_for_more_is_slower(tmp_path: Path, known_server: Server, verb: Verb) -> None:
    base = f"BASE_URL={known_server('--site')}"
    ask = "http.get(`${__ENV.BASE_URL}/wait/%d`, { tags: { name: 'wait %d' } });"
    for name, body in (("a.js", ask % (20, 20)), ("b.js", ask % (20, 20) + ask % (60, 60))):
        options = "import http from 'k6/http';\nexport const options = { vus: 4, duration: '1s' };\n"
        (tmp_path / name).write_text(f"{options}export default function () {{ {body} }}\n")
    words = ("compare", "a.js", "b.js", "-e", base, "--pairs", 3, "--primary", "mean", *SHORT)
    code, finding, said = verb(*words)
    run = RunReader(tmp_path / finding["run"])
    asked = {
        trial["variant"]: {one["request"] for one in trial["endpoints"] if one["request"]} for trial in run.trials()
    }
    assert asked == {"a": {"wait 20"}, "b": {"wait 20", "wait 60"}}
    assert [variant["label"] for variant in run.plan()["variants"]] == ["a.js", "b.js"]
    hashes = {variant["facts"]["sha256"] for variant in run.plan()["variants"]}
    assert len(hashes) == 2 and len(run.trials()) == 6
    kept = slower(finding, "mean")
    if finding["valid"] and kept["pairs"] == 3 and kept["pair_sd"] < 0.1:
        assert code == 99 and finding["verdict"] == "slower", said
        assert finding["answer"].startswith("Yes: B (b.js) is slower than A (a.js)")
        assert kept["ratio"] == pytest.approx(2, abs=0.25)
        [done] = [one for one in finding["comparisons"] if one["statistic"] == "throughput"]
        assert done["ratio"] == pytest.approx(0.25, abs=0.05)


def _planned(run: RunReader) -> TrialPlan:
    """The plan as the run directory holds it."""
    told = {key: value for key, value in run.plan().items() if key not in ("schema", "asked")}
    told["variants"] = tuple(TrialVariant(**one) for one in told["variants"])
    told["levels"] = tuple(TrialLevel(**one) for one in told["levels"])
    return TrialPlan(**told)


def test_an_interrupted_comparison_goes_on_where_it_ended(tmp_path: Path, known_server: Server, verb: Verb) -> None:
    (tmp_path / "script.js").write_text(SCRIPT)
    url = known_server("--servers", 0, "--service-ms", 5)
    words = ["compare", "script.js", "--a", url, "--b", url, "--pairs", "2", *map(str, SHORT)]
    process = subprocess.Popen([sys.executable, "-m", "plimsoll", *words], cwd=tmp_path, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (lines := [path.read_text() for path in tmp_path.glob("runs/*/trials.jsonl")]) or not lines[0].strip():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(60) == 130
    [run] = (tmp_path / "runs").iterdir()
    before = RunReader(run).trials()
    assert RunReader(run).state == "interrupted" and 1 <= len(before) < 4
    _, finding, said = verb("compare", "--resume", run)
    after = RunReader(run).trials()
    assert finding["status"] == "finished", said
    assert [one["trial"] for one in after] == [1, 2, 3, 4] and after[: len(before)] == before
    assert RunReader(run).state == "finished" and json.loads((run / "findings.json").read_text())[0] == finding


def test_layers_are_told_on_a_server_of_known_time(tmp_path: Path, known_server: Server, verb: Verb) -> None:
    (tmp_path / "script.js").write_text(LAYERS)
    base = f"BASE_URL={known_server('--servers', 0, '--service-ms', 10, '--constant')}"
    code, finding, words = verb(
        "decompose", "script.js", "--variant", "whole", "--variant", "inner", "-e", base, "--rounds", 3, *SHORT
    )
    [level] = finding["levels"]
    if finding["valid"]:
        assert code == 0 and sum(layer["share"] for layer in level["layers"]) == pytest.approx(1), words
        assert [layer["layer"] for layer in level["layers"]] == ["whole without inner", "inner"]
        assert level["layers"][0]["share"] == pytest.approx(0.75, abs=0.1)


def test_a_sweep_gives_the_exponent_and_where_nothing_answers_and_tries_no_larger_values(
    tmp_path: Path, known_server: Server, verb: Verb
) -> None:
    (tmp_path / "script.js").write_text(LAYERS.replace("get(Number", "if (__ENV.R > 4) gone(); else get(Number"))
    base = f"BASE_URL={known_server('--servers', 0, '--service-ms', 10, '--constant')}"
    words = ("sweep", "script.js", "--over", "R=1,2,4,8,16", "-e", base, "--repeats", 2, "--stop-at-failure", *SHORT)
    _, finding, said = verb(*words)
    assert [cell["state"] for cell in finding["cells"]] == [*["answers"] * 3, "silent", "not tried"], said
    [stop] = finding["stops"]
    assert stop["parameters"] == {"R": "8"} and stop["words"] == "From R=8 on nothing answers (connection refused)."
    law = [one for one in finding["dependencies"] if one["metric"] == "work"]
    if len([cell for cell in finding["cells"] if cell["work_ms"]]) == 3 and law:
        assert law[0]["exponent"] == pytest.approx(1, abs=0.25)


@pytest.mark.parametrize("form", ["study", "script"])
def test_in_each_trial_the_target_s_process_is_that_of_the_variant_s_url(
    form: str, tmp_path: Path, known_server: Server, verb: Verb
) -> None:
    """Seen: A's process was read in B's trials, so that B's CPU for an operation was 0 and it "cost 99% less"."""
    (tmp_path / "script.js").write_text(SCRIPT)
    a, b = (known_server("--servers", 0, "--service-ms", 5, "--constant") for _ in range(2))
    if form == "study":
        (tmp_path / "study.yaml").write_text(f"""
target:
  url: {a}
  processes: [{{label: shop, port: {a.rpartition(":")[2]}}}]
  variants: {{now: {{url: "{a}"}}, next: {{url: "{b}"}}}}
workload: {{script: script.js, model: closed, groups: [{{name: all, exec: default}}]}}
""")
        words: tuple[object, ...] = ("compare", "study.yaml", "--a", "now", "--b", "next", "--users", 4)
    else:
        words = ("compare", "script.js", "--a", a, "--b", b)
    _, finding, said = verb(*words, "--pairs", 2, "--trial", 2, "--warm-up", 1, "-q")
    run = RunReader(tmp_path / finding["run"])
    label = "shop" if form == "study" else "target"
    for trial in run.trials():
        used = {name: one for name, one in trial["resources"].items() if name.startswith("process:")}
        assert list(used) == [f"process:{label}"], said
        assert used[f"process:{label}"]["cpu_cores_used"] > 0.005 and "unseen" not in trial
    assert {trial["variant"] for trial in run.trials() if "followed" in trial} == ({"b"} if form == "study" else set())


def test_a_variant_of_whose_port_nobody_is_seen_to_listen_has_no_cpu_and_says_why(
    tmp_path: Path, known_server: Server, verb: Verb
) -> None:
    a = known_server("--servers", 0, "--service-ms", 5, "--constant")
    (tmp_path / "script.js").write_text(SCRIPT.replace("__ENV.BASE_URL", f"__ENV.BASE_URL && '{a}'"))
    command = ("compare", "script.js", "--a", a, "--b", "http://127.0.0.1:9")  # it asks A, whatever the variable says
    _, finding, _ = verb(*command, "--pairs", 2, "--trial", 2, "--warm-up", 1, "-q")
    run = RunReader(tmp_path / finding["run"])
    unseen = [trial.get("unseen", {}) for trial in run.trials() if trial["variant"] == "b"]
    assert all("no visible process listens on port 9" in one["target"] for one in unseen)
    assert not any("process:target" in trial["resources"] for trial in run.trials() if trial["variant"] == "b")
