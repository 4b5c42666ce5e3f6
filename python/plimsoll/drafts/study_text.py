"""The study of a draft: as little as a capacity search needs, with what is known beside each operation."""

from __future__ import annotations

import json
from collections.abc import Iterator

from plimsoll.drafts.draft import Draft, DraftOperation
from plimsoll.plain_text import plain
from plimsoll.words import counted_words, ms_words, share_words

SCRIPT_FILE = "script.js"
ANY_URL = "http://127.0.0.1:8080"
_ROOM = 2.0  # what the answers may take over what they took: an example of an objective, that nobody asked for


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
        yield f"expected_users: {draft.expected_users:g} # active at once on average in the busiest hour of the log"
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
        is_known = one.p95_ms is not None and one.p95_ms >= 1
        limit = ms_words(float(f"{_ROOM * (one.p95_ms or 0):.2g}")).replace(" ", "") if is_known else "500ms"
        yield f'#   - {{operation: {one.name}, objective: "p95<={limit}"}}'
    yield '#   - {objective: "error_rate<=1%"}'


def _text(text: str) -> str:
    """YAML of a text; JSON is YAML too."""
    return json.dumps(plain(text), ensure_ascii=False)
