"""Whether a service answers what a log or a recording has: each operation that reads is asked once, by GET alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from plimsoll.drafts.draft import Draft, DraftOperation
from plimsoll.drafts.services.asking import HTML, Asker, Told, does_something
from plimsoll.plain_text import plain
from plimsoll.words import counted_words

_MOST_NAMED = 3
_SIGNED_IN = (401, 403)


def tried(draft: Draft, url: str, token: str | None = None) -> Draft:
    """The draft with what the service at `url` said to its operations: `asked`, and notes on what does not work. Of a
    recording or a test plan, whose requests need each other, one is asked."""
    asker = Asker(url, token)
    answers = _recorded(draft, asker) if draft.steps or draft.groups else _each(draft.operations, asker)
    silent = next((told for _, told in answers if not told.status), None)
    notes = [_silent(url, silent)] if silent is not None else list(_failing(answers, url, has_token=token is not None))
    if (draft.steps or draft.groups) and silent is None:
        notes = []
    return replace(draft, asked=asker.asked, is_silent=silent is not None, notes=(*notes, *draft.notes))


def _each(operations: Sequence[DraftOperation], asker: Asker) -> list[tuple[str, Told]]:
    """(request, the answer to its first values) until nothing answers or enough is asked."""
    answers: list[tuple[str, Told]] = []
    for one in operations:
        path = one.path_of(one.rows[0] if one.rows else {})
        if one.method != "GET" or does_something(path):
            continue
        if asker.why_no_more is not None or (answers and not answers[-1][1].status):
            break
        answers.append((one.request, asker.ask(path, HTML)))
    return answers


def _recorded(draft: Draft, asker: Asker) -> list[tuple[str, Told]]:
    whole = [one for one in draft.steps if one.method == "GET" and all(isinstance(part, str) for part in one.target)]
    paths = ["".join(map(str, one.target)) for one in whole]
    path = next((path for path in paths if not does_something(path)), "/")
    return [(f"GET {path}", asker.ask(path, HTML))]


def _silent(url: str, told: Told) -> str:
    return (
        f"{plain(url)} {told.words}. Start the service before the load, or give the URL where it answers (url of the "
        "study)."
    )


def _failing(answers: Sequence[tuple[str, Told]], url: str, *, has_token: bool) -> Iterator[str]:
    failed = [(request, told) for request, told in answers if not told.is_success]
    if not failed:
        return
    named = [f"{plain(request)} {told.status}" for request, told in failed[:_MOST_NAMED]]
    named += [f"{len(failed) - _MOST_NAMED} more"] if len(failed) > _MOST_NAMED else []
    many = "None" if len(failed) == len(answers) else f"{len(failed)} of {counted_words(len(answers), 'operation')}"
    verb = "fail" if len(failed) > 1 and many != "None" else "fails"
    what = f"None of the operations succeeds at {plain(url)}" if many == "None" else f"{many} {verb} at {plain(url)}"
    yield f"{what}: {', '.join(named)}. {_remedy(failed, len(answers), has_token=has_token)}"


def _remedy(failed: Sequence[tuple[str, Told]], asked: int, *, has_token: bool) -> str:
    if any(told.status in _SIGNED_IN for _, told in failed):
        refused = "The token is refused: give" if has_token else "They want somebody who signed in: give"
        return f"{refused} the script one, as plimsoll capacity … -e TOKEN=…."
    if len(failed) == asked:
        return "Is that the address of the service that the log is of?"
    return "The data that the log asked for may be gone there: take out what does not exist."
