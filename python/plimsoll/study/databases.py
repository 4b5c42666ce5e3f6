"""The databases of `--probe postgresql=DSN` and `--probe mysql=DSN`, beside those of the study."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.errors import InputError
from plimsoll.study import mysql, postgresql
from plimsoll.study.models import Probes
from plimsoll.study.mysql import MysqlOptions
from plimsoll.study.postgresql import PostgresqlOptions


def with_flags(probes: Probes, flags: Iterable[str]) -> Probes:
    """The probes with further databases, labelled db, db2 … for each kind. InputError for another text, which is not
    repeated beyond its first word: it may hold a password."""
    postgresqls, mysqls = list(probes.postgresql), list(probes.mysql)
    for text in flags:
        kind, separator, dsn = text.partition("=")
        if kind not in ("postgresql", "mysql") or not separator:
            raise InputError(
                f"--probe: {kind[:30]!r} is no probe that it knows",
                "Write --probe postgresql=env:PG_DSN, or --probe mysql=env:MYSQL_DSN.",
            )
        if kind == "postgresql":
            if not postgresql.is_dsn(dsn):
                raise InputError("--probe postgresql: this is no DSN of PostgreSQL", postgresql.FORMS)
            postgresqls.append(PostgresqlOptions(dsn=dsn, label=_label(len(postgresqls))))
        else:
            if not mysql.is_dsn(dsn):
                raise InputError("--probe mysql: this is no DSN of MariaDB or MySQL", mysql.FORMS)
            mysqls.append(MysqlOptions(dsn=dsn, label=_label(len(mysqls))))
    return probes.model_copy(update={"postgresql": postgresqls, "mysql": mysqls})


def _label(there: int) -> str:
    return "db" if there == 0 else f"db{there + 1}"
