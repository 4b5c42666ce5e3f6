"""How sockets end: by the server, by what goes wrong, with the iteration. What a socket may take of the generator."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from websocket_runs import Ran, count_of, values
from websocket_server import Served, bare_server

TOLD = """export default function () {
  const socket = new WebSocket(`${__ENV.URL}${__ENV.PATH_OF}`);
  socket.onopen = () => { if (__ENV.PATH_OF === '/echo') socket.send('die'); };
  socket.onmessage = ({ data }) => note('message', data.length);
  socket.onerror = ({ error }) => note('error', error);
  socket.onclose = ({ code, reason }) => note('close', code, reason, socket.readyState);
}"""
BROKEN = {
    "81820000000061": "the server masks its frames",
    "f100": "reserved bits are set",
    "8300": "bad opcode 3",
    "8001": "a message goes on that has not begun",
    "010161810161": "a message begins within another one",
    "0900": "a control frame is in parts",
    "897e00c8": "a control frame has over 125 bytes",
    "880103": "a closing frame has half a code",
    "880203ed": "bad close code 1005",
    "827f0000000100000000": "a message is over the limit of 1 MiB; raise --max-body",
}


def by_command(folder: Path, body: str, url: str, **how: Any) -> subprocess.CompletedProcess[str]:
    """The script, run by the command line."""
    script = folder / "script.js"
    script.write_text(f"import {{ WebSocket }} from 'k6/websockets';\n{body}\n")
    command = [sys.executable, "-m", "plimsoll", "run", "--quiet", "--env", f"URL={url}", str(script)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, **how)


def ended_at(run: Ran, url: str, path: str, **config: object) -> list[list[object]]:
    told: list[list[object]] = run(TOLD.replace("__ENV.PATH_OF", repr(path)), url, **config)["told"]
    return told


@pytest.mark.parametrize(
    ("path", "error", "code"),
    [
        ("/close/1000", None, 1000),
        ("/close/1001", None, 1001),
        ("/close/1011", "websocket: close 1011 (internal server error): because", 1011),
        ("/close/4001", "websocket: close 4001: because", 4001),
        ("/raw/8800", "websocket: close 1005 (no status)", 1005),
        ("/echo", "websocket: close 1006 (abnormal closure): unexpected EOF", 1006),
        ("/raw/", "websocket: close 1006 (abnormal closure): unexpected EOF", 1006),
        ("/refuse", "websocket: bad handshake", None),
        *((f"/raw/{frame}", f"websocket: {what}", 1006) for frame, what in BROKEN.items()),
    ],
)
def test_the_end_of_a_socket_is_told(server: Served, run: Ran, path: str, error: str | None, code: int | None) -> None:
    told = ended_at(run, server.url, path, max_body_bytes=1 << 20)
    errors = [one for one in told if one[0] == "error"]
    assert errors == ([["error", error]] if error else [])
    assert [one for one in told if one[0] == "close"] == [told[-1]] and told[-1][1::2] == [code, 3]
    assert not [one for one in told if one[0] == "message"]


def test_text_that_is_no_utf8_is_a_message_as_in_k6(server: Served, run: Ran) -> None:
    assert ended_at(run, server.url, "/raw/8102fffe")[0] == ["message", 2]


@pytest.mark.parametrize(
    ("url", "error"),
    [("ws://127.0.0.1:1", "dial: connection refused"), ("ws://nosuch.invalid", "lookup: no such host")],
)
def test_a_server_that_is_not_there_is_an_error_and_a_session(run: Ran, url: str, error: str) -> None:
    ended = run(TOLD.replace("__ENV.PATH_OF", "'/'"), url)
    assert ended["told"] == [["error", error], ["close", None, "", 3]]
    assert values(ended, "ws_sessions")["count"] == 1 and "ws_session_duration" not in ended["summary"]["metrics"]


def test_a_script_of_sockets_alone_that_throws_has_measured_something(server: Served, tmp_path: Path) -> None:
    body = """export default function () {
      const socket = new WebSocket(`${__ENV.URL}/echo`);
      socket.onopen = () => { throw new Error('in the handler'); };
    }"""
    done = by_command(tmp_path, body, server.url)
    told = done.stdout + done.stderr
    assert done.returncode == 0, "as in k6"
    assert "in the handler" in told and "made no request" not in told and "WEBSOCKET" in told


def test_the_end_of_the_load_interrupts_sockets_and_says_goodbye(server: Served, run: Ran) -> None:
    began = time.monotonic()
    ended = run(
        """export const options = { scenarios: {
          both: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '1s', exec: 'both' } } };
        export function both() {
          if (__VU === 1) {
            ws.connect(`${__ENV.URL}/echo`, (socket) => socket.setInterval(() => socket.send('tock'), 100));
            return;
          }
          const socket = new WebSocket(`${__ENV.URL}/echo`);
          socket.onopen = () => setInterval(() => socket.send('tick'), 100);
          socket.onclose = () => note('never');
        }""",
        server.url,
    )
    assert time.monotonic() - began < 10 and ended["told"] == []
    assert values(ended, "ws_sessions")["count"] == 2
    assert count_of(ended, "ws_session_duration") == 0, "as in k6: they were cut off"
    assert values(ended, "ws_msgs_sent")["count"] >= 20
    assert server.ended(2) == [("/echo", 1000)] * 2


def test_a_socket_that_floods_keeps_timers_neither_waiting_nor_all_the_time(server: Served, run: Ran) -> None:
    ended = run(
        """export default function () {
          const socket = new WebSocket(`${__ENV.URL}/flood`);
          let came = 0;
          let ticks = 0;
          socket.onmessage = () => { came += 1; };
          const timer = setInterval(() => { ticks += 1; }, 0);
          setTimeout(() => { clearInterval(timer); socket.close(); }, 500);
          socket.onclose = ({ code }) => note(came > 100, ticks > 100, code);
        }""",
        server.url,
    )
    assert ended["told"] == [[True, True, 1000]]
    assert 450 < values(ended, "ws_session_duration")["max"] < 5000


@pytest.mark.parametrize(("size", "most"), [(10_000, 3000), (4 << 20, 20)])
def test_while_the_script_sleeps_the_server_has_to_wait(server: Served, run: Ran, size: int, most: int) -> None:
    ended = run(
        """export default function () {
          ws.connect(__ENV.URL, (socket) => {
            socket.on('error', (told) => note(told.error()));
            socket.on('message', (text) => { note(text.length); sleep(1); socket.close(); });
          });
        }""",
        f"{server.url}/flood/{size}",
        head="import { sleep } from 'k6';",
        vu_memory_bytes=32 << 20,
    )
    assert values(ended, "ws_session_duration")["min"] >= 1000
    assert ended["told"] == [[size]] and server.flooded < most, (
        "what fits into the buffers of the system, not what a second holds"
    )


def test_a_script_that_sends_without_end_is_stopped_at_its_memory(run: Ran, capfd: pytest.CaptureFixture[str]) -> None:
    body = """export default function () {
      const socket = new WebSocket(__ENV.URL);
      socket.onopen = () => {
        const data = new Uint8Array(1 << 20);
        for (let sent = 0; sent < 1000; sent++) {
          socket.send(data);
          if (sent === 9) note(socket.bufferedAmount);
        }
        note('never');
      };
    }"""
    with bare_server() as url:
        ended = run(body, url, vu_memory_bytes=64 << 20)
    assert ended["told"] == [[10 << 20]]
    assert "used over 64 MiB of memory" in capfd.readouterr().err


def test_a_server_that_answers_no_handshake_is_left_when_the_load_ends(run: Ran) -> None:
    body = """export const options = { scenarios: {
      one: { executor: 'constant-vus', vus: 1, duration: '500ms', gracefulStop: '500ms' } } };
    export default function () { new WebSocket(__ENV.URL); }"""
    began = time.monotonic()
    with bare_server(answers=False) as url:
        ended = run(body, url)
    assert time.monotonic() - began < 10 and "ws_sessions" not in ended["summary"]["metrics"]


def test_a_server_that_answers_no_closing_is_given_up(run: Ran) -> None:
    body = """export default function () {
      const socket = new WebSocket(__ENV.URL);
      socket.onopen = () => socket.close();
      socket.onclose = ({ code, reason }) => note(code, reason);
    }"""
    with bare_server() as url:
        ended = run(body, url)
    assert ended["told"] == [[1006, "the server did not answer the closing for 10 s"]]


def test_without_files_a_socket_fails_and_the_others_go_on(server: Served, tmp_path: Path) -> None:
    body = """export default function () {
      let [open, failed] = [0, 0];
      const sockets = Array.from({ length: 100 }, () => {
        const socket = new WebSocket(`${__ENV.URL}/echo`);
        socket.onopen = () => { open += 1; };
        socket.onerror = ({ error }) => { failed += error.includes('Too many open files'); };
        return socket;
      });
      setTimeout(() => {
        console.log(JSON.stringify([open > 5, failed > 5, open + failed]));
        sockets.forEach((socket) => socket.close());
      }, 1000);
    }"""
    done = by_command(
        tmp_path, body, server.url, preexec_fn=partial(resource.setrlimit, resource.RLIMIT_NOFILE, (80, 80))
    )
    assert "[true,true,100]" in done.stderr + done.stdout, done.stderr
