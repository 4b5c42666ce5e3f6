"""A tracked resource set as text: OSLC Tracked Resource Set 3.0, in Turtle and in JSON-LD of one fixed shape. Pure.

    …/trs                      the set: its base, and the newest page of its change log
    …/trs/changes/PAGE         an older page; pages are numbered from 0 and hold PAGE_CHANGES changes each
    …/trs/base?cutoff=&after=  a page of the base: what there was at the change `cutoff`, with numbers above `after`

A page of changes, once it is full, never changes. A page of the base holds exactly what there was at its cutoff, as
nothing is forgotten: whoever reads the base and then every change after the cutoff has missed nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from plimsoll_lab.configurations.change_log import Change

PAGE_CHANGES = 200
PAGE_MEMBERS = 500
TRS = "http://open-services.net/ns/core/trs#"
LDP = "http://www.w3.org/ns/ldp#"
NIL = "http://www.w3.org/1999/02/22-rdf-syntax-ns#nil"
_PREFIXES = f"@prefix trs: <{TRS}> .\n@prefix ldp: <{LDP}> .\n@prefix rdf: <{NIL.removesuffix('nil')}> .\n\n"
_CONTEXT = {"trs": TRS, "ldp": LDP}

Form = Literal["text/turtle", "application/ld+json"]
TURTLE: Form = "text/turtle"
JSON_LD: Form = "application/ld+json"


@dataclass(frozen=True)
class LogPage:
    """One page of a change log: its changes, the newest first, and the page before it."""

    page: int
    changes: Sequence[Change]

    @property
    def previous(self) -> int | None:
        """The number of the page before; None on the first."""
        return self.page - 1 if self.page > 0 else None


@dataclass(frozen=True)
class BasePage:
    """One page of the base: paths of its members, its cutoff, and after which number the next page begins."""

    members: Sequence[str]
    cutoff: int
    after: int
    next_after: int | None


def newest_page(clock: int) -> int:
    """The page that holds the change of that number."""
    return max(0, clock - 1) // PAGE_CHANGES


def bounds_of(page: int) -> tuple[int, int]:
    """(after, upto): numbers of the changes of that page lie above the first and not above the second."""
    return page * PAGE_CHANGES, (page + 1) * PAGE_CHANGES


def form_of(accept: str) -> Form:
    """JSON-LD for who asks for it by name, else Turtle."""
    asked = [part.split(";")[0].strip().lower() for part in accept.split(",")]
    turtle = min((asked.index(kind) for kind in (TURTLE, "*/*", "text/*") if kind in asked), default=len(asked))
    return JSON_LD if JSON_LD in asked and asked.index(JSON_LD) < turtle else TURTLE


def set_text(root: str, service: str, page: LogPage, form: Form) -> str:
    """The tracked resource set of the service at `root` (…/rm), with the newest page of its log inline."""
    if form == JSON_LD:
        data = {
            "@context": _CONTEXT,
            "@id": f"{root}/trs",
            "@type": "trs:TrackedResourceSet",
            "trs:base": {"@id": f"{root}/trs/base"},
            "trs:changeLog": _log_json(root, service, page, f"{root}/trs#log"),
        }
        return json.dumps(data, separators=(",", ":"))
    head = (
        f"<{root}/trs> a trs:TrackedResourceSet ;\n  trs:base <{root}/trs/base> ;\n  trs:changeLog <{root}/trs#log> ."
    )
    return f"{_PREFIXES}{head}\n\n{_log_turtle(root, service, page, f'{root}/trs#log')}"


def log_text(root: str, service: str, page: LogPage, form: Form) -> str:
    """One page of the change log."""
    name = f"{root}/trs/changes/{page.page}"
    if form == JSON_LD:
        data = {"@context": _CONTEXT, **_log_json(root, service, page, name)}
        return json.dumps(data, separators=(",", ":"))
    return _PREFIXES + _log_turtle(root, service, page, name)


def base_text(root: str, service: str, page: BasePage, form: Form) -> str:
    """One page of the base."""
    name = base_url(root, page.cutoff, page.after)
    cutoff = f"urn:plimsoll:{service}:change:{page.cutoff}" if page.cutoff else NIL
    following = NIL if page.next_after is None else base_url(root, page.cutoff, page.next_after)
    members = [f"{root}{path}" for path in page.members]
    if form == JSON_LD:
        data: dict[str, Any] = {
            "@context": _CONTEXT,
            "@id": f"{root}/trs/base",
            "@type": "ldp:Container",
            "trs:cutoffEvent": {"@id": cutoff},
            "ldp:member": [{"@id": member} for member in members],
            "ldp:nextPage": {"@id": following},
        }
        return json.dumps(data, separators=(",", ":"))
    listed = "".join(f" ;\n  ldp:member <{member}>" for member in members)
    return (
        f"{_PREFIXES}<{root}/trs/base> a ldp:Container ;\n  trs:cutoffEvent <{cutoff}>{listed} .\n\n"
        f"<{name}> a ldp:Page ;\n  ldp:pageOf <{root}/trs/base> ;\n  ldp:nextPage <{following}> .\n"
    )


def base_url(root: str, cutoff: int, after: int) -> str:
    """Where a page of the base is."""
    return f"{root}/trs/base?cutoff={cutoff}&after={after}"


def _log_turtle(root: str, service: str, page: LogPage, name: str) -> str:
    """The log's own statements, then one block a change."""
    before = f"{root}/trs/changes/{page.previous}" if page.previous is not None else NIL
    ids = [_event(service, change) for change in page.changes]
    listed = "".join(f" ;\n  trs:change <{one}>" for one in ids)
    blocks = "".join(
        f"\n<{one}> a trs:{change.kind.capitalize()} ;\n"
        f"  trs:changed <{root}{change.resource}> ;\n  trs:order {change.number} .\n"
        for one, change in zip(ids, page.changes, strict=True)
    )
    return f"<{name}> a trs:ChangeLog{listed} ;\n  trs:previous <{before}> .\n{blocks}"


def _log_json(root: str, service: str, page: LogPage, name: str) -> dict[str, Any]:
    before = f"{root}/trs/changes/{page.previous}" if page.previous is not None else NIL
    return {
        "@id": name,
        "@type": "trs:ChangeLog",
        "trs:change": [
            {
                "@id": _event(service, change),
                "@type": f"trs:{change.kind.capitalize()}",
                "trs:changed": {"@id": f"{root}{change.resource}"},
                "trs:order": change.number,
            }
            for change in page.changes
        ],
        "trs:previous": {"@id": before},
    }


def _event(service: str, change: Change) -> str:
    return f"urn:plimsoll:{service}:change:{change.number}"
