"""The mix of operations of an access log: what users ask for, how often each does, and what a script may leave out.

One pass, in a bounded space: requests are counted by the shape of their path, shapes that turn out to be many values at
one place are merged as they become many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from plimsoll.drafts.draft import MOST_OPERATIONS, Draft, DraftOperation
from plimsoll.drafts.kinds import READING, WRITING, bot_of, is_health_check, is_static
from plimsoll.drafts.left_out import LeftOut
from plimsoll.drafts.logs import log_words
from plimsoll.drafts.logs.access_log import Reading
from plimsoll.drafts.logs.log_lines import LoggedRequest
from plimsoll.drafts.logs.sessions import Activity, Sessions
from plimsoll.drafts.logs.tallies import Distinct, Durations, Sample
from plimsoll.drafts.names import operation_names, template_of
from plimsoll.drafts.paths import Places, shape_of, values_in
from plimsoll.drafts.queries import LONGEST_TARGET, has_secret, without_secrets
from plimsoll.errors import InputError

LEAST_SHARE = 0.01  # of all requests, and of all time: an operation below both, and used by few, may be left out
LEAST_SESSIONS = 0.05  # of the sessions
_FEWEST = 30  # operations that are kept where nearly all are below
_MOST_SHAPES = 4000
_MOST_NAMES = 1000  # of bots, addresses, secrets
_LEAST_MS = 1.0  # the longest request, below which whole numbers are no microseconds
_OTHERS = "others"
_MALFORMED = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass
class Tally:
    """The requests of one method and shape."""

    sample: Sample
    count: int = 0
    failed: int = 0
    sessions: Distinct = field(default_factory=Distinct)
    durations: Durations = field(default_factory=Durations)

    @property
    def succeeded(self) -> int:
        return self.count - self.failed

    def merge(self, other: Tally) -> None:
        """The requests of both."""
        self.count += other.count
        self.failed += other.failed
        self.sample.merge(other.sample)
        self.sessions.merge(other.sessions)
        self.durations.merge(other.durations)


class LogMix:
    """Takes a log's requests one by one; `draft` says what they amount to."""

    def __init__(self, seed: int = 1) -> None:
        self._random = Random(seed)
        self._sessions = Sessions(self._random)
        self._tallies: dict[str, Tally] = {}
        self._places = Places()
        self.first_s, self.last_s = float("inf"), float("-inf")
        self.static = self.checks = self.unread = self.preflight = self.crowded = self.not_modified = 0
        self.malformed = 0
        self.private_paths = 0
        self.bots: Counter[str] = Counter()
        self.addresses: Counter[str] = Counter()
        self.secrets: Counter[str] = Counter()
        self.failures: Counter[int] = Counter()
        self._longest_maybe_ms = 0.0
        self._has_maybe = False

    def add(self, request: LoggedRequest) -> None:
        """One more."""
        self.first_s, self.last_s = min(self.first_s, request.time_s), max(self.last_s, request.time_s)
        if not request.target:
            self.unread += 1
            return
        if _MALFORMED.search(request.target):
            self.malformed += 1
            return
        path, _, query = request.target.partition("?")
        if (bot := bot_of(request.agent)) is not None:
            _count(self.bots, bot)
        elif is_health_check(path, request.agent):
            self.checks += 1
        elif is_static(path):
            self.static += 1
        elif request.method not in READING and request.method not in WRITING:
            self.preflight += 1
        else:
            self._add_use(request, path, query)

    def _add_use(self, request: LoggedRequest, path: str, query: str) -> None:
        """A request of a user."""
        is_success = 100 <= request.status < 400
        session = self._sessions.request(request.time_s, request.address, request.agent, is_success=is_success)
        _count(self.addresses, request.address)
        shape = f"{request.method} {shape_of(path)}"
        tally = self._tally(shape)
        tally.count += 1
        tally.sessions.add(session.mark)
        if not is_success:
            tally.failed += 1
            self.failures[request.status] += 1
        else:
            self.not_modified += request.status == 304
            if request.method in READING:
                self._sample(tally, path, query)
        if request.duration_ms is not None:
            tally.durations.add(request.duration_ms)
            if request.is_maybe_us:
                self._has_maybe = True
                self._longest_maybe_ms = max(self._longest_maybe_ms, request.duration_ms)

    def _sample(self, tally: Tally, path: str, query: str) -> None:
        kept, secret = without_secrets(query)
        for name in secret:
            _count(self.secrets, name)
        if has_secret(path):
            self.private_paths += 1
        elif len(path) + len(kept) < LONGEST_TARGET:
            tally.sample.add(f"{path}?{kept}" if kept else path)

    def _tally(self, shape: str) -> Tally:
        found = self._tallies.get(shape)
        if found is None:
            shape = self._places.applied(shape)
            found = self._tallies.get(shape)
        if found is None:
            if len(self._tallies) >= _MOST_SHAPES:
                self._make_room()
                shape = self._places.applied(shape)
            found = self._tallies.setdefault(shape, Tally(Sample(self._random)))
        return found

    def _make_room(self) -> None:
        """Merges what is alike; where that is too little, the rarest half is counted together."""
        self._merge()
        if len(self._tallies) > _MOST_SHAPES // 2:
            by_count = sorted(self._tallies, key=lambda shape: self._tallies[shape].count)
            for shape in by_count[: len(by_count) - _MOST_SHAPES // 2]:
                self.crowded += self._tallies.pop(shape).count

    def _merge(self) -> None:
        found = self._places.learn({shape: tally.succeeded for shape, tally in self._tallies.items()})
        for old, new in found.items():
            moved = self._tallies.pop(old)
            if new in self._tallies:
                self._tallies[new].merge(moved)
            else:
                self._tallies[new] = moved

    def draft(self, reading: Reading, source: str, url: str | None, least_share: float = LEAST_SHARE) -> Draft:
        """What the log amounts to. InputError where no user asked for anything with success."""
        self._merge()
        activity = self._sessions.activity()
        if activity is None:
            what = "the access log has no successful request of a user beside static files, health checks and bots"
            raise InputError(what, "Give a log of use, or describe the service with --openapi.")
        has_times = self._has_times()
        ranked = _ranked(self._tallies, activity, has_times)
        kept, rare, failing = _proposed(ranked, least_share)
        if not kept:
            what = "no user read anything with success; the log has writes alone"
            raise InputError(what, "A log has no bodies of them: write the script by hand, or use --openapi.")
        left_out = [*self._others_left_out(), *_writes(ranked)]
        left_out += [_rare(one, least_share) for one in rare]
        left_out += [_left_out(one, "failing", "never succeeded in the log") for one in failing]
        draft = Draft(
            source=source,
            url=url,
            head=(),
            operations=tuple(_operations(kept)),
            left_out=tuple(left_out),
            expected_users=max(1.0, float(f"{activity.busiest_mean:.3g}")),
            activity=activity,
        )
        return log_words.with_words(draft, self, reading, has_times)

    def _has_times(self) -> bool:
        """Whether durations are there and can be believed."""
        if self._has_maybe and self._longest_maybe_ms < _LEAST_MS:
            return False
        return any(tally.durations.count for tally in self._tallies.values())

    def _others_left_out(self) -> list[LeftOut]:
        counts = (
            ("static", "for static files", self.static, "a cache or another server usually answers them"),
            ("health_check", "of health checks and scrapes", self.checks, "no user makes them"),
            ("preflight", "with OPTIONS and other methods", self.preflight, "browsers send them by themselves"),
            ("unread", "that the server did not read", self.unread, "a scan, or a connection that timed out"),
            ("malformed", "with a % that begins no escape", self.malformed, "no client sends such an address"),
            ("private", "of paths that let somebody in", self.private_paths, "values of them are never written"),
            ("crowded", "of rare paths", self.crowded, "there were too many different ones to count"),
        )
        found = [LeftOut(kind, what, count, reason) for kind, what, count, reason in counts if count]
        bots = [LeftOut("bot", name, count, "a bot by its user agent") for name, count in self.bots.most_common()]
        return [*found, *bots]


@dataclass(frozen=True)
class _Ranked:
    """An operation with its place among the others."""

    shape: str
    tally: Tally
    per_user_hour: float
    share: float
    time_share: float | None
    session_share: float
    p95_ms: float | None

    @property
    def method(self) -> str:
        return self.shape.partition(" ")[0]

    @property
    def template(self) -> str:
        return template_of(self.shape.partition(" ")[2])[0]


def _ranked(tallies: dict[str, Tally], activity: Activity, has_times: bool) -> list[_Ranked]:
    """The most frequent first; shares are of what succeeds at all, else scans would count."""
    working = [tally for tally in tallies.values() if tally.succeeded]
    requests = sum(tally.count for tally in working) or 1
    time_ms = sum(tally.durations.sum_ms for tally in working)
    return [
        _Ranked(
            shape=shape,
            tally=tally,
            per_user_hour=tally.count / activity.hours,
            share=tally.count / requests,
            time_share=tally.durations.sum_ms / time_ms if has_times and time_ms > 0 else None,
            session_share=min(1.0, tally.sessions.count() / activity.sessions),
            p95_ms=tally.durations.quantile_ms(0.95) if has_times else None,
        )
        for shape, tally in sorted(tallies.items(), key=lambda item: (-item[1].count, item[0]))
    ]


def _proposed(ranked: Sequence[_Ranked], least_share: float) -> tuple[list[_Ranked], list[_Ranked], list[_Ranked]]:
    """(operations for the script, those that may be left out, those that never succeed) of those that read."""
    reading = [one for one in ranked if one.method in READING]
    usable = [one for one in reading if one.tally.sample.texts]
    failing = [one for one in reading if one.tally.succeeded == 0]
    kept = [one for one in usable if _counts(one, least_share)]
    if sum(one.tally.count for one in kept) < 0.5 * sum(one.tally.count for one in usable):
        kept = usable[:_FEWEST]
    kept = kept[:MOST_OPERATIONS]
    return kept, [one for one in usable if one not in kept], failing


def _counts(one: _Ranked, least_share: float) -> bool:
    """Frequent, or dear, or used by many."""
    return one.share >= least_share or (one.time_share or 0.0) >= least_share or one.session_share >= LEAST_SESSIONS


def _operations(kept: Sequence[_Ranked]) -> Iterable[DraftOperation]:
    names = operation_names((one.method, one.template) for one in kept)
    for one, (name, function) in zip(kept, names, strict=True):
        rows, query = _rows(one)
        yield DraftOperation(
            name=name,
            exec=function,
            method=one.method,
            template=one.template,
            per_user_hour=float(f"{one.per_user_hour:.3g}"),
            rows=rows,
            fixed_query=query,
            requests=one.tally.count,
            share=one.share,
            time_share=one.time_share,
            session_share=one.session_share,
            failed_share=one.tally.failed / one.tally.count,
            p95_ms=one.p95_ms,
        )


def _rows(one: _Ranked) -> tuple[tuple[dict[str, str], ...], str]:
    """(the values of each request that was sampled, the query if it is always the same and nothing else differs)."""
    shape = one.shape.partition(" ")[2]
    names = template_of(shape)[1]
    targets = [text.partition("?") for text in one.tally.sample.texts]
    queries = {query for _, _, query in targets}
    is_query_fixed = len(queries) == 1
    if not names and is_query_fixed:
        return (), next(iter(queries))
    rows = []
    for path, _, query in targets:
        row = dict(zip(names, values_in(path, shape), strict=True))
        if not is_query_fixed:
            row["query"] = f"?{query}" if query else ""
        rows.append(row)
    return tuple(rows), next(iter(queries)) if is_query_fixed else ""


def _writes(ranked: Sequence[_Ranked]) -> list[LeftOut]:
    return [_left_out(one, "write", "it writes, and a log has no bodies") for one in ranked if one.method in WRITING]


def _rare(one: _Ranked, least_share: float) -> LeftOut:
    reason = f"beyond the {MOST_OPERATIONS:,} most frequent"
    if not _counts(one, least_share):
        reason = log_words.rare_reason(least_share, LEAST_SESSIONS, one.time_share is not None)
    return _left_out(one, "rare", reason)


def _left_out(one: _Ranked, kind: str, reason: str) -> LeftOut:
    per_user_hour = float(f"{one.per_user_hour:.3g}")
    return LeftOut(kind, f"{one.method} {one.template}", one.tally.count, reason, per_user_hour)


def _count(counter: Counter[str], name: str) -> None:
    """Of very many different names those that came first are counted, and all the others together."""
    counter[name if name in counter or len(counter) < _MOST_NAMES else _OTHERS] += 1
