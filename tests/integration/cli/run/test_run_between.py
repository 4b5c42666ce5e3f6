"""What stands between the generator and the target, provoked for real in a network and mounts of the test's own: a name
server that is slow, or does not know the name; a proxy that the environment names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli

SCRIPT = """import http from 'k6/http';
export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 20, duration: '3s',
  preAllocatedVUs: 20, gracefulStop: '2s' } }, noConnectionReuse: true, dns: { ttl: '0' } };
export default function () { http.get(__ENV.BASE_URL, { timeout: '2s' }); }
"""
# Answers every question with 192.0.2.1, an address of this network alone, after DELAY_S; or that there is no such name.
SERVERS = """
import http.server, os, socket, threading, time
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("127.0.0.1", 53))

def answer(question, who):
    time.sleep(float(os.environ["DELAY_S"]))
    end = question.index(b"\\0", 12) + 5
    is_a = question[end - 4:end - 2] == b"\\0\\1"
    known = is_a and os.environ["KNOWN"] == "1"
    flags = b"\\x81\\x80" if os.environ["KNOWN"] == "1" else b"\\x81\\x83"
    head = question[:2] + flags + b"\\0\\1" + (b"\\0\\1" if known else b"\\0\\0") + b"\\0\\0\\0\\0"
    row = b"\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\x01\\0\\4\\xc0\\0\\2\\1" if known else b""
    names.sendto(head + question[12:end] + row, who)

def serve_names():
    while True:
        threading.Thread(target=answer, args=names.recvfrom(512), daemon=True).start()

class Quick(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

threading.Thread(target=serve_names, daemon=True).start()
server = http.server.ThreadingHTTPServer(("192.0.2.1", 8080), Quick)
open("ready", "w").close()
server.serve_forever()
"""
INSIDE = """set -e
ip link set lo up
ip address add 192.0.2.1/32 dev lo
echo 'nameserver 127.0.0.1' > resolv.conf
mount --bind resolv.conf /etc/resolv.conf
{python} servers.py &
server=$!
trap 'kill $server' EXIT
while ! [ -e ready ]; do sleep 0.05; done
{python} -m plimsoll run -q -e BASE_URL={url} script.js
"""


@pytest.fixture
def own_network() -> list[str]:
    """The command that gives a command a network and mounts of its own."""
    command = ["unshare", "--map-root-user", "--net", "--mount"]
    if not all(map(shutil.which, ("unshare", "ip", "mount"))):
        pytest.skip("needs unshare, ip and mount")
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespace may be made here")
    return command


def run(folder: Path, inside: list[str], url: str, **environment: str) -> tuple[str, dict[str, Any]]:
    """What the run says on stderr, in one line, and its finding."""
    (folder / "script.js").write_text(SCRIPT)
    (folder / "servers.py").write_text(SERVERS)
    text = INSIDE.format(python=sys.executable, url=url)
    told = {"DELAY_S": "0", "KNOWN": "1"} | environment
    done = subprocess.run(
        [*inside, "sh", "-c", text], cwd=folder, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, **told},
    )  # fmt: skip
    [run_directory] = Cli(folder).runs()
    return " ".join(done.stderr.split()), json.loads((run_directory / "findings.json").read_text())[0]


@pytest.mark.timeout(300)
def test_a_slow_name_server_is_told_as_a_share_of_the_response_time(tmp_path: Path, own_network: list[str]) -> None:
    told, finding = run(tmp_path, own_network, "http://target.example:8080/", DELAY_S="0.3")
    assert "Looking up the target's name (DNS) took 3" in told and "and not the target's" in told
    times = [one for one in finding["validity"] if one["rests_on"] == "response_time"]
    assert all(one["verdict"] == "invalid" and "(DNS)" in str(one["because"]) for one in times), times
    [throughput] = [one for one in finding["validity"] if one["rests_on"] == "throughput"]
    assert "(DNS)" not in str(throughput)


@pytest.mark.timeout(300)
def test_a_name_that_is_not_known_never_reached_the_target(tmp_path: Path, own_network: list[str]) -> None:
    told, finding = run(tmp_path, own_network, "http://target.example:8080/", KNOWN="0")
    assert "names" in [one["name"] for one in finding["diagnoses"]] and not finding["valid"], finding["diagnoses"]
    assert "could not be looked up (DNS): they never reached the target" in told


@pytest.mark.timeout(300)
def test_an_address_needs_no_name_and_a_proxy_between_is_told(tmp_path: Path, own_network: list[str]) -> None:
    told, finding = run(tmp_path, own_network, "http://192.0.2.1:8080/", HTTP_PROXY="http://me:secret@192.0.2.1:8080")
    assert "Requests went through the proxy 192.0.2.1:8080 of HTTP_PROXY." in told and "secret" not in told
    assert any("HTTP_PROXY" in note for note in finding["notes"]) and "(DNS)" not in told
