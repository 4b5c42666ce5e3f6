"""Reading a study file: every mistake at once, each as `file:line: key: what. Next step`."""

from __future__ import annotations

import difflib
import typing
from datetime import date, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from plimsoll.errors import InputError, InputErrors
from plimsoll.nearest_word import nearest
from plimsoll.study.checks import contradictions
from plimsoll.study.contradiction import KeyPath, dotted, entries, mapping
from plimsoll.study.forms import SCRIPTS
from plimsoll.study.models import Study
from plimsoll.study.part import kinds_within
from plimsoll.study.probes.trust import mistake_of_ca_file
from plimsoll.study.yaml_lines import MOST_BYTES, LinedDocument, read_lined
from plimsoll.words import count_words

MANIFEST = "manifest.json"
_MAY_BE_SECRET = ("headers", "cookies", "env", "dsn", "token")  # keys whose values no message repeats
_MOST_TOLD = 50  # mistakes at once
_LONGEST_SHOWN = 200
_KIND_NEEDED = {
    "int_parsing": "a whole number", "int_type": "a whole number", "int_from_float": "a whole number",
    "float_parsing": "a number", "float_type": "a number", "finite_number": "a finite number",
    "string_type": "text", "bool_parsing": "true or false", "bool_type": "true or false",
    "list_type": "a list (lines that start with a dash)",
    "dict_type": "a mapping (lines of `key: value`)", "model_type": "a mapping (lines of `key: value`)",
    "model_attributes_type": "a mapping (lines of `key: value`)",
}  # fmt: skip
_BOUNDS = {
    "greater_than": ("above", "gt"), "greater_than_equal": ("at least", "ge"),
    "less_than": ("below", "lt"), "less_than_equal": ("at most", "le"),
}  # fmt: skip


def load_study(path: str | Path) -> Study:
    """Read and validate a study file. Raises InputErrors with every mistake, ordered by line."""
    file = Path(path)
    if file.suffix in SCRIPTS:
        step = f"Give a study file (docs/study.md), or the script to capacity, hold or run: plimsoll capacity {path}"
        raise InputErrors([InputError("this is a script, no study", step, file=str(path))])
    try:
        text = read_study_bytes(file).decode("utf-8")
    except OSError as error:
        step = "Give the path of a study file, docs/study.md has one to begin with."
        raise InputErrors([InputError(f"cannot read it: {error.strerror}", step, file=str(path))]) from error
    except UnicodeDecodeError as error:
        raise InputErrors([InputError("this is not UTF-8 text", "Save the file as UTF-8.", file=str(path))]) from error
    return parse_study(text, file=str(path), directory=file.resolve().parent)


def read_study_bytes(file: Path) -> bytes:
    """The bytes of a study file, no more than one can have; InputErrors for what is no file."""
    if file.exists() and not file.is_file():
        what = "it is a folder" if file.is_dir() else "it is no regular file"
        raise InputErrors([InputError(what, "Give the path of a study file.", file=str(file))])
    with file.open("rb") as opened:
        return opened.read(4 * MOST_BYTES)  # so many bytes of UTF-8, at most, are MOST_BYTES characters


def parse_study(text: str, *, file: str = "study.yaml", directory: Path | None = None) -> Study:
    """Validate the text of a study. With a `directory`, the script must exist below or beside it."""
    document = read_lined(text, file)
    mistakes = list(document.mistakes)
    study = None
    if document.data is None and not mistakes:
        mistakes.append(
            InputError("the file is empty", "Start with `workload:`; docs/study.md has an example.", file=file)
        )
    elif document.data is not None:
        study, found = _validate(document, file)
        mistakes += found
        mistakes += _missing_script(document, file, directory)
        mistakes += _missing_runs(document, file, directory)
        mistakes += _missing_ca_files(document, file, directory)
    if mistakes:
        mistakes.sort(key=lambda error: error.place.line or 0)
        rest = len(mistakes) - _MOST_TOLD
        if rest > 0:
            mistakes[_MOST_TOLD:] = [InputError(f"{rest:,} more mistakes", "Correct these first.", file=file)]
        raise InputErrors(mistakes)
    assert study is not None
    study._directory = directory or Path()
    return study


def _validate(document: LinedDocument, file: str) -> tuple[Study | None, list[InputError]]:
    mistakes = [
        InputError(problem.what, problem.next_step, file=file, line=document.line_of(problem.path), key=problem.key)
        for problem in contradictions(document.data)
    ]
    try:
        return Study.model_validate(document.data), mistakes
    except ValidationError as error:
        details = [detail for detail in error.errors() if detail["type"] != "contradiction" or not mistakes]
        return None, mistakes + [_explain(detail, document, file) for detail in _without_echoes(details)]


def _without_echoes(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """A misspelled key also makes the right one missing: one mistake, told once."""
    misspelled = {
        (detail["loc"][:-1], near)
        for detail in details
        if detail["type"] == "extra_forbidden"
        for near in difflib.get_close_matches(str(detail["loc"][-1]), _known_keys(detail["loc"][:-1]), n=1)
    }
    return [one for one in details if one["type"] != "missing" or (one["loc"][:-1], one["loc"][-1]) not in misspelled]


def _missing_script(document: LinedDocument, file: str, directory: Path | None) -> list[InputError]:
    workload = document.data.get("workload") if isinstance(document.data, dict) else None
    script = workload.get("script") if isinstance(workload, dict) else None
    if directory is None or not isinstance(script, str) or not script or (directory / script).is_file():
        return []
    path = ("workload", "script")
    beside = sorted(item.name for item in directory.glob("*.[jt]s"))
    step = nearest(script, beside, "Give its path relative to the study file.")
    return [
        InputError(f"there is no script {script!r}", step, file=file, line=document.line_of(path), key=dotted(path))
    ]


def _missing_runs(document: LinedDocument, file: str, directory: Path | None) -> list[InputError]:
    """Finished runs that an entry of compare names, and that are not there."""
    if directory is None or not isinstance(document.data, dict):
        return []
    named = [
        (("experiments", position, "compare", key, place), run)
        for position, item in entries(document.data.get("experiments"))
        for key in ("runs_a", "runs_b")
        for place, run in enumerate(_list_at(item, key))
    ]
    step = "Give its path relative to the study file."
    return [
        InputError(f"there is no run {run!r}", step, file=file, line=document.line_of(path), key=dotted(path))
        for path, run in named
        if isinstance(run, str) and run and not (directory / run / MANIFEST).is_file()
    ]


def _missing_ca_files(document: LinedDocument, file: str, directory: Path | None) -> list[InputError]:
    """Files of certificates that probes name, and that are not there or hold none."""
    if directory is None or not isinstance(document.data, dict):
        return []
    probes, mistakes = mapping(document.data.get("probes")), []
    for kind in ("prometheus", "telemetry", "jvm"):
        for position, item in entries(probes.get(kind)):
            name, path = item.get("ca_file"), ("probes", kind, position, "ca_file")
            mistake = mistake_of_ca_file(directory / name) if isinstance(name, str) and name else None
            if mistake is not None:
                line = document.line_of(path)
                mistakes.append(InputError(*mistake, file=file, line=line, key=dotted(path)))
    return mistakes


def _list_at(item: dict[str, Any], key: str) -> list[Any]:
    given = mapping(item.get("compare")).get(key)
    return given if isinstance(given, list) else []


def _explain(detail: ErrorDetails, document: LinedDocument, file: str) -> InputError:
    """One pydantic error in our words, with its line and the next step."""
    path = _path_in_file(detail["loc"], document.data)
    what, step = _words(detail, path)
    return InputError(what, step, file=file, line=document.line_of(path), key=dotted(path) or None)


def _words(detail: ErrorDetails, path: KeyPath) -> tuple[str, str]:
    kind, given, context = detail["type"], detail.get("input"), detail.get("ctx", {})
    if kind == "missing":
        return "this key is needed and missing", f"Add `{path[-1]}: …` here."
    if kind == "extra_forbidden":
        known = _known_keys(detail["loc"][:-1])
        if path[0] == "experiments" and len(path) == 3 and "capacity" in known:
            return "there is no such experiment", nearest(path[-1], known, f"Use one of {', '.join(known)}.")
        return "unknown key", nearest(path[-1], known, f"Known here: {', '.join(known)}.")
    if kind == "truth_as_number":
        step = "Write a number here; YAML reads yes, no, on and off as true and false."
        return f"must be a number, is {_shown(given, path)}", step
    if kind in _KIND_NEEDED:
        return f"must be {_KIND_NEEDED[kind]}, is {_shown(given, path)}", f"Write {_KIND_NEEDED[kind]} here."
    if kind in _BOUNDS:
        words, name = _BOUNDS[kind]
        bound = f"{context[name]:g}" if abs(context[name]) < 1e6 else count_words(context[name])
        return f"must be {words} {bound}, is {_shown(given, path)}", "Change the number."
    if kind == "literal_error":
        expected = str(context["expected"]).replace("'", "").replace(", ", " or ")
        known = ["open", "closed"] if path == ("workload", "model") else expected.split(" or ")
        return f"must be {' or '.join(known)}, is {_shown(given, path)}", nearest(given, known, f"Write {known[0]}.")
    if kind in ("too_long", "string_too_long") and "max_length" in context:
        what = f"has over {context['max_length']:,} {'entries' if kind == 'too_long' else 'characters'}"
        return what, "Shorten it."
    if kind in ("too_short", "string_too_short"):
        return "must not be empty", "Give at least one value." if kind == "string_too_short" else "Add an entry."
    if kind == "string_pattern_mismatch" and path[-1] == "url":
        return f"must be a URL, is {_shown(given, path)}", "Start it with http:// or https://."
    if "next_step" in context:
        return str(context["what"]), str(context["next_step"]) or "Correct that."
    return str(detail["msg"]), "Correct the value; the JSON Schema of the study file says what fits."


def _shown(value: Any, path: KeyPath) -> str:
    """The value as it was written; what may be a secret by its kind alone."""
    if value is None:
        return "empty"
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    if any(part in _MAY_BE_SECRET for part in path):
        return "true or false" if isinstance(value, bool) else "a number" if isinstance(value, int | float) else "text"
    shown = _written(value)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"


def _written(value: Any) -> str:
    """A scalar as YAML has it, not as Python does."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return f"the time {value.isoformat(' ')}"
    if isinstance(value, date):
        return f"the date {value.isoformat()}"
    if isinstance(value, bytes):
        return "binary data"
    return "a set" if isinstance(value, set) else repr(value)


def _path_in_file(location: tuple[str | int, ...], data: Any) -> KeyPath:
    """pydantic's location without the parts that are not in the file (tags of unions); the last part stays."""
    path: list[str | int] = []
    for position, part in enumerate(location):
        inside = isinstance(data, dict) and part in data
        inside = inside or (isinstance(data, list) and isinstance(part, int) and part < len(data))
        if inside:
            data = data[part]
            path.append(part)
        elif position == len(location) - 1 and isinstance(data, dict):
            path.append(part)
    return tuple(path)


def _known_keys(location: tuple[str | int, ...]) -> list[str]:
    """The keys that the model at that location of the study knows."""
    candidates: list[type[BaseModel]] = [Study]
    for part in location:
        tagged = [model for model in candidates if _is_tagged(model, part)]
        if tagged:
            candidates = tagged
            continue
        if isinstance(part, int):
            continue
        fields = [model.model_fields[part] for model in candidates if part in model.model_fields]
        candidates = [model for field in fields for model in _models_within(field.annotation)] or candidates
    fields_of = (field for model in candidates for field in model.model_fields.items())
    return list(dict.fromkeys(field.alias or name for name, field in fields_of))


def _is_tagged(model: type[BaseModel], tag: str | int) -> bool:
    field = model.model_fields.get("model")
    return field is not None and typing.get_args(field.annotation) == (tag,)


def _models_within(annotation: Any) -> list[type[BaseModel]]:
    """All models in an annotation."""
    return [kind for kind in kinds_within(annotation) if isinstance(kind, type) and issubclass(kind, BaseModel)]
