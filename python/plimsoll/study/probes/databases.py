"""The databases of `--probe postgresql=DSN` and `--probe mysql=DSN`, beside those of the study."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.errors import InputError
from plimsoll.study.models import Probes
from plimsoll.study.probes.dsn import DsnOptions
from plimsoll.study.probes.mysql import MysqlOptions
from plimsoll.study.probes.postgresql import PostgresqlOptions

_KINDS: dict[str, type[DsnOptions]] = {"postgresql": PostgresqlOptions, "mysql": MysqlOptions}


def with_flags(probes: Probes, flags: Iterable[str]) -> Probes:
    """The probes with further databases, labelled db, db2 … for each kind. InputError for another text, which is not
    repeated beyond its first word: it may hold a password."""
    databases: dict[str, list[DsnOptions]] = {kind: list(getattr(probes, kind)) for kind in _KINDS}
    for text in flags:
        kind, separator, dsn = text.partition("=")
        if kind not in _KINDS or not separator:
            raise InputError(
                f"--probe: {kind[:30]!r} is no probe that it knows",
                "Write --probe postgresql=env:PG_DSN, or --probe mysql=env:MYSQL_DSN.",
            )
        options = _KINDS[kind]
        if not options.is_dsn(dsn):
            raise InputError(f"--probe {kind}: {options.mistake_of(dsn)}", options.forms)
        databases[kind].append(options(dsn=dsn, label=_label(len(databases[kind]))))
    return probes.model_copy(update=databases)


def _label(there: int) -> str:
    return "db" if there == 0 else f"db{there + 1}"
