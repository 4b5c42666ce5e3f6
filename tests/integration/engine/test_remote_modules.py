"""Remote modules are fetched once, while the script is loaded, and are the same ever after. Against a TLS server with
an authority of its own."""

from __future__ import annotations

import base64
import json
import os
import signal
import ssl
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer

import pytest
from certificates import self_signed

from plimsoll.engine import EngineConfig, EngineRun, inspect
from plimsoll.errors import InputError
from plimsoll.module_download import NotFetchedError, download
from plimsoll.remote_modules import LOCK_NAME, OFFLINE


class Modules:
    """A server of modules: `files` by path, addresses of those that `moved`, and the paths that were `asked` for."""

    def __init__(self, folder: Path) -> None:
        self.files = {
            "/lib/1.0/index.js": "export { two } from './two.js';",
            "/lib/1.0/two.js": "export const two = 2;",
        }
        self.asked: list[str] = []
        self.credentials: list[str] = []
        self.moved: dict[str, str] = {}
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                credentials = self.headers.get("Authorization")
                server.credentials += [credentials] if credentials else []
                text = server.files.get(self.path, server.files.get(self.path.partition("?")[0]))
                if (to := server.moved.get(self.path)) is not None:
                    self.send_response(302)
                    self.send_header("Location", to)
                    self.end_headers()
                    return
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
    assert "two.js': it has changed since its hash was recorded" in words and LOCK_NAME in words
    assert "curl" not in words and "import map" not in words
    assert words.index("compare it with a copy that you trust") < words.index("take its line out")


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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("\n{", ":2: the lock file of remote modules is no JSON."),
        ("[]", "has no 'modules'."),
        ('{"modules": []}', "has no addresses in its 'modules'."),
        ('{"version": 1}', "has no 'modules'."),
        (
            '{"modules": {"https://h/m.js?token=abcdef": 3}}',
            "has no SHA-256 (64 hexadecimal digits) for https://h/m.js?token=***",
        ),
        ("[" * 100_000, "is no JSON that can be read."),
        ("\udcff", "is no text in UTF-8."),
    ],
)
def test_a_broken_lock_file_is_told_with_its_form(script: Path, text: str, why: str) -> None:
    (script.parent / LOCK_NAME).write_text(text, errors="surrogateescape")
    words = refusal(script)
    assert str(script.parent / LOCK_NAME) in words and '"modules": {"https://…": "SHA-256"}' in words and why in words


@contextmanager
def served(*portions: bytes, pause_s: float = 0.0, asked: list[bytes] | None = None) -> Iterator[str]:
    """The address of a server that answers each connection with these bytes."""
    done = threading.Event()

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            request = self.request.recv(1 << 16)
            if asked is not None:
                asked.append(request)
            with suppress(OSError):
                for portion in portions:
                    self.wfile.write(portion)
                    done.wait(pause_s)

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/m.js"
        finally:
            done.set()
            server.shutdown()
            thread.join()


def why_not(url: str, whole_s: float = 30.0) -> str:
    with pytest.raises(NotFetchedError) as raised:
        download(url, whole_s)
    return str(raised.value)


def test_a_body_shorter_than_its_length_is_no_module() -> None:
    with served(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nexport const two = 2;") as url:
        assert "its body ended 79 bytes early" in why_not(url)


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"], ids=["head", "body"])
def test_an_answer_that_drips_ends_within_the_time_of_the_whole(head: bytes) -> None:
    drops = [bytes([one]) for one in b"HTTP/1.1 200 OK\r\n" * 100]
    with served(head, *drops, pause_s=0.05) as url:
        began = time.monotonic()
        assert "it was not here whole after 0.5 s" in why_not(url, 0.5)
        assert time.monotonic() - began < 5


@pytest.mark.parametrize("kind", ["socks5", "https"])
def test_a_proxy_of_another_kind_is_told_at_once(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("HTTPS_PROXY", f"{kind}://user:secret@127.0.0.1:9")
    words = why_not("https://modules.test/m.js")
    assert "http:// proxies only" in words and f"HTTPS_PROXY names one of {kind}://" in words
    assert "folder vendor" in words and "secret" not in words


@pytest.mark.parametrize(
    ("head", "content", "words"),
    [
        (b"", b"\x1f\x8b\x08\x00", "compressed (gzip)"),
        (b"Content-Encoding: br\r\n", b"x", "compressed (br)"),
        (b"", b"export\xff", "no text in UTF-8 (byte 6)"),
        (b"", b"a\0", "holds NUL"),
    ],
)
def test_what_is_no_text_is_refused(head: bytes, content: bytes, words: str) -> None:
    with served(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + content) as url:
        assert words in why_not(url)


def test_a_binary_module_is_named(script: Path, modules: Modules) -> None:
    modules.files["/lib/1.0/two.js"] = "\0"
    assert "two.js" in refusal(script)


def test_user_and_password_are_sent_and_secrets_of_an_address_stand_nowhere(
    script: Path, modules: Modules, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = modules.url.replace("https://", "https://anna:s3cr%25t@") + "?access_token=t0k3n99"
    script.write_text(f"import {{ two }} from '{url}';\nexport default () => two;\n")
    inspect(EngineConfig(script))
    assert modules.credentials == ["Basic " + base64.b64encode(b"anna:s3cr%t").decode()] * 2
    shown = capsys.readouterr().err + (script.parent / LOCK_NAME).read_text()
    assert shown.count("https://***@127.0.0.1:") == 4 and shown.count("access_token=***") == 2
    assert "s3cr" not in shown and "t0k3n99" not in shown

    inspect(EngineConfig(script, offline=True))
    inspect(EngineConfig(script))
    assert len(modules.asked) == 2
    monkeypatch.setenv("XDG_CACHE_HOME", str(script.parent / "cache of another machine"))
    modules.files["/lib/1.0/index.js?access_token=t0k3n99"] = "export const two = 3;"
    words = refusal(script)
    assert "it has changed" in words and "t0k3n99" not in words and "s3cr" not in words
    modules.files.clear()
    words = refusal(script)
    assert "status 404" in words and "t0k3n99" not in words and "s3cr" not in words


def test_credentials_go_to_the_same_host_only_after_a_redirect(modules: Modules) -> None:
    address = modules.url.removesuffix("/lib/1.0/index.js")
    there: list[bytes] = []
    with served(b"HTTP/1.1 200 OK\r\n\r\nx", asked=there) as elsewhere:
        modules.moved |= {"/old.js": f"{address}/lib/1.0/two.js", "/gone.js": elsewhere}
        download(f"{address.replace('https://', 'https://anna:secret@')}/old.js")
        assert modules.asked == ["/old.js", "/lib/1.0/two.js"] and len(modules.credentials) == 2
        download(f"{address.replace('https://', 'https://anna:secret@')}/gone.js")
        assert len(modules.credentials) == 3 and b"uthorization" not in there[0]


def test_ctrl_c_ends_the_wait_for_a_module(script: Path, tmp_path: Path) -> None:
    with served(b"H", *[b"T"] * 1000, pause_s=0.05) as url:
        script.write_text(f"import '{url}';\nexport default () => {{}};\n")
        command = [sys.executable, "-m", "plimsoll", "run", "-q", str(script)]
        running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        time.sleep(2.5)
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=10)
        assert running.returncode not in (0, None) and "Traceback" not in told


@pytest.mark.parametrize("before", [None, 0o777])
def test_what_is_made_in_the_cache_is_its_owners_alone(script: Path, tmp_path: Path, before: int | None) -> None:
    cache = tmp_path / "cache" / "plimsoll"
    if before is not None:
        cache.mkdir(parents=True)
        cache.chmod(before)
    umask = os.umask(0)
    try:
        inspect(EngineConfig(script))
    finally:
        os.umask(umask)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (cache, *cache.rglob("*")) if path.is_dir()}
    assert modes == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in cache.rglob("*.js")} == {0o600}
    assert before is not None or stat.S_IMODE(cache.parent.stat().st_mode) == 0o700
