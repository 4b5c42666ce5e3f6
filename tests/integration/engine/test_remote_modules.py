"""Remote modules are fetched once, while the script is loaded, and are the same ever after. Against a TLS server with
an authority of its own."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from certificates import self_signed

from plimsoll.engine import EngineConfig, EngineRun, inspect
from plimsoll.errors import InputError
from plimsoll.remote_modules import LOCK_NAME, OFFLINE


class Modules:
    """A server of modules: `files` by path, and the paths that were `asked` for."""

    def __init__(self, folder: Path) -> None:
        self.files = {
            "/lib/1.0/index.js": "export { two } from './two.js';",
            "/lib/1.0/two.js": "export const two = 2;",
        }
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                text = server.files.get(self.path)
                self.send_response(404 if text is None else 200)
                self.end_headers()
                self.wfile.write((text or "").encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        certificate, key = self_signed(folder, "modules")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.certificate = certificate
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        self.http.handle_error = lambda request, client_address: None  # type: ignore[method-assign]
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        """Of the module that scripts import."""
        return f"https://127.0.0.1:{self.http.server_address[1]}/lib/1.0/index.js"

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Modules]:
    server = Modules(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv(OFFLINE, raising=False)
    yield server
    server.close()


@pytest.fixture
def script(tmp_path: Path, modules: Modules) -> Path:
    path = tmp_path / "test" / "script.js"
    path.parent.mkdir()
    path.write_text(
        f"import {{ two }} from '{modules.url}';\nimport {{ check }} from 'k6';\n"
        "export default () => { check(two, { 'is two': (n) => n === 2 }); };\n"
    )
    return path


def refusal(script: Path, offline: bool = False) -> str:
    with pytest.raises(InputError) as raised:
        inspect(EngineConfig(script, offline=offline))
    return str(raised.value)


def test_a_module_and_its_neighbours_are_fetched_once_and_recorded(
    script: Path, modules: Modules, capsys: pytest.CaptureFixture[str]
) -> None:
    inspect(EngineConfig(script))
    assert modules.asked == ["/lib/1.0/index.js", "/lib/1.0/two.js"]
    assert capsys.readouterr().err.count("plimsoll: fetched https://127.0.0.1:") == 2
    lock = json.loads((script.parent / LOCK_NAME).read_text())
    assert lock["version"] == 1 and list(lock["modules"]) == [modules.url, modules.url.replace("index.js", "two.js")]

    modules.close()
    run = EngineRun(EngineConfig(script, options={"iterations": 3, "vus": 2}, offline=True)).begin()
    list(run.snapshots())
    [check] = run.result()["summary"]["root_group"]["checks"]
    assert (check["passes"], check["fails"]) == (3, 0)
    assert len(modules.asked) == 2


def test_a_module_that_changed_since_is_refused_on_another_machine(
    script: Path, modules: Modules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspect(EngineConfig(script))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache of another machine"))
    inspect(EngineConfig(script))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache of a third"))
    modules.files["/lib/1.0/two.js"] = "export const two = 3;"
    words = refusal(script)
    assert "It has changed: its SHA-256 is" in words and LOCK_NAME in words and "two.js" in words


def test_offline_nothing_is_fetched_and_the_line_and_the_remedy_are_told(script: Path, modules: Modules) -> None:
    words = refusal(script, offline=True)
    assert modules.asked == []
    assert words.startswith(f"{script}:1: cannot import '{modules.url}'") and "curl --create-dirs" in words
    assert "Nothing is fetched offline (PLIMSOLL_OFFLINE, --offline)." in words


def test_a_vendored_file_comes_before_the_network(script: Path, modules: Modules) -> None:
    host = script.parent / "vendor" / "127.0.0.1" / "lib" / "1.0"
    host.mkdir(parents=True)
    (host / "index.js").write_text("export const two = 2;")
    inspect(EngineConfig(script))
    assert modules.asked == [] and not (script.parent / LOCK_NAME).exists()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda modules, monkeypatch: modules.files.clear(), "status 404"),
        (lambda modules, monkeypatch: modules.close(), "It could not be fetched:"),
        (lambda modules, monkeypatch: monkeypatch.delenv("SSL_CERT_FILE"), "certificate verify failed"),
        (lambda modules, monkeypatch: modules.files.update({"/lib/1.0/index.js": "x" * 2**24}), "larger than 10 MiB"),
    ],
    ids=["missing", "refused", "unknown authority", "too large"],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the server's broken handshake
def test_what_cannot_be_fetched_says_why(
    script: Path, modules: Modules, monkeypatch: pytest.MonkeyPatch, spoil: object, words: str
) -> None:
    assert callable(spoil)
    spoil(modules, monkeypatch)
    assert words in refusal(script)
    assert not (script.parent / LOCK_NAME).exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"modules": []}', '{"version": 1}'])
def test_a_broken_lock_file_is_told_with_its_form(script: Path, text: str) -> None:
    (script.parent / LOCK_NAME).write_text(text)
    words = refusal(script)
    assert str(script.parent / LOCK_NAME) in words and '"modules": {"https://…": "SHA-256"}' in words
