"""How the time of a request splits in the cells of a sweep, from requests of known parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from findings_as_json import checked

from plimsoll.findings.beside.further import findings_beside
from plimsoll.findings.beside.request_split import PARTS, QUESTION
from plimsoll.runs import Histogram, RunFacts, RunReader, RunWriter, Series, Snapshot
from plimsoll.study.secrets.redactor import Redactor

# Means in ms; connecting and the handshake lie within getting a connection.
MEANS = dict(zip(PARTS, (1.0, 0.4, 0.3, 0.1, 80.0, 9.0), strict=True))
SECONDS = 30


def run_of(folder: Path, sizes: tuple[int, ...], seconds: int = SECONDS) -> RunReader:
    """A cell for each size, whose waiting is as many times as long; the first second of each trial does not count."""
    random = np.random.default_rng(3)
    writer = RunWriter.create(folder, RunFacts("sweep", t0_unix=1e9), tables=False, redactor=Redactor())
    variants = [{"name": f"SIZE={size}", "label": f"SIZE={size}", "facts": {}} for size in sizes]
    with writer:
        writer.write_plan({"experiment": "sweep", "variants": variants, "levels": [{"level": 1.0, "words": "1 user"}]})
        for at, size in enumerate(sizes):
            begin = at * (seconds + 1)
            for second in range(begin, begin + seconds + 1):
                factor = 1000.0 if second == begin else 1.0
                series = []
                for name, mean in MEANS.items():
                    wanted = mean * (size if name == "http_req_waiting" else 1) * factor
                    values = random.gamma(4, wanted / 4, 20)
                    series.append(Series.of_trend(name, {"name": "GET /"}, Histogram.from_values(values)))
                writer.append_snapshot(Snapshot(second, 1e9 + second, done=20, series=tuple(series)))
            trial = {"trial": at + 1, "variant": f"SIZE={size}", "level": 1.0, "failed": 0, "requests": 20}
            writer.append_trial({**trial, "measured_from_s": begin + 1, "end_s": begin + seconds + 1})
    return RunReader(writer.path)


def main_of(**own: Any) -> dict[str, Any]:
    return {"experiment": "sweep", "status": "finished", "valid": True, "level_unit": "users", "run": None, **own}


def test_the_parts_follow_their_truth_and_are_all_there_is(tmp_path: Path) -> None:
    [found] = checked(findings_beside(run_of(tmp_path, (1, 3)), [main_of()]))
    assert found["question"] == QUESTION and found["valid"]
    small, large = found["request_split"]
    for cell, size in ((small, 1), (large, 3)):
        assert cell["load"] == f"SIZE={size}" and cell["requests"] == 20 * SECONDS
        means = {part["metric"]: part for part in cell["parts"]}
        for name, mean in MEANS.items():
            truth = mean * (size if name == "http_req_waiting" else 1)
            assert means[name]["mean_ms"] == pytest.approx(truth, rel=0.15)
        low, high = means["http_req_waiting"]["interval_ms"]
        assert low < 80 * size < high and high - low < 0.3 * 80 * size
        outer = [part for part in cell["parts"] if part["within"] is None]
        assert sum(part["mean_ms"] for part in outer) == pytest.approx(cell["mean_ms"])
        assert sum(part["share"] for part in outer) == pytest.approx(1)
    assert found["answer"].startswith("One request takes longest at SIZE=3, 2") and "receiving" in found["answer"]
    assert found["tables"][0]["rows"][0][0] == "SIZE=1"


def test_requests_that_had_no_connection_have_no_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen of connections that were refused: "0 ms in the mean: ." """
    for name in MEANS:
        monkeypatch.setitem(MEANS, name, 0.0)
    assert findings_beside(run_of(tmp_path, (1, 3)), [main_of()]) == []


def test_trials_that_do_not_count_and_other_experiments_have_no_split(tmp_path: Path) -> None:
    run = run_of(tmp_path, (1, 3))
    [found] = findings_beside(run, [main_of(excluded=[{"trial": 2}])])
    assert [cell["load"] for cell in found["request_split"]] == ["SIZE=1"]
    assert findings_beside(run, [main_of(excluded=[{"trial": 1}, {"trial": 2}])]) == []
    assert findings_beside(run, [main_of(experiment="decompose")]) == []


def test_a_trial_of_some_seconds_tells_why_it_has_no_interval(tmp_path: Path) -> None:
    [found] = checked(findings_beside(run_of(tmp_path, (2,), 6), [main_of()]))
    waiting = next(part for part in found["request_split"][0]["parts"] if part["part"] == "waiting")
    assert waiting["mean_ms"] == pytest.approx(160, rel=0.15) and waiting["interval_ms"] is None
    assert "No interval of waiting at 1 user: only 6 batches" in found["notes"][1]
