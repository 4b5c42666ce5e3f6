"""The real engine with scripts whose own options are the limit, and twins of which the target is: what the seconds of a
short step say of each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from plimsoll.engine import EngineConfig, EngineSource, inspect
from plimsoll.plans.load import Choices, plan_of
from plimsoll.runs.readings.declared_caps import declared_caps
from plimsoll.runs.readings.script_caps import BindingCap, LoadSeconds, binding_cap

HEAD = "import http from 'k6/http';\nimport { sleep } from 'k6';\n"
GET = "http.get(__ENV.URL);"
WORKERS, WORK_S = 2, 0.02


class Server(ThreadingHTTPServer):
    """Answers at once, or with WORKERS workers that take WORK_S for each request."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, limited: bool) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.workers = threading.Semaphore(WORKERS if limited else 1000)
        self.work_s = WORK_S if limited else 0.0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        with self.server.workers:
            time.sleep(self.server.work_s)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[Callable[[bool], str]]:
    """The address of a server that is quick, or limited."""
    made: list[Server] = []

    def begin(limited: bool) -> str:
        made.append(Server(limited))
        threading.Thread(target=made[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{made[-1].server_address[1]}/"

    yield begin
    for server in made:
        server.shutdown()
        server.server_close()


def arrivals(more: str, top: str = "") -> str:
    """Options of an open load of 10/s."""
    load = (
        f"executor: 'constant-arrival-rate', rate: 10, duration: '1m', preAllocatedVUs: 2, gracefulStop: '1s',\n {more}"
    )
    return f"export const options = {{ {top}scenarios: {{ a: {{ {load} }} }} }};\n"


def closed(top: str) -> str:
    """Options of 2 VUs."""
    load = "executor: 'constant-vus', vus: 2, duration: '1m'"
    return f"export const options = {{ {top}scenarios: {{ a: {{ {load} }} }} }};\n"


def cap_of(folder: Path, script: str, url: str, level: float, is_open: bool = True) -> BindingCap | None:
    """What five seconds at that level say, after two at the declared load: one in which the host stood still is a fifth
    of them."""
    path = folder / "script.js"
    path.write_text(script)
    config = EngineConfig(path, {"URL": url}, level=0.0)
    source = EngineSource(config, unit="multiple", is_open=is_open)
    loads = LoadSeconds(), LoadSeconds()
    source.start()
    try:
        for at, seen, seconds in ((1.0, loads[0], 2), (level, loads[1], 5)):
            source.set_level(at)
            for place, snapshot in enumerate(source.snapshots(int(source.now()) + seconds + 1)):
                if place:
                    seen.add(snapshot)
    finally:
        source.stop(graceful=False)
    caps = declared_caps(inspect(config)["options"], script)
    return binding_cap(caps, loads[1], loads[0], presses=not is_open)


SLEEPS = HEAD + arrivals("maxVUs: 3") + f"export default function () {{ {GET} sleep(0.1); }}\n"
LASTS = HEAD + arrivals("maxVUs: 3", "minIterationDuration: '100ms', ") + f"export default function () {{ {GET} }}\n"
BATCHES = (
    HEAD
    + arrivals("maxVUs: 2", "batch: 2, batchPerHost: 2, ")
    + "const urls = Array(12).fill(__ENV.URL);\nexport default function () { http.batch(urls); }\n"
)
PACED = HEAD + arrivals("maxVUs: 500", "rps: 30, ") + f"export default function () {{ {GET} }}\n"
ENOUGH = HEAD + arrivals("maxVUs: 60") + f"export default function () {{ {GET} sleep(0.1); }}\n"
NO_PACE = HEAD + arrivals("maxVUs: 500", "rps: 1000, ") + f"export default function () {{ {GET} }}\n"


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("script", "limited", "level", "option", "words"),
    [
        (SLEEPS, False, 9, "maxVUs", "of which"),
        (LASTS, False, 9, "maxVUs", "minIterationDuration keeps a VU for 100 ms"),
        (BATCHES, True, 9, "maxVUs", "2 requests at a time (batchPerHost)"),
        (PACED, False, 9, "rps", "rps of 30 (line 3) allows about 30 requests/s"),
    ],
    ids=["sleep", "minIterationDuration", "batch", "rps"],
)
def test_an_option_that_is_the_limit_is_named(
    tmp_path: Path, url: Callable[[bool], str], script: str, limited: bool, level: float, option: str, words: str
) -> None:
    found = cap_of(tmp_path, script, url(limited), level)
    assert found is not None and found.cap.option == option and words in found.words


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("script", "level"), [(ENOUGH, 25), (NO_PACE, 25)], ids=["maxVUs", "rps"])
def test_a_target_that_is_the_limit_is_not_excused(
    tmp_path: Path, url: Callable[[bool], str], script: str, level: float
) -> None:
    """It carries 100/s of the 250/s that are sent; the script allows 600/s, or 1,000/s."""
    assert cap_of(tmp_path, script, url(True), level) is None


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("top", "option"), [("rps: 20, ", "rps"), ("minIterationDuration: '100ms', ", None)])
def test_a_closed_load_is_capped_by_rps_and_not_by_its_vus(
    tmp_path: Path, url: Callable[[bool], str], top: str, option: str | None
) -> None:
    script = HEAD + closed(top) + f"export default function () {{ {GET} sleep(0.02); }}\n"
    found = cap_of(tmp_path, script, url(False), 16, is_open=False)
    assert (found.cap.option if found is not None else None) == option


ONCE = "vus: 2, iterations: 2, maxDuration: '1s', startTime: '20s', gracefulStop: '1s'"


@pytest.mark.parametrize(
    "scenario",
    [
        f"executor: 'shared-iterations', {ONCE}",
        f"executor: 'per-vu-iterations', {ONCE}",
        "executor: 'ramping-vus', startTime: '20s', stages: [{ duration: '1s', target: 2 }]",
        "executor: 'constant-arrival-rate', rate: 2, duration: '1s', startTime: '20s', preAllocatedVUs: 2",
    ],
    ids=["shared-iterations", "per-vu-iterations", "stages", "a late start"],
)
def test_what_ends_early_or_starts_late_in_a_script_does_neither_where_a_level_is_held(
    tmp_path: Path, scenario: str
) -> None:
    (tmp_path / "script.js").write_text(
        f"{HEAD}export const options = {{ scenarios: {{ a: {{ {scenario} }} }} }};\nexport default function () {{}}\n"
    )
    [held] = plan_of(tmp_path / "script.js", Choices()).config.options["scenarios"].values()
    assert held["duration"] == "24h" and not held.keys() & {"startTime", "iterations", "maxDuration", "stages"}
    assert held.get("vus", held.get("rate")) == 2
