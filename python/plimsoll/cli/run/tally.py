"""What `plimsoll run` must tell beside k6's summary: why requests failed, and how many iterations were cut off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.runs.readings.failures import (
    MAKE_REQUESTS,
    Failures,
    is_of_requests,
    is_unanswered,
    nothing_measured_words,
    requests_words,
)
from plimsoll.runs.readings.failures import METRIC as FAILED
from plimsoll.runs.readings.script_outcomes import SESSIONS, count_sockets
from plimsoll.runs.readings.summary_parts import SummaryParts
from plimsoll.runs.readings.thresholds import NO_DATA
from plimsoll.runs.snapshot import Snapshot
from plimsoll.words import counted_words

IN_VAIN = "unanswered_iterations"
MESSAGES = {"ws_msgs_sent", "ws_msgs_received"}


@dataclass
class Tally:
    """Counts over a run, and the values of tags that samples had; grows with the numbers of causes and of these, and as
    `parts` grow if they are asked for."""

    failures: Failures = field(default_factory=Failures)
    planned: int = 0
    late: int = 0
    dropped: int = 0
    started: int = 0
    done: int = 0
    threw: int = 0
    broke: int = 0
    interrupted: bool = False
    ended_at_once: bool = False
    in_vain: int = 0
    requests: int = 0
    answered: int = 0
    iterations: Counter[str] = field(default_factory=Counter)  # of each scenario
    tags: dict[str, dict[str, set[str]]] = field(default_factory=dict)  # of requests, by FAILED, and of other metrics
    parts: SummaryParts | None = None  # of a full summary
    sockets: Counter[str] = field(default_factory=Counter)  # by the status that answered, empty without an answer

    def add(self, snapshot: Snapshot) -> None:
        """Add one second."""
        self.planned += snapshot.planned
        self.late += snapshot.late
        self.dropped += snapshot.dropped
        self.started += snapshot.started
        self.done += snapshot.done
        self.threw += snapshot.threw
        self.broke += snapshot.broke
        if self.parts is not None:
            self.parts.add(snapshot)
        for series in snapshot.series:
            self.failures.add(series)
            if series.metric == IN_VAIN:
                self.in_vain += int(series.value or 0)
            if series.metric == SESSIONS:
                # No request, and yet something was asked for; whether it was answered is the script's to say.
                self.requests += int(series.value or 0)
                self.answered += int(series.value or 0)
                count_sockets(self.sockets, series)
            if series.metric == "iterations":
                self.iterations[str(series.tags.get("scenario"))] += int(series.value or 0)
            if series.metric == FAILED:
                count = int(series.total or 0)
                self.requests += count
                self.answered += 0 if is_unanswered(series) else count
            if series.metric == FAILED or not is_of_requests(series.metric):
                values = self.tags.setdefault(series.metric, {})
                for tag, value in series.tags.items():
                    values.setdefault(tag, set()).add(value)

    @property
    def known_sockets(self) -> Counter[str]:
        """The WebSockets by status; none where messages passed and no status is known, as without that system tag."""
        return Counter() if set(self.sockets) == {""} and self.tags.keys() & MESSAGES else self.sockets

    @property
    def nothing_answered(self) -> bool:
        """Whether no request of a script that makes some had an answer, so that no time was measured: of those that
        were made, or as each iteration ended with an exception before the first."""
        return bool(self.unanswered)

    @property
    def unanswered(self) -> list[str]:
        """That in a sentence; empty else."""
        if not self.requests and not 0 < self.done <= self.broke:
            return []
        return nothing_measured_words(self.requests, self.requests - self.answered, self.broke)

    def without_data(self, summary: Mapping[str, Any]) -> Iterator[str]:
        """A sentence for each threshold that matched nothing, with the nearest name that its samples had."""
        from plimsoll.plans.thresholds import nearest_words

        if self.nothing_answered:
            return
        for metric, about in summary.get("metrics", {}).items():
            rows = [row for row in about.get("thresholds", {}).values() if _without_sample(row)]
            if rows:
                name = metric.partition("{")[0].strip()
                near = nearest_words(metric, self.tags.get(FAILED if is_of_requests(name) else name, {}))
                failed = any(row["verdict"] == "failed" for row in rows)
                verdict = "it fails, as --strict asks" if failed else "it is undecided, and fails with --strict"
                yield f"no data for the threshold on {metric}: {verdict}. {near}"

    def warnings(self, *, is_own_fault: bool = False) -> list[str]:
        """Sentences with their next step; none for a run without trouble. `is_own_fault`: arrivals were late for what
        the generator says of itself, and not for the target."""
        found = []
        if self.unanswered:
            [words] = self.unanswered
            found.append(f"{words[:1].lower()}{words[1:]} No response time was measured.")
        elif self.done and not self.requests:
            lacks = f"the script made no request in {counted_words(self.done, 'iteration')}"
            found.append(f"{lacks}: no response time was measured. {MAKE_REQUESTS}")
        if self.failures.causes:
            count = sum(self.failures.causes.values())
            found.append(f"{requests_words(count)} failed: {self.failures.words()}. {self.failures.next_step()}")
        if self.threw:
            found.append(
                f"{_of(self.threw, self.done)} ended with an exception, the first of which stand above. "
                "What they did until then is measured. See the script, or answers that it did not expect."
            )
        if self.in_vain:
            found.append(
                f"{_of(self.in_vain, self.done)} failed at once, without an answer to any request. They "
                "are attempts and no throughput; where their number is open, VUs waited 10 ms to 1 s before the next."
            )
        if self.late or self.dropped:
            kinds = ((self.late, "sent late (measured from their plan)"), (self.dropped, "never sent"))
            words = " and ".join(f"{count:,} {'was' if count == 1 else 'were'} {how}" for count, how in kinds if count)
            why = (
                "because the generator had no free VU. That says nothing of the target; the reason is below."
                if is_own_fault
                else "because no VU was free. See whether the target became slow; if it should take this load, raise "
                "maxVUs."
            )
            found.append(f"of {self.planned:,} planned arrival{_s(self.planned)} {words}, {why}")
        cut = self.started - self.done
        if cut > 0:
            step = (
                "" if self.interrupted else " If the target hangs, look there; else raise gracefulStop in the options."
            )
            many = "was cut off before its end" if cut == 1 else "were cut off before their end"
            found.append(f"{_of(cut, self.started)} {many}.{step}")
        return found


def _without_sample(row: Mapping[str, Any]) -> bool:
    return row["verdict"] == "undecided" or row.get("why") == NO_DATA


def _of(count: int, whole: int) -> str:
    return f"{count:,} of {whole:,} iteration{_s(whole)}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
