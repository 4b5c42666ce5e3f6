"""What a run is told from outside its script, with k6's precedence: configuration file, script, environment, flags."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.cli.run.flags import FlagError
from plimsoll.cli.run.k6_options import BY_KEY, LOAD, OPTIONS, Area, K6Option, Shape, from_environment
from plimsoll.errors import InputError, ScriptError
from plimsoll.runs.format.small_files import read_small

EXIT_OPTIONS = 104
_MOST_CONFIG_BYTES = 1 << 20
_IN_FILE_ONLY = ("collectors", "webDashboard")


@dataclass
class Settings:
    """`below` are options that the script replaces, `above` those that replace the script's; `run` is about the run
    itself. `origins` says where each came from: "--vus", "K6_VUS", or the file."""

    below: dict[str, Any] = field(default_factory=dict)
    above: dict[str, Any] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)


def settings(flags: Mapping[str, Any], environment: Mapping[str, str]) -> Settings:
    """Flags by key (flags.parse) over K6_… variables over the file of --config or K6_CONFIG.

    Raises FlagError for what cannot be read, InputError for a file that is not k6's JSON.
    """
    variables = _variables(environment)
    file = flags.get("config") or variables.get("config")
    in_file = _file(Path(file)) if file else {}
    found = Settings()
    layers = (
        (in_file, lambda key: f"{file}: {key}", True),
        (variables, lambda key: BY_KEY[key].variable, False),
        (flags, lambda key: f"--{BY_KEY[key].flag}", False),
    )
    for layer, origin, is_file in layers:
        given = {key: layer[key] for key in layer if is_file or key in BY_KEY}
        own = {key: value for key, value in given.items() if key in BY_KEY and BY_KEY[key].area is Area.RUN}
        found.run |= own
        options = {key: value for key, value in given.items() if key not in own}
        if is_file:
            found.below = options
        else:
            found.above = overlaid(found.above, options)
        found.origins |= {key: origin(key) for key in given}
    return found


def overlaid(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """`upper` over `lower`; a load in `upper` replaces all of the load below it, except for the VUs, as in k6."""
    kept = {key: value for key, value in lower.items() if not (key in LOAD and any(load in upper for load in LOAD))}
    return {**kept, **upper}


def named_by_origin(error: ScriptError, origins: Mapping[str, str], script: Path | None) -> ScriptError:
    """The mistake with the flag, variable or file that it came by, in place of the option that this became."""
    if not origins:
        return error
    place = re.compile(rf"^{re.escape(str(script))}: options\.({'|'.join(map(re.escape, origins))})(?=:)", re.MULTILINE)
    what = place.sub(lambda found: origins[found[1]], error.what)
    if what == error.what:
        return error
    named = ScriptError(what, "Correct it or the script and run again.")
    named.end = error.end
    return named


def _variables(environment: Mapping[str, str]) -> dict[str, Any]:
    found = {}
    for option in OPTIONS:
        text = environment.get(option.variable)
        if option.env == "-" or not text:
            continue
        try:
            found[option.key] = from_environment(option, text)
        except ValueError as error:
            raise FlagError(f"{option.variable}: {error}", "Correct the variable, or unset it.") from None
    return found


def _file(path: Path) -> dict[str, Any]:
    step = 'Give a JSON file of options, as in {"vus": 10, "duration": "30s"}.'
    try:
        read = json.loads(read_small(path, _MOST_CONFIG_BYTES, or_pipe=True).decode("utf-8"))
    except OSError as error:
        raise _mistake(f"--config {path}: {error.strerror}", step) from None
    except InputError as error:
        raise _mistake(f"--config {path}: {error.what}", step) from None
    except ValueError as error:
        raise _mistake(f"--config {path}: not JSON: {error}", step) from None
    except RecursionError:
        raise _mistake(f"--config {path}: it is nested too deeply", step) from None
    if not isinstance(read, dict):
        raise _mistake(f"--config {path}: its top level is not an object", step)
    found = {key: value for key, value in read.items() if value is not None and key not in _IN_FILE_ONLY}
    for key, value in found.items():
        if key in BY_KEY and BY_KEY[key].area is Area.RUN:
            _check_in_file(path, BY_KEY[key], value)
    return found


def _check_in_file(path: Path, option: K6Option, value: Any) -> None:
    """That an option about the run is what its flag would be: no script and no engine looks at it later."""
    wrong = ""
    try:
        if option.shape is Shape.SWITCH and not isinstance(value, bool):
            wrong = "neither true nor false"
        elif option.shape is Shape.VALUE and not isinstance(value, str):
            wrong = "not a text"
        elif option.shape is Shape.VALUE:
            option.read(value)
    except ValueError as error:
        wrong = str(error)
    if wrong:
        raise _mistake(f"--config {path}: {option.key}: {wrong}", "Correct the file and run again.")


def _mistake(what: str, step: str) -> InputError:
    error = InputError(what, step)
    error.exit_code = EXIT_OPTIONS
    return error
