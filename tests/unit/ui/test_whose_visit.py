"""Whose program asks a page that has no token."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

import pytest
from asgi_client import TestClient

from plimsoll.ui import safety
from plimsoll.ui.peers import is_turned_away, user_of

NOBODY = 65534


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_connection_of_this_user_is_told_as_such(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as server:
        with socket.create_connection(server.getsockname()[:2]) as client:
            here, there = client.getsockname()[:2], client.getpeername()[:2]
            assert user_of(here, there) == os.getuid()
            assert not is_turned_away(here, there)
        assert user_of((host, 1), there) is None  # nobody is there


@pytest.mark.skipif(os.getuid() != 0, reason="only root can ask as another user")
def test_another_users_program_is_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        os.seteuid(NOBODY)
        try:
            client = socket.socket()  # whose it is, is settled when it is made
        finally:
            os.seteuid(0)
        with client:
            client.connect(server.getsockname())
            here, there = client.getsockname(), client.getpeername()
            assert user_of(here, there) == NOBODY
            assert is_turned_away(here, there)
            monkeypatch.setenv("SUDO_UID", str(NOBODY))
            assert not is_turned_away(here, there)


def test_a_page_without_a_token_answers_its_user_and_one_with_a_token_who_brings_it(
    page: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safety, "is_turned_away", lambda client, server: True)
    assert page().get("/").status_code == 403
    assert page("a-token-of-enough-length").get("/?token=a-token-of-enough-length").status_code == 303
