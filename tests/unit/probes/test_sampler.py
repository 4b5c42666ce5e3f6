"""The sampler: every probe each second, and nothing a probe does ends it. Clocks and probes are invented."""

from __future__ import annotations

from typing import Any

from plimsoll.probes import ProbeUnavailable, Sampler


class Scripted:
    """A probe that answers, or raises, what it is given, one after another; then the last for ever."""

    def __init__(self, source: str, *answers: Any) -> None:
        self.source, self.answers, self.notes = source, list(answers), []

    def sample(self) -> dict[str, float]:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def take_notes(self) -> list[str]:
        notes, self.notes = self.notes, []
        return notes


class Received:
    """What the callbacks got."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.events: list[tuple[str, str, str]] = []

    def event(self, kind: str, t_unix: float, source: str, message: str) -> None:
        self.events.append((kind, source, message))


def sampler_of(received: Received, *probes: Scripted, times: list[float]) -> Sampler:
    clock = iter(times)
    return Sampler(probes, received.rows.append, received.event, t0_unix=100.0, clock=lambda: next(clock))


def test_rows_carry_time_source_values_and_the_second_they_describe():
    received = Received()
    sampler = sampler_of(received, Scripted("host", {"x": 1.0}), times=[100.0, 101.001, 102.99, 112.98])
    for _ in range(4):
        sampler.sample_once()
    assert received.rows[0] == {"t_unix": 100.0, "second": 0, "source": "host", "values": {"x": 1.0}}
    assert [row["second"] for row in received.rows] == [0, 0, 2, 12]


def test_a_lost_probe_is_told_once_and_told_again_when_it_is_back():
    received = Received()
    gone = ProbeUnavailable("app: no process. Start it.")
    probe = Scripted("process:app", {"x": 1.0}, gone, gone, gone, {"x": 2.0}, {"x": 3.0})
    sampler = sampler_of(received, probe, Scripted("host", {"y": 1.0}), times=[100.0 + i / 2 for i in range(12)])
    for _ in range(6):
        sampler.sample_once()
    assert received.events == [
        ("note", "process:app", "app: no process. Start it."),
        ("note", "process:app", "process:app can be read again"),
    ]
    assert len([row for row in received.rows if row["source"] == "host"]) == 6
    assert [row["values"]["x"] for row in received.rows if row["source"] == "process:app"] == [1.0, 2.0, 3.0]


def test_an_unforeseen_error_of_a_probe_is_an_event_and_sampling_goes_on():
    received = Received()
    sampler = sampler_of(received, Scripted("host", ZeroDivisionError("oh")), times=[100.0, 101.0])
    sampler.sample_once()
    sampler.sample_once()
    assert received.events == [("error", "host", "host failed: ZeroDivisionError: oh. Report this as a bug.")]


def test_notes_of_a_probe_become_events():
    received = Received()
    probe = Scripted("process:app", {"x": 1.0})
    probe.notes = ["app was restarted"]
    sampler_of(received, probe, times=[100.0]).sample_once()
    assert received.events == [("note", "process:app", "app was restarted")]


def test_probes_of_another_variant_are_asked_once_before_they_count_and_those_left_say_nothing():
    received = Received()
    gone = ProbeUnavailable("shop: no process. Start it.")
    host, a = Scripted("host", {"y": 1.0}), Scripted("process:shop", {"x": 1.0})
    b = Scripted("process:shop", {"x": 20.0}, {"x": 21.0}, gone)
    sampler = sampler_of(received, host, a, times=[100.0 + i / 2 for i in range(30)])
    sampler.sample_once()
    sampler.turn_to([b], [a])
    sampler.sample_once()
    assert [row["values"] for row in received.rows] == [{"y": 1.0}, {"x": 1.0}, {"y": 1.0}, {"x": 21.0}]
    sampler.sample_once()
    assert sampler.why_unavailable(b) == str(gone) and sampler.why_unavailable(a) is None
    for _ in range(2):
        sampler.turn_to([a], [b])
        sampler.turn_to([b], [a])
    assert [message for _, _, message in received.events] == [str(gone)]  # once, not at each turn
