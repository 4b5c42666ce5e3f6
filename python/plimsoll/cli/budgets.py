"""--budget NAME=80%: the share of a resource that may be used."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.errors import InputError


def budgets_of(texts: Iterable[str] | None) -> dict[str, float]:
    """{name: share in (0, 1]} of texts like "gc=83%" or "gc=0.83". InputError for others."""
    return dict(map(_budget, texts or ()))


def _budget(text: str) -> tuple[str, float]:
    name, equals, share = text.rpartition("=")
    percent = share.strip().endswith("%")
    try:
        value = float(share.strip().rstrip("%")) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if not equals or not name.strip() or not 0 < value <= 1:
        raise InputError(f"--budget {text!r} is no share of a resource", "Write it like gc=83%.")
    return name.strip(), value
