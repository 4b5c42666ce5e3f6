"""Off loopback a target of the lab needs a token, and others than this machine must know it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plimsoll.errors import InputError
from plimsoll_lab.remote_token import VARIABLE, behind_token
from plimsoll_lab.serving import bound_socket, server_config

TOKEN = "pl4nted-token-of-a-test"
THERE = ("192.0.2.7", 40_000)


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["path"].encode() + b" " + scope["raw_path"]})


def asked(app: Any, path: str, client: tuple[str, int] | None = THERE) -> tuple[int, bytes]:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "path": path, "raw_path": path.encode(), "client": client, "server": ("192.0.2.1", 8710)}
    asyncio.run(app(scope, None, send))
    return sent[0]["status"], sent[1]["body"]


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLE, TOKEN)
    return TOKEN


def test_without_a_token_a_target_listens_on_loopback_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    for host in ("127.0.0.1", "localhost", "127.0.0.2"):
        bound_socket(host, 0).close()
    for host in ("0.0.0.0", "::", "0"):
        with pytest.raises(InputError, match=f"is not loopback, and {VARIABLE} holds no token"):
            bound_socket(host, 0)
    monkeypatch.setenv(VARIABLE, "short")
    with pytest.raises(InputError, match="at least 16 letters"):
        bound_socket("0.0.0.0", 0)


def test_with_a_token_it_listens_where_it_is_told(token: str) -> None:
    bound_socket("0.0.0.0", 0).close()
    assert asked(server_config(application).app, "/api")[0] == 401


def test_others_get_in_by_the_token_alone(token: str) -> None:
    app = behind_token(application)
    assert asked(app, f"/{token}/api/issues%201") == (200, b"/api/issues%201 /api/issues%201")
    assert asked(app, f"/{token}") == asked(app, f"/{token}/") == (200, b"/ /")
    for path in ("/", "/api", f"/{token}x/api", f"//{token}/api", f"/api/{token}", "/ä/api", ""):
        status, body = asked(app, path)
        assert status == 401 and token.encode() not in body, path
    assert asked(app, "/api", None)[0] == 401


@pytest.mark.parametrize("client", [("127.0.0.1", 1), ("::1", 1), ("192.0.2.1", 1)])
def test_this_machine_needs_none(token: str, client: tuple[str, int]) -> None:
    assert asked(behind_token(application), "/api", client) == (200, b"/api /api")


def test_without_one_nothing_is_put_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert behind_token(application) is application


def test_an_empty_host_is_told_as_that() -> None:
    with pytest.raises(InputError, match=r"--host is empty\. Give an address of this machine"):
        bound_socket("", 0)
