"""From chart specifications to what the page embeds: JSON, a static SVG and the script that draws them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from plimsoll.report.theme import vega_config
from plimsoll.user_cache import made_in_cache, user_cache
from plimsoll.written_files import write_own

STATIC_WIDTH_PX = 700


def static_svg(specification: dict[str, Any]) -> str:
    """The chart as an SVG of the light theme, for print and for readers without JavaScript.

    Sized by its viewBox, so that it fills the column. Text in it is escaped by vl-convert.
    """
    import vl_convert

    fixed = {**specification, "width": STATIC_WIDTH_PX, "config": vega_config(dark=False)}
    svg = vl_convert.vegalite_to_svg(fixed)
    svg = re.sub(r'(<svg\b[^>]*?) width="[\d.]+" height="[\d.]+"', r"\1", svg, count=1)
    svg = _WITHIN_A_TAG.sub(lambda tag: _LONG_NUMBER.sub(_rounded, tag[0]), svg)
    return _with_own_names(svg, hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()[:8])


_WITHIN_A_TAG = re.compile(r' (?:d|transform)="[^"]*"')
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def _rounded(found: re.Match[str]) -> str:
    """A place to a hundredth of a pixel."""
    place = round(float(found[0]), 2)
    return f"{place:g}"


_NAMED = re.compile(r'(\bid="|url\(#)((?:clip|gradient)_?\d+)')


def _with_own_names(svg: str, own: str) -> str:
    """Its clips and gradients under names that nothing else on the page has. Vega counts them over a process, and the
    page's script counts anew: else a drawing may be clipped to the size of another."""
    names: dict[str, str] = {}
    return _NAMED.sub(lambda found: found[1] + names.setdefault(found[2], f"{own}-{len(names)}"), svg)


def bundled_library() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script of about 0.9 MB, made anew, which takes seconds; sets
    window.vegaEmbed, loads nothing."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub lacks the default
    return bundle.replace("</script", "<\\/script")


def browser_library(make: Callable[[], str | None] = bundled_library) -> str:
    """The bundled library behind the notices of its licences, as it was kept or as `make` makes it; empty where that
    makes none."""
    library = _library(make)
    return javascript_notices() + library if library else ""


def javascript_notices() -> str:
    """Whose the library is, as a comment: the licences ask for their notices wherever it goes."""
    text = Path(__file__).with_name("javascript-notices.txt").read_text(encoding="utf-8")
    return "/*!\n" + text.replace("*/", "* /").replace("</script", "<\\/script") + "*/\n"


def _library(make: Callable[[], str | None]) -> str:
    kept = _kept_library(version("vl-convert-python"))
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return kept.read_text(encoding="utf-8")
    text = make()
    if not text:
        return ""
    with contextlib.suppress(OSError):  # it is only quicker with it
        made_in_cache()
        write_own(kept, text)
    return text


def _kept_library(release: str) -> Path:
    """Where the script of that release of vl-convert is kept between reports: bundling it takes seconds."""
    return user_cache() / f"vega-of-vl-convert-{release}.js"


def page_configuration() -> dict[str, Any]:
    """Both themes for the script of the page, which picks by prefers-color-scheme."""
    return {"light": vega_config(dark=False), "dark": vega_config(dark=True)}
