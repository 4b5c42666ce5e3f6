"""The MariaDB or MySQL database of a study: forms of its DSN, where it comes from, and its secrets."""

from __future__ import annotations

import pytest

from plimsoll.errors import InputError, InputErrors
from plimsoll.study import Redactor, parse_study
from plimsoll.study.probes.mysql import MysqlOptions, parts_of_dsn, secrets_of_mysql

STUDY = """\
workload: {script: script.js, operations: [{name: a, per_user_hour: 1}]}
probes: {mysql: DATABASES}
"""


@pytest.mark.parametrize(
    ("dsn", "parts"),
    [
        ("mysql://app@db:3307/shop", {"host": "db", "port": 3307, "user": "app", "database": "shop"}),
        ("mariadb://app:p%40ss@db", {"host": "db", "port": 3306, "user": "app", "password": "p@ss"}),
        ("mysql://app@/shop?unix_socket=/run/my.sock",
         {"port": 3306, "user": "app", "database": "shop", "unix_socket": "/run/my.sock"}),
        ("mysql://db/?ssl_ca=/ca.pem", {"host": "db", "port": 3306, "ssl_ca": "/ca.pem"}),
    ],
)  # fmt: skip
def test_a_dsn_is_a_url_with_its_parts(dsn: str, parts: dict) -> None:
    assert MysqlOptions.is_dsn(dsn) and MysqlOptions(dsn=dsn).dsn == dsn
    assert parts_of_dsn(dsn) == parts


@pytest.mark.parametrize(
    ("dsn", "words"),
    [
        ("", "no DSN of MariaDB or MySQL"),
        ("postgresql://u:p4ssw0rd@h/d", "no DSN of MariaDB or MySQL"),
        ("mysql://u:p4ssw0rd@h:99999/d", "the port of the DSN is no number"),
        ("mysql://u:p4ssw0rd@h:0/d", "the port of the DSN is no number from 1"),
        ("mysql://u:p4ssw0rd@/d", "the DSN names no host"),
        ("mysql://u:p4ssw0rd@h/d?tls=yes", "has tls, which is no option of it (ssl_ca, unix_socket are)"),
        ("mysql://u:p4ss w0rd@h/d", "no DSN of MariaDB or MySQL"),
    ],
)
def test_another_text_is_a_mistake_that_is_not_repeated(dsn: str, words: str) -> None:
    with pytest.raises(InputErrors) as told:
        parse_study(STUDY.replace("DATABASES", f"[{{dsn: '{dsn}'}}]"))
    assert "probes.mysql[0].dsn" in str(told.value) and words in str(told.value)
    assert "Write env:NAME" in str(told.value) and "p4ss" not in str(told.value)


def test_a_variable_of_the_environment_gives_the_dsn() -> None:
    options = MysqlOptions(dsn="env:MY_DSN")
    assert options.resolved({"MY_DSN": "mysql://h/d"}) == "mysql://h/d"
    with pytest.raises(InputError, match="there is no environment variable MY_DSN"):
        options.resolved({}, key="probes.mysql[0].dsn")
    with pytest.raises(InputError, match="MY_DSN: this is no DSN") as told:
        options.resolved({"MY_DSN": "s3cret"})
    assert "s3cret" not in str(told.value)


@pytest.mark.parametrize(
    ("dsn", "password"),
    [("mysql://app:s3cr3t-word@db/shop", "s3cr3t-word"), ("mariadb://app:s3cr3t%40word@db/shop", "s3cr3t@word")],
)
def test_the_password_is_hidden_wherever_it_appears(dsn: str, password: str) -> None:
    redactor = Redactor(secrets_of_mysql(dsn))
    assert password not in redactor.text(f"connecting with {password} failed: {dsn}")
    assert list(secrets_of_mysql("mysql://app@db/shop")) == []


def test_two_databases_of_one_label_are_a_mistake() -> None:
    with pytest.raises(InputErrors, match="'db' is there twice"):
        parse_study(STUDY.replace("DATABASES", "[{dsn: 'env:A'}, {dsn: 'env:B'}]"))
