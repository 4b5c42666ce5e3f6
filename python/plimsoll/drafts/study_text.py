"""The study of a draft: as little as a capacity search needs, with what is known beside each operation."""

from __future__ import annotations

import json
from collections.abc import Iterator

from plimsoll.drafts.draft import Draft, DraftOperation
from plimsoll.plain_text import plain
from plimsoll.words import counted_words, ms_words, share_words

SCRIPT_FILE = "script.js"
ANY_URL = "http://127.0.0.1:8080"
# Examples of objectives, that nobody asked for: what answers took, with room, up to the next of these. A tenth of a
# second is felt as at once (Nielsen, Usability Engineering, 1993, chapter 5), so that less is no limit for users.
_ROOM = 2.0
_LIMITS_MS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000)
_UNKNOWN_MS = 500.0


def study_of(draft: Draft, name: str) -> str:
    """The text of study.yaml."""
    return "\n".join(_lines(draft, name)) + "\n"


def _lines(draft: Draft, name: str) -> Iterator[str]:
    yield f"# A draft by `plimsoll new` from {plain(draft.source)}."
    yield "# docs/study.md, or `plimsoll schema`, has all that a study can hold."
    yield from (f"# {plain(line)}" for line in draft.head)
    yield f"name: {_text(name)}"
    yield "target:"
    if draft.url is None:
        yield f"  url: {_text(ANY_URL)} # put the address of the service under test here"
    else:
        yield f"  url: {_text(draft.url)}"
    yield "workload:"
    yield f"  script: {SCRIPT_FILE}"
    if draft.groups:
        yield from _closed(draft)
        return
    yield "  model: open"
    yield "  operations:" + (" # the most frequent first" if draft.activity is not None else "")
    yield from (_operation(one) for one in draft.operations)
    if draft.expected_users is None:
        yield "# expected_users: 100 # how many users there will be; headroom counts from it"
    else:
        is_hour = draft.activity is not None and draft.activity.busiest_for_s == 3600
        when = "in the busiest hour of the log" if is_hour else "in the log"
        yield f"expected_users: {draft.expected_users:g} # active at once on average {when}"
    yield from _objectives(draft)


def _closed(draft: Draft) -> Iterator[str]:
    """Users who wait; the script has their pauses."""
    yield "  model: closed"
    yield "  groups: # the weight is the number of threads"
    for one in draft.groups:
        facts = counted_words(one.requests, "request")
        yield f"    - {{name: {one.name}, exec: {one.exec}, weight: {one.users}}} # {facts}"
    yield f"expected_users: {draft.expected_users:g} # the threads of the plan"
    yield "# objectives: # what users may expect; without any, only saturation is looked for"
    yield '#   - {objective: "p95<=500ms"}'
    yield '#   - {objective: "error_rate<=1%"}'


def _operation(one: DraftOperation) -> str:
    facts = [plain(one.request)]
    if one.share is not None:
        facts.append(f"{share_words(one.share)} of the requests")
    if one.p95_ms is not None:
        facts.append(f"p95 {ms_words(one.p95_ms)}")
    rate = f"{one.per_user_hour:g}"
    return f"    - {{name: {one.name}, exec: {one.exec}, per_user_hour: {rate}}} # {', '.join(facts)}"


def _objectives(draft: Draft) -> Iterator[str]:
    """Examples, which do not count until somebody wants them."""
    yield "# objectives: # what users may expect; without any, only saturation is looked for"
    for one in draft.operations[:3]:
        wanted_ms = _UNKNOWN_MS if one.p95_ms is None else _ROOM * one.p95_ms
        limit_ms = next((limit for limit in _LIMITS_MS if limit >= wanted_ms), _LIMITS_MS[-1])
        yield f'#   - {{operation: {one.name}, objective: "p95<={ms_words(limit_ms).replace(" ", "")}"}}'
    yield '#   - {objective: "error_rate<=1%"}'


def _text(text: str) -> str:
    """YAML of a text; JSON is YAML too."""
    return json.dumps(plain(text), ensure_ascii=False)
