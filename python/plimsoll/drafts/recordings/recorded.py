"""A draft from a recording of a browser: one operation, which makes the recorded requests one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plimsoll.drafts.draft import Draft, DraftOperation
from plimsoll.drafts.kinds import WRITING
from plimsoll.drafts.recordings.correlation import Correlation
from plimsoll.drafts.recordings.recording import Recording, read_recording
from plimsoll.plain_text import plain
from plimsoll.words import counted_words, number, time_words

_SHORTEST_S = 30.0  # a user who does it again and again rests in between


def draft_of_recording(path: Path, url: str | None) -> Draft:
    """The draft; InputError for what is no recording, or has nothing that a load could make again."""
    recording = read_recording(path)
    found = Correlation(recording.requests)
    rate = float(f"{3600 / max(_SHORTEST_S, recording.lasts_s):.3g}")
    what = f"the {counted_words(len(found.steps), 'recorded request')}"
    return Draft(
        source=f"the recording {plain(path.name)}",
        url=url,
        head=tuple(_head(recording, rate)),
        operations=(DraftOperation("session", "session", "", what, rate),),
        left_out=recording.left_out,
        notes=tuple(_notes(recording, found)),
        steps=tuple(found.steps),
        taken=tuple(found.words),
        secrets=tuple(found.secrets.items()),
    )


def _head(recording: Recording, rate: float) -> Iterator[str]:
    yield (
        f"{counted_words(len(recording.requests), 'request')} to {plain(recording.origin)} within "
        f"{time_words(recording.lasts_s)}, made again one after the other."
    )
    yield (
        f"A user does all of it {number(rate)} times per hour, again and again. How many users there are, a recording "
        "does not say."
    )


def _notes(recording: Recording, found: Correlation) -> Iterator[str]:
    writes = sum(1 for one in recording.requests if one.method in WRITING)
    if writes:
        yield (
            f"{counted_words(writes, 'request')} may write, with the recorded bodies. Do not load a service whose data "
            "matters."
        )
    if found.secrets:
        names = ", ".join(f"{name} is {plain(what)}" for name, what in found.secrets.items())
        yield f"Passwords and tokens are not written. Give them with -e when it runs: {names}."
    if any(one.bearer and not step.bearer for one, step in zip(recording.requests, found.steps, strict=True)):
        yield "A token was sent that no answer had. Give one when it runs: -e TOKEN=…."
    if any(one.text is not None for one in recording.requests):
        yield "Bodies that are neither JSON nor a form are sent as they were recorded."
