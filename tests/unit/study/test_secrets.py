"""No secret reaches a run directory."""

from __future__ import annotations

import pytest

from plimsoll.study import Redactor, redact
from plimsoll.study.secrets.redactor import is_secret_key


@pytest.mark.parametrize(
    "key",
    ["token", "apiToken", "API_TOKEN", "db_password", "PGPASSWORD", "client_secret", "dsn", "DB_DSN", "Cookie",
     "Authorization", "X-Api-Key", "aws_secret_access_key", "accessToken", "sessionCookie", "private_key",
     "DB_PASS", "db_pw", "dbPass", "SMTP_AUTH", "JSESSIONID"],
)  # fmt: skip
def test_telling_keys_are_secret(key):
    assert is_secret_key(key)


@pytest.mark.parametrize(
    "key",
    ["name", "exec", "tokenizer", "per_user_hour", "operation", "key", "monkey", "label", "passes", "bypass", "author"],
)
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
        "DB_PASS=s3cr3tword ./run",
        "login?user=a&pass=s3cr3tword",
        "{'pass': 's3cr3tword'}",
        '{\\"password\\": \\"s3cr3tword\\"}',
        "Cookie: theme=x; JSESSIONID=s3cr3tword failed",
        'Cookie: theme="a b"; other=s3cr3tword',
        "Set-Cookie: theme=x; Path=/, other=s3cr3tword; HttpOnly",
        "cookies={'theme': 'x', 'other': 's3cr3tword'}",
        "GET /a;jsessionid=s3cr3tword HTTP/1.1",
        "Authorization: ApiKey s3cr3tword",
        "Authorization: Api-Key s3cr3tword",
        'Authorization: Digest username="u", realm="r", response="s3cr3tword"',
        "Proxy-Authorization: Own a=1, s3cr3tword",
        "authorization: s3cr3tword and more",
        'answered 401 to Digest username="u", response="s3cr3tword"',
        '{"Authorization": "Digest s3cr3tword"}',
        "ALTER USER app PASSWORD 's3cr3tword'",
        "CREATE USER a IDENTIFIED WITH x BY 's3cr3tword'",
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
        "12 tests pass: all, 3 fail: none",
        "a digest of the night, bearer of news, a basic need",
        "Cookie jar, authorization needed; cache pass 2",
    ],
)
def test_innocent_texts_stay_as_they_are(text):
    assert Redactor().text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "select * from session where token=$1",
        "select * from session where token = $1 and id = $2 limit $3",
        "select u.id from app_user u where (u.reset_token = $1::text) and u.password = crypt($2, u.password)",
        "select * from session where api_key = ANY($1)",
        "SELECT * FROM `session` WHERE `token` = ? AND PASSWORD = ?",
        "select * from session where token = %s or token = %(token)s",
        "select * from session where token = :token or token=@token",
        "select * from session s join app_user u on s.token = u.session_token",
        "select * from session where cookie=$1 and session_id=$2",
        "update app_user set password='…', token = '…' where id = $1",
        "ALTER USER app PASSWORD '…'",
    ],
)
def test_a_placeholder_or_column_of_a_statement_is_no_secret(text):
    assert Redactor().text(text) == text
    assert redact({"text": text}) == {"text": text}


@pytest.mark.parametrize(
    "text",
    [
        "select * from session where token = 's3cr3tword'",
        "select * from session where token = lower('s3cr3tword') and id = $1",
        "update app_user set password='s3cr3tword' where token = $1",
        "insert into session (token) values ($1) -- token=s3cr3tword",
        "select * from session where token = $1s3cr3tword",
        "token=$1$s3cr3tword$abcdef",
        "select * from session where cookie = 's3cr3tword'",
        "login failed: password=my.s3cr3tword_token",
        "login failed: password=@s3cr3tword_password",
    ],
)
def test_a_secret_in_a_literal_of_a_statement_is_hidden(text):
    assert "s3cr3tword" not in Redactor().text(text)


def test_the_password_of_a_url_is_a_known_secret():
    redactor = Redactor.for_data({"probes": [{"url": "http://app:geheim%2F42@h:9/metrics"}]})
    assert redactor.text("sent YXBwOmdlaGVpbS80Mg==") == "sent ***"
    assert redactor.text("geheim%2F42 and geheim/42, but h:9/metrics") == "*** and ***, but h:9/metrics"


def test_a_known_secret_is_hidden_wherever_it_appears():
    redactor = Redactor.for_data({"password": "s3cr3tword"}, environment={"MY_TOKEN": "t0ken-value", "HOME": "/home/x"})
    assert redactor.data({"command": "run s3cr3tword", "more": ["t0ken-value /home/x"]}) == {
        "command": "run ***",
        "more": ["*** /home/x"],
    }


def test_what_follows_hidden_credentials_stays() -> None:
    text = "401 for Authorization: Bearer s3cr3tword from 10.0.0.7; Cookie: a=s3cr3tword; b=s3cr3tword after 3 ms"
    assert Redactor().text(text) == "401 for Authorization: Bearer *** from 10.0.0.7; Cookie: *** after 3 ms"


def headers(**given: str) -> dict:
    return {"probes": {"telemetry": [{"url": "http://h/", "headers": given}]}}


@pytest.mark.parametrize(
    ("name", "given", "known"),
    [
        ("Authorization", "Bearer s3cr3tword", ["s3cr3tword"]),
        ("Authorization", "Basic dXNlcjpzM2NyM3R3b3Jk", ["dXNlcjpzM2NyM3R3b3Jk", "user:s3cr3tword", "s3cr3tword"]),
        ("Authorization", "ApiKey s3cr3tword", ["s3cr3tword"]),
        ("Authorization", "Digest username=u, response=s3cr3tword", ["username=u, response=s3cr3tword"]),
        ("Cookie", 'theme=x; sid=s3cr3tword; csrf="0ther-word"', ["s3cr3tword", "0ther-word"]),
        ("X-Own", "s3cr3t-word", ["s3cr3t-word"]),
        ("X-Own", "eyJhbGci.eyJzdWIi.SflKxwRJ", ["eyJhbGci.eyJzdWIi.SflKxwRJ"]),
    ],
)
def test_the_credentials_of_a_header_are_known_alone(name: str, given: str, known: list[str]) -> None:
    redactor = Redactor.for_data(headers(**{name: given}))
    for secret in known:
        assert redactor.text(f"the log says {secret} here") == "the log says *** here"


def test_variables_of_headers_are_known_as_what_they_mean() -> None:
    data = headers(Authorization="Bearer ${SHOP_ACCESS}", **{"X-Own": "${SHOP_OWN}", "X-Not": "Bearer ${NOT_SET}"})
    redactor = Redactor.for_data(
        data, environment={"SHOP_ACCESS": "s3cr3tword", "SHOP_OWN": "0ther-w0rd", "LANG": "en_US.UTF-8"}
    )
    assert redactor.text("s3cr3tword, 0ther-w0rd, en_US.UTF-8, Bearer of") == "***, ***, en_US.UTF-8, Bearer of"


def test_values_of_an_environment_and_of_headers_are_known_unless_they_are_plain() -> None:
    plain = {
        "LEVEL": "warning", "PORT": "8080000", "HEAP": "2.5GiB", "DATA": "/var/lib/shop", "URL": "http://h:80/x?y=1",
        "HOST": "db1.example.com:5432", "MODE": "read-only",
    }  # fmt: skip
    data = {"target": {"environment": {**plain, "SEED": "s3cr3t-word"}}} | headers(Accept="application/x-own-format")
    redactor = Redactor.for_data(data)
    innocent = " ".join([*plain.values(), "application/x-own-format"])
    assert redactor.text(f"{innocent} s3cr3t-word") == f"{innocent} ***"


def test_variables_of_a_script_are_known_only_by_telling_names() -> None:
    redactor = Redactor.for_data({"env": {"FORM": "v2-fast-form", "SHOP_PASS": "s3cr3tword"}})
    assert redactor.text("FORM=v2-fast-form, s3cr3tword") == "FORM=v2-fast-form, ***"


def test_the_current_folder_is_no_secret() -> None:
    redactor = Redactor.for_data({"env": {"PWD": "/home/me/shop"}}, environment={"OLDPWD": "/home/me/shop"})
    assert redactor.text("/home/me/shop/script.js:3: oops") == "/home/me/shop/script.js:3: oops"


def test_environment_variables_that_go_with_a_secret_are_none() -> None:
    redactor = Redactor.for_data(
        {}, environment={"PASSWORD_FILE": "/run/pw1", "TOKEN_TTL": "86400", "MY_PASS": "abc12"}
    )
    assert redactor.text("/run/pw1 86400 abc12") == "/run/pw1 86400 ***"


def test_a_long_line_of_one_kind_of_character_takes_no_long_time() -> None:
    for text in ("_" * 65_536, "a" * 65_536, "-" * 65_536, 'a="' * 20_000, "Cookie: " * 8_000, "token" * 13_000):
        Redactor().text(text)  # the time limit of the test is the bound
