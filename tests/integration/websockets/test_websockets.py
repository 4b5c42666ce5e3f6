"""`k6/websockets`: what scripts do with a socket, against a server that is not ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from certificates import self_signed
from forwarding_proxy import forwarding_proxy
from websocket_runs import Ran, assert_said, count_of, values
from websocket_server import Served, websocket_server

from plimsoll.errors import PlimsollError


def test_messages_go_both_ways_and_are_counted_as_k6_counts_them(server: Served, run: Ran) -> None:
    ended = run(
        """export default function () {
          const socket = new WebSocket(`${__ENV.URL}/echo`, ['news', 'chat'], { tags: { mine: 'yes' } });
          note(socket.readyState, socket.url === `${__ENV.URL}/echo`, socket.binaryType, socket.protocol);
          socket.onopen = (event) => {
            note(event.type, socket.readyState, socket.protocol, socket.extensions, event.target === socket);
            socket.send('grüß dich 🙂');
            socket.send(new Uint8Array([0, 1, 2, 255]).subarray(1));
            socket.send(new Uint8Array([7]).buffer);
            socket.send(new Blob(['a', new Uint8Array([98])]));
            socket.ping();
            note(socket.bufferedAmount);
          };
          let pongs = 0;
          socket.onpong = () => { pongs += 1; };
          let count = 0;
          socket.onmessage = async ({ data, type }) => {
            count += 1;
            const last = count === 4;
            if (count === 2) socket.binaryType = 'arraybuffer';
            note(data instanceof Blob ? ['blob', data.size, Array.from(await data.bytes())]
              : typeof data === 'string' ? data : Array.from(new Uint8Array(data)));
            if (last) socket.close(3001, 'done');
          };
          socket.addEventListener('close', ({ type, code, reason }) => {
            note(type, code, reason, socket.readyState, pongs);
          });
        }""",
        server.url,
    )
    assert ended["told"] == [
        [0, True, "blob", ""],
        ["open", 1, "news", [], True],
        [len("grüß dich ".encode()) + 4 + 3 + 1 + 2 + 1],
        ["grüß dich 🙂"],
        [["blob", 3, [1, 2, 255]]],
        [[7]],
        [[97, 98]],
        ["close", 3001, "done", 3, 1],
    ]
    counted = {name: values(ended, f"ws_{name}")["count"] for name in ("sessions", "msgs_sent", "msgs_received")}
    assert counted == {"sessions": 1, "msgs_sent": 6, "msgs_received": 4}, "ping and closing count as sent, as in k6"
    assert values(ended, "ws_session_duration")["max"] >= values(ended, "ws_connecting")["min"] > 0
    assert 0 < values(ended, "ws_ping")["max"] < values(ended, "ws_session_duration")["max"]
    assert values(ended, "data_sent")["count"] > 150 and values(ended, "data_received")["count"] > 150
    assert server.ended(1) == [("/echo", 3001)]


def test_samples_carry_the_tags_of_k6_and_thresholds_select_by_them(server: Served, run: Ran) -> None:
    ended = run(
        """import { group } from 'k6';
        export const options = { thresholds: {
          'ws_sessions{status:101}': ['count==2'], 'ws_sessions{status:403}': ['count==1'],
          'ws_msgs_received{subproto:chat}': ['count==3'], 'ws_sessions{mine:yes}': ['count==1'],
          'ws_sessions{group:::inner}': ['count==1'], 'ws_connecting{name:news}': ['max<5000'],
          [`ws_session_duration{url:${__ENV.URL}/push/3}`]: ['max<5000'], ws_msgs_sent: ['count<0'] } };
        export default function () {
          new WebSocket(`${__ENV.URL}/push/3`, 'chat', { tags: { mine: 'yes' } });
          group('inner', () => new WebSocket(`${__ENV.URL}/push/0`, null, { tags: { name: 'news' } }));
          new WebSocket(`${__ENV.URL}/refuse`);
        }""",
        server.url,
    )
    metrics = ended["summary"]["metrics"]
    verdicts = {key: row["verdict"] for one in metrics.values() for key, row in one.get("thresholds", {}).items()}
    assert verdicts.pop("count<0") != "passed" and set(verdicts.values()) == {"passed"}, verdicts


def test_several_sockets_and_timers_share_an_iteration_that_ends_with_the_last(server: Served, run: Ran) -> None:
    ended = run(
        """export default function () {
          let open = 0;
          for (let number = 0; number < 5; number++) {
            const socket = new WebSocket(`${__ENV.URL}/echo`);
            const timer = setInterval(() => socket.readyState === 1 && socket.send(`${number}`), 20);
            socket.onopen = () => { open += 1; };
            let came = 0;
            socket.onmessage = ({ data }) => {
              if (data !== `${number}`) note('mixed up', data);
              if (++came === 3) { clearInterval(timer); socket.close(); }
            };
            socket.onclose = () => note('closed');
          }
          setTimeout(() => note('open at once', open), 40);
          setTimeout(() => note('late'), 300);
          note('function over');
        }""",
        server.url,
        options={"iterations": 2},
    )
    once = ended["told"][: len(ended["told"]) // 2]
    assert once[0] == ["function over"] and ["open at once", 5] in once and once[-1] == ["late"]
    assert once.count(["closed"]) == 5 and ["mixed up"] not in [one[:1] for one in ended["told"]]
    assert values(ended, "ws_sessions")["count"] == 10 and values(ended, "iterations")["count"] == 2


def test_long_messages_and_messages_in_parts_are_whole_compressed_or_not(server: Served, run: Ran) -> None:
    ended = run(
        """const text = Array.from({ length: 60000 }, (_, at) => `${at * 7919 % 1000} `).join('');
        const echoed = (params) => {
          const socket = new WebSocket(`${__ENV.URL}/echo`, null, params);
          socket.onopen = () => { socket.send(text); socket.send(''); socket.send(text + text); };
          const came = [];
          socket.onmessage = ({ data }) => {
            came.push(data === text ? 1 : data === '' ? 0 : data === text + text ? 2 : data.length);
            if (came.length === 3) socket.close();
          };
          socket.onclose = () => note(came, socket.extensions.join().split(';')[0]);
        };
        export default function () {
          echoed({});
          echoed({ compression: 'deflate' });
          const parts = new WebSocket(`${__ENV.URL}/parts`);
          parts.onmessage = ({ data }) => { note(data); parts.close(); };
        }""",
        server.url,
    )
    told = sorted(ended["told"], key=str)
    assert told == [["one two ünd drei"], [[1, 0, 2], ""], [[1, 0, 2], "permessage-deflate"]]


def test_a_blob_is_made_of_parts_and_read_in_every_form(server: Served, run: Ran) -> None:
    ended = run(
        """export default async function () {
          const [buffer, view] = [new Uint8Array([33]).buffer, new DataView(new ArrayBuffer(1))];
          const blob = new Blob(['grün', buffer, view, new Blob(['!'])], { type: 'text/plain' });
          note(blob.size, blob.type, await blob.text(), Array.from(await blob.bytes()).slice(-3));
          const part = blob.slice(0, 2, 'x');
          note(part.size, part.type, await part.text(), (await blob.slice(-1).text()), new Blob().size, String(blob));
          note((await blob.arrayBuffer()) instanceof ArrayBuffer);
          try { blob.stream(); } catch (error) { note(error.message); }
          try { new Blob('text'.length); } catch (error) { note(error.message); }
        }""",
        server.url,
    )
    assert ended["told"] == [
        [8, "text/plain", "grün!\0!", [33, 0, 33]],
        [2, "x", "gr", "!", 0, "[object Blob]"],
        [True],
        ["Blob.stream() is not supported yet; use arrayBuffer(), bytes() or text()"],
        ["new Blob() wants a list of parts: new Blob(['text', bytes], { type: 'text/plain' })"],
    ]


def test_a_ping_of_the_server_is_answered_and_told(server: Served, run: Ran) -> None:
    body = """export default function () {
      const socket = new WebSocket(`${__ENV.URL}/ping`);
      socket.onping = (event) => note(event.type);
      socket.onmessage = ({ data }) => { note(data); socket.close(); };
    }"""
    assert run(body, server.url)["told"] == [["ping"], ["answered"]]


def test_the_handshake_has_the_scripts_headers_and_the_jars_cookies(server: Served, run: Ran) -> None:
    ended = run(
        """export default function () {
          http.cookieJar().set(__ENV.URL.replace('ws', 'http'), 'mine', 'yes');
          const own = new http.CookieJar();
          own.set(__ENV.URL.replace('ws', 'http'), 'own', 'jar');
          const written = { Cookie: 'a=b', 'User-Agent': 'me' };
          for (const params of [{ headers: { 'X-A': 1 } }, { jar: own }, { headers: written }]) {
            const socket = new WebSocket(`${__ENV.URL.replace('://', '://user:pass@')}/headers`, null, params);
            socket.onmessage = ({ data }) => {
              const sent = JSON.parse(data);
              const agent = sent['user-agent'].split('/')[0];
              note(sent['x-a'], sent.cookie, agent, sent.authorization, sent.host !== undefined);
              socket.close();
            };
          }
          const twice = new WebSocket(__ENV.URL, null, { headers: { 'Sec-WebSocket-Key': 'x' } });
          twice.onerror = ({ error }) => note(error);
          const broken = new WebSocket(__ENV.URL, null, { headers: { 'X-B': 'a\\nb' } });
          broken.onerror = ({ error }) => note(error);
        }""",
        server.url,
        head="import http from 'k6/http';",
    )
    basic = "Basic dXNlcjpwYXNz"
    assert sorted(ended["told"], key=str) == sorted(
        [
            ["1", "mine=yes", "plimsoll", basic, True],
            [None, "own=jar", "plimsoll", basic, True],
            [None, "a=b", "me", basic, True],
            ["websocket: duplicate header not allowed: Sec-WebSocket-Key; leave it to the handshake"],
            ['net/http: invalid header field value for "X-B"'],
        ],
        key=str,
    )


def test_a_cookie_that_the_handshake_sets_is_kept_and_tags_are_those_of_the_moment(server: Served, run: Ran) -> None:
    ended = run(
        """export const options = { thresholds: { 'ws_msgs_received{later:yes}': ['count==1'] } };
        export default async function () {
          const jar = http.cookieJar();
          const cookies = () => jar.cookiesForURL(__ENV.URL.replace('ws', 'http')).fresh;
          ws.connect(`${__ENV.URL}/cookie`, (socket) => socket.on('open', () => socket.close()));
          note(cookies());
          jar.clear(__ENV.URL.replace('ws', 'http'));
          await new Promise((resolve) => {
            const socket = new WebSocket(`${__ENV.URL}/cookie`);
            socket.onopen = () => socket.close();
            socket.onclose = resolve;
          });
          note(cookies());
          exec.vu.tags.later = 'yes';
          new WebSocket(`${__ENV.URL}/push/1`);
          delete exec.vu.tags.later;
          new WebSocket(`${__ENV.URL}/push/1`);
        }""",
        server.url,
        head="import http from 'k6/http';\nimport exec from 'k6/execution';",
    )
    assert ended["told"] == [[["1"]], [["1"]]]
    verdicts = [
        row["verdict"] for one in ended["summary"]["metrics"].values() for row in one.get("thresholds", {}).values()
    ]
    assert verdicts == ["passed"]


def test_what_cannot_be_done_is_thrown_with_what_to_do(server: Served, run: Ran) -> None:
    ended = run(
        """const fails = (act) => { try { act(); note('nothing'); } catch (error) { note(error.message); } };
        export default function () {
          fails(() => new WebSocket());
          fails(() => new WebSocket('http://a.test/'));
          fails(() => new WebSocket('ws://a.test/#b'));
          fails(() => new WebSocket(__ENV.URL, null, { nix: 1 }));
          fails(() => new WebSocket(__ENV.URL, null, { compression: 'gzip' }));
          const socket = new WebSocket(`${__ENV.URL}/echo`);
          fails(() => socket.send('early'));
          fails(() => { socket.binaryType = 'text'; });
          fails(() => { socket.onmessage = 5; });
          fails(() => socket.addEventListener('open', 5));
          socket.onopen = () => {
            fails(() => socket.send({ a: 1 }));
            fails(() => socket.close(1005));
            fails(() => socket.close(4000, 'ü'.repeat(62)));
            socket.close();
            fails(() => socket.send('late'));
            socket.close();
          };
        }""",
        server.url,
    )
    assert_said(
        ended,
        [
            "requires a url",
            "scheme ws or wss",
            "no url fragment",
            "option nix",
            "supported algorithm is 'deflate'",
            "InvalidStateError",
            "blob and arraybuffer",
            "'onmessage' should be callable",
            "isn't a callable function",
            "unsupported send type",
            "1005 is neither",
            "greater than 123 bytes",
            "InvalidStateError",
        ],
    )


def test_an_exception_of_a_handler_fails_the_iteration(server: Served, run: Ran) -> None:
    ended = run(
        """export default function () {
          const socket = new WebSocket(`${__ENV.URL}/echo`);
          socket.onopen = () => { throw new Error('in the handler'); };
          socket.onclose = () => note('never');
        }
        export function teardown() { note('teardown'); }""",
        server.url,
    )
    assert ended["told"] == [["teardown"]]
    assert values(ended, "ws_sessions")["count"] == 1 and count_of(ended, "ws_session_duration") == 0, "as in k6"
    assert server.ended(1) == [("/echo", 1000)], "the socket that was left open is closed"


def test_no_socket_is_opened_in_the_init_context(server: Served, run: Ran) -> None:
    with pytest.raises(PlimsollError, match="do not work in the init context"):
        run("new WebSocket(__ENV.URL);\nexport default function () {}", server.url)


def test_the_deprecated_name_of_the_module_works(server: Served, run: Ran) -> None:
    ended = run(
        """export default function () {
          const socket = new Old(`${__ENV.URL}/close/1000`);
          socket.onclose = ({ code }) => note(code);
        }""",
        server.url,
        head="import { WebSocket as Old } from 'k6/experimental/websockets';",
    )
    assert ended["told"] == [[1000]]


ONCE = """export default function () {
  const socket = new WebSocket(`${__ENV.URL}/echo`);
  socket.onopen = () => socket.send('x'.repeat(70000));
  socket.onmessage = ({ data }) => { note(data.length); socket.close(); };
  socket.onerror = ({ error }) => note(error);
}"""


def test_tls_is_that_of_requests(tmp_path: Path, run: Ran) -> None:
    with websocket_server(self_signed(tmp_path, "server")) as served:
        refused = run(ONCE, served.url)
        assert refused["told"] == [["x509: unknown authority"]]
        taken = run(ONCE, served.url, options={"insecureSkipTLSVerify": True})
    assert taken["told"] == [[70000]]
    assert values(taken, "data_sent")["count"] > 70_000 < values(taken, "data_received")["count"]


def test_hosts_and_what_is_blocked_hold_for_sockets_too(server: Served, run: Ran) -> None:
    named = server.url.replace("127.0.0.1", "shop.test")
    options = {"hosts": {"shop.test": "127.0.0.1"}, "blockHostnames": ["*.blocked.test"]}
    assert run(ONCE, named, options=options)["told"] == [[70000]]
    blocked = run(ONCE, "ws://a.blocked.test", options=options)
    assert blocked["told"] == [["hostname is blocked"]] and values(blocked, "ws_sessions")["count"] == 1
    assert run(ONCE, server.url, options={"blacklistIPs": ["127.0.0.0/8"]})["told"] == [["ip is blacklisted"]]


@pytest.mark.parametrize("secure", [False, True])
def test_a_proxy_gives_a_tunnel(secure: bool, tmp_path: Path, run: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    certificate = self_signed(tmp_path, "server") if secure else None
    with forwarding_proxy() as seen, websocket_server(certificate) as served:
        monkeypatch.setenv("HTTPS_PROXY" if secure else "HTTP_PROXY", f"http://127.0.0.1:{seen.port}")
        named = served.url.replace("127.0.0.1", "shop.test")
        ended = run(ONCE, named, options={"insecureSkipTLSVerify": True})
        assert ended["told"] == [[70000]]
        assert seen.lines == [f"CONNECT {named.partition('//')[2]} HTTP/1.1"]
