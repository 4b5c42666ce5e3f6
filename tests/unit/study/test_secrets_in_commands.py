"""What of a shell command is secret, and what is not."""

from __future__ import annotations

import pytest

from plimsoll.study import Redactor
from plimsoll.study.secrets.in_commands import hide_in_command, secrets_of_command


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("mysql -ps3cr3t app -e 'CREATE INDEX a ON b (c)'", "mysql -p*** app -e 'CREATE INDEX a ON b (c)'"),
        ("sudo /usr/bin/mariadb-dump -uroot -p's3cr3t' app", "sudo /usr/bin/mariadb-dump -uroot -p'***' app"),
        ("sh -c 'mysql -ps3cr3t app < x.sql'", "sh -c 'mysql -p*** app < x.sql'"),
        ("docker exec db sh -c \"mysql -p's3cr3t' app\"", "docker exec db sh -c \"mysql -p'***' app\""),
        ("DB_PASS=s3cr3t ./seed --fast", "DB_PASS=*** ./seed --fast"),
        ("PGPASSWORD=s3cr3t psql -c 'SELECT 1'", "PGPASSWORD=*** psql -c 'SELECT 1'"),
        ('export SMTP_AUTH="s3cr3t two"; ./run', 'export SMTP_AUTH="***"; ./run'),
        ("docker run -e 'DB_PASS=s3cr3t two' app", "docker run -e 'DB_PASS=***' app"),
        ("docker login -u me -p s3cr3t registry", "docker login -u me -p *** registry"),
        ("java -Dapp.db.password=s3cr3t -jar a.jar", "java -Dapp.db.password=*** -jar a.jar"),
        ("curl -u me:s3cr3t http://h/", "curl -u me:*** http://h/"),
        ("curl -ume:s3cr3t http://h/", "curl -ume:*** http://h/"),
        ("curl --user=me:'s3cr3t' http://h/", "curl --user=me:*** http://h/"),
        ("curl -H 'Authorization: Bearer s3cr3t' http://h/", "curl -H 'Authorization: Bearer ***' http://h/"),
        ('curl -H "X-Api-Key:s3cr3t" http://h/', 'curl -H "X-Api-Key:***" http://h/'),
        ("curl -HCookie:a=s3cr3t http://h/", "curl -HCookie:*** http://h/"),
        ("curl -b 'theme=x; sid=s3cr3t' http://h/", "curl -b '***' http://h/"),
        ("app --password=s3cr3t --port 1", "app --password=*** --port 1"),
        ("app --password s3cr3t --port 1", "app --password *** --port 1"),
        ("influx -password 's3cr3t two' -host h", "influx -password '***' -host h"),
        ("sshpass -p s3cr3t ssh h", "sshpass -p *** ssh h"),
        ("redis-cli -a s3cr3t FLUSHALL && true", "redis-cli -a *** FLUSHALL && true"),
        ("openssl rsa -passin pass:s3cr3t -in k", "openssl rsa -passin pass:*** -in k"),
        ("./reset\nmysql -ps3cr3t app", "./reset\nmysql -p*** app"),
    ],
)  # fmt: skip
def test_a_secret_of_a_command_is_hidden_and_known(command: str, shown: str) -> None:
    assert hide_in_command(command) == shown
    assert any("s3cr3t" in secret for secret in secrets_of_command(command, {}))
    assert "s3cr3t" not in Redactor().command(command)


@pytest.mark.parametrize(
    "command",
    [
        "./run --port 1 --user me --workers 4",
        "ssh -p 22 host uptime",
        "docker run -p 80:80 -u 1000:1000 app",
        "mkdir -p data/new && cp -pr a b",
        "mysql -p app",  # it asks
        "app --password --port 1",
        "app --password-file /run/secrets/pw --token-ttl 60",
        "docker login -u me --password-stdin registry",
        'mysql -p"$DB_PASS" app',
        'PGPASSWORD="$PW" psql',
        "curl -u me:$PW -H 'Accept: text/html' -b jar.txt http://h/",
        "mysql -p$(cat pw) app",
        "psql -c 'CREATE INDEX ON issues (project, status)'",
        "systemctl restart shop; sleep 2 | tee log",
        "echo it's fine",
        "",
    ],
)
def test_a_command_without_a_secret_stays_as_it_is(command: str) -> None:
    assert hide_in_command(command) == command


def test_short_secrets_are_hidden_in_their_command_alone() -> None:
    redactor = Redactor.for_data({"start": "curl -u me:pw http://h/"})
    assert redactor.command("curl -u me:pw http://h/") == "curl -u me:*** http://h/"
    assert redactor.text("pw of a step") == "pw of a step"


def test_a_variable_stays_and_what_it_means_is_known() -> None:
    redactor = Redactor.for_data(
        {"start": "mysql -p$GIVEN app"}, environment={"GIVEN": "s3cr3tword", "OTHER": "visible"}
    )
    assert redactor.command("mysql -p$GIVEN app") == "mysql -p$GIVEN app"
    assert redactor.text("Access denied, s3cr3tword visible") == "Access denied, *** visible"


def test_commands_of_a_study_are_hidden_where_they_stand_and_known_elsewhere() -> None:
    study = {
        "target": {"start": "./run -x --pass=k1", "variants": {"b": {"switch": "mysql -ps3cr3tword app"}}},
        "experiments": [{"capacity": {"verify": "curl -u me:abc http://h/"}}],
    }
    redactor = Redactor.for_data(study)
    assert redactor.data(study) == {
        "target": {"start": "./run -x --pass=***", "variants": {"b": {"switch": "mysql -p*** app"}}},
        "experiments": [{"capacity": {"verify": "curl -u me:*** http://h/"}}],
    }
    assert redactor.text("+ mysql -ps3cr3tword app") == "+ mysql -p*** app"
