"""The words for a form of the load or of its target: A and B of compare, the variants of decompose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from plimsoll.nearest_word import nearest
from plimsoll.study.secrets.in_text import hide_in_text
from plimsoll.study.urls import SCHEMES, mistake_of_url

FormKind = Literal["url", "variant", "variable", "script", "function"]
SCRIPTS = (".js", ".ts", ".mjs", ".cjs", ".mts")


def kind_of_form(text: str, variants: Sequence[str], exec_allowed: bool) -> FormKind | None:
    """What that text names, `variants` being those of the study's target; None for nothing that is known."""
    if text.startswith(SCHEMES):
        return "url"
    if text in variants:
        return "variant"
    if "=" in text and text.partition("=")[0].isidentifier():
        return "variable"
    if text.endswith(SCRIPTS):
        return "script"
    return "function" if exec_allowed and text.isidentifier() else None


def mistake_of_form(text: str, variants: Sequence[str], exec_allowed: bool) -> tuple[str, str] | None:
    """What to say of a text that names no form, and the next step; None for one that does."""
    kind = kind_of_form(text, variants, exec_allowed)
    if kind is not None:
        mistake = mistake_of_url(text) if kind == "url" else None
        return mistake and (f"{hide_in_text(text)}: {mistake[0]}", mistake[1])
    known = list(variants)
    step = "Give NAME=value, a URL, a script" + (f", or a variant: {', '.join(known)}." if known else ".")
    return f"{text!r} says nothing about a form of the load or its target", nearest(text, known, step)
