"""Probes over https: a self-signed certificate is refused with the keys to set, and taken as these say."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from certificates import self_signed

from plimsoll.errors import InputError, InputErrors
from plimsoll.probes import ProbeUnavailable
from plimsoll.probes.http.page import HttpPage
from plimsoll.probes.http.telemetry import telemetry_probe
from plimsoll.probes.jvm.jolokia import REQUEST, jolokia_probe
from plimsoll.probes.probe import Observer
from plimsoll.probes.prometheus.making import prometheus_probe
from plimsoll.probes.selection import probes_for
from plimsoll.study import Probes, parse_study
from plimsoll.study.probes.jvm import JvmOptions
from plimsoll.study.probes.prometheus import PrometheusOptions
from plimsoll.study.probes.telemetry import TelemetryOptions

SELF_SIGNED = "its certificate was refused (self-signed certificate). Give its authority's certificate as ca_file, "


class Answers(BaseHTTPRequestHandler):
    """Of a page of metrics, a Prometheus server, a document and Jolokia; the server keeps what came."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send('{"used": "1 MB"}' if self.path == "/telemetry" else "process_open_fds 5\n")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path == "/jolokia/":  # as its agents: without the slash it is not found
            asked = json.loads(body)
            assert asked == json.loads(REQUEST)
            beans = {"java.lang:type=Threading": {"ThreadCount": 7}}
            self._send(
                json.dumps([{"status": 200, "request": one, "value": beans.get(one["mbean"], {})} for one in asked])
            )
        elif parse_qs(body)["query"] == ["time()"]:
            self._send('{"status": "success", "data": {"resultType": "scalar", "result": [1.0, "1.0"]}}')
        else:
            self._send('{"status": "success", "data": {"resultType": "scalar", "result": [1.0, "42"]}}')

    def _send(self, text: str) -> None:
        self.server.heads.append(dict(self.headers))  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


class Quiet(ThreadingHTTPServer):
    """A refused handshake is the client's to tell."""

    daemon_threads = True
    heads: list[dict[str, str]]

    def handle_error(self, *_: object) -> None:
        pass


@pytest.fixture
def over_tls() -> Iterator[Callable[..., Quiet]]:
    """Servers with the certificate and key that they are given; without them, they speak no TLS."""
    started: list[Quiet] = []

    def start(certificate: Path | None = None, key: Path | None = None) -> Quiet:
        one = Quiet(("127.0.0.1", 0), Answers)
        one.heads = []
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            one.socket = context.wrap_socket(one.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=one.serve_forever, daemon=True).start()
        started.append(one)
        return one

    yield start
    for one in started:
        one.shutdown()
        one.server_close()


def page_of_metrics(url: str, **keys: Any) -> Observer:
    options = PrometheusOptions(label="a", url=f"{url}/metrics", headers={"X-Token": "abc"}, **keys)
    return prometheus_probe(options, key="probes.prometheus[0]")


def prometheus_server(url: str, **keys: Any) -> Observer:
    options = PrometheusOptions(label="a", url=url, headers={"X-Token": "abc"}, queries={"x": "x"}, **keys)
    return prometheus_probe(options, key="probes.prometheus[0]")


def telemetry(url: str, **keys: Any) -> Observer:
    options = TelemetryOptions(url=f"{url}/telemetry", headers={"X-Token": "abc"}, **keys)
    return telemetry_probe(options, key="probes.telemetry[0]")


def jolokia(url: str, **keys: Any) -> Observer:
    options = JvmOptions(url=f"{url}/jolokia", headers={"X-Token": "abc"}, **keys)
    return jolokia_probe(options, key="probes.jvm[0]")


@pytest.mark.parametrize(
    ("make", "value"),
    [
        (page_of_metrics, ("open_files", 5.0)),
        (prometheus_server, ("x", 42.0)),
        (telemetry, ("used_bytes", 1e6)),
        (jolokia, ("threads", 7.0)),
    ],
)
def test_a_self_signed_certificate_is_taken_as_the_keys_say_and_else_nothing_is_sent(
    tmp_path: Path, over_tls, closed, make: Callable[..., Observer], value: tuple[str, float]
) -> None:
    certificate, key = self_signed(tmp_path, "own")
    other, _ = self_signed(tmp_path, "other")
    server = over_tls(certificate, key)
    url = f"https://127.0.0.1:{server.server_port}"
    for keys in ({}, {"ca_file": str(other)}):
        with pytest.raises(ProbeUnavailable) as raised:
            closed(make(url, **keys)).observe()
        assert f"{SELF_SIGNED}or set insecure: true." in str(raised.value)
    assert server.heads == []
    for keys in ({"ca_file": str(certificate)}, {"insecure": True}):
        found = [one.values for one in closed(make(url, **keys)).observe()]
        assert value in [pair for values in found for pair in values.items()]
    assert server.heads and all(head["X-Token"] == "abc" for head in server.heads)


@pytest.mark.parametrize(
    ("host", "days", "words"),
    [
        ("other.example", 1, "Write the name that it was made for into the URL, or set insecure: true."),
        ("127.0.0.1", -1, "Renew it, or correct this machine's clock, or set insecure: true."),
    ],
)
def test_a_trusted_certificate_of_another_host_or_time_is_told_apart(
    tmp_path: Path, over_tls, closed, host: str, days: int, words: str
) -> None:
    certificate, key = self_signed(tmp_path, "own", host, days)
    url = f"https://127.0.0.1:{over_tls(certificate, key).server_port}"
    with pytest.raises(ProbeUnavailable, match="its certificate was refused") as raised:
        closed(page_of_metrics(url, ca_file=str(certificate))).observe()
    assert words in str(raised.value)
    assert closed(page_of_metrics(url, insecure=True)).observe()


def test_a_page_without_these_keys_names_none_and_a_port_without_tls_is_told(tmp_path: Path, over_tls, closed) -> None:
    url = f"https://127.0.0.1:{over_tls(*self_signed(tmp_path, 'own')).server_port}/"
    with pytest.raises(ProbeUnavailable, match=r"refused .*\. Have this machine trust its authority\.$"):
        closed(HttpPage(url)).fetch()
    with pytest.raises(ProbeUnavailable, match=r"TLS failed .*\. Check that its port speaks https\."):
        closed(page_of_metrics(f"https://127.0.0.1:{over_tls().server_port}", insecure=True)).observe()


STUDY = """\
workload:
  script: s.js
  operations: [{name: a, per_user_hour: 1}]
probes:
  prometheus:
    - label: kubelet
      url: https://10.0.0.7:10250/metrics/cadvisor
      ca_file: FILE
"""


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("gone.pem", "gone.pem'. Give its path relative to the study file, or an absolute one."),
        ("s.js", "s.js' holds no certificate in PEM. Give one that begins with -----BEGIN CERTIFICATE-----."),
    ],
)
def test_a_file_of_certificates_that_is_none_is_told_with_line_and_key(tmp_path: Path, file: str, words: str) -> None:
    (tmp_path / "s.js").write_text("export default function () {}")
    with pytest.raises(InputErrors) as raised:
        parse_study(STUDY.replace("FILE", file), directory=tmp_path)
    [told] = map(str, raised.value.errors)
    assert told.startswith("study.yaml:8: probes.prometheus[0].ca_file: ") and told.endswith(words)
    options = {"label": "a", "url": "https://h/metrics", "ca_file": file}
    with pytest.raises(InputErrors, match=r"probes\.prometheus\[0\]\.ca_file: .*" + words.partition("'")[0]):
        probes_for(Probes.model_validate({"prometheus": [options]}), [], directory=tmp_path)


def test_a_study_has_its_file_of_certificates_beside_it(tmp_path: Path, over_tls, closed) -> None:
    certificate, key = self_signed(tmp_path, "own")
    (tmp_path / "s.js").write_text("export default function () {}")
    url = f"https://127.0.0.1:{over_tls(certificate, key).server_port}/metrics"
    text = STUDY.replace("FILE", "own.pem").replace("https://10.0.0.7:10250/metrics/cadvisor", url)
    [options] = parse_study(text, directory=tmp_path).probes.prometheus
    assert closed(prometheus_probe(options, key="k", directory=tmp_path)).observe()
    with pytest.raises(InputError, match=r"k\.ca_file: there is no file 'own\.pem'"):
        prometheus_probe(options, key="k")
