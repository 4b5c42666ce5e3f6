"""The databases that a study has watched: their secrets, their probes, and what is written of steps and of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from plimsoll.errors import InputError, InputErrors
from plimsoll.probes.database_probe import DatabaseProbe, Event
from plimsoll.runs.writer import RunWriter
from plimsoll.study import Probes
from plimsoll.study.probes.mysql import secrets_of_mysql
from plimsoll.study.probes.postgresql import secrets_of_dsn

_SECRETS = {"postgresql": secrets_of_dsn, "mysql": secrets_of_mysql}


@dataclass(frozen=True)
class Databases:
    """The probes of the databases, and who is told of steps (None without any)."""

    probes: Sequence[DatabaseProbe[Any, Any]] = ()
    on_step: Callable[[Literal["started", "ended"], float], None] | None = None


@dataclass(frozen=True)
class _Wanted:
    """A database of the study: `key` is its place there."""

    kind: str
    dsn: str
    label: str
    key: str
    trial_dsn: str | None = None


def _wanted(probes: Probes) -> list[_Wanted]:
    """Each of them. Raises InputErrors for every one whose variable is missing."""
    found, mistakes = [], []
    for kind in _SECRETS:
        for place, options in enumerate(getattr(probes, kind)):
            entry = f"probes.{kind}[{place}]"
            dsns: list[str | None] = []
            for name, resolved in (("dsn", options.resolved), ("trial_dsn", getattr(options, "resolved_trial", None))):
                try:
                    dsns.append(None if resolved is None else resolved(key=f"{entry}.{name}"))
                except InputError as error:
                    mistakes.append(error)
            if not mistakes and dsns[0] is not None:
                found.append(_Wanted(kind, dsns[0], options.label, f"{entry}.dsn", dsns[1]))
    if mistakes:
        raise InputErrors(mistakes)
    return found


def secrets_of(wanted: Probes) -> list[str]:
    """What of the DSNs must not be written anywhere. Raises InputErrors where a DSN is missing."""
    return [
        secret
        for one in _wanted(wanted)
        for dsn in (one.dsn, one.trial_dsn)
        if dsn is not None
        for secret in _SECRETS[one.kind](dsn)
    ]


def _probe(one: _Wanted) -> DatabaseProbe[Any, Any]:
    if one.kind == "mysql":
        from plimsoll.probes.mysql import MysqlProbe

        return MysqlProbe(one.dsn, one.label, key=one.key)
    from plimsoll.probes.postgresql import PostgresqlProbe

    return PostgresqlProbe(one.dsn, one.label, key=one.key, trial_dsn=one.trial_dsn)


@contextmanager
def watched(wanted: Probes, writer: RunWriter, tell: Callable[[str], None]) -> Iterator[Databases]:
    """The probes of the databases, connected; at the end their findings of the whole run are written.

    `tell` gets what is missing in a database. Raises InputError where one cannot be reached at all.
    """
    probes = [_probe(one) for one in _wanted(wanted)]
    if not probes:
        yield Databases()
        return

    def write(events: Iterable[Event], second: float | None = None) -> None:
        for kind, details in events:
            writer.append_event(kind, second=second, **details)

    def on_step(what: Literal["started", "ended"], second: float) -> None:
        for probe in probes:
            write(probe.step_started() if what == "started" else probe.step_ended(), second)

    try:
        for probe in probes:
            for sentence in probe.check():
                tell(f"{probe.source}: {sentence}")
            write(probe.run_started())
        yield Databases(probes, on_step)
        for probe in probes:
            write(probe.run_ended())
    finally:
        for probe in probes:
            probe.close()
