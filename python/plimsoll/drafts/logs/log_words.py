"""What is said of an access log: what was read, and what to know before its load is put on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from plimsoll.drafts.draft import Draft
from plimsoll.drafts.logs.access_log import Reading
from plimsoll.drafts.logs.sessions import ALONE_S, GAP_S, Activity
from plimsoll.plain_text import plain
from plimsoll.words import count_words, counted_words, level_words, number, share_words, time_words

if TYPE_CHECKING:
    from plimsoll.drafts.logs.log_mix import LogMix

_MANY_FROM_ONE = 0.9
_MANY_NOT_MODIFIED = 0.02
_FEW_SESSIONS = 20
_LEAST_COVERED = 0.8


def with_words(draft: Draft, mix: LogMix, reading: Reading, has_times: bool) -> Draft:
    """The draft with its head and notes."""
    assert draft.activity is not None
    return replace(draft, head=tuple(_head(mix, draft.activity)), notes=tuple(_notes(draft, mix, reading, has_times)))


def rare_reason(least_share: float, least_sessions: float, has_times: bool) -> str:
    """Why an operation may be left out."""
    time = " and of the time" if has_times else ""
    few = share_words(least_sessions)
    return f"below {share_words(least_share)} of the requests{time}, in under {few} of the sessions"


def _head(mix: LogMix, activity: Activity) -> Iterator[str]:
    yield (
        f"{counted_words(activity.requests, 'request')} of users in {counted_words(activity.sessions, 'session')}, "
        f"{_span_words(mix.first_s, mix.last_s)}."
    )
    rate = f"a user makes {number(activity.requests / activity.hours)} requests per hour."
    if activity.busiest_for_s == 3600:
        yield (
            f"{level_words(activity.busiest_mean, 'users')} active at once on average in the busiest hour, from "
            f"{_moment(activity.busiest_s)}, and {number(activity.most)} in the busiest five minutes; {rate}"
        )
    else:
        yield f"{level_words(activity.busiest_mean, 'users')} active at once on average; {rate}"


def _notes(draft: Draft, mix: LogMix, reading: Reading, has_times: bool) -> Iterator[str]:
    activity = draft.activity
    assert activity is not None
    if reading.unknown:
        yield (
            f"{count_words(reading.unknown)} of {count_words(reading.lines)} lines are not understood, the first is "
            f"{reading.first_unknown_words()}"
        )
    for name in reading.cut_short:
        yield f"{name} ends in the middle of its gzip data; what comes before counts."
    if activity.is_stay_assumed:
        yield (
            f"Nobody made two requests within {time_words(GAP_S)}, so a user is taken to stay {time_words(ALONE_S)} "
            "for each. Set per_user_hour and expected_users by what you know."
        )
    elif activity.sessions < _FEW_SESSIONS:
        yield f"Rates by {counted_words(activity.sessions, 'session')} are rough; take a log of a longer time."
    if activity.failed_sessions:
        yield (
            f"{counted_words(activity.failed_sessions, 'session')} had nothing but failed requests, as scanners have, "
            "and did not count."
        )
    address, most = mix.addresses.most_common(1)[0]
    of_one = most / sum(mix.addresses.values())
    if of_one >= _MANY_FROM_ONE and activity.requests > 1:
        yield (
            f"{share_words(of_one)} of the requests come from {plain(address)[:45]}, so users "
            "are told apart by their agent alone. Where that is a proxy, log X-Forwarded-For."
        )
    if mix.not_modified >= _MANY_NOT_MODIFIED * activity.requests:
        yield (
            f"{share_words(mix.not_modified / activity.requests)} of the requests were answered with 304, from the "
            "caches of users. The script has no cache and gets whole answers."
        )
    if mix.secrets:
        names = ", ".join(f"{plain(name)} ({count_words(count)})" for name, count in mix.secrets.most_common(5))
        yield f"Parameters that may be secret are never written: {names}. Add them in the script where they are needed."
    covered = sum(one.share or 0.0 for one in draft.operations)
    if covered < _LEAST_COVERED:
        yield (
            f"The script makes {share_words(covered)} of the users' requests. Add what is missing, or raise the rates "
            "of what is there."
        )
    if not has_times:
        yield "The log has no durations, so operations are not ranked by the time that they take."


def _span_words(first_s: float, last_s: float) -> str:
    """ "2026-11-28 10:00 to 12:00 UTC"."""
    start, end = _moment(first_s), _moment(last_s)
    return f"{start[:10]} {start[11:16]} to {end[11:16] if start[:10] == end[:10] else end[:16]} UTC"


def _moment(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d %H:%M")
