"""k6's flags that become options of the script, and their validation; what k6 calls each is its help text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plimsoll.errors import InputError, ScriptError

OPTION_OF_FLAG = {
    "vus": "vus",
    "duration": "duration",
    "iterations": "iterations",
    "max_redirects": "maxRedirects",
    "user_agent": "userAgent",
    "min_iteration_duration": "minIterationDuration",
    "insecure_skip_tls_verify": "insecureSkipTLSVerify",
    "no_connection_reuse": "noConnectionReuse",
    "no_vu_connection_reuse": "noVUConnectionReuse",
    "discard_response_bodies": "discardResponseBodies",
    "throw": "throw",
    "no_setup": "noSetup",
    "no_teardown": "noTeardown",
    "no_summary": "noSummary",
    "no_color": "noColor",
    "summary_time_unit": "summaryTimeUnit",
    "summary_trend_stats": "summaryTrendStats",
}


def script_options(
    flags: Mapping[str, Any], stages: list[str], tags: Mapping[str, str], no_thresholds: bool
) -> dict[str, Any]:
    """The options that replace the script's: of `flags` (named as in OPTION_OF_FLAG) those that were given.

    Raises InputError for a stage that is not duration:target.
    """
    given = {OPTION_OF_FLAG[name]: value for name, value in flags.items() if value is not None and value is not False}
    if "summaryTrendStats" in given:
        given["summaryTrendStats"] = [name.strip() for name in given["summaryTrendStats"].split(",")]
    if stages:
        given["stages"] = [_stage(text) for text in stages]
    if tags:
        given["tags"] = dict(tags)
    if no_thresholds:
        given["thresholds"] = {}
    return given


def named_by_flags(error: ScriptError, flags: Mapping[str, Any], script: Path) -> ScriptError:
    """The mistake with the flag that it came by, in place of the option that the flag became."""
    flag_of = {
        OPTION_OF_FLAG[name]: f"--{name.replace('_', '-')}" for name, value in flags.items() if value is not None
    }
    place = re.compile(rf"^{re.escape(str(script))}: options\.({'|'.join(flag_of)})(?=:)", re.MULTILINE)
    what = place.sub(lambda found: flag_of[found[1]], error.what)
    if what == error.what:
        return error
    named = ScriptError(what, "Correct the flags or the script and run again.")
    named.end = error.end
    return named


def _stage(text: str) -> dict[str, Any]:
    length, _, target = text.rpartition(":")
    if not length or not target.isdigit():
        raise InputError(f"--stage {text}: not duration:target", "Write for example --stage 30s:10.")
    return {"duration": length, "target": int(target)}
