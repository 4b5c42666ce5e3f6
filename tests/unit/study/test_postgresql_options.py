"""The database of a study: forms of its DSN, where it comes from, and its secrets."""

from __future__ import annotations

import pytest

from plimsoll.errors import InputError, InputErrors
from plimsoll.study import Probes, Redactor, parse_study
from plimsoll.study.probes.databases import with_flags
from plimsoll.study.probes.postgresql import PostgresqlOptions, secrets_of_dsn
from plimsoll.verbs.databases import secrets_of

STUDY = """\
workload: {script: script.js, operations: [{name: a, per_user_hour: 1}]}
probes: {postgresql: DATABASES}
"""


@pytest.mark.parametrize(
    "dsn",
    ["env:PG_DSN", "postgresql://app@db:5432/shop", "postgres:///shop?host=/run/pg", "host=db dbname=shop user=app",
     "host=db password='with space' dbname=shop", "service=shop"],
)  # fmt: skip
def test_a_dsn_has_one_of_three_forms(dsn: str):
    assert PostgresqlOptions.is_dsn(dsn)
    assert PostgresqlOptions(dsn=dsn).dsn == dsn


@pytest.mark.parametrize(
    "dsn", ["", "db", "env:", "env:NOT A NAME", "mysql://u:p4ssw0rd@h/d", "postgresql://a b", "host="]
)
def test_another_text_is_a_mistake_that_is_not_repeated(dsn: str):
    with pytest.raises(InputErrors) as told:
        parse_study(STUDY.replace("DATABASES", f"[{{dsn: '{dsn}'}}]"))
    assert "probes.postgresql[0].dsn" in str(told.value)
    assert "this is no DSN of PostgreSQL. Write env:NAME" in str(told.value)
    assert "p4ssw0rd" not in str(told.value)


@pytest.mark.parametrize(
    "dsn",
    ["postgresql://u:p4ssw0rd@h:99999/d", "postgresql://h:0/d", "postgres://h:abc/d", "postgresql://h/d?port=99999",
     "host=h port=99999 dbname=d", "host=h port=x", "postgresql://a:5432,b:65536/d"],
)  # fmt: skip
def test_an_impossible_port_is_a_mistake(dsn: str):
    assert PostgresqlOptions.mistake_of(dsn) == "the port of the DSN is no number from 1 to 65535"


@pytest.mark.parametrize(
    "dsn", ["postgresql://u:99999@[::1]:5432/d", "postgresql://a:1,b/d", "host=a,b port=1,2", "postgresql:///d"]
)
def test_other_ports_are_none(dsn: str):
    assert PostgresqlOptions.mistake_of(dsn) is None


def test_two_databases_of_one_label_are_a_mistake():
    with pytest.raises(InputErrors, match="'db' is there twice"):
        parse_study(STUDY.replace("DATABASES", "[{dsn: 'env:A'}, {dsn: 'env:B'}]"))


def test_a_variable_of_the_environment_gives_the_dsn():
    options = PostgresqlOptions(dsn="env:PG_DSN")
    assert options.resolved({"PG_DSN": "postgresql://h/d"}) == "postgresql://h/d"
    with pytest.raises(InputError, match="there is no environment variable PG_DSN"):
        options.resolved({}, key="probes.postgresql[0].dsn")
    with pytest.raises(InputError, match="PG_DSN: this is no DSN"):
        options.resolved({"PG_DSN": "s3cret"})


def test_a_database_for_trials_has_the_same_forms_and_comes_from_the_environment_too():
    options = PostgresqlOptions(dsn="env:PG_DSN", trial_dsn="env:COPY_DSN")
    assert options.resolved_trial({"COPY_DSN": "postgresql://h/copy"}) == "postgresql://h/copy"
    assert PostgresqlOptions(dsn="env:PG_DSN").resolved_trial({}) is None
    with pytest.raises(InputError, match="there is no environment variable COPY_DSN"):
        options.resolved_trial({}, key="probes.postgresql[0].trial_dsn")
    with pytest.raises(InputErrors, match=r"probes.postgresql\[0\].trial_dsn"):
        parse_study(STUDY.replace("DATABASES", "[{dsn: 'env:A', trial_dsn: 'mysql://u:p4ssw0rd@h/d'}]"))


def test_the_password_of_a_database_for_trials_is_a_secret_too(monkeypatch):
    monkeypatch.setenv("COPY_DSN", "postgresql://app:c0py-word@h/copy")
    wanted = parse_study(STUDY.replace("DATABASES", "[{dsn: 'postgresql://h/d', trial_dsn: 'env:COPY_DSN'}]")).probes
    assert "c0py-word" in secrets_of(wanted)
    monkeypatch.delenv("COPY_DSN")
    both = parse_study(STUDY.replace("DATABASES", "[{dsn: 'env:NO_DSN', trial_dsn: 'env:COPY_DSN'}]")).probes
    with pytest.raises(InputErrors, match=r"(?s)NO_DSN.*COPY_DSN"):
        secrets_of(both)


@pytest.mark.parametrize(
    ("dsn", "password"),
    [
        ("postgresql://app:s3cr3t-word@db/shop", "s3cr3t-word"),
        ("postgresql://app:s3cr3t%40word@db/shop", "s3cr3t@word"),
        ("postgresql://app:s3cr3t@word@db/shop", "s3cr3t@word"),
        ("host=db password=s3cr3t-word user=app", "s3cr3t-word"),
        (r"host=db password='s3cr3t \'word' user=app", "s3cr3t 'word"),
        ("postgresql://db/shop?user=app&password=s3cr3t-word", "s3cr3t-word"),
    ],
)
def test_the_password_is_hidden_wherever_it_appears(dsn: str, password: str):
    redactor = Redactor(secrets_of_dsn(dsn))
    assert password not in redactor.text(f"connecting with {password} failed: {dsn}")


def test_the_flag_names_databases_beside_those_of_the_study():
    found = with_flags(Probes(), ["postgresql=env:A", "mysql=env:C", "postgresql=host=h dbname=d"])
    assert [(one.dsn, one.label) for one in found.postgresql] == [("env:A", "db"), ("host=h dbname=d", "db2")]
    assert [(one.dsn, one.label) for one in found.mysql] == [("env:C", "db")]
    assert with_flags(found, ["postgresql=env:B"]).postgresql[-1].label == "db3"


@pytest.mark.parametrize(
    "flag", ["mysql=p4ssw0rd", "mysql=host=x", "postgresql", "postgresql=p4ssw0rd", "env:A", "oracle=env:A"]
)
def test_another_flag_is_a_mistake_that_repeats_no_secret(flag: str):
    with pytest.raises(InputError, match="--probe") as told:
        with_flags(Probes(), [flag])
    assert "p4ssw0rd" not in str(told.value)


def test_a_dsn_without_a_password_has_no_secret():
    assert list(secrets_of_dsn("postgresql://app@db/shop")) == []
