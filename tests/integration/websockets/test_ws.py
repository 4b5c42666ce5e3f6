"""`k6/ws`: connect() returns when its socket has closed."""

from __future__ import annotations

from websocket_runs import Ran, assert_said, count_of, values
from websocket_server import Served


def test_connect_gives_a_response_once_the_socket_has_closed(server: Served, run: Ran) -> None:
    ended = run(
        """export default function () {
          const response = ws.connect(`${__ENV.URL}/echo`, { tags: { mine: 'yes' } }, (socket) => {
            note('set up');
            socket.on('open', () => {
              socket.send('hello');
              socket.send(5);
              socket.sendBinary(new Uint8Array([1, 2]).buffer);
              socket.ping();
            });
            socket.on('message', (message) => note('message', message));
            socket.on('binaryMessage', (message) => note('binary', Array.from(new Uint8Array(message))));
            socket.on('pong', (...none) => note('pong', none.length));
            let ticks = 0;
            socket.setInterval(() => { if (++ticks === 3) { socket.close(4000); note('after close()'); } }, 30);
            socket.setTimeout(() => note('once'), 10);
            socket.on('close', (code) => note('close', code, ticks));
          });
          const { status, url, headers, error, body } = response;
          note(status, url === `${__ENV.URL}/echo`, headers.Upgrade, error, body);
        }""",
        server.url,
    )
    told = ended["told"]
    assert told[0] == ["set up"] and told[-3:] == [
        ["close", 4000, 3],
        ["after close()"],
        [101, True, "websocket", "", ""],
    ]
    assert sorted(told[1:-3], key=str) == [
        ["binary", [1, 2]], ["message", "5"], ["message", "hello"], ["once"], ["pong", 0],
    ]  # fmt: skip
    counted = {name: values(ended, f"ws_{name}")["count"] for name in ("sessions", "msgs_sent", "msgs_received")}
    assert counted == {"sessions": 1, "msgs_sent": 3, "msgs_received": 3}, "neither ping nor closing counts, as in k6"
    assert values(ended, "ws_session_duration")["min"] >= 90 and "ws_ping" in ended["summary"]["metrics"]
    assert server.ended(1) == [("/echo", 4000)]


def test_what_is_sent_just_before_closing_goes_out_and_counts(server: Served, run: Ran) -> None:
    ended = run(
        """export default function () {
          ws.connect(`${__ENV.URL}/sink`, (socket) => socket.on('open', () => {
            for (let number = 0; number < 100; number++) socket.send('x'.repeat(5000));
            socket.close();
            socket.send('too late');
          }));
        }""",
        server.url,
    )
    assert server.ended(1) == [("/sink", 1001)]
    assert values(ended, "ws_msgs_sent")["count"] == 100 and len(server.received) == 100


def test_ends_that_the_script_did_not_ask_for_are_told(server: Served, run: Ran) -> None:
    ended = run(
        """export default function () {
          for (const path of ['close/1000', 'close/4001', 'raw/c10161', 'echo']) {
            ws.connect(`${__ENV.URL}/${path}`, null, (socket) => {
              if (path === 'echo') socket.on('open', () => socket.send('die'));
              socket.on('error', (error) => note(path, error.error()));
              socket.on('close', (code) => note(path, code));
            });
          }
        }""",
        server.url,
    )
    assert ended["told"] == [
        ["close/1000", 1000],
        ["close/4001", "websocket: close 4001: because"],
        ["close/4001", 4001],
        ["raw/c10161", "websocket: a message is compressed, which was not agreed on"],
        ["raw/c10161", 1006],
        ["echo", "websocket: close 1006 (abnormal closure): unexpected EOF"],
        ["echo", 1006],
    ]


def test_a_socket_that_does_not_come_about_is_a_response_too(server: Served, run: Ran) -> None:
    ended = run(
        """export default function () {
          for (const url of [`${__ENV.URL}/refuse`, 'ws://127.0.0.1:1/', 'ws://nosuch.invalid/', 'http://a.test/']) {
            const response = ws.connect(url, {}, () => note('never'));
            note(response.status, response.error, response.body);
          }
        }""",
        server.url,
    )
    assert ended["told"] == [
        [403, "", "not here\n"],
        [0, "dial: connection refused", ""],
        [0, "lookup: no such host", ""],
        [0, "malformed ws or wss URL", ""],
    ]
    assert values(ended, "ws_sessions")["count"] == 4
    assert count_of(ended, "ws_session_duration") == 4, "as in k6, sessions of no length"


def test_exceptions_come_out_of_connect_and_close_the_socket(server: Served, run: Ran) -> None:
    ended = run(
        """const fails = (act) => { try { act(); note('nothing'); } catch (error) { note(error.message); } };
        export default function () {
          const url = `${__ENV.URL}/echo`;
          fails(() => ws.connect(url));
          fails(() => ws.connect(url, {}));
          fails(() => ws.connect(url, { compression: 'gzip' }, () => {}));
          fails(() => ws.connect(url, () => { throw new Error('setting up'); }));
          fails(() => ws.connect(url, (socket) => socket.on('open', () => { throw new Error('in open'); })));
          fails(() => ws.connect(url, (socket) => socket.setTimeout(() => socket.sendBinary('text'), 10)));
          fails(() => ws.connect(url, (socket) => socket.setInterval(() => {}, 0)));
        }""",
        server.url,
    )
    assert_said(
        ended,
        [
            "invalid number of arguments",
            "must be a function",
            "supported algorithm is 'deflate'",
            "setting up",
            "in open",
            "expected ArrayBuffer as argument, received: String",
            ">0 timeout parameter",
        ],
    )
    assert server.ended(4) == [("/echo", 1001)] * 4 and count_of(ended, "ws_session_duration") == 4


def test_the_event_loop_waits_for_connect_and_goes_on_afterwards(server: Served, run: Ran) -> None:
    ended = run(
        """export default function () {
          const other = new WebSocket(`${__ENV.URL}/push/2`);
          other.onmessage = ({ data }) => note('other', data);
          setTimeout(() => note('timer'), 1);
          ws.connect(`${__ENV.URL}/echo`, (socket) => socket.setTimeout(() => { note('inner'); socket.close(); }, 100));
          note('returned');
        }""",
        server.url,
    )
    told = ended["told"]
    assert told[:2] == [["inner"], ["returned"]]
    assert sorted(told[2:]) == [["other", "0"], ["other", "1"], ["timer"]]
