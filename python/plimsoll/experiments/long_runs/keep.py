"""The controller of `hold --keep`: which level next, so that an objective just holds. Pure: seconds in, a level out.

Each objective is a share α of bad requests (p95<=300ms: α = 0.05 of them may be slower), or a mean. In every second

    ln level −= (bad ÷ α − 0.95 n) ÷ (b N)        n requests, of which `bad` missed the limit

which is stochastic approximation of a quantile (Robbins and Monro 1951) in its online form (Gibbs and Candès 2021,
adaptive conformal inference): as ln level stays bounded, the share of bad requests over the run tends to 0.95 α,
whatever their distribution and however they follow one another. N counts requests, not seconds: as many as let a
percentile be judged, and those of GAIN_S at least. b is the slope of ln share over ln level, near saturation the
arrivals in the limit's time (M/M/c: P(T > L) ~ exp(−(cμ − λ) L), so b = λ L). The gain falls with each change of sign
(Kesten 1958) to a floor that follows drift.

That alone would climb into a collapse again and again. So beside it, as in TCP (Jacobson 1988): a climb whose steps get
smaller as the objective comes near, an overload that is seen in two seconds by the work inside the target (Little's
law), a cut that stays until that work is gone, and a ceiling below the level that overloaded it, which opens slowly and
each time more slowly. docs/decisions/0017 says what else was read, and why this.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Literal

from plimsoll.experiments.long_runs.keep_loop import AIM, KEEP_BAD, Loop, Seen
from plimsoll.study.objectives import Limit

State = Literal["climb", "keep", "recover"]
FIRST_GAIN_S, GAIN_S = 30.0, 120.0  # time constant of the loop: at first, and its greatest
CLIMB_S, CLIMB_LONGEST_S, CLIMB_BAD = 3, 10, 5  # a window: as long as so many requests may be bad
KEEP_WINDOW_S, KEEP_LONGEST_S = 10, 60
CLIMB_SHARE = 0.6  # of the room that a window shows is gone at once
CLIMB_FACTOR, CAREFUL_FACTOR = 1.5, 1.1  # most in a window; and after an overload
SMALL_STEP, NEAR_WINDOWS = 0.02, 2  # of ln level: the climb ends where so many windows leave less than that
SAME_SIGN = 3  # windows on one side after which the gain rises again
SLOPE_WINDOWS = 6
FAR_BELOW, FAR_S = 0.35, 40  # statistic ÷ limit that chance does not show where the objective just holds
RARE = 1e-4  # share of time in which a target of exponential tail is called overloaded while the objective holds
LEAST_OVERLOAD_S, NO_LIMIT_OVERLOAD_S = 0.2, 5.0
OVERLOAD_SECONDS, FEW = 2, 20
FAILING_SHARE = 0.5
CUT, RESUME = 0.5, 0.9
CUT_AGAIN_S = 4
COLLAPSED_SHARE = 0.8  # of the most that it finished while calm: less, while overloaded, is a collapse
CEILING, COLLAPSE_CEILING = 0.95, 0.9
CEILING_S, COLLAPSE_CEILING_S = 30.0, 120.0
CEILING_STEP = 0.02  # and twice as much each time, where the overload was no collapse
SLACK = 0.02  # of ln level by which an objective that does not rule may lie above the one that does
LEAST_SHARE = 1e-3  # of the first level, below which nothing is tried
ALONE_INSIDE = 0.1
LOST_S = 60  # of recovery after which a target does not come back by itself
MOST_WINDOW_S = 10**9
TOO_SLOW_SHARE = 1 / 32  # of the first level at which a target that still misses the objective, calm, always does


@dataclass(frozen=True)
class Second:
    """One second of load at `level`: arrivals planned and done, arrivals unfinished at its end, failed requests, and
    what each objective saw, in their order."""

    second: int
    level: float
    planned: int
    done: int
    unfinished: int
    requests: int
    failed: int
    seen: tuple[Seen, ...]


@dataclass(frozen=True)
class Overload:
    """An overload that was seen: when, at which level, what was finished per second then, and whether that was less
    than the target did when calm (a collapse)."""

    second: int
    level: float
    done_per_s: float
    calm_per_s: float
    wait_s: float
    collapsed: bool


class Keeper:
    """Steers a level; `next_level` takes each second and gives the level from then on.

    `limits`: of the objectives, at least one, of a percentile, a mean or an error rate above 0; `start`: the first
    level; `most`, `least`: bounds; `whole`: levels are whole numbers (VUs).
    """

    def __init__(
        self,
        limits: tuple[Limit, ...],
        start: float,
        *,
        least: float | None = None,
        most: float | None = None,
        whole: bool = False,
    ) -> None:
        self.whole = whole
        self._least = math.log(least or (1.0 if whole else LEAST_SHARE * start))
        self._most = math.log(most) if most else math.inf
        self._log = max(self._least, min(math.log(start), self._most))
        self.loops = [Loop(limit, self._log) for limit in limits]
        self.state: State = "climb"
        self.overloads: list[Overload] = []
        self.settled_at: int | None = None
        self.unreachable = self.lost = False
        self._first, self._is_unmet = self._log, False
        self.level = self._rounded()
        self._window: list[Second] = []
        self._ceiling, self._ceiling_since, self._ceiling_s = math.inf, 0, CEILING_S
        self._ceiling_step = CEILING_STEP
        self._changes, self._sign, self._same, self._near_windows = 0, 0, 0, 0
        self._far_s = 0
        self._recent: deque[Second] = deque(maxlen=CLIMB_LONGEST_S)
        self._base_wait_s, self._calm_per_s = math.inf, 0.0
        self._cut_at, self._cut_unfinished = 0, 0
        self._resume = 0.0

    def next_level(self, now: Second) -> float:
        """The level from now on."""
        for loop, seen in zip(self.loops, now.seen, strict=True):
            loop.follow(seen)
        self._recent.append(now)
        if self.state == "recover":
            self._recover(now)
        elif self._is_overloaded():
            self._cut(now)
        elif self.state == "climb":
            self._climb(now)
        else:
            self._keep(now)
        self.level = self._rounded()
        return self.level

    def _rounded(self) -> float:
        level = math.exp(self._log)
        return max(1.0, float(round(level))) if self.whole else level

    # the climb

    def _climb(self, now: Second) -> None:
        self._window.append(now)
        if not self._window_tells(CLIMB_BAD, CLIMB_S, CLIMB_LONGEST_S):
            return
        nears = self._nears()
        for loop, near in zip(self.loops, nears, strict=True):
            loop.quiet = min(loop.quiet, near)
        room = min(loop.room(near) for loop, near in zip(self.loops, nears, strict=True))
        inside = sum(one.unfinished for one in self._window) / len(self._window)
        self._remember_calm(max(nears))
        self._window.clear()
        if max(nears) > 1 and not self._calm_per_s:
            self._halve_unmet(inside)
            return
        few = min(loop.per_s * CLIMB_LONGEST_S * loop.share for loop in self.loops) < 1 and max(nears) <= 1
        most = math.log(CAREFUL_FACTOR if self.overloads else CLIMB_FACTOR)
        change = most if few else max(-most, min(most, CLIMB_SHARE * room))
        self._log = self._bounded(self._log + change)
        self._near_windows = self._near_windows + 1 if change < SMALL_STEP else 0
        if self._near_windows >= NEAR_WINDOWS or self._log in (self._most, self._ceiling):
            self._begin_keeping(now)

    def _halve_unmet(self, inside: float) -> None:
        """No level held the objective yet: half of this one, down to where load cannot be the cause, as hardly ever
        two arrivals are inside (`inside`: how many are, on average)."""
        lowest = max(self._least, self._first + math.log(TOO_SLOW_SHARE))
        self.unreachable = self._log <= lowest or inside <= ALONE_INSIDE
        self._log = max(lowest, self._log + math.log(CUT))

    def _nears(self) -> list[float]:
        return [loop.nearness([one.seen[place] for one in self._window]) for place, loop in enumerate(self.loops)]

    def _window_tells(self, allowed_bad: int, least_s: int, longest_s: int) -> bool:
        """Whether the window has so many requests, for each objective, that as many of them may be bad."""
        if not least_s <= len(self._window) < longest_s:
            return len(self._window) >= longest_s
        enough = (
            sum(one.seen[place].requests for one in self._window) >= allowed_bad / loop.share
            for place, loop in enumerate(self.loops)
        )
        return all(enough)

    def _remember_calm(self, near: float) -> None:
        """Work inside a calm target, in seconds of its completions: what scripts sleep and service takes. And the
        most that it finished."""
        done = sum(one.done for one in self._window)
        self._is_unmet = self._is_unmet or near > 1
        by_chance = self._is_unmet and not self._window_tells(CLIMB_BAD, 0, MOST_WINDOW_S)
        if near > 1 or not done or by_chance:
            return
        unfinished = sum(one.unfinished for one in self._window)
        self._base_wait_s = min(self._base_wait_s, unfinished / done)
        self._calm_per_s = max(self._calm_per_s, done / len(self._window))

    def _begin_keeping(self, now: Second) -> None:
        self.state, self._changes, self._sign, self._same, self._near_windows = "keep", 0, 0, 0, 0
        self._far_s = 0
        if self.settled_at is None:
            self.settled_at = now.second + 1
        for loop in self.loops:
            loop.log_level = self._log

    # the loop

    def _keep(self, now: Second) -> None:
        gain_s = min(GAIN_S, FIRST_GAIN_S * (1 + self._changes / 2))
        for loop, seen in zip(self.loops, now.seen, strict=True):
            loop.update(seen, gain_s)
        self._open_ceiling(now)
        self._window.append(now)
        if self._window_tells(KEEP_BAD, KEEP_WINDOW_S, KEEP_LONGEST_S):
            self._learn_from_window()
        self._log = self._bounded(min(loop.log_level for loop in self.loops))
        for loop in self.loops:
            loop.log_level = max(self._least, min(loop.log_level, self._log + SLACK))

    def _learn_from_window(self) -> None:
        """The gain falls with each change of sign and not before (Kesten 1958): a loop that is far away stays quick.
        Where all of a window is far below the limit, half of the way is gone at once."""
        nears = self._nears()
        self._calm_per_s = max(self._calm_per_s, sum(one.done for one in self._window) / len(self._window))
        queued = max(loop.queued(near) for loop, near in zip(self.loops, nears, strict=True))
        place = min(range(len(self.loops)), key=lambda one: self.loops[one].log_level)
        ruling, seen = self.loops[place], [one.seen[place] for one in self._window]
        requests = sum(one.requests for one in seen)
        excess = sum(one.bad for one in seen) / ruling.share - AIM * requests
        seconds = len(self._window)
        self._window.clear()
        if requests:
            ruling.ratios.append(1 + excess / (AIM * requests))
        if len(ruling.ratios) >= SLOPE_WINDOWS:
            ruling.learn_slope()
        sign = 1 if excess > 0 else -1
        self._same = self._same + 1 if sign == self._sign else 0
        if self._same >= SAME_SIGN:
            self._changes = max(0, self._changes - 1)
        self._changes += sign != self._sign and self._sign != 0
        self._sign = sign
        self._far_s = self._far_s + seconds if queued <= FAR_BELOW else 0
        if self._far_s >= FAR_S:
            self._far_s = 0
            room = min(loop.room(near) for loop, near in zip(self.loops, nears, strict=True))
            for one in self.loops:
                one.log_level += min(room / 2, math.log(CAREFUL_FACTOR))

    def _bounded(self, log_level: float) -> float:
        return max(self._least, min(log_level, self._most, self._ceiling))

    def _open_ceiling(self, now: Second) -> None:
        """The ceiling opens by a step where the loop has pressed against it for long enough."""
        pressing = min(loop.log_level for loop in self.loops) >= self._ceiling
        if math.isfinite(self._ceiling) and now.second - self._ceiling_since >= self._ceiling_s:
            self._ceiling_since = now.second
            if pressing:
                self._ceiling += math.log1p(self._ceiling_step)
                self._ceiling_step *= 1 if self.overloads[-1].collapsed else 2

    # overload

    def _wait_s(self, now: Second, done_per_s: float) -> float:
        """How long an arrival would wait by Little's law, beyond what it takes in a calm target."""
        base = self._base_wait_s if math.isfinite(self._base_wait_s) else 0.0
        if not now.unfinished:
            return 0.0
        return now.unfinished / done_per_s - base if done_per_s else math.inf

    def _overload_s(self) -> float:
        """The wait from which on it is called overloaded: one that an exponential tail reaches in RARE of the time."""
        known = [
            max(1.0, math.log(RARE) / math.log(min(loop.share, 0.5))) * loop.limit.limit / 1000
            for loop in self.loops
            if loop.limit.unit == "ms"
        ]
        return max(LEAST_OVERLOAD_S, min(known, default=NO_LIMIT_OVERLOAD_S))

    def _last(self) -> list[Second]:
        """The last seconds: OVERLOAD_SECONDS, or as many as bring FEW arrivals."""
        last: list[Second] = []
        for one in reversed(self._recent):
            last.append(one)
            if len(last) >= OVERLOAD_SECONDS and sum(each.planned for each in last) >= FEW:
                break
        return last

    def _done_per_s(self) -> float:
        last = self._last()
        return sum(one.done for one in last) / len(last)

    def _is_overloaded(self) -> bool:
        last = list(self._recent)[-OVERLOAD_SECONDS:]
        if len(last) < OVERLOAD_SECONDS:
            return False
        if all(one.requests >= 10 and one.failed > FAILING_SHARE * one.requests for one in last):
            return True
        rate = self._done_per_s()
        waits = all(self._wait_s(one, rate) > self._overload_s() for one in last)
        return waits and last[-1].unfinished >= 5

    def _cut(self, now: Second) -> None:
        last = self._last()
        planned = sum(one.planned for one in last) / len(last)
        done = self._done_per_s()
        collapsed = done < COLLAPSED_SHARE * self._calm_per_s and done < COLLAPSED_SHARE * planned
        self.overloads.append(
            Overload(now.second, self.level, done, self._calm_per_s, self._wait_s(now, done), collapsed)
        )
        over = self._log
        kept_up = min(1.0, done / planned) if planned else 0.0
        ceiling, seconds = (COLLAPSE_CEILING, COLLAPSE_CEILING_S) if collapsed else (CEILING, CEILING_S)
        again = math.isfinite(self._ceiling) and abs(over - self._ceiling) < 0.1
        self._ceiling_s = max(2 * self._ceiling_s if again else seconds, seconds)
        self._ceiling, self._ceiling_step = over + math.log(ceiling), CEILING_STEP
        self._resume = min(self._ceiling, over + math.log(RESUME * max(kept_up, LEAST_SHARE)))
        self._log = max(self._least, over + math.log(CUT * max(kept_up, 0.1)))
        self.state = "recover"
        self._cut_at, self._cut_unfinished = now.second, now.unfinished
        self._window.clear()

    def _recover(self, now: Second) -> None:
        """Wait at the cut level until the work is gone; lower still where it does not shrink."""
        if now.second == self._cut_at + 1 and now.unfinished > self._cut_unfinished:
            self._cut_unfinished = now.unfinished
        limits = [loop.limit.limit / 1000 for loop in self.loops if loop.limit.unit == "ms"]
        rate = max(self._done_per_s(), 0.1)
        failing = now.requests and now.failed > FAILING_SHARE * now.requests
        if (self._wait_s(now, rate) <= min(limits, default=1.0) or now.unfinished <= 1) and not failing:
            self._log = self._bounded(self._resume)
            self._ceiling_since = now.second
            self.state = "climb"
            self._recent.clear()
            return
        self.lost = now.second - self.overloads[-1].second >= LOST_S
        if now.second - self._cut_at >= CUT_AGAIN_S:
            if now.unfinished > 0.8 * self._cut_unfinished:
                self._log = max(self._least, self._log + math.log(CUT))
            self._cut_at, self._cut_unfinished = now.second, now.unfinished
