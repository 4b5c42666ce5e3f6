"""The real engine against a server that takes connections at overload and never answers them: what was lost counts for
the overload, and later steps begin clean."""

from __future__ import annotations

import math
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.engine import EngineConfig, EngineSource
from plimsoll.experiments.steps.holding import StepHolder
from plimsoll.experiments.steps.judgement import Judgement
from plimsoll.experiments.steps.record import StepRecord
from plimsoll.runs import RunFacts, RunReader, RunWriter
from plimsoll.runs.readings.arrivals import by_arrival, windows_of
from plimsoll.runs.readings.ended_steps import ended_steps
from plimsoll.study.secrets.redactor import Redactor

CARRIES_PER_S = 60
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
SCRIPT = """import http from 'k6/http';
export const options = { noConnectionReuse: true, scenarios: { work: {
  executor: 'constant-arrival-rate', rate: 20, duration: '5m', preAllocatedVUs: 5, maxVUs: 2000, gracefulStop: '1s' }}};
export default function () { http.get('%s/work?x=' + __ITER, { timeout: '9s', tags: { name: 'GET /work' } }); }
"""


class Swallowing:
    """Answers at once, one request a connection; of those beyond 60 in a second it keeps the connection and never
    answers."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=2000)
        self.port = self._socket.getsockname()[1]
        self._kept: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        second, seen = 0, 0
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            now = int(time.monotonic())
            second, seen = now, (seen + 1 if now == second else 1)
            if seen > CARRIES_PER_S:
                self._kept.append(connection)
                continue
            connection.recv(65536)
            connection.sendall(ANSWER)
            connection.close()

    def close(self) -> None:
        self._socket.close()
        for connection in self._kept:
            connection.close()


@pytest.fixture
def server() -> Iterator[Swallowing]:
    swallowing = Swallowing()
    yield swallowing
    swallowing.close()


@pytest.mark.timeout(300)
def test_requests_that_an_overload_lost_count_for_it_and_draining_gives_them_up(tmp_path: Path, server: Swallowing):
    script, heard = tmp_path / "script.js", []
    script.write_text(SCRIPT % f"http://127.0.0.1:{server.port}")
    source = EngineSource(EngineConfig(script, level=0.0), unit="multiple", is_open=True)
    writer = RunWriter.create(tmp_path, RunFacts("capacity", script=script), tables=False, redactor=Redactor())
    with writer:
        holder = StepHolder(source, writer, on_message=heard.append)

        def hold(level: float, seconds: int, verdict: str) -> StepRecord:
            judged = Judgement(verdict)  # type: ignore[arg-type]
            return holder.hold(level, "hold", seconds, lambda _: None, lambda _: judged)

        source.start()
        low = hold(1, 3, "good")
        over = hold(8, 2, "bad")
        began = source.now()
        assert holder.drain(30.0) == math.inf
        assert source.now() - began < 8, "nothing moved, so that it gave up before the requests timed out"
        lost = over.stuck
        after = hold(1, 9, "good")
        assert math.isfinite(holder.drain(30.0))
        source.stop()
        holder.finish()

    assert lost > 100 and over.measurement.failures.causes["no answer in time"] == over.measurement.failed >= lost
    assert (low.measurement.failed, after.measurement.failed) == (0, 0)
    assert after.measurement.unfinished_start <= 2 and after.measurement.done_per_s == pytest.approx(20, abs=2)
    assert after.measurement.times.max < 5000 <= over.measurement.times.max
    assert heard == [words for words in heard if "of the step at 8 x the declared load" in words and "/work)" in words]
    assert source.connections() == [("127.0.0.1", server.port)]

    run = RunReader(writer.path)
    steps = ended_steps(run)
    assert [step["errors"] for step in steps] == [0, over.measurement.failed, 0]
    failed = [0, 0, 0]
    for snapshot in by_arrival(lambda: run.snapshots(metrics=("http_req_failed",)), windows_of(steps)):
        for at, step in enumerate(steps):
            if step["measured_from_s"] <= snapshot.second < step["end_s"]:
                failed[at] += sum(one.passes or 0 for one in snapshot.series)
    assert failed == [0, over.measurement.failed, 0]
    # Read as what ended in each second, nothing is missing either.
    assert run.rate("http_req_failed")[0] == over.measurement.failed


@pytest.mark.timeout(300)
def test_iterations_cut_off_when_the_load_ends_count_for_the_level_at_which_they_began(
    tmp_path: Path, server: Swallowing
):
    script = tmp_path / "script.js"
    script.write_text(SCRIPT % f"http://127.0.0.1:{server.port}")
    source = EngineSource(EngineConfig(script, level=0.0), unit="multiple", is_open=True)
    holder = StepHolder(source, None)
    source.start()
    over = holder.hold(8, "hold", 1, lambda _: None, lambda _: Judgement("bad"))
    low = holder.hold(1, "hold", 2, lambda _: None, lambda _: Judgement("good"))
    source.stop(graceful=False)
    holder.finish()
    assert over.measurement.interrupted > 50 and low.measurement.interrupted <= 1
    assert over.measurement.failures.causes["interrupted"] == over.measurement.failed == over.measurement.interrupted


CLOSED = """import http from 'k6/http';
export const options = { scenarios: { work: { executor: 'constant-vus', vus: 4, duration: '5m' } } };
import { sleep } from 'k6';
export default function () { http.get('%s/work'); sleep(1.5); http.get('%s/late'); }
"""


@pytest.mark.timeout(300)
def test_an_iteration_of_a_closed_load_belongs_to_the_level_at_its_start(tmp_path: Path, server: Swallowing):
    script = tmp_path / "script.js"
    url = f"http://127.0.0.1:{server.port}"
    script.write_text(CLOSED % (url, url))
    source = EngineSource(EngineConfig(script, level=0.0), unit="multiple", is_open=False)
    source.start()
    source.set_level(1.0)
    seen = list(source.snapshots(2.0))
    source.set_level(0.5)
    seen += list(source.snapshots(5.0))
    source.stop(graceful=False)
    epochs = [snapshot.epoch for snapshot in seen]
    assert epochs[0] == 2 and epochs[-1] == 3
    late = [one for snapshot in seen for one in snapshot.earlier if one.epoch == 2]
    assert sum(one.done for one in late) == 4, "four iterations were under way when the level changed"
    marked = {one.metric for snapshot in seen for one in snapshot.series if one.epoch == 2}
    assert {"http_reqs", "iteration_duration"} <= marked
