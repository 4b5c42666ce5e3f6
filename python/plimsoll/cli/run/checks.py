"""Settings of a run that need more than their text: what is refused, where outputs go, what __ENV holds."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from plimsoll.cli.run.flags import FlagError
from plimsoll.cli.run.k6_options import BY_KEY
from plimsoll.cli.run.settings import EXIT_OPTIONS, Settings
from plimsoll.errors import InputError, InputErrors
from plimsoll.nearest_word import nearest
from plimsoll.study.secrets.sources import name_given_twice
from plimsoll.study.urls import mistake_of_url

if TYPE_CHECKING:
    from plimsoll.cli.run.tally import Tally
    from plimsoll.engine import EngineConfig
    from plimsoll.report.k6.summary import Mode
    from plimsoll.runs.readings.declared_caps import DeclaredCap

_MOST_BODY = 64 << 20
_OF_URL = ("method", "header", "body", "rate")
OUTPUT_KINDS = ("json", "csv", "parquet")
_REPLACE_SCENARIOS = ("vus", "duration", "iterations", "stages", "scenarios")
DEFAULT_FILES = {"json": "-", "csv": "file.csv", "parquet": "samples.parquet"}


@dataclass(frozen=True)
class Summary:
    """How the summary is printed, None for not at all, and the file that it is exported to as JSON."""

    mode: Mode | None
    export: Path | None


def checked(flags: Mapping[str, Any], told: Settings) -> Summary:
    """What becomes of the summary. Raises FlagError for what is not there."""
    if (flags["script"] is None) == (flags["url"] is None):
        step = "Give a script, plimsoll run script.js, or an address, plimsoll run --url http://…; not both."
        raise FlagError("there is nothing to run" if flags["url"] is None else "a script and --url at once", step)
    useless = [] if flags["url"] is not None else [f"--{name}" for name in _OF_URL if flags[name]]
    if useless:
        step = (
            "Leave them out; what the script requests, and how often, stands in the script (scenarios of its options)."
        )
        raise FlagError(f"{', '.join(useless)}: a script is run, and this goes with --url alone", step)
    run = told.run
    _refuse(
        told, "newMachineReadableSummary", run.get("newMachineReadableSummary", False), "the summary has k6 v1's form"
    )
    _refuse(told, "type", run.get("type") == "archive", "archives are not read; give the script itself")
    _refuse(
        told, "tracesOutput", run.get("tracesOutput", "none") != "none", "traces are not made; only none is allowed"
    )
    _refuse(
        told, "logOutput", run.get("logOutput", "stderr") != "stderr", "logs go to stderr; redirect it with 2> FILE"
    )
    if run.get("noThresholds"):
        told.above["thresholds"] = {}
    if run.get("summaryMode") == "disabled":
        told.above["noSummary"] = True
    export = Path(run["summaryExport"]) if run.get("summaryExport") else None
    if export is not None and not export.parent.is_dir():
        place = _origin(told, "summaryExport")
        raise InputError(f"{place} {export}: there is no such folder", "Make it, or correct the path.")
    is_off = bool(told.above.get("noSummary", told.below.get("noSummary", False)))
    modes: dict[Any, Mode] = {"full": "full", "legacy": "legacy"}
    return Summary(None if is_off else modes.get(run.get("summaryMode"), "compact"), export)


def without_parts(summary: Summary) -> Summary:
    """A compact one in place of a full one, which is said: of a run whose last seconds nobody read."""
    if summary.mode != "full":
        return summary
    print("the summary is the compact one: seconds that a full one needs are missing", file=sys.stderr)
    return replace(summary, mode="compact")


def outputs(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The kind and path of each file of raw samples. Raises FlagError for a kind that is not there."""
    found = []
    given = run.get("out", [])
    for text in [given] if isinstance(given, str) else given:
        kind, _, path = text.partition("=")
        if kind not in OUTPUT_KINDS:
            raise FlagError(
                f"-o/--out: '{text}': there are no outputs but {', '.join(OUTPUT_KINDS)}. "
                f"{nearest(kind, OUTPUT_KINDS, '')}".rstrip(),
                "Write for example --out json=samples.json.gz; a service can read the file.",
            )
        found.append((kind, path or DEFAULT_FILES[kind]))
    return found


def files_of_engine(config: EngineConfig) -> list[Path]:
    """The files that the engine opens by itself; "-" is standard output."""
    named = [Path(path) for _, path in config.outputs if path != "-"]
    return [*named, *([config.console_output] if config.console_output is not None else [])]


def script_environment(run: Mapping[str, Any], system: Mapping[str, str]) -> dict[str, str]:
    """__ENV: the system's variables, unless they are left out, and those of --env; NAME alone takes the system's."""
    found = dict(system) if run.get("includeSystemEnvVars", True) else {}
    for text in run.get("env", []):
        name, equals, value = text.partition("=")
        if equals or name in system:
            found[name] = value if equals else system[name]
    return {as_text(name): as_text(value) for name, value in found.items()}


def as_text(value: str) -> str:
    """A variable as JavaScript has it: with U+FFFD for each byte that is not UTF-8, as in k6."""
    return value if value.isascii() else value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def check_texts(flags: Mapping[str, Any], told: Settings) -> None:
    """Raises FlagError for what is given to the engine and is not UTF-8, and for a secret that is given twice; neither
    is shown."""
    given = {_origin(told, key): value for key, value in {**told.above, **told.run}.items() if key != "summaryExport"}
    given |= {f"--{name.replace('_', '-')}": flags[name] for name in ("url", "import_map", *_OF_URL)}
    for place, value in given.items():
        if not _is_text(value):
            raise FlagError(f"{place}: it is not UTF-8 text", "Write it in UTF-8.")
    for flag in told.run.get("secretSource") or ():
        name = name_given_twice(flag)
        if name is not None:
            place = _origin(told, "secretSource")
            raise FlagError(f"{place}: the secret '{name}' has two values", "Leave one out, or give it another name.")


def _is_text(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True


def check_thresholds(config: EngineConfig, told: Settings) -> None:
    """Raises InputErrors, with k6's exit code of wrong options, for thresholds on scenarios that the script does not
    have, unless flags replace its scenarios. The script is loaded once more where a scenario is named so."""
    from plimsoll.engine import inspect
    from plimsoll.plans.thresholds import check_scenarios

    script = config.script.read_text(encoding="utf-8", errors="replace") if _is_there(config.script) else ""
    given = told.below | told.above
    if any(key in told.above for key in _REPLACE_SCENARIOS):
        return
    if "scenario:" not in script and "scenario:" not in str(given.get("thresholds") or ""):
        return
    about = inspect(config)
    try:
        check_scenarios(about["options"].get("thresholds") or {}, [one["name"] for one in about["scenarios"]])
    except InputErrors as error:
        error.exit_code = EXIT_OPTIONS
        raise


def script_caps(config: EngineConfig, told: Settings, tally: Tally) -> tuple[DeclaredCap, ...]:
    """The caps that the script declares. It is loaded once more for them, so only where one may have been the limit."""
    from plimsoll.engine import inspect
    from plimsoll.runs.readings.declared_caps import declared_caps, text_of

    text = text_of(config.script)
    if config.script is None or not (tally.late or tally.dropped or "rps" in f"{text} {told.below | told.above}"):
        return ()
    with contextlib.suppress(InputError):  # as of files that the run itself moved
        return declared_caps(inspect(config)["options"], text)
    return ()


def unmade_iterations(config: EngineConfig, tally: Tally, fixed: Sequence[str]) -> list[str]:
    """What to tell of scenarios whose time ended before all of their iterations were made; `fixed`: those with a fixed
    number. The script is loaded once more only where it says a time."""
    from plimsoll.engine import inspect
    from plimsoll.runs.readings.declared_caps import fixed_iterations, text_of

    if not fixed or "uration" not in f"{text_of(config.script)} {dict(config.options)}":
        return []
    with contextlib.suppress(InputError):
        options = inspect(config)["options"]
        is_part = (
            "executionSegment" in options or "None" in tally.iterations
        )  # of a run, or scenarios are not told apart
        return [
            f"scenario {name} made {tally.iterations[name]:,} of its {count:,} iterations: {why} ended it. Raise that "
            "time, or the VUs."
            for name, (count, why) in ({} if is_part else fixed_iterations(options)).items()
            if name in fixed and tally.iterations[name] < count
        ]
    return []


def _is_there(script: Path | None) -> TypeGuard[Path]:
    return script is not None and script.is_file()


def plain_url(flags: Mapping[str, Any]) -> dict[str, Any] | None:
    """What --url asks for, as the engine reads it. Raises InputError for what is no URL, FlagError for a body that
    cannot be read."""
    if flags["url"] is None:
        return None
    mistake = mistake_of_url(flags["url"])
    if mistake is not None:
        error = InputError(f"--url {flags['url']}: {mistake[0]}", mistake[1])
        error.exit_code = EXIT_OPTIONS
        raise error
    body = flags["body"] or ""
    if body.startswith("@"):
        try:
            with Path(body[1:]).open(encoding="utf-8") as file:  # also /dev/stdin
                text = file.read(_MOST_BODY + 1)
        except (OSError, ValueError) as error:
            raise FlagError(f"--body {body}: {error}", "Give a file of text.") from None
        if len(text) > _MOST_BODY:
            raise FlagError(f"--body {body}: it has over {_MOST_BODY >> 20} million characters", "Give a smaller file.")
        body = text
    method = (flags["method"] or ("POST" if body else "GET")).upper()
    return {"url": flags["url"], "method": method, "headers": flags["header"], "body": body, "rate": flags["rate"]}


def _refuse(told: Settings, key: str, is_refused: bool, why: str) -> None:
    if is_refused:
        raise FlagError(f"{_origin(told, key)}: {why}", "Leave it out.")


def _origin(told: Settings, key: str) -> str:
    return told.origins.get(key, f"--{BY_KEY[key].flag}" if key in BY_KEY else f"options.{key}")
