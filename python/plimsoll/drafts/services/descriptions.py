"""An OpenAPI description, 2.0 or 3, JSON or YAML: its operations with what each parameter may be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

from plimsoll.errors import InputError

METHODS = ("get", "head", "post", "put", "patch", "delete", "options", "trace")
_DEEPEST = 30  # of references to references
_MOST_VALUES = 50
_NEXT = "Give an OpenAPI description 2.0 or 3, JSON or YAML."


@dataclass(frozen=True)
class Parameter:
    """`place` is path or query; `values` are its examples, its enum or its default, as text."""

    name: str
    place: str
    is_required: bool
    values: tuple[str, ...]
    type: str


@dataclass(frozen=True)
class Described:
    """An operation: `path` with its parameters in braces, without the server's address."""

    method: str
    path: str
    parameters: tuple[Parameter, ...]
    operation_id: str
    is_deprecated: bool

    def in_path(self) -> list[Parameter]:
        """The parameters of the path, in their order there; those that the description forgot have no values."""
        known = {one.name: one for one in self.parameters if one.place == "path"}
        return [known.get(name, Parameter(name, "path", True, (), "string")) for name in places_of(self.path)]


@dataclass(frozen=True)
class Description:
    """`base` is the path that all operations lie below, "" or "/v1"."""

    title: str
    version: str
    base: str
    operations: tuple[Described, ...]


def places_of(path: str) -> list[str]:
    """The names in braces."""
    return re.findall(r"\{([^{}]+)\}", path)


def read_description(text: str, name: str) -> Description:
    """The description of that text. InputError with `name` for what is none."""
    root = _parsed(text, name)
    if not isinstance(root, dict):
        raise InputError("this is no OpenAPI description", _NEXT, file=name)
    version = str(root.get("openapi") or root.get("swagger") or "")
    if not re.match(r"2\.0|3\.\d", version):
        what = f"it says version {version[:20]}" if version else "it has neither `openapi:` nor `swagger:`"
        raise InputError(f"this is no OpenAPI description, {what}", _NEXT, file=name)
    paths = root.get("paths")
    if not isinstance(paths, dict) or not paths:
        raise InputError("the description has no paths", "Give one with operations.", file=name)
    info = root.get("info")
    title = str(info.get("title") or "") if isinstance(info, dict) else ""
    return Description(title, version, _base(root), tuple(_operations(root, paths)))


def is_description(text: str) -> bool:
    """Whether it looks like one."""
    return re.search(r"""["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]\.\d""", text[:4000]) is not None


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else None
        raise InputError("this is neither JSON nor YAML", _NEXT, file=name, line=line) from None


def _base(root: Mapping[str, Any]) -> str:
    if "swagger" in root:
        base = str(root.get("basePath") or "")
    else:
        servers = root.get("servers")
        first = servers[0] if isinstance(servers, list) and servers and isinstance(servers[0], dict) else {}
        url, variables = str(first.get("url") or ""), first.get("variables")
        for key, one in (variables if isinstance(variables, dict) else {}).items():
            if isinstance(one, dict):
                url = url.replace(f"{{{key}}}", str(one.get("default", "")))
        try:
            base = urlsplit(url).path
        except ValueError:
            base = ""
    base = re.sub(r"/?\{[^{}]*\}", "", base).strip("/")  # a variable without a default
    return f"/{base}" if base and not re.search(r"[{}]", base) else ""


def _operations(root: Mapping[str, Any], paths: Mapping[str, Any]) -> Iterator[Described]:
    for path, given in paths.items():
        item = _followed(root, given)
        if not isinstance(item, dict) or not str(path).startswith("/"):
            continue
        shared = _list(item.get("parameters"))
        for method in METHODS:
            operation = item.get(method)
            if not isinstance(operation, dict):
                continue
            found = {}
            for one in (*shared, *_list(operation.get("parameters"))):
                parameter = _parameter(root, one)
                if parameter is not None:
                    found[parameter.name, parameter.place] = parameter
            operation_id = str(operation.get("operationId") or "")
            deprecated = operation.get("deprecated") is True
            yield Described(method.upper(), str(path), tuple(found.values()), operation_id, deprecated)


def _parameter(root: Mapping[str, Any], given: Any) -> Parameter | None:
    one = _followed(root, given)
    if not isinstance(one, dict) or one.get("in") not in ("path", "query") or "name" not in one:
        return None
    schema = _followed(root, one.get("schema"))
    schema = schema if isinstance(schema, dict) else {}
    content = one.get("content")
    media: Any = next(iter(content.values()), {}) if isinstance(content, dict) else {}
    sources = [*_alternatives(root, one), media if isinstance(media, dict) else {}, *_alternatives(root, schema)]
    kind = next((str(source["type"]) for source in sources if isinstance(source.get("type"), str)), "string")
    is_required = one["in"] == "path" or one.get("required") is True
    return Parameter(str(one["name"]), str(one["in"]), is_required, _values(root, sources), kind)


def _alternatives(root: Mapping[str, Any], schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schema and what it is made of, one level deep."""
    found = [schema]
    for key in ("allOf", "anyOf", "oneOf"):
        found += [one for part in _list(schema.get(key)) if isinstance(one := _followed(root, part), dict)]
    items = _followed(root, schema.get("items"))
    return [*found, items] if isinstance(items, dict) else found


def _values(root: Mapping[str, Any], sources: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Of the first kind that is there: examples, an enum, a default."""
    for key in ("example", "x-example", "examples", "enum", "const", "default"):
        values = [value for source in sources if key in source for value in _plain_values(root, source[key])]
        if values:
            return tuple(dict.fromkeys(values))[:_MOST_VALUES]
    return ()


def _plain_values(root: Mapping[str, Any], given: Any) -> Iterator[str]:
    """The texts of a value, of a list of them, or of `examples` by name."""
    if isinstance(given, dict):
        for one in given.values():
            one = _followed(root, one)
            if isinstance(one, dict) and "value" in one:
                yield from _plain_values(root, one["value"])
    elif isinstance(given, list):
        for one in given:
            yield from _plain_values(root, one)
    elif isinstance(given, bool):
        yield str(given).lower()
    elif given is not None and str(given) != "":
        yield str(given)


def _followed(root: Mapping[str, Any], given: Any) -> Any:
    """What a reference within the document stands for; None where it leads nowhere or round and round."""
    for _ in range(_DEEPEST):
        if not isinstance(given, dict) or not isinstance(given.get("$ref"), str):
            return given
        reference, given = given["$ref"], root
        if not reference.startswith("#/"):
            return None
        for part in reference[2:].split("/"):
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(given, list) and key.isdigit() and int(key) < len(given):
                given = given[int(key)]
            else:
                given = given.get(key) if isinstance(given, dict) else None
    return None


def _list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else []
