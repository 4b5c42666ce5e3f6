"""The search over a closed workload: double the users until throughput is flat, then bisect."""

from __future__ import annotations

import math

from plimsoll.experiments.closed import Throughput, is_flat, judge_closed, throughput
from plimsoll.experiments.judge import Judgement, give_up_reason
from plimsoll.experiments.measure import Measurement
from plimsoll.experiments.ramp import HANG_LIMIT_S, MOST_PROBES, Ramp, warm_up_from
from plimsoll.experiments.recovery import answered, why_gone
from plimsoll.experiments.result import CapacityResult, CapacitySettings, StepKind, StepRecord, level_text
from plimsoll.experiments.search import Trial, Verdict, bracket_of, rounded
from plimsoll.experiments.steps import StepHolder

DONE_FOR_THROUGHPUT = 400


def search_closed(holder: StepHolder, settings: CapacitySettings, result: CapacityResult) -> None:
    """Fill `result` with the bracket of the level at which throughput reaches 95 % of its plateau."""
    search = _ClosedSearch(holder, settings, result)
    if search.ramp():
        search.bisect()
    if not result.reason:
        result.reason = search.reason()


class _ClosedSearch:
    def __init__(self, holder: StepHolder, settings: CapacitySettings, result: CapacityResult) -> None:
        self.holder, self.settings, self.result = holder, settings, result
        self.whole = result.unit in ("vus", "users")
        self.points: list[Throughput] = []
        self.base_errors = (0, 0)
        self.plateau_per_s = 0.0

    def ramp(self) -> bool:
        """Double until flat; True if a plateau is in sight, False if there is none up to the greatest level."""
        ramp, level = Ramp(self.settings, "vus" if self.whole else self.result.unit), None
        for count in range(MOST_PROBES):
            level = self._held(ramp.first_level()) if level is None else level
            record = self._hold(level, "probe", self.settings.probe_s)
            if (count == 0 and self._unusable(record)) or self._is_gone(record):
                return False
            self.points.append(throughput(record.measurement))
            self.plateau_per_s = max(point.per_s for point in self.points)
            if record.judgement.verdict == "bad" or is_flat(self.points):
                return True
            if count == 0:
                self.base_errors = (record.measurement.failed, record.measurement.requests)
            self.holder.warm_up_s = warm_up_from(record.measurement, self.settings.warm_up_s)
            following = self._held(level * 2)
            if following <= level or self._left_s() < self.settings.step_s:
                self._publish(Trial(level, "good"))
                return False
            level = following
        return False

    def bisect(self) -> None:
        """Confirm the plateau with a held step at the flat level, then halve the gap in the log of the level."""
        top = self._hold(self.points[-1].level, "hold", self.settings.step_s)
        if self._is_gone(top):
            return
        self.plateau_per_s = max(throughput(top.measurement).per_s, 1e-9)
        if top.judgement.verdict == "bad":
            self.plateau_per_s = max(self.plateau_per_s, max((p.per_s - 2 * p.sd) for p in self.points))
        trials = [Trial(top.level, "bad")]
        known = [point for point in self.points[:-1] if point.per_s + 2 * point.sd < 0.95 * self.plateau_per_s]
        low = max((point.level for point in known), default=None)
        if low is not None:
            trials.append(Trial(low, "good"))
        self._publish(*trials)
        for _ in range(self.settings.most_steps):
            bounds = bracket_of(trials)
            if bounds.bad is None or bounds.width <= self.settings.width or self._left_s() < self.settings.step_s:
                break
            level = self._held(math.sqrt((bounds.good or bounds.bad / 4) * bounds.bad))
            if level in (bounds.good, bounds.bad):
                break
            record = self._hold(level, "hold", self.settings.step_s)
            if self._is_gone(record):
                return
            # Between 95 % and the plateau the curve is nearly flat: a step too close to tell counts as saturated.
            verdict: Verdict = "good" if record.judgement.verdict == "good" else "bad"
            trials.append(Trial(level, verdict))
            self._publish(*trials)

    def reason(self) -> str:
        """Why the search ended."""
        bounds = self.result.bracket
        if bounds.bad is None:
            return "Throughput rises with the users up to the highest level tried."
        if bounds.width <= self.settings.width:
            return f"The bracket is {bounds.width:.1%} wide, the goal was {self.settings.width:.0%}."
        return "The bracket is as narrow as whole users or the load time allowed."

    def _held(self, wanted: float) -> float:
        """The level that is held for a wanted one: whole VUs, since fractions of them would round to the same load, and
        no more than the greatest."""
        most = self.settings.max_level if self.settings.max_level is not None else math.inf
        vus = self.settings.vus_per_level
        if self.whole or not vus:
            return min(rounded(wanted, self.whole), most)
        count = max(1, round(wanted * vus))
        return count / vus if count / vus <= most else max(1, math.floor(most * vus)) / vus

    def _hold(self, level: float, kind: StepKind, least_s: float) -> StepRecord:
        def decide(seen: Measurement) -> Judgement | None:
            if give_up_reason(seen) is not None:
                return judge_closed(seen, self.plateau_per_s, self.base_errors)
            enough = sum(seen.done) >= DONE_FOR_THROUGHPUT or len(seen.seconds) >= 3 * least_s
            if kind == "probe" and not self.points and not sum(seen.done) and len(seen.seconds) < HANG_LIMIT_S:
                return None
            if len(seen.seconds) < least_s or not enough:
                return None
            return judge_closed(seen, self.plateau_per_s if kind == "hold" else 0.0, self.base_errors)

        def conclude(seen: Measurement) -> Judgement:
            return judge_closed(seen, self.plateau_per_s if kind == "hold" else 0.0, self.base_errors)

        return self.holder.hold(level, kind, max(HANG_LIMIT_S, 3 * least_s), decide, conclude)

    def _publish(self, *trials: Trial) -> None:
        self.result.bracket = self.holder.bracket = bracket_of(trials)

    def _unusable(self, record: StepRecord) -> bool:
        seen = record.measurement
        if answered(seen):
            return False
        what = f"answers with errors ({seen.failures.words()})" if sum(seen.done) else "does not answer"
        self._fail(f"The target {what} at the lowest level ({level_text(record.level)}).")
        return True

    def _is_gone(self, record: StepRecord) -> bool:
        """Whether the target stopped answering for good in this step."""
        if answered(record.measurement):
            return False
        gone = why_gone(self.holder, record, self.settings.drain_limit_s)
        if gone:
            self._fail(gone)
        return bool(gone)

    def _fail(self, reason: str) -> None:
        self.result.status, self.result.reason = "failed", reason
        self.holder.event("error", self.holder.source.now(), message=reason)

    def _left_s(self) -> float:
        return self.settings.load_budget_s - self.holder.source.now()
