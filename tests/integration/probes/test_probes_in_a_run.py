"""All probes of a study together, written to a run: one that hangs, one that is gone, secrets planted everywhere."""

from __future__ import annotations

import json
import socket
import time
import urllib.request
from pathlib import Path

import pytest
from changing_server import ChangingServer, page, silence

from plimsoll.errors import InputErrors
from plimsoll.experiments.target.awake import Awake
from plimsoll.probes import probes_for
from plimsoll.runs.format.lines import unpacked
from plimsoll.runs.reader import RunReader
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study import Probes, Redactor
from plimsoll.verbs.sampling import sampling_of

PASSWORD, TOKEN, COOKIE, KEY = "pw-planted-1", "token-planted-2", "cookie-planted-3", "key-planted-4"


def study_probes(server: ChangingServer, hanging: ChangingServer, gone_port: int, log: Path) -> dict:
    return {
        "core_speed": False,
        "prometheus": [
            {"label": "app", "url": f"http://u:{PASSWORD}@127.0.0.1:{server.port}/metrics?token={TOKEN}"},
            {"label": "slow", "url": f"{hanging.url}/metrics", "timeout_s": 10},
            {"label": "gone", "url": f"http://u:{PASSWORD}@127.0.0.1:{gone_port}/metrics?token={TOKEN}"},
        ],
        "telemetry": [{"url": f"{server.url}/telemetry", "headers": {"Cookie": COOKIE, "X-Api-Key": KEY}}],
        "otlp": {"port": None},
        "logs": [{"label": "app", "files": [str(log)]}],
    }


@pytest.fixture
def others():
    """Two more servers: one that hangs, and a port where nobody is."""
    hanging = ChangingServer()
    hanging.answer = silence
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        yield hanging, free.getsockname()[1]
    hanging.go()


def test_a_run_has_rows_of_all_that_answer_notes_of_the_rest_the_cost_and_no_secret(
    server: ChangingServer, others, tmp_path: Path
) -> None:
    hanging, gone_port = others
    log = tmp_path / "app.log"
    log.touch()
    server.answer = lambda connection, request: page(
        "process_open_fds 5\n" if b"/metrics" in request else f'{{"used": "1 MB", "sessionToken": "{TOKEN}"}}',
        clock_ahead_s=300.0,
    )(connection, request)
    given = study_probes(server, hanging, gone_port, log)
    said: list[str] = []
    with RunWriter.create(
        tmp_path / "runs", RunFacts("hold", study={"probes": given}), redactor=Redactor.for_data(given), tables=False
    ) as writer:
        with sampling_of(Probes.model_validate(given), [], writer, Awake(), say=said.append) as sample:
            t0 = time.time() - 2  # rows are placed by the clock, and a second of this load is shorter
            for second in range(6):
                if second == 3:
                    log.write_text(f"ERROR login with password={PASSWORD} and Cookie: {COOKIE} failed\n")
                    send_metric(said[0])
                for row in sample(second, t0 + second / 4):
                    writer.append_resource(row)
                time.sleep(0.25)
        run = RunReader(writer.path)
    sources = [row["source"] for row in run.resources()]
    assert sources.count("host") == 6  # nothing waited for the server that hangs
    assert {"process:app", "telemetry:target", "logs:app", "otlp:shop", "clock:127.0.0.1"} <= set(sources)
    told = "\n".join(event["message"] for event in run.events() if event["kind"] == "note")
    assert "ahead of this machine's" in told
    assert f"prometheus:gone: http://127.0.0.1:{gone_port}/metrics cannot be read: Connection refused" in told
    assert "first line of error_level in app.log: ERROR login with password=***" in told
    [cost] = [event for event in run.events() if event["kind"] == "probe_cost"]
    assert cost["cpu_s"] > 0 and {"host", "prometheus:app", "logs:app"} <= set(cost["by_source_cpu_s"])
    everything = b"".join(unpacked(path) for path in writer.path.rglob("*") if path.is_file())
    assert not [secret for secret in (PASSWORD, TOKEN, COOKIE, KEY) if secret.encode() in everything]
    assert not any(secret in "".join(said) for secret in (PASSWORD, TOKEN, COOKIE, KEY))


def send_metric(words: str) -> None:
    """An export to the receiver that was told."""
    address = words.split(" received at ")[1].split(" ")[0]
    point = {"asDouble": 7, "timeUnixNano": str(time.time_ns())}
    metrics = [{"name": "x", "gauge": {"dataPoints": [point]}}]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    body = json.dumps({"resourceMetrics": [{"resource": resource, "scopeMetrics": [{"metrics": metrics}]}]}).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30).close()


def test_a_source_that_goes_and_comes_back_leaves_a_gap_and_two_notes(server: ChangingServer, tmp_path: Path) -> None:
    server.answer = page("process_open_fds 5\n")
    given = {"host": False, "network": False, "prometheus": [{"label": "app", "url": f"{server.url}/metrics"}]}
    with RunWriter.create(tmp_path, RunFacts("hold"), tables=False) as writer:
        with sampling_of(Probes.model_validate(given), [], writer, Awake()) as sample:
            t0 = time.time() - 2
            for second in range(12):
                if second == 4:
                    server.go()
                if second == 8:
                    server.come()
                for row in sample(second, t0 + second / 10):
                    writer.append_resource(row)
                time.sleep(0.1)
        run = RunReader(writer.path)
    assert 0 < len([row for row in run.resources() if row["source"] == "process:app"]) < 11
    notes = [event["message"] for event in run.events() if event["kind"] == "note"]
    assert len(notes) == 2
    assert "cannot be read" in notes[0]
    assert notes[1] == "prometheus:app: prometheus:app can be read again"


def test_what_a_probe_says_at_the_end_is_in_the_run(tmp_path: Path) -> None:
    given = {"host": False, "network": False, "otlp": {"port": None}}
    with RunWriter.create(tmp_path, RunFacts("hold"), tables=False) as writer:
        with sampling_of(Probes.model_validate(given), [], writer, Awake()) as sample:
            list(sample(0, time.time()))
        run = RunReader(writer.path)
    notes = [event["message"] for event in run.events() if event["kind"] == "note"]
    assert notes[-1].startswith("otlp: no export was taken in the 0")
    assert "Set OTEL_EXPORTER_OTLP_ENDPOINT=" in notes[-1]


def test_variables_that_are_not_set_are_told_all_at_once() -> None:
    given = {
        "prometheus": [{"label": "a", "url": "http://x/m", "headers": {"Authorization": "Bearer ${NOT_SET_1}"}}],
        "telemetry": [{"url": "http://x/t", "headers": {"Authorization": "Bearer ${NOT_SET_2}"}}],
    }
    with pytest.raises(InputErrors) as raised:
        probes_for(Probes.model_validate(given), [])
    assert [str(error) for error in raised.value.errors] == [
        "probes.prometheus[0].headers: the environment has no NOT_SET_1. Set it (export NOT_SET_1=…).",
        "probes.telemetry[0].headers: the environment has no NOT_SET_2. Set it (export NOT_SET_2=…).",
    ]
