"""A CPU profile as net/http/pprof sends it (github.com/google/pprof, proto/profile.proto), made by hand for tests."""

from __future__ import annotations


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def message(*fields: tuple[int, int | bytes]) -> bytes:
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


TEXTS = ["", "samples", "count", "cpu", "nanoseconds", "main.burn", "/src/main.go", "main.inlined", "runtime.main"]
GO = message(
    (1, message((1, 1), (2, 2))),
    (1, message((1, 3), (2, 4))),
    (2, message((1, varint(1) + varint(2)), (2, varint(300) + varint(300 * 10**7)))),
    (2, message((1, 2), (2, 5), (2, 50_000_000))),  # numbers that are not packed
    (4, message((1, 1), (3, 4096), (4, message((1, 2), (2, 10))), (4, message((1, 1), (2, 20))))),
    (4, message((1, 2), (4, message((1, 3), (2, 3))))),
    (5, message((1, 1), (2, 5), (4, 6))),
    (5, message((1, 2), (2, 7), (4, 6))),
    (5, message((1, 3), (2, 8), (4, 6))),
    *((6, text.encode()) for text in TEXTS),
    (9, 1_700_000_000_000_000_000),
    (10, 3_000_000_000),
    (12, 10_000_000),
)
