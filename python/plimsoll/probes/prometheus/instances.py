"""What a server scrapes, instance by instance: which of its samples are new, and which were of one scrape.

The samples of one scrape have its time, but for exporters that tell times of their own (cAdvisor: each container's).
So a scrape is what comes one after another until a series comes again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from plimsoll.probes.prometheus.followed import Followed
from plimsoll.probes.prometheus.mapping import Named
from plimsoll.probes.prometheus.seen import Key
from plimsoll.probes.rhythm import Rhythm
from plimsoll.runs.importers.resources.exposition import Sample

LATE_SCRAPE_S = 5.0
LAGS_S = 60.0  # by how much a container's own times may lag behind the scrape
_FORGOTTEN_S = 600.0
Target = tuple[str, str]  # instance and job: each is scraped at its own times


class Instance:
    """One target of the server. `words`: what notes call it."""

    def __init__(self, named: Named, words: str) -> None:
        self.words = words
        self.followed = Followed(named, f"{named.label}: {words}", lags_s=LAGS_S)
        self.rhythm = Rhythm()
        self._newest: dict[Key, float] = {}

    def scrapes(self, samples: Iterable[Sample]) -> Iterator[tuple[float, dict[str, list[Sample]]]]:
        """(its latest time, samples by metric) of each scrape that is new."""
        new = [
            (sample.at_unix, key, sample)
            for sample in samples
            if (key := _key(sample)) and sample.at_unix is not None and sample.at_unix > self._newest_of(key)
        ]
        new.sort(key=lambda one: one[0])
        scrape: dict[Key, Sample] = {}
        at = -math.inf
        for when, key, sample in new:
            if key in scrape:
                yield at, _by_metric(scrape.values())
                scrape = {}
            scrape[key], at = sample, when
            self._newest[key] = when
        if scrape:
            yield at, _by_metric(scrape.values())
        self._newest = {key: when for key, when in self._newest.items() if when > at - _FORGOTTEN_S}

    @property
    def since(self) -> float:
        """From when on the server must be asked for samples."""
        last = self.rhythm.last or 0.0
        return min((when for when in self._newest.values() if when > last - LAGS_S), default=last)

    def _newest_of(self, key: Key) -> float:
        return self._newest.get(key, -math.inf)


def samples_of(series: Iterable[Mapping[str, Any]]) -> dict[Target, list[Sample]]:
    """The samples of the server's answer by the target that they are of; those that are no number are left out."""
    found: dict[Target, list[Sample]] = {}
    for one in series:
        labels = {str(key): str(text) for key, text in (one.get("metric") or {}).items()}
        name, target = labels.pop("__name__", ""), (labels.get("instance", ""), labels.get("job", ""))
        for value, at in numbers_of(one.get("values")):
            found.setdefault(target, []).append(Sample(name, labels, value, at))
    return found


def numbers_of(pairs: Any) -> Iterator[tuple[float, float]]:
    """(value, time) of each pair of time and value, as the server's API writes them."""
    for pair in pairs or ():
        try:
            at, value = float(pair[0]), float(pair[1])
        except (TypeError, ValueError, LookupError):
            continue
        if math.isfinite(value) and math.isfinite(at):
            yield value, at


def _key(sample: Sample) -> Key:
    return sample.name, tuple(sorted(sample.labels.items()))


def _by_metric(samples: Iterable[Sample]) -> dict[str, list[Sample]]:
    found: dict[str, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.name, []).append(sample)
    return found
