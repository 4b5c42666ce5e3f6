"""HTTP_PROXY, HTTPS_PROXY and NO_PROXY, as k6 obeys them. The target's name exists for the proxy alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from forwarding_proxy import Seen, forwarding_proxy, tls_before

from plimsoll.engine import EngineConfig, EngineRun

Server = Callable[..., str]
SCRIPT = """import http from 'k6/http';
const found = (r) =>
  [r.status, r.proto, r.error_code, r.error, r.status && r.json('target'), r.status && r.json('body')];
export const setup = () =>
  [http.get(`${__ENV.URL}/echo?a=1#part`), http.post(`${__ENV.URL}/echo`, 'body')].map(found);
export default function () {}
export const handleSummary = (data) => ({ found: JSON.stringify(data.setup_data) });"""


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with forwarding_proxy() as seen:
        yield seen


def ask(folder: Path, url: str, **options: Any) -> tuple[list[list[Any]], EngineRun]:
    """(what the script found of a GET and a POST, the run)."""
    script = folder / "script.js"
    script.write_text(SCRIPT)
    run = EngineRun(
        EngineConfig(script=script, env={"URL": url}, options={"insecureSkipTLSVerify": True, **options})
    ).begin()
    list(run.snapshots())
    return json.loads(run.result()["handled"]["found"]), run


def named(url: str) -> str:
    """The server's URL by a name that only the proxy knows."""
    return f"{url.split('//')[0]}//shop.test:{url.rsplit(':', 1)[1]}"


def test_requests_of_http_carry_the_whole_url_over_one_connection(
    tmp_path: Path, known_server: Server, proxy: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = known_server("--site")
    monkeypatch.setenv("HTTP_PROXY", f"http://me:p%40ss@localhost:{proxy.port}")
    found, run = ask(tmp_path, named(url))
    assert found == [[200, "HTTP/1.1", 0, "", "/echo?a=1", ""], [200, "HTTP/1.1", 0, "", "/echo", "body"]]
    assert proxy.lines == [f"GET {named(url)}/echo?a=1 HTTP/1.1", f"POST {named(url)}/echo HTTP/1.1"]
    assert proxy.credentials == ["Basic bWU6cEBzcw=="] * 2 and proxy.connections == 1
    assert run.proxies() == [f"localhost:{proxy.port} of HTTP_PROXY"] and run.connections() == []


@pytest.mark.parametrize("target", ["http", "https"])
def test_a_proxy_that_speaks_tls_is_greeted_in_it(
    tmp_path: Path, known_server: Server, proxy: Seen, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    (tmp_path / "tls").mkdir()
    with_files = known_server("--site", "--tls", tmp_path / "tls")
    url = with_files if target == "https" else known_server("--site")
    with tls_before(proxy.port, tmp_path / "tls") as port:
        monkeypatch.setenv(f"{target.upper()}_PROXY", f"https://me:secret@127.0.0.1:{port}")
        found, run = ask(tmp_path, named(url))
        assert [one[0] for one in found] == [200, 200] and found[1][5] == "body"
        assert found[0][1] == ("HTTP/2.0" if target == "https" else "HTTP/1.1")
        assert proxy.connections == 1 and set(proxy.credentials) == {"Basic bWU6c2VjcmV0"}
        asked = named(url).removeprefix("https://") if target == "https" else f"{named(url)}/echo?a=1"
        assert proxy.lines[0].split()[1] == asked and run.proxies() == [f"127.0.0.1:{port} of {target.upper()}_PROXY"]
        [[status, _, code, error, *_], _] = ask(tmp_path, named(url), insecureSkipTLSVerify=False)[0]
        assert (status, code) == (0, 1200) and error.startswith("proxyconnect: the proxy ") and "certificate" in error


@pytest.mark.parametrize("form", ["http://me:secret@127.0.0.1:{}", "socks5://me:secret@127.0.0.1:{}"])
def test_requests_of_https_go_through_a_tunnel_and_speak_http2_in_it(
    tmp_path: Path, known_server: Server, proxy: Seen, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    url = known_server("--site", "--tls", tmp_path / "tls")
    monkeypatch.setenv("https_proxy", form.format(proxy.port))
    found, run = ask(tmp_path, named(url))
    assert [one[:3] for one in found] == [[200, "HTTP/2.0", 0]] * 2 and found[1][5] == "body"
    target = named(url).removeprefix("https://")
    assert proxy.lines == [f"SOCKS5 {target}" if form.startswith("socks") else f"CONNECT {target} HTTP/1.1"]
    assert proxy.credentials == ["me:secret" if form.startswith("socks") else "Basic bWU6c2VjcmV0"]
    assert run.proxies() == [f"127.0.0.1:{proxy.port} of https_proxy"]


def test_http_goes_through_socks_as_to_the_target_itself(
    tmp_path: Path, known_server: Server, proxy: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = known_server("--site")
    monkeypatch.setenv("HTTP_PROXY", f"socks5://127.0.0.1:{proxy.port}")
    found, _ = ask(tmp_path, named(url))
    assert [one[0] for one in found] == [200, 200]
    assert proxy.lines == [f"SOCKS5 {named(url).removeprefix('http://')}"] and proxy.credentials == []


def test_loopback_and_excluded_hosts_are_reached_without(
    tmp_path: Path, known_server: Server, proxy: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = known_server("--site")
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
    assert ask(tmp_path, url)[0][0][0] == 200
    monkeypatch.setenv("NO_PROXY", "other.test, .shop.test")
    name = named(url).replace("shop.test", "www.shop.test")
    found, run = ask(tmp_path, name, hosts={"www.shop.test": "127.0.0.1"})
    assert found[0][0] == 200 and run.proxies() == []
    assert proxy.connections == 0


def test_a_proxy_that_refuses_is_named_with_its_words_and_without_its_password(
    tmp_path: Path, proxy: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@127.0.0.1:{proxy.port}")
    proxy.refusal = "407 Proxy Authentication Required"
    [[status, _, code, error, *_], _] = ask(tmp_path, "https://shop.test/")[0]
    assert (status, code) == (0, 1000)
    assert error == (
        f"the proxy 127.0.0.1:{proxy.port} of HTTPS_PROXY opens no tunnel: 407 Proxy Authentication Required"
    )


def test_a_value_that_is_no_proxy_fails_the_requests_with_the_variable(
    tmp_path: Path, proxy: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "ftp://me:secret@127.0.0.1:1")
    [[status, _, code, error, *_], _] = ask(tmp_path, "http://shop.test/")[0]
    assert (status, code) == (0, 1000) and "HTTP_PROXY" in error and "secret" not in error, error


def test_names_that_are_blocked_are_blocked_through_a_proxy_too(
    tmp_path: Path, proxy: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
    assert ask(tmp_path, "http://shop.test/", blockHostnames=["*.test"])[0][0][2] == 1111
    assert proxy.connections == 0


@pytest.mark.parametrize(
    ("value", "why"), [("http://127.0.0.1:1", "connection refused"), ("http://no.invalid:1", "lookup")]
)
def test_a_proxy_out_of_reach_is_named_and_not_the_target(
    tmp_path: Path, proxy: Seen, monkeypatch: pytest.MonkeyPatch, value: str, why: str
) -> None:
    monkeypatch.setenv("HTTP_PROXY", value)
    [[status, _, code, error, *_], _] = ask(tmp_path, "http://shop.test/")[0]
    assert (status, code) == (0, 1200)
    assert error.startswith(f"proxyconnect: the proxy {value[7:]} of HTTP_PROXY: ") and why in error, error


@pytest.mark.parametrize("answer", ["2000 OK", "403 \x1b[31mno\x07"])
def test_what_a_proxy_answers_is_read_as_it_is_and_shown_without_control_characters(
    tmp_path: Path, proxy: Seen, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
    proxy.refusal = answer
    [[status, _, code, error, *_], _] = ask(tmp_path, "https://shop.test/")[0]
    assert (status, code) == (0, 1000) and "opens no tunnel: " + answer[:3] in error and error.isprintable()
