"""The network's options against the testkit's site: TLS, HTTP/2, `hosts`, `rps`, `localIPs`, `httpDebug`."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from certificates import of_version_1, self_signed

from plimsoll.engine import EngineConfig, EngineRun, inspect
from plimsoll.errors import InputError

Server = Callable[..., str]

HEAD = """import http from 'k6/http';
const U = __ENV.URL;
const headers = (r) => Object.fromEntries(r.json('headers').map(([name, value]) => [name.toLowerCase(), value]));
const found = {};
"""


def ask(tmp_path: Path, url: str, body: str, options: dict[str, Any] | None = None) -> dict[str, Any]:
    """What `body` puts into `found`."""
    script = tmp_path / "script.js"
    script.write_text(
        HEAD
        + f"export function setup() {{ {body}\n return found; }}\nexport default function () {{}}\n"
        + "export const handleSummary = (data) => ({ found: JSON.stringify(data.setup_data) });"
    )
    run = EngineRun(EngineConfig(script=script, env={"URL": url}, options=options or {})).begin()
    list(run.snapshots())
    return dict(json.loads(run.result()["handled"]["found"]))


SHOW = """const shown = (r) => [r.status, r.proto, r.tls_version, r.tls_cipher_suite, r.error_code];
found.get = shown(http.get(`${U}/echo`)); """


def test_http2_is_spoken_where_the_server_does(
    tmp_path: Path, known_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = known_server("--site", "--tls", tmp_path / "tls")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls" / "ca.pem"))
    found = ask(
        tmp_path,
        url,
        SHOW
        + """const own = { headers: { Host: 'own', Connection: 'close', 'X-A': 'b' } };
        const r = http.post(`${U}/echo`, 'x'.repeat(300000), own);
        found.post = [r.json('body').length, r.json('proto'), headers(r), r.status_text, Object.keys(r.headers)];
        const first = http.get(`${U}/echo`), again = http.get(`${U}/encoded/gzip`);
        found.coded = [again.json('hello'), again.timings.connecting, again.timings.tls_handshaking,
          again.timings.waiting > 0];
        const ports = http.batch([1, 2, 3, 4].map((n) => `${U}/echo?${n}`)).map((r) => r.json('port'));
        found.one = ports.every((port) => port === first.json('port'));
        found.redirect = http.get(`${U}/redirect/2?set=1`).json('target');
        found.reset = [http.post(`${U}/close`)].map((r) => [r.status, r.error_code, r.error])[0];
        found.timeout = http.get(`${U}/stall`, { timeout: 100 }).error_code;
        found.after = http.get(`${U}/echo`).json('port') === first.json('port');
        found.ocsp = first.ocsp.status;""",
    )
    assert found["get"] == [200, "HTTP/2.0", "tls1.3", "TLS_AES_128_GCM_SHA256", 0]
    assert found["post"][:2] == [300_000, "HTTP/2.0"] and found["post"][3] == "200 OK"
    sent = found["post"][2]
    assert (sent["host"], sent["x-a"], sent["content-length"]) == ("own", "b", "300000") and "connection" not in sent
    assert found["post"][4] == ["Content-Type"]
    assert found["coded"] == ["world", 0, 0, True] and found["one"] and found["redirect"] == "/echo"
    assert found["reset"] == [0, 1633, "http2: stream error with http2 ErrCode INTERNAL_ERROR"]
    assert found["timeout"] == 1050 and found["after"] and found["ocsp"] == "unknown"


def test_requests_over_tls_carry_its_version_and_the_state_of_the_certificate(
    tmp_path: Path, known_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = known_server("--site", "--tls", tmp_path / "tls")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls" / "ca.pem"))
    script = tmp_path / "script.js"
    script.write_text(HEAD + "export default function () { http.get(`${U}/echo`); }")
    for tags, expected in ((None, {"tls_version": "tls1.3"}), (["ocsp_status"], {"ocsp_status": "unknown"})):
        options = {} if tags is None else {"systemTags": tags}
        run = EngineRun(EngineConfig(script=script, env={"URL": url}, options=options)).begin()
        series = [one for snapshot in run.snapshots() for one in snapshot.series if one.metric == "http_reqs"]
        [own] = [one.tags for one in series]
        assert {key: own[key] for key in ("tls_version", "ocsp_status") if key in own} == expected


def test_requests_that_come_at_once_share_the_first_http2_connection(
    tmp_path: Path, known_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = known_server("--site", "--tls", tmp_path / "tls")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls" / "ca.pem"))
    body = "found.ports = http.batch([1, 2, 3, 4].map((n) => `${U}/echo?${n}`)).map((r) => r.json('port'));"
    assert len(set(ask(tmp_path, url, body)["ports"])) == 1
    assert len(set(ask(tmp_path, url, body, {"noConnectionReuse": True})["ports"])) == 4


@pytest.mark.parametrize(
    ("options", "version", "suites"),
    [
        ({}, "tls1.3", "TLS_AES_128_GCM_SHA256"),
        ({"tlsVersion": "tls1.2"}, "tls1.2", "TLS_ECDHE_"),
        ({"tlsVersion": {"min": "tls1.2", "max": "tls1.2"},
          "tlsCipherSuites": ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"]},
         "tls1.2", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
    ],
)  # fmt: skip
def test_tls_is_as_options_say_and_http1_where_the_server_wants_it(
    tmp_path: Path, known_server: Server, options: dict[str, Any], version: str, suites: str
) -> None:
    url = known_server("--site", "--tls", tmp_path / "tls", "--no-http2")
    body = SHOW + "found.again = http.get(`${U}/echo`).timings.tls_handshaking;"
    found = ask(tmp_path, url, body, {**options, "insecureSkipTLSVerify": True})
    assert found["get"][:3] == [200, "HTTP/1.1", version] and found["get"][3].startswith(suites)
    assert found["again"] == 0


def test_a_version_that_the_server_does_not_speak_fails(tmp_path: Path, known_server: Server) -> None:
    url = known_server("--site", "--tls", tmp_path / "tls", "--tls12")
    options = {"tlsVersion": "tls1.3", "insecureSkipTLSVerify": True}
    assert ask(tmp_path, url, SHOW, options)["get"] == [0, "", "", "", 1300]


def test_certificates_are_checked(tmp_path: Path, known_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url = known_server("--site", "--tls", tmp_path / "tls")
    body = """const rs = [U, U.replace('127.0.0.1', 'wrong.test')].map((url) => http.get(url));
        found.codes = rs.map((r) => [r.error_code, r.error]);"""
    options = {"hosts": {"wrong.test": "127.0.0.1"}}
    assert ask(tmp_path, url, body, options)["codes"][0] == [1310, "x509: unknown authority"]
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls" / "ca.pem"))
    assert ask(tmp_path, url, body, options)["codes"] == [[0, ""], [1311, "x509: certificate doesn't match hostname"]]


def test_client_certificates_are_shown_to_their_domains(tmp_path: Path, known_server: Server) -> None:
    folder = tmp_path / "tls"
    url = known_server("--site", "--tls", folder, "--client-auth")
    identity = {"cert": (folder / "client.pem").read_text(), "key": (folder / "client.key").read_text()}
    body = """const r = http.get(`${U}/echo`); found.shown = r.status === 200 && r.json('client_certificate');"""
    for domains, shown in [([], True), (["127.0.0.1"], True), (["*.example.com"], False)]:
        options = {"tlsAuth": [{**identity, "domains": domains}], "insecureSkipTLSVerify": True}
        assert ask(tmp_path, url, body, options)["shown"] is shown, domains


def test_a_key_of_another_certificate_is_a_mistake_before_the_load(tmp_path: Path) -> None:
    (certificate, _), (_, key) = self_signed(tmp_path, "one"), self_signed(tmp_path, "other")
    script = tmp_path / "script.js"
    script.write_text("export default () => {};")
    options = {"tlsAuth": [{"cert": certificate.read_text(), "key": key.read_text()}]}
    with pytest.raises(InputError, match=r"options\.tlsAuth\[0\]\.key: it does not belong to the certificate"):
        inspect(EngineConfig(script=script, options=options))


def test_a_client_certificate_of_version_1_is_shown(tmp_path: Path) -> None:
    """Which nothing here can look into; OpenSSL takes it."""
    server, client = self_signed(tmp_path, "server"), of_version_1(tmp_path, "client")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*server)
    context.load_verify_locations(client[0])
    context.verify_mode = ssl.CERT_REQUIRED
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as served:
        served.socket = context.wrap_socket(served.socket, server_side=True)
        Thread(target=served.serve_forever, daemon=True).start()
        options = {"tlsAuth": [{"cert": client[0].read_text(), "key": client[1].read_text()}]}
        url = f"https://127.0.0.1:{served.server_port}"
        found = ask(tmp_path, url, SHOW.replace("/echo", "/"), {**options, "insecureSkipTLSVerify": True})
        served.shutdown()
    assert found["get"][0] == 200


def test_hosts_lead_elsewhere(tmp_path: Path, known_server: Server) -> None:
    url = known_server("--site")
    address = url.removeprefix("http://")
    found = ask(
        tmp_path,
        url,
        """for (const url of ['http://one.test/echo', 'http://two.test:81/echo', 'http://a.wild.test/echo']) {
          const r = http.get(url);
          found[url] = [r.url, headers(r).host, `${r.remote_ip}:${r.remote_port}`];
        }""",
        {"hosts": {"one.test": address, "two.test:81": address, "*.wild.test": address}},
    )
    assert found == {
        "http://one.test/echo": ["http://one.test/echo", "one.test", address],
        "http://two.test:81/echo": ["http://two.test:81/echo", "two.test:81", address],
        "http://a.wild.test/echo": ["http://a.wild.test/echo", "a.wild.test", address],
    }


def test_names_are_resolved_by_policy(tmp_path: Path, known_server: Server) -> None:
    port = known_server("--site").rsplit(":", 1)[1]
    body = f"found.ip = http.get('http://localhost:{port}/echo').remote_ip;"
    for dns in ({}, {"ttl": "0", "select": "roundRobin"}, {"ttl": "inf", "select": "first", "policy": "onlyIPv4"}):
        assert ask(tmp_path, "", body, {"dns": dns})["ip"] == "127.0.0.1", dns


def test_rps_is_a_limit_over_all_threads(tmp_path: Path, known_server: Server) -> None:
    script = tmp_path / "script.js"
    script.write_text(HEAD + "export default function () { http.get(U); }")
    options = {"rps": 40, "scenarios": {"s": {"executor": "constant-vus", "vus": 8, "duration": "3s"}}}
    run = EngineRun(
        EngineConfig(script=script, env={"URL": known_server("--site")}, options=options, threads=2)
    ).begin()
    list(run.snapshots())
    made = run.result()["summary"]["metrics"]["http_reqs"]["values"]
    seconds = made["count"] / made["rate"]  # a busy machine ends it later
    assert 60 <= made["count"] <= 40 * seconds + 8


def test_local_addresses_and_connections_that_are_not_kept(tmp_path: Path, known_server: Server) -> None:
    found = ask(
        tmp_path,
        known_server("--site"),
        """const port = () => http.get(`${U}/echo`).json('port');
        found.differ = port() !== port();""",
        {"localIPs": "127.0.0.77", "noConnectionReuse": True},
    )
    assert found["differ"]
    failed = ask(tmp_path, "http://127.0.0.1:9", "found.code = http.get(U).error_code;", {"localIPs": "192.0.2.1"})
    assert failed["code"] == 1210, "an address that this machine does not have"


@pytest.mark.parametrize("what", ["headers", "full"])
def test_http_debug_shows_requests_and_responses(
    tmp_path: Path, known_server: Server, capfd: pytest.CaptureFixture[str], what: str
) -> None:
    ask(tmp_path, known_server("--site"), "http.post(`${U}/echo`, 'the body');", {"httpDebug": what})
    shown = capfd.readouterr().err
    assert "INFO Request:\nPOST /echo HTTP/1.1\nHost: 127.0.0.1" in shown and "Content-Length: 8\n" in shown
    assert "INFO Response:\nHTTP/1.1 200 OK\n" in shown
    assert ("the body" in shown) is (what == "full")
