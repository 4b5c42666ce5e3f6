"""Which trials an experiment makes, and in which order: pure, from a seed.

A trial holds one variant at one level. Trials that are compared stand next to each other, in an order drawn at random
(RMIT, randomised multiple interleaved trials: Abedi and Brecht 2017), so that what drifts on the target's machine meets
all variants alike. Two variants come as pairs, of which each two in a row begin with a different one (permuted blocks).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

SCHEMA = 1
Order = Literal["interleaved", "grouped", "ascending"]
_SEEDS_A_LEVEL = 1_000


@dataclass(frozen=True)
class TrialVariant:
    """`name` as results have it, `label` as sentences have it; `facts`: what makes it this variant (script with its
    hash, variables, command), in plain data, so that another plan can be told from this one."""

    name: str
    label: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TrialLevel:
    """A level in the load source's unit, and in words: "20 users", "100 arrivals/s"."""

    level: float
    words: str


@dataclass(frozen=True)
class Trial:
    """One trial: `number` counts from 1 in the order of the session; variants of a repetition share the `seed` of
    their arrivals, so that they get the same ones."""

    number: int
    repetition: int
    variant: str
    level: TrialLevel
    seed: int


@dataclass(frozen=True)
class TrialPlan:
    """What is tried: every variant at every level, `repetitions` times, `trial_s` seconds each after `warm_up_s`.

    `order`: "interleaved" puts the variants of a level next to each other; "grouped" goes through the levels of one
    variant before the next, where changing the variant is costly; "ascending" keeps the order given, for sweeps that
    end where nothing answers. `analysis` is what the answer depends on besides, declared before anything is measured.
    """

    experiment: str
    variants: tuple[TrialVariant, ...]
    levels: tuple[TrialLevel, ...]
    repetitions: int
    trial_s: float
    warm_up_s: float
    seed: int
    unit: str
    open: bool
    order: Order = "interleaved"
    load: Mapping[str, Any] = field(default_factory=dict)
    analysis: Mapping[str, Any] = field(default_factory=dict)

    def trials(self) -> list[Trial]:
        """All trials in their order."""
        draw = random.Random(self.seed)
        begins: dict[int, list[str]] = {}
        found: list[Trial] = []
        for repetition in range(1, self.repetitions + 1):
            places = list(range(len(self.levels)))
            if self.order != "ascending":
                draw.shuffle(places)
            if self.order == "grouped":
                cells = [(name, place) for name in self._names(draw, begins, 0) for place in places]
            else:
                cells = [(name, place) for place in places for name in self._names(draw, begins, place)]
            for name, place in cells:
                seed = self.seed + _SEEDS_A_LEVEL * (place + 1) + repetition
                found.append(Trial(len(found) + 1, repetition, name, self.levels[place], seed))
        return found

    def _names(self, draw: random.Random, begins: dict[int, list[str]], place: int) -> list[str]:
        """The variants in the order of one repetition; `begins` keeps the order of the second of two pairs."""
        names = [variant.name for variant in self.variants]
        if self.order == "ascending":
            return names
        if len(names) == 2 and place in begins:
            return begins.pop(place)
        draw.shuffle(names)
        if len(names) == 2:
            begins[place] = names[::-1]
        return names

    def label(self, variant: str) -> str:
        """What sentences call the variant of that name."""
        return next((one.label for one in self.variants if one.name == variant), variant)

    @property
    def seconds(self) -> float:
        """Load time of all trials together."""
        return len(self.variants) * len(self.levels) * self.repetitions * (self.trial_s + self.warm_up_s)

    def to_json(self) -> dict[str, Any]:
        """What plan.json holds."""
        return {"schema": SCHEMA, **asdict(self)}


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What differs between two plans as plan.json holds them, a sentence each: "repetitions: 10 there, 20 now"."""
    old, new = dict(_flat(before)), dict(_flat(now))
    found = []
    for key in dict.fromkeys([*old, *new]):
        if old.get(key) != new.get(key):
            found.append(f"{key}: {_shown(old, key)} there, {_shown(new, key)} now")
    return found


def _flat(value: Any, path: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [item for key, inner in value.items() for item in _flat(inner, f"{path}.{key}" if path else str(key))]
    if isinstance(value, Sequence) and not isinstance(value, str):
        named = [inner.get("name", place) if isinstance(inner, Mapping) else place for place, inner in enumerate(value)]
        return [item for key, inner in zip(named, value, strict=True) for item in _flat(inner, f"{path}[{key}]")]
    return [(path, value)]


def _shown(values: Mapping[str, Any], key: str) -> str:
    return "nothing" if values.get(key) is None else str(values[key])
