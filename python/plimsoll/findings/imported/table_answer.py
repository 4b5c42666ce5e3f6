"""The answer that a curve of levels gives, in words: every number in it is a level's mean or the mean of a plateau
(level_means.py), told with what it is."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.findings.imported.level_means import Plateau
from plimsoll.findings.imported.table_curve import Curve
from plimsoll.findings.imported.terms import FAILS_MORE
from plimsoll.stats.throughput.flattening import Flattening, Untold
from plimsoll.stats.throughput.knee import Knee
from plimsoll.words import ONE_WORDS, level_words, number, share_words

MOST_MIXED, MOST_RATES = 2, 6  # levels whose repeats are each told, and repeats of one


def answer_words(curve: Curve) -> str:
    """Up to which level throughput rises, what stops it, what else changes how that is read, and the knee."""
    parts = [_rise_words(curve), *_mixed_words(curve), *_failure_words(curve)]
    if isinstance(curve.knee, Knee):
        low, high = curve.knee.interval
        about = level_words(curve.knee.level, curve.unit)
        parts.append(f"The knee is at about {about} (95%: {number(low)} to {number(high)}).")
    return " ".join(parts)


def _rise_words(curve: Curve) -> str:
    shape, unit = curve.shape, curve.unit
    if curve.fails_first:
        return _failing_words(curve)
    if isinstance(shape, Untold):
        return " ".join([*_whole_shape(curve), f"Cannot tell where throughput flattens. {shape.reason}"])
    if curve.model == "open" and curve.bad is not None:
        return _undone_words(curve, shape)
    if same := _same_words(curve):
        return same
    if shape.first_flat is None and curve.bad is None:
        how = "rises in proportion"
        if curve.good != curve.means[-1].level:
            how = "rises, though in less than proportion at the end,"
        to = f"{level_words(shape.last_rising, unit)} ({_rate(curve, shape.last_rising)})"
        return f"Throughput {how} up to {to}, {_tried(curve)}. No knee was seen."
    if curve.bad is None:
        return _still_rising_words(curve, shape)
    return _saturated_words(curve)


def _saturated_words(curve: Curve) -> str:
    """Users who wait, from whom more bring no more."""
    unit, bad, plateau = curve.unit, curve.bad or 0.0, curve.plateau
    to = f"Throughput rises with the load up to {level_words(curve.good or 0.0, unit)} ({_rate(curve, curve.good)})"
    to += _between_words(curve)
    at_bad = f"{level_words(bad, unit)} ({_rate(curve, bad)})"
    if curve.queues_at is not None:
        if curve.good == curve.means[0].level and len(curve.means) == 2:
            low = f"{_rate(curve, curve.good)} at {level_words(curve.good, unit)}"
            high = f"{_rate(curve, bad)} at {level_words(bad, unit)}, {_tried(curve)}"
            waiting = "where most of the response time is waiting; it flattens between them"
            return f"Throughput rises from {low} to {high}, {waiting}."
        return f"{to}; at {at_bad}, {_tried(curve)}, most of the response time is waiting."
    if curve.falls_by is not None:
        return f"{to}; {_fall_words(curve)}."
    if plateau is None or len(plateau.levels) < 2:
        rises = (curve.per_s(bad) or 0.0) > (curve.per_s(curve.good) or 0.0)
        return f"{to} and {'flattens towards' if rises else 'is no higher at'} {at_bad}, {_tried(curve)}."
    return f"{to}; from {level_words(bad, unit)} on, more bring no more throughput: {_plateau_rate(plateau)}."


def _tried(curve: Curve) -> str:
    """What the highest level is that tells of throughput."""
    if curve.means[-1].level == curve.rows[-1].level:
        return "the most that was tried"
    return "the highest level without many failures or repeats that disagree"


def _plateau_rate(plateau: Plateau) -> str:
    """The mean of a plateau, with what it is the mean of."""
    if len(plateau.levels) == 1:
        return f"{number(plateau.per_s)}/s"
    least, most = number(plateau.least), number(plateau.most)
    between = f" ({least} to {most}/s)" if least != most else ""
    return f"{number(plateau.per_s)}/s, the mean of {len(plateau.levels)} levels{between}"


def _fall_words(curve: Curve) -> str:
    """From where on throughput falls, and how far."""
    top, last = curve.highest, curve.means[-1]
    past = f"past {level_words(top.level, curve.unit)}" if top is not None else "beyond"
    most = f" ({number(top.per_s)}/s, the most)" if top is not None and top.level != curve.good else ""
    at = f"{number(last.per_s)}/s at {level_words(last.level, curve.unit)}"
    return f"{past}{most} it falls, by {share_words(curve.falls_by or 0.0)} to {at}"


def _same_words(curve: Curve) -> str:
    """That throughput is the same at all levels, of which the lowest alone brings it; empty where it is not."""
    if (same := curve.same_everywhere) is None or curve.rises:
        return ""
    low, high = number(same.levels[0]), level_words(same.levels[-1], curve.unit)
    words = f"Throughput does not rise with the load: from {low} to {high} it is {_plateau_rate(same)}."
    return f"{words} One {ONE_WORDS.get(curve.unit, 'of them')} alone brings as much." if curve.good == 1 else words


def _whole_shape(curve: Curve) -> list[str]:
    """What is seen of throughput where it does not tell from where on it is flat."""
    if same := _same_words(curve):
        return [same]
    if curve.falls_by is not None and curve.highest is not None and curve.highest.level == curve.means[0].level:
        low, last = curve.means[0], curve.means[-1]
        from_to = (
            f"from {number(low.per_s)}/s at {level_words(low.level, curve.unit)} to {number(last.per_s)}/s at "
            f"{level_words(last.level, curve.unit)}"
        )
        return [f"Throughput falls with the load: {from_to}."]
    return []


def _undone_words(curve: Curve, shape: Flattening) -> str:
    """Work that comes by itself, of which a part is not done."""
    to = f"{level_words(curve.good or 0.0, curve.unit)} ({_rate(curve, curve.good)})"
    at_bad = f"{level_words(curve.bad or 0.0, curve.unit)} ({_rate(curve, curve.bad)})"
    done = f"{_undone(curve)} is not done{_most_words(curve)}"
    return f"Throughput rises with the load up to {to}; at {at_bad} {done}."


def _most_words(curve: Curve) -> str:
    """The level with the most throughput, where that is another than those that are told."""
    top = curve.highest
    if top is None or top.level in (curve.good, curve.bad):
        return ""
    return f"; the most was {number(top.per_s)}/s at {level_words(top.level, curve.unit)}"


def _between_words(curve: Curve) -> str:
    """How throughput goes on above what is carried, at levels that are not saturated."""
    good, bad = curve.good or 0.0, curve.bad or 0.0
    between = max((row.level for row in curve.rows if row.level is not None and good < row.level < bad), default=None)
    if between is None or (curve.per_s(between) or 0.0) <= (curve.per_s(good) or 0.0):
        return ""
    return f", by less than the load up to {level_words(between, curve.unit)} ({_rate(curve, between)})"


def _undone(curve: Curve) -> str:
    """Which share of what comes at the level that is not carried is not done there, by the lowest level."""
    lowest = curve.rows[0].level or 1.0
    comes = (curve.per_s(lowest) or 0.0) * (curve.bad or 0.0) / lowest
    return f"{share_words(max(0.0, 1 - (curve.per_s(curve.bad) or 0.0) / comes) if comes else 0.0)} of what comes"


def _still_rising_words(curve: Curve, shape: Flattening) -> str:
    last, before = curve.means[-1], curve.means[-2]
    at = f"{level_words(last.level, curve.unit)} ({number(last.per_s)}/s), {_tried(curve)}"
    more = last.per_s / before.per_s - 1 if before.per_s > 0 else 0.0
    if more > 0:
        times = number(last.level / before.level)
        at += f": {share_words(more)} more than at {number(before.level)}, for {times} times the load"
    return " ".join(
        [
            f"Throughput still rises at {at}.",
            *flattens_words(curve),
            "No plateau was seen, so where it stops is not known.",
        ]
    )


def _failure_words(curve: Curve) -> list[str]:
    """Failures that are not why the load is too much, but change what its throughput means."""
    if curve.failing_from is not None and not curve.fails_first:
        return [
            f"From {level_words(curve.failing_from, curve.unit)} on {_fail_share(curve)}; those levels say nothing of "
            "the throughput."
        ]
    healthy = [row for row in curve.rows if row.errors is not None and row.level not in curve.mixed]
    worst = max((row.errors or 0.0 for row in healthy if not curve.fails_first), default=0.0)
    if worst < FAILS_MORE:
        return []
    least = min(row.errors or 0.0 for row in healthy)
    share = (
        share_words(worst)
        if share_words(least) == share_words(worst)
        else f"{share_words(least)} to {share_words(worst)}"
    )
    return [f"At these levels {share} of the requests fail; throughput counts good answers only."]


def _failing_words(curve: Curve) -> str:
    """Failures come first: what is answered with an error is not carried."""
    at, unit, fails = curve.failing_from or 0.0, curve.unit, _fail_share(curve)
    if curve.good is None:
        return f"At {level_words(at, unit)} {fails}: not carried."
    to = f"{level_words(curve.good, unit)} ({_rate(curve, curve.good)})"
    carries = f"Carries {to}" if curve.model == "open" else f"Throughput rises with the load up to {to}"
    return f"{carries}; at {level_words(at, unit)} {fails}."


def _fail_share(curve: Curve) -> str:
    """Which share fails at the first level with too many failures, and at the lowest."""
    known = [row for row in curve.rows if row.errors is not None]
    worst = max((row.errors or 0.0 for row in known if row.level == curve.failing_from), default=0.0)
    low = known[0]
    before = (
        f", {share_words(low.errors or 0.0)} at {number(low.level or 0.0)}" if low.level != curve.failing_from else ""
    )
    return f"{share_words(worst)} of the requests fail{before}"


def _rate(curve: Curve, level: float | None) -> str:
    return f"{number(curve.per_s(level) or 0.0)}/s"


def _mixed_words(curve: Curve) -> list[str]:
    told = list(curve.mixed.items())
    if curve.is_mostly_mixed:
        level, rates = max(told, key=_disagreement)
        return [f"They disagree most at {level_words(level, curve.unit)} ({listed_rates(rates)})."]
    if len(told) > MOST_MIXED:
        level, rates = max(told, key=_disagreement)
        at = f"most at {level_words(level, curve.unit)} ({listed_rates(rates)})"
        return [f"At {len(told)} levels the repeats disagree, {at}, so these are mixed: neither carried nor not."]
    mixed = "so that level is mixed: neither carried nor not."
    return [
        f"At {level_words(level, curve.unit)} the repeats disagree ({listed_rates(rates)}), {mixed}"
        for level, rates in told
    ]


def _disagreement(mixed: tuple[float, Sequence[float]]) -> float:
    """The greatest of the repeats of a level ÷ the least."""
    return max(mixed[1]) / max(min(mixed[1]), 1e-9)


def listed_rates(rates: Sequence[float]) -> str:
    *first, last = [f"{number(rate)}/s" for rate in rates[:MOST_RATES]]
    return f"{', '.join(first)} and {last}"


def flattens(curve: Curve) -> str | None:
    """Between which levels; None where that is not told, or says other than from where to where throughput rises."""
    shape = curve.shape
    if isinstance(shape, Untold) or shape.first_flat is None or _same_words(curve):
        return None
    if shape.last_rising < (curve.good or 0.0) or shape.first_flat > (curve.bad or shape.first_flat):
        return None
    return f"between {number(shape.last_rising)} and {level_words(shape.first_flat, curve.unit)}"


def flattens_words(curve: Curve) -> list[str]:
    between = flattens(curve)
    if between is None:
        return []
    return [f"It begins to flatten {between}: what was added brought less than half of what the first brought."]
