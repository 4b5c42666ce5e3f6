"""The script of a test plan: its thread groups as exported functions, and of what JMeter does as much as they use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from plimsoll.drafts.script_text import comment, string_of

_LONGEST = "'1440m'"  # of a thread group with a number of loops and no time
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class ThreadGroup:
    """A thread group. `exec` is its function: setup, teardown, or one of a scenario. `loops` None: as long as
    `duration_s`, which is None where the plan does not say."""

    name: str
    exec: str
    threads: int
    ramp_s: float
    loops: int | None
    duration_s: float | None
    delay_s: float
    goes_on: bool
    lines: tuple[str, ...]
    samplers: int

    @property
    def is_scenario(self) -> bool:
        return self.exec not in ("setup", "teardown")


@dataclass(frozen=True)
class DataSet:
    """A file of rows: the constant that holds it, and how it is read."""

    constant: str
    file: str
    delimiter: str
    names: tuple[str, ...]
    has_header: bool
    is_quoted: bool


def script_of_plan(
    *,
    source: str,
    url: str | None,
    groups: Sequence[ThreadGroup],
    variables: Iterable[tuple[str, str]],
    data_sets: Sequence[DataSet],
    properties: Mapping[str, str],
    keeps_cookies: bool,
) -> str:
    """The text of script.js. `variables`: (name, JavaScript of its value); `properties`: of -e, with their defaults."""
    body = "\n".join(_function(one) for one in groups)
    body += "\n// The plan's own variables.\nfunction defined() {\n  const vars = {};\n"
    body += "".join(f"  vars[{string_of(name)}] = {value};\n" for name, value in variables) + "  return vars;\n}\n"
    sets = "".join(f"const {one.constant} = rows({_arguments(one)});\n" for one in data_sets)
    names = {"request", "thread", "properties", "NEXT", *_NAME.findall(body), *_NAME.findall(sets)}
    head = list(_head(source, url, properties, needs_rows=bool(data_sets), names=_needed(names)))
    options = list(_options(groups, keeps_cookies))
    constants = f"const KEEPS_COOKIES = {'true' if keeps_cookies else 'false'}; // {_COOKIES[keeps_cookies]}\n"
    helpers = "\n".join(_helpers()[name] for name in _helpers() if name in _needed(names))
    return "".join([*head, constants, sets, "\n", *options, "\n", body, "\n", helpers])


_COOKIES = {True: "the plan has a cookie manager", False: "the plan has no cookie manager, so that none is sent back"}


def _head(
    source: str, url: str | None, properties: Mapping[str, str], *, needs_rows: bool, names: set[str]
) -> Iterator[str]:
    yield f"// A draft by `plimsoll new` from {comment(source)}. Change it as you need.\n//\n"
    yield f"//   BASE_URL     where the service answers; a study gives it    {comment(url or 'http://127.0.0.1:8080')}\n"
    yield "//   LOAD_DURATION  for how long, where the plan does not say    1m\n"
    for name, default in properties.items():
        yield f"//   {comment(re.sub(r'[^A-Za-z0-9_]', '_', name))}     a property of the plan     {comment(default)}\n"
    yield "import http from 'k6/http';\n"
    used = [name for name in ("check", "group", "sleep") if name in names or name == "check"]
    yield f"import {{ {', '.join(used)} }} from 'k6';\n"
    if needs_rows:
        yield "import { SharedArray } from 'k6/data';\nimport exec from 'k6/execution';\n"
    yield f"\nconst BASE_URL = (__ENV.BASE_URL || {string_of(url or 'http://127.0.0.1:8080')}).replace(/\\/+$/, '');\n"
    yield "const LOAD_DURATION = __ENV.LOAD_DURATION || '1m';\n"


def _options(groups: Sequence[ThreadGroup], keeps_cookies: bool) -> Iterator[str]:
    yield "// Used by `k6 run` and `plimsoll run`; the study has users of its own.\nexport const options = {\n"
    if keeps_cookies:
        yield "  noCookiesReset: true,\n"
    yield "  scenarios: {\n"
    for one in groups:
        if one.is_scenario:
            yield f"    {one.name}: {_scenario(one)},\n"
    yield "  },\n};\n"


def _scenario(one: ThreadGroup) -> str:
    parts = [f"exec: {string_of(one.exec)}"]
    if one.delay_s:
        parts.append(f"startTime: '{one.delay_s:g}s'")
    duration = "LOAD_DURATION" if one.duration_s is None else f"'{one.duration_s:g}s'"
    if one.loops is not None:
        parts[:0] = ["executor: 'per-vu-iterations'", f"vus: {one.threads}", f"iterations: {one.loops}"]
        parts.append(f"maxDuration: {_LONGEST if one.duration_s is None else duration}")
    elif one.ramp_s >= 2 and one.threads > 1:
        ends = (f"'{one.ramp_s:g}s'", duration)
        stages = f"[{', '.join(f'{{ duration: {end}, target: {one.threads} }}' for end in ends)}]"
        parts[:0] = ["executor: 'ramping-vus'", "startVUs: 0", f"stages: {stages}"]
    else:
        parts[:0] = ["executor: 'constant-vus'", f"vus: {one.threads}", f"duration: {duration}"]
    return f"{{ {', '.join(parts)} }}"


def _function(one: ThreadGroup) -> str:
    given = "data" if one.is_scenario else ""
    lines = [f"export function {one.exec}({given}) {{"]
    lines.append(f"  const vars = thread({string_of(one.name)}{', data' if given else ''});")
    if not one.goes_on:
        lines.append("  vars.__onFailure = 'next';")
    lines += ["  try {", *(f"    {line}" for line in one.lines), "  } catch (error) {"]
    lines += ["    if (error !== NEXT) throw error;", "  }"]
    lines += ["  return { properties };"] if one.exec == "setup" else []
    return "\n".join([*lines, "}", ""])


def _arguments(one: DataSet) -> str:
    flags = f"{'true' if one.has_header else 'false'}, {'true' if one.is_quoted else 'false'}"
    return f"{string_of(one.file)}, {string_of(one.delimiter)}, {json.dumps(list(one.names))}, {flags}"


@cache
def _helpers() -> dict[str, str]:
    """The JavaScript of each, by its name, in their order."""
    text = files("plimsoll.drafts.jmeter").joinpath("helpers.js").read_text(encoding="utf-8")
    parts = re.split(r"^//: (\w+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _needed(names: set[str]) -> set[str]:
    """These and what they call."""
    known, wanted = _helpers(), set(names)
    while True:
        called = {name for one in wanted & known.keys() for name in _NAME.findall(known[one])}
        if called <= wanted:
            return wanted
        wanted |= called


def relative_file(file: Path, folder: Path) -> str:
    """The path of a file as a script in `folder` opens it."""
    import os

    return Path(os.path.relpath(file, folder)).as_posix()
