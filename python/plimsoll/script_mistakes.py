"""Mistakes in a script with the place that the native module does not know: an import that cannot be resolved fails
before its line is parsed, so the line is found in the text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from plimsoll.errors import ScriptEnd, ScriptError
from plimsoll.nearest_word import nearest

NEXT_STEP = "Correct the script or its options and run again."
STUDY_ENDINGS = (".yaml", ".yml")
STANDARD_INPUT = Path("-")  # k6's name for it
_CANNOT_IMPORT = re.compile(r"^cannot import '(?P<module>[^']+)' from (?P<file>.+?): ")
_NO_EXPORT = re.compile(r"Could not find export '(?P<name>[^']+)' in module '(?P<module>[^']+)'")
_UNKNOWN_OPTION = re.compile(r"^(?P<key>options[^:]*): unknown; known are (?P<known>.+)$")
_STATEMENT = re.compile(r"^[ \t]*(?:import|export)\b[^;'\"]*?['\"](?P<module>[^'\"\n]+)['\"]", re.MULTILINE)


def script_mistake(message: str, end: ScriptEnd = "exception", *, script: Path | None) -> ScriptError:
    """The native module's message as an error that names file and line wherever they can be known."""
    error = _placed(message, script) if script is not None else ScriptError(message, "Correct it and run again.")
    error.end = end
    return error


def _placed(message: str, script: Path) -> ScriptError:
    if script == STANDARD_INPUT:
        step = "Save the script to a file, and give that; plimsoll run alone reads it there."
        return ScriptError("a script on standard input is not read by this verb", step)
    if not os.path.isfile(script):
        url = re.match(r"(https?):/{1,2}(.*)", str(script))
        if url is not None:  # a path has one slash only
            step = f"Give it as `plimsoll run --url {url[1]}://{url[2]}`, or the path of a k6 script."
            return ScriptError(f"{url[1]}://{url[2]} is an address, and a script is wanted", step)
        what = "is a folder" if os.path.isdir(script) else "there is no such script"
        return ScriptError(what, "Give the path of a k6 script.", file=script)
    if script.suffix.lower() in STUDY_ENDINGS:
        step = (
            f"Give it to a verb that reads studies, as `plimsoll capacity {script}`; a script of k6 ends in .js or .ts."
        )
        return ScriptError("is a study, and a k6 script is wanted", step, file=script)
    missing, export = _CANNOT_IMPORT.search(message), _NO_EXPORT.search(message)
    if missing is not None:
        file = Path(missing["file"])
        what = f"cannot import '{missing['module']}': {message[missing.end() :]}"
        return _with_place(what, file, missing["module"], None)
    if export is not None:
        what = f"the module '{export['module']}' has no export '{export['name']}'"
        return _with_place(what, script, export["module"], export["name"])
    if str(script) in message or str(script.resolve()) in message:
        return ScriptError(message, NEXT_STEP)
    lines = dict.fromkeys(map(_with_nearest, message.splitlines()))  # one mistake may be told of each rule that has it
    return ScriptError("\n".join(f"{script}: {line}" for line in lines), NEXT_STEP)


def changed_module(error: ScriptError, url: str) -> ScriptError:
    """In place of the error of a module that is not here: it may not be taken past its lock file, as that error says
    first."""
    _, *lines = error.what.splitlines()
    statement = [line for line in lines[-1:] if _STATEMENT.match(line)]
    what = "\n".join([f"cannot import '{url}': it has changed since its hash was recorded", *statement])
    place = error.place
    return ScriptError(what, error.next_step, file=place.file, line=place.line, key=place.key)


def option_warnings(told: Iterable[str]) -> list[str]:
    """What the native module warns of in the options; an unknown one with the nearest that is known."""
    without = " The run goes on without it, as k6 does."
    lines = dict.fromkeys(told)
    return [_with_nearest(line) + (without if _UNKNOWN_OPTION.match(line) else "") for line in lines]


def _with_nearest(line: str) -> str:
    """A line about an unknown option with the nearest one that is known, in place of all of them."""
    found = _UNKNOWN_OPTION.match(line)
    if found is None:
        return line
    known = found["known"].split(", ")
    step = nearest(found["key"].rpartition(".")[2], known, f"Known are {found['known']}.")
    return f"{found['key']}: unknown option. {step}"


def _with_place(what: str, file: Path, module: str, name: str | None) -> ScriptError:
    """The mistake with the line of `file` that imports `module` (and `name` of it), and that line itself."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    for statement in _STATEMENT.finditer(text):
        if statement["module"] == module and (name is None or re.search(rf"\b{re.escape(name)}\b", statement[0])):
            line = text.count("\n", 0, statement.start("module")) + 1
            return ScriptError(f"{what}\n    {text.splitlines()[line - 1].strip()}", NEXT_STEP, file=file, line=line)
    return ScriptError(what, NEXT_STEP, file=file)
