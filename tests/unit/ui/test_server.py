"""Where the page listens, and what is said where it cannot."""

from __future__ import annotations

import socket
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli.app import app
from plimsoll.cli.flags.page_beside import page_beside
from plimsoll.errors import InputError
from plimsoll.ui import server


def test_without_the_extra_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known = {"starlette": None, "uvicorn": ModuleSpec("uvicorn", None)}
    monkeypatch.setattr(server, "find_spec", lambda name: known[name])
    words = "the live page needs starlette, which is not installed.*pip install 'plimsoll-line\\[ui\\]'"
    with pytest.raises(InputError, match=words), page_beside(True, tmp_path):
        pass
    done = CliRunner().invoke(app, ["ui", str(tmp_path)])
    assert isinstance(done.exception, InputError)


def test_the_next_port_is_taken_where_the_first_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(server, "PORT", taken.getsockname()[1])
        with server.listening_socket("127.0.0.1", None) as found:
            assert 0 < found.getsockname()[1] - server.PORT < server.TRIES


@pytest.mark.parametrize(
    ("host", "given", "has_token"),
    [
        ("127.0.0.1", None, False),
        ("127.0.0.9", None, False),
        ("::1", None, False),
        ("localhost", None, False),
        ("0.0.0.0", None, True),
        ("::", None, True),
        ("192.0.2.1", None, True),
        ("example.org", None, True),
        ("127.0.0.1", "a-token-of-enough-length", True),
    ],
)
def test_another_address_than_loopback_asks_for_a_token(host: str, given: str | None, has_token: bool) -> None:
    token = server.token_for(host, given)
    assert (token is not None) == has_token
    assert given is None or token == given
    assert token is None or len(token) >= server.LEAST_TOKEN


def test_nothing_is_started_where_no_page_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subprocess.Popen", lambda *words, **options: pytest.fail("a process was started"))
    with page_beside(False, tmp_path):
        pass
