"""A JSON document of what a server tells of itself, flat or nested, with units inside its texts."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from plimsoll.listed_names import listed
from plimsoll.probes.http.page import Fetched, HttpPage, with_variables
from plimsoll.probes.http.source import HttpSource
from plimsoll.probes.http.tls_trust import trust_of
from plimsoll.probes.probe import Clock, Observation, ProbeUnavailable, Rates
from plimsoll.probes.quantities import SUFFIX, Amount, amount_of
from plimsoll.study.probes.telemetry import TelemetryOptions
from plimsoll.study.secrets.redactor import is_secret_key

MOST_VALUES = 200
MOST_NAMES = 500  # over a run
MOST_CHANGES = 10  # that are noted
DEEPEST = 6
_SHOWN = 5
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Names that say their unit themselves.
_HAS_UNIT = re.compile(r"_(bytes|share|s|seconds|ms|millis|per_s|count|percent|pct)$")


class TelemetryProbe(HttpSource):
    """Values of "telemetry:<label>": those that the study names, else every number of the document by its key, in
    lower case with its unit behind it (text_index_size_bytes). Keys that vanish or come back are noted, ten times at
    most.

    `fetch` gives the document; made for Beside. ProbeUnavailable if there is none, or it is no JSON object.
    """

    def __init__(
        self,
        page: HttpPage,
        options: TelemetryOptions,
        fetch: Callable[[], Fetched] | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        super().__init__(f"telemetry:{options.label}", page, options.host or page.host, options.every_s, clock)
        self._options = options
        self._fetch = fetch or (lambda: page.fetch(accept="application/json"))
        self._at = 0.0
        self._rates = Rates(lambda: self._at)
        self._names: dict[str, str] = {}  # place → name
        self._kinds: dict[str, str] = {}  # place → kind of its unit, "count" while it had none
        self._gone: set[str] = set()
        self._changes = 0

    def _ask(self) -> list[Observation]:
        """Read the document once."""
        fetched = self._fetch()
        try:
            document = json.loads(fetched.body)
        except (ValueError, RecursionError):
            raise ProbeUnavailable(f"{self._page.shown} gave no JSON. Give the URL of the JSON document.") from None
        if not isinstance(document, dict):
            raise ProbeUnavailable(f"{self._page.shown} gave JSON that is no object of keys. Correct the URL.")
        self._at = (fetched.sent_unix + fetched.received_unix) / 2
        amounts = self._chosen(document) if self._options.values else self._with_units(self._all(document))
        # "usedMemory": "980.1 MB" beside "usedMemoryBytes": 980117504 is one value: the plain number is the exact one.
        exact_last = sorted(amounts.items(), key=lambda one: one[1].kind == "count")
        values = {self._names[place]: amount.value for place, amount in exact_last}
        values |= self._as_rates(document)
        observations = [Observation(self.source, values, self._at)]
        self.clock_offset.date_header(fetched.headers.get("date"), fetched.sent_unix, fetched.received_unix)
        return observations + self._clock_observation(self._at)

    def _chosen(self, document: dict[str, Any]) -> dict[str, Amount]:
        amounts = {}
        for name, place in self._options.values.items():
            self._names[place] = name
            amount = amount_of(_at(document, place))
            if amount is not None:
                amounts[place] = amount
        self._note_changes(set(amounts), set(self._options.values.values()), [])
        return amounts

    def _all(self, document: dict[str, Any]) -> dict[str, Amount]:
        amounts: dict[str, Amount] = {}
        _numbers(document, "", 0, amounts)
        if len(amounts) > MOST_VALUES:
            words = f"the document has {len(amounts):,} numbers; {MOST_VALUES} are kept. Name those you want."
            self._tell_once("many", words)
            amounts = dict(list(amounts.items())[:MOST_VALUES])
        known, first = set(self._names), not self._names
        new = [place for place in amounts if place not in known]
        room = MOST_NAMES - len(known)
        for place in new[room:]:
            del amounts[place]
            words = f"the document's keys change: {MOST_NAMES} had numbers so far, further ones are left out."
            self._tell_once("names", f"{words} Name those you want.")
        new = new[:room]
        for place in new:
            self._names[place] = _name(place, amounts[place])
        self._note_changes(set(amounts), known, [] if first else new)
        return amounts

    def _with_units(self, amounts: dict[str, Amount]) -> dict[str, Amount]:
        """Values under the names that their units ask for. A zero without a unit is one of any unit, so a first unit
        beside it only renames; what else lacks the unit that it had cannot be told and is left out."""
        kept = {}
        for place, amount in amounts.items():
            known = self._kinds.setdefault(place, amount.kind)
            if amount.kind == "count" and known != "count":
                if amount.value != 0:
                    self._tell_once(
                        f"unit:{place}", f"{place} has no unit at times, as in {amount.value:g}; then it is left out."
                    )
                    continue
            elif amount.kind != known:
                before, self._names[place] = self._names[place], _name(place, amount)
                self._kinds[place] = amount.kind
                why = "it has a unit now" if known == "count" else "its unit changed"
                if before != self._names[place]:
                    self._tell_once(f"{place}:{amount.kind}", f"{before} is {self._names[place]} from now on: {why}.")
            kept[place] = amount
        return kept

    def _as_rates(self, document: dict[str, Any]) -> dict[str, float]:
        counters = {}
        for place in self._options.rates:
            amount = amount_of(_at(document, place))
            if amount is None:
                words = f"the document has no number at {place}, of which `rates` asks for the rate. Correct the place."
                self._tell_lost(f"rate:{place}", words)
            else:
                self._tell_back(f"rate:{place}", f"the document has a number at {place} again, for `rates`.")
                counters[f"{_plain(place)}_per_s"] = amount.value
        return self._rates.update(counters)[0] if self._options.rates else {}

    def _note_changes(self, there: set[str], known: set[str], new: Sequence[str]) -> None:
        vanished = sorted(known - there - self._gone)
        back = sorted(self._gone & there)
        self._gone = (self._gone | set(vanished)) - set(back)
        if not (vanished or new or back):
            return
        self._changes += 1
        if self._changes > MOST_CHANGES:
            self._tell_once("changes", "the document's keys change often; further changes are not noted.")
            return
        if vanished:
            became = f"; new are {listed(new, _SHOWN)}" if new else ""
            self._notes.append(f"the document no longer has a number at {listed(vanished, _SHOWN)}{became}.")
        elif new:
            self._notes.append(f"the document has new numbers: {listed(new, _SHOWN)}.")
        if back:
            self._notes.append(f"the document has a number at {listed(back, _SHOWN)} again.")


def telemetry_probe(options: TelemetryOptions, *, key: str, directory: Path = Path()) -> TelemetryProbe:
    """The probe of an entry of `probes.telemetry`. InputError for a variable that is not set, or a ca_file (in
    `directory`) without certificates."""
    headers = with_variables(options.headers, f"{key}.headers")
    trust = trust_of(options, options.url, key=key, directory=directory)
    return TelemetryProbe(HttpPage(options.url, headers, trust=trust, limit_s=options.timeout_s), options)


def _at(document: Any, place: str) -> Any:
    """What is at the place; a key that holds dots itself wins over steps. None where there is nothing."""
    if isinstance(document, dict) and place in document:
        return document[place]
    for part in place.split("."):
        if isinstance(document, dict) and part in document:
            document = document[part]
        elif isinstance(document, list) and part.isdigit() and int(part) < len(document):
            document = document[int(part)]
        else:
            return None
    return document


def _numbers(value: Any, place: str, depth: int, found: dict[str, Amount]) -> None:
    """Every number below, by its place. Lists are left out: their places say nothing, unless they are named. Keys that
    hold secrets are too."""
    if isinstance(value, dict):
        if depth < DEEPEST:
            for key, item in value.items():
                if not is_secret_key(str(key)):
                    _numbers(item, f"{place}.{key}" if place else str(key), depth + 1, found)
        return
    amount = amount_of(value)
    if amount is not None:
        found[place] = amount


def _plain(place: str) -> str:
    """usedMemory → used_memory; jvm.heap-used → jvm_heap_used."""
    return re.sub(r"[^A-Za-z0-9]+", "_", _HUMP.sub("_", place)).strip("_").lower()


def _name(place: str, amount: Amount) -> str:
    name, suffix = _plain(place), SUFFIX[amount.kind]
    return name if not suffix or name.endswith(suffix) else f"{_HAS_UNIT.sub('', name)}{suffix}"
