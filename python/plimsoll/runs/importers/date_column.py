"""A column of dates as seconds since 1970: what clock.py says of each text, said of thousands at once.

Dates of samples are nearly all different, their seconds are few: clock.py reads each second once, and the digits after
it are added here. Texts of any other form go to clock.py one by one, so both read the same texts as the same times.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.runs.importers.clock import milliseconds

# Date, time of day and fraction as in 2026/11/22 10:00:00.123 or 2026-11-22T10:00:00,123+0100. Hour 24 is left out:
# ISO allows it at 24:00:00.000 only, so there the digits decide whether the text is a time.
_WITH_FRACTION = (
    r"^(?P<second>[0-9]+[/-][0-9]+[/-][0-9]+[ T](?:[01]?[0-9]|2[0-3]):[0-9]+:[0-9]+[.,])"
    r"(?P<fraction>[0-9]{1,6})(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?$"
)
_DIGITS = 6  # of a fraction in µs
_MOST_REMEMBERED = 100_000

Reals = NDArray[np.float64]


class DateColumn:
    """Reads blocks of one column; remembers seconds that it has read."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._known: dict[str, float] = {}

    def seconds(self, texts: Any) -> Reals:
        """Seconds since 1970 of an Arrow array of n texts, shape (n,). Raises BadRecord if one is no time."""
        import pyarrow as pa
        from pyarrow import compute

        parts = compute.extract_regex(texts, _WITH_FRACTION)
        is_split = parts.is_valid()
        split = parts.filter(is_split)
        second, fraction, zone = (split.field(name) for name in ("second", "fraction", "zone"))
        whole_s = self._each(compute.binary_join_element_wise(second, "0" * _DIGITS, zone, ""))
        micros = compute.cast(compute.utf8_rpad(fraction, _DIGITS, "0"), pa.int64()).to_numpy(zero_copy_only=False)
        found = np.empty(len(texts), np.float64)
        chosen = is_split.to_numpy(zero_copy_only=False)
        # As datetime does: whole microseconds, divided once.
        found[chosen] = (whole_s.astype(np.int64) * 1_000_000 + micros) / 1e6
        found[~chosen] = self._each(texts.filter(compute.invert(is_split)))
        return found

    def _each(self, texts: Any) -> Reals:
        """The times of texts, each different one read once."""
        distinct = texts.dictionary_encode()
        times = [self._time(text) for text in distinct.dictionary.to_pylist()]
        found: Reals = np.array(times, np.float64)[distinct.indices.to_numpy(zero_copy_only=False)]
        return found

    def _time(self, text: str) -> float:
        known = self._known.get(text)
        if known is None:
            known = milliseconds(text, self._name)
            if len(self._known) < _MOST_REMEMBERED:
                self._known[text] = known
        return known
