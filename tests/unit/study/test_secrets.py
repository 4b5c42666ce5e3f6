"""No secret reaches a run directory."""

from __future__ import annotations

import pytest

from plimsoll.study import Redactor, redact
from plimsoll.study.secrets import is_secret_key


@pytest.mark.parametrize(
    "key",
    ["token", "apiToken", "API_TOKEN", "db_password", "PGPASSWORD", "client_secret", "dsn", "DB_DSN", "Cookie",
     "Authorization", "X-Api-Key", "aws_secret_access_key", "accessToken", "sessionCookie", "private_key"],
)  # fmt: skip
def test_telling_keys_are_secret(key):
    assert is_secret_key(key)


@pytest.mark.parametrize("key", ["name", "exec", "tokenizer", "per_user_hour", "operation", "key", "monkey", "label"])
def test_other_keys_are_not(key):
    assert not is_secret_key(key)


def test_values_under_secret_keys_and_all_of_an_environment_are_hidden():
    data = {"db": {"password": "hunter22", "port": 1}, "environment": {"A": "x", "B": 2}, "tokens": ["a1", {"k": "b2"}]}
    assert redact(data) == {
        "db": {"password": "***", "port": 1},
        "environment": {"A": "***", "B": "***"},
        "tokens": ["***", {"k": "***"}],
    }


@pytest.mark.parametrize(
    "text",
    [
        "postgres://app:s3cr3tword@db/tracker",
        "http://app:p@s3cr3tword@h:9/metrics",
        "http://app:it's4s3cr3tword@h/metrics",
        "GET http://h/x?token=s3cr3tword&page=2",
        "Authorization: Bearer s3cr3tword",
        "authorization: Basic s3cr3tword==",
        "curl -H 'Cookie: s3cr3tword'",
        "app --password s3cr3tword",
        'dsn="s3cr3tword"',
        '{"api_key": "s3cr3tword"}',
        "PGPASSWORD=s3cr3tword psql",
        "DB_PASSWORD=s3cr3tword ./run",
    ],
)
def test_secrets_inside_texts_are_hidden(text):
    assert "s3cr3tword" not in Redactor().text(text)


@pytest.mark.parametrize(
    "text",
    [
        "POST /issues",
        "http://127.0.0.1:8000/issues/4?page=2",
        "p90<=1000ms",
        "./run --port 1",
        '{"url":"http://h/a","mail":"a@b.example"}',
        "http://h a@b.example",
    ],
)
def test_innocent_texts_stay_as_they_are(text):
    assert Redactor().text(text) == text


def test_the_password_of_a_url_is_a_known_secret():
    redactor = Redactor.for_data({"probes": [{"url": "http://app:geheim%2F42@h:9/metrics"}]})
    assert redactor.text("geheim%2F42 and geheim/42, but h:9/metrics") == "*** and ***, but h:9/metrics"


def test_a_known_secret_is_hidden_wherever_it_appears():
    redactor = Redactor.for_data({"password": "s3cr3tword"}, environment={"MY_TOKEN": "t0ken-value", "HOME": "/home/x"})
    assert redactor.data({"command": "run s3cr3tword", "more": ["t0ken-value /home/x"]}) == {
        "command": "run ***",
        "more": ["*** /home/x"],
    }
