"""Values that nobody meant, and changes of data and bytes with them."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

ODD_TEXTS = [
    "", "0", "-1", "1", "2", "nan", "inf", "-inf", "1e300", "1e999", "99999999999999999999", "9" * 5_000, "1_000", "2k",
    "5m", "1h30m", "90", "10%", "0x10", "²", "½", "a", "=", "a=", "=b", "a=b", "A=1,2", "A=1", ",", ":", "p95<=300ms",
    "detail: p95<=20ms", "errors<=1%", "10,50", "10,,50", "1,nan", "users=1,2", "rate=1,2", "users=nan,1",
    "\n", "💥", "\udcff", "-", "'", "{", "[", "[" * 3_000, "../x", "http://h/", "http://[::1", "postgresql=DSN",
    "mysql=env:NOT_SET",
    "env:NAME", "1-2", "5m" * 60, "1" * 40 + "x", "1.1.1.1", "open", "closed", "even", "poisson", "study.yaml",
    "script.js", "missing", "\x1b[31m", "mock=a=b", "json", "csv=x.csv", "ttl=5m", "full", "1/3", "0,1", "s", "%s",
    "\\",
]  # fmt: skip
ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, -(10**30), 0.5, -0.0, 1e308, -1e308, 5e-324, float("inf"),
    float("nan"), "", "x", "9" * 400, "x" * 2_000, "💥\n\x00", [], {}, [[]], [{}], {"a": {}}, [None], [1, "a", None],
    {"": 0}, [0] * 50, "1e309", "2001-01-01", "${X}", "p95<=", ["a"] * 3, [[[[[[[[]]]]]]]],
]  # fmt: skip

odd_texts = st.sampled_from(ODD_TEXTS) | st.text(max_size=12) | st.integers().map(str) | st.floats().map(str)
odd_values = st.sampled_from(ODD_VALUES) | st.integers() | st.floats() | st.text(max_size=8)
changes = st.lists(
    st.tuples(st.integers(0, 10**6), st.sampled_from(("set", "set", "set", "drop", "copy")), odd_values),
    min_size=1,
    max_size=3,
)
cuts = st.lists(
    st.tuples(
        st.integers(0, 10**9),
        st.integers(0, 60),
        st.sampled_from(
            [b"", b"\x00", b"\xff\xfe", b"\n", b",", b'"', b"[" * 5_000, b"{", b"}", b"-", b"9" * 300, b"1e999", b"nan",
             b"<", b"</sample>", b"&a *a", b"<<: *a", b"\x1f\x8b", b"PAR1", b"\t", b"%", b"\\"]
        )
        | st.binary(max_size=6),
    ),
    min_size=1,
    max_size=3,
)  # fmt: skip


def changed(data: Any, given: list[tuple[int, str, Any]]) -> Any:
    """A copy of plain data with these changes, each at the place that its number counts to."""
    data = copy.deepcopy(data)
    for number, kind, value in given:
        places = list(_places(data))
        if not places:
            return value
        inside, key = places[number % len(places)]
        if kind == "drop":
            del inside[key]
        elif kind == "copy" and isinstance(inside, list):
            inside.insert(key, copy.deepcopy(inside[key]))
        else:
            inside[key] = copy.deepcopy(value)
    return data


def _places(data: Any) -> Any:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, item in list(items):
        yield data, key
        yield from _places(item)


def cut(data: bytes, given: list[tuple[int, int, bytes]]) -> bytes:
    """Bytes with pieces taken out and others put in."""
    for at, length, put in given:
        at %= len(data) + 1
        data = data[:at] + put + data[at + length :]
    return data
