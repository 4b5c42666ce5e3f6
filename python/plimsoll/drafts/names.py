"""Names for what was found: operations, the functions of the script, places in paths."""

from __future__ import annotations

import re
from collections.abc import Iterable

from plimsoll.drafts.paths import PLACE

_LONGEST = 60


def template_of(shape: str) -> tuple[str, list[str]]:
    """("/issues/{id}/links/{id2}", ["id", "id2"]) of a path with places."""
    names: list[str] = []
    segments = []
    for segment in shape.split("/"):
        if segment == PLACE:
            names.append("id" if not names else f"id{len(names) + 1}")
            segment = f"{{{names[-1]}}}"
        segments.append(segment)
    return "/".join(segments), names


def named_template(template: str) -> tuple[str, list[str]]:
    """The template with each place under a name that JavaScript takes, and these names, all different: {issue-id} is
    {issue_id}. A row has its query under "query", so that no place may be called so."""
    names: list[str] = []

    def renamed(found: re.Match[str]) -> str:
        name = re.sub(r"\W", "_", found[1], flags=re.ASCII) or "id"
        name = f"_{name}" if name[0].isdigit() or name == "query" else name
        while name in names:
            name += "_"
        names.append(name)
        return f"{{{name}}}"

    return re.sub(r"\{([^{}]+)\}", renamed, template), names


def operation_names(requests: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """(name, exec) for each (method, template), all different: get_issues_id, getIssuesId."""
    taken: set[str] = set()
    names = []
    for method, template in requests:
        words = [word.lower() for word in re.findall(r"[A-Za-z0-9]+", template)] or ["root"]
        stem = "_".join([method.lower(), *words])[:_LONGEST].rstrip("_")
        name, count = stem, 1
        while name in taken:
            count += 1
            name = f"{stem}_{count}"
        taken.add(name)
        first, *rest = name.split("_")
        names.append((name, first + "".join(word[0].upper() + word[1:] for word in rest if word)))
    return _different(names)


def _different(names: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Functions too: a_1b and a1_b would be one."""
    taken: set[str] = set()
    result = []
    for name, function in names:
        unique, count = function, 1
        while unique in taken:
            count += 1
            unique = f"{function}V{count}"
        taken.add(unique)
        result.append((name, unique))
    return result
