"""A request that cannot be written down as the script has it fails with k6's words, and its place in the script;
nothing of it is left out or sent."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_answers import ask

from plimsoll.engine import EngineConfig, EngineRun, inspect
from plimsoll.errors import InputError

Server = Callable[..., str]


def test_control_characters_are_refused_and_what_has_them_is_named(
    tmp_path: Path, known_server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    found = ask(
        tmp_path,
        known_server("--site"),
        """const e = `${U}/echo`;
        const bad = ['\\r\\n', '\\n', '\\r', '\\u0000', '\\u007f'];
        const values = bad.map((c) => told(http.get(e, { headers: { Authorization: `Bearer SECRET${c}X-Evil: 1` } })));
        found.values = [...new Set(values.map((told) => JSON.stringify(told)))].map((text) => JSON.parse(text));
        found.names = bad.map((c) => told(http.get(e, { headers: { [`A${c}X-Evil`]: '1' } }))[2]);
        found.agent = told(http.get(e, { headers: { 'User-Agent': 'a\\nb' } }))[2];
        found.method = told(http.request('GET / HTTP/1.1\\r\\nX-Evil: 1\\r\\n\\r\\nGET', e));
        found.cookie = told(http.get(e, { cookies: { a: 'b\\r\\nX-Evil: 1' } }))[2];
        found.jar = thrown(() => http.cookieJar().set(U, 'a', 'b\\r\\nX-Evil: 1'));
        found.several = [() => http.get(e, { cookies: { a: '1; admin=true' } }),
          () => http.get(e, { cookies: { 'a; b': '1' } }),
          () => http.cookieJar().set(U, 'a', 'v; Domain=x')].map(thrown);
        found.urls = bad.map((c) => told(http.get(`${U}/echo${c}X-Evil: 1`)).slice(0, 2));
        found.url = told(http.get(`${U}/echo\\n`))[2];
        found.batch = http.batch([['GET', e, null, { headers: { A: '\\n' } }], e]).map((r) => [r.status, r.error_code]);
        found.async = told(await http.asyncRequest('GET', e, null, { headers: { A: '\\n' } })).slice(0, 3);
        found.throw = thrown(() => http.get(e, { headers: { A: '\\n' }, throw: true }));
        const user = U.replace('http://', 'http://u%0d%0aX-Evil:p@');
        found.user = told(http.get(`${user}/digest/u/p`, { auth: 'digest' }))[2];
        const sent = http.get(e, { headers: { 'X-Tab': 'a\\tb', 'X-Ü': '1' } });
        found.letters = told(sent)[2];
        const own = { 'Transfer-Encoding': 'chunked', Trailer: 'X', 'Content-Length': '99', 'X-Tab': 'a\\tb' };
        const got = http.post(e, 'body', { headers: own }).json('headers');
        found.own = got.map(([name, value]) => `${name}: ${value}`);""",
    )
    assert found["values"] == [[0, 1000, 'net/http: invalid header field value for "Authorization"', None]]
    assert all(text.startswith('net/http: invalid header field name "A') for text in found["names"])
    assert not any(set(text) & set("\r\n\0\x7f") for text in found["names"])
    assert found["agent"] == 'net/http: invalid header field value for "User-Agent"'
    assert found["method"][:2] == [0, 1000] and found["method"][2].startswith('net/http: invalid method "GET / HTTP')
    assert found["cookie"] == 'net/http: invalid header field value for "Cookie"'
    assert 'cookie "a"' in found["jar"] and "control character" in found["jar"]
    assert all("a name or value with a semicolon would be several" in text for text in found["several"])
    assert found["urls"] == [[0, 1020]] * 5 and "invalid control character in URL" in found["url"]
    assert found["batch"] == [[0, 1000], [200, 0]]
    assert found["async"] == [0, 1000, 'net/http: invalid header field value for "A"']
    assert 'invalid header field value for "A"' in found["throw"]
    assert found["user"] == 'net/http: invalid header field value for "Authorization"'
    assert found["letters"] == 'net/http: invalid header field name "X-Ü"'
    assert "X-Tab: a\tb" in found["own"] and "Content-Length: 4" in found["own"]
    assert not any(line.startswith(("Transfer-Encoding", "Trailer")) for line in found["own"])
    warnings = capfd.readouterr().err
    told = re.findall(r'invalid header field value for "Authorization".*\n +at .*script\.js:(\d+)', warnings)
    assert len(told) == 2, "once for each place"
    assert "SECRET" not in warnings.replace("Bearer SECRET${c}", "")


def test_a_refused_request_is_a_failed_sample_and_does_not_reach_the_server(
    tmp_path: Path, known_server: Server
) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        """import http from 'k6/http';
        export default function () { http.get(__ENV.URL, { headers: { Authorization: `Bearer ${'abc\\n'}` } }); }"""
    )
    thresholds = {"http_req_failed": ["rate==1"], "http_reqs{error_code:1000}": ["count==3"]}
    options = {"iterations": 3, "thresholds": thresholds}
    run = EngineRun(EngineConfig(script=script, env={"URL": known_server("--site")}, options=options)).begin()
    list(run.snapshots())
    metrics = run.result()["summary"]["metrics"]
    assert metrics["http_req_failed"]["values"]["rate"] == 1
    assert metrics["http_reqs{error_code:1000}"]["values"]["count"] == 3
    assert metrics["data_sent"]["values"]["count"] == 0


def test_one_url_with_a_header_that_cannot_be_sent_is_refused_before_the_load() -> None:
    for method, headers in (("GET /", []), ("GET", [("A\r\nX", "1")]), ("GET", [("A", "1\r\nX: 1")])):
        url = {"url": "http://127.0.0.1:9/", "method": method, "headers": headers, "body": "", "rate": None}
        with pytest.raises(InputError, match="cannot be sent: net/http: invalid"):
            inspect(EngineConfig(script=None, url=url))


def test_a_batch_with_a_hole_is_refused_with_its_place(tmp_path: Path, known_server: Server) -> None:
    found = ask(
        tmp_path,
        known_server("--site"),
        """const e = `${U}/echo`;
        found.hole = thrown(() => http.batch([e, , e]));
        found.undefined = thrown(() => http.batch([undefined]));
        found.null = thrown(() => http.batch({ a: e, b: null }));
        found.good = http.batch([e, e]).length;""",
    )
    assert "request 1 is undefined" in found["hole"] and "request 0 is undefined" in found["undefined"]
    assert "request b is null" in found["null"] and found["good"] == 2


def test_header_and_body_of_a_form_have_one_boundary(tmp_path: Path, known_server: Server) -> None:
    found = ask(
        tmp_path,
        known_server("--site"),
        """const form = (type) => { const r = http.post(`${U}/echo`, { f: http.file('one', 'n.txt') },
            { headers: type ? { 'Content-Type': type } : {} });
          const sent = r.json('headers').find(([name]) => name === 'Content-Type')[1];
          return [sent, r.json('body').split('\\r\\n')[0]]; };
        found.own = form('multipart/form-data; boundary=XX');
        found.without = form('multipart/form-data');
        found.ours = form(null);
        found.other = form('text/plain');""",
    )
    assert found["own"] == ["multipart/form-data; boundary=XX", "--XX"]
    for name in ("without", "ours"):
        kind, boundary = found[name]
        assert kind == f"multipart/form-data; boundary={boundary.removeprefix('--')}" and len(boundary) > 20
    assert found["other"][0] == "text/plain"
