"""`k6/http` against the testkit's site: bodies, authentication, redirects, cookies, selectors, failures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.engine import EngineConfig, EngineRun, inspect
from plimsoll.errors import InputError

Server = Callable[..., str]

HEAD = """import http from 'k6/http';
const U = __ENV.URL, host = U.replace('http://', '');
const headers = (r) => Object.fromEntries(r.json('headers').map(([name, value]) => [name.toLowerCase(), value]));
const thrown = (f) => { try { f(); return 'nothing'; } catch (error) { return String(error.message); } };
const found = {};
"""


def ask(tmp_path: Path, url: str, body: str, options: dict[str, Any] | None = None
        ) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    """What `body` puts into `found` (in setup, which hands it on), and the summary's metrics."""
    script = tmp_path / "script.js"
    script.write_text(
        HEAD
        + f"export function setup() {{ {body}\n return found; }}\n"
        + "export default function () {}\n"
        + "export const handleSummary = (data) => ({ found: JSON.stringify(data.setup_data) });"
    )
    config = EngineConfig(script=script, env={"URL": url}, options=options or {})
    run = EngineRun(config).begin()
    list(run.snapshots())
    ended = run.result()
    return json.loads(ended["handled"]["found"]), ended["summary"]["metrics"]


def test_coded_bodies_are_read_as_they_were_before(tmp_path: Path, known_server: Server) -> None:
    codings = ["gzip", "deflate", "br", "zstd", "gzip,br", "zstd,deflate"]
    found, metrics = ask(
        tmp_path,
        known_server("--site"),
        f"""for (const coding of {codings}) {{
          const r = http.get(`${{U}}/encoded/${{coding}}`);
          found[coding] = [r.json('hello'), r.body.length, r.json().rows.length, r.error_code,
            r.headers['Content-Encoding']];
        }}""",
    )
    assert found == {coding: ["world", 166, 50, 0, coding.replace(",", ", ")] for coding in codings}
    assert metrics["data_received"]["values"]["count"] < 6 * 300, "the bytes on the wire count, not those decoded"


def test_a_body_that_is_not_in_its_coding_has_k6s_error_code(tmp_path: Path, known_server: Server) -> None:
    found, _ = ask(
        tmp_path,
        known_server("--site"),
        """for (const coding of ['gzip', 'deflate', 'br', 'zstd', 'foo']) {
          const r = http.get(`${U}/broken/${coding}`);
          found[coding] = [r.error_code, r.body, r.error.startsWith('error decompressing response body')];
        }
        found.json = thrown(() => http.get(`${U}/broken/gzip`).json());""",
    )
    assert found.pop("foo") == [0, "this is no such stream", False]
    assert "error decompressing" in found.pop("json")
    assert found == {coding: [1701, None, True] for coding in ("gzip", "deflate", "br", "zstd")}


def test_compression_codes_the_body_of_a_request(tmp_path: Path, known_server: Server) -> None:
    found, _ = ask(
        tmp_path,
        known_server("--site"),
        """const send = (compression, more) => http.post(`${U}/echo`, 'text '.repeat(20), { compression, ...more });
        for (const compression of ['gzip', 'deflate', 'br', 'zstd', 'gzip, br', ' gzip ']) {
          const r = send(compression);
          found[compression] = [headers(r)['content-encoding'], Number(headers(r)['content-length']) < 60,
            r.request.body.length];
        }
        found.none = headers(send(''))['content-encoding'] === undefined;
        found.own = headers(send('gzip', { headers: { 'Content-Encoding': 'x' } }))['content-encoding'];
        found.nothing = headers(http.get(`${U}/echo`, { compression: 'gzip' }))['content-encoding'] === undefined;
        found.unknown = thrown(() => send('gzip, rot13'));""",
    )
    assert found.pop("none") and found.pop("nothing") and found.pop("own") == "x"
    assert "unknown compression algorithm 'rot13'" in found.pop("unknown")
    assert found == {key: [key.strip(), True, 100] for key in ("gzip", "deflate", "br", "zstd", "gzip, br", " gzip ")}


def test_bodies_of_every_kind_are_sent_as_k6_sends_them(tmp_path: Path, known_server: Server) -> None:
    found, _ = ask(
        tmp_path,
        known_server("--site"),
        """const bytes = new Uint8Array([1, 2, 255, 4]);
        const post = (body) => http.post(`${U}/echo`, body).json('body');
        found.form = post({ a: [1, 'two'], b: true, c: null, z: 'ä&' });
        found.buffer = post(bytes.buffer);
        found.typed = post(bytes.subarray(2));
        found.view = post(new DataView(bytes.buffer, 1, 2));
        found.number = thrown(() => post(5));
        found.list = thrown(() => post([1]));
        const file = http.file(bytes.buffer, 'n"a.bin', 'image/png');
        found.file = [file.filename, file.content_type, http.file('x').content_type,
            http.file('x').filename.length > 10];
        const r = http.post(`${U}/echo`, { a: 'x"y', f: http.file('data', 'n"\\n.txt', 'text/x'), b: [1, 2] });
        found.multipart = r.json('body').split(headers(r)['content-type'].split('boundary=')[1]).join('B');
        found.binary = http.post(`${U}/echo`, { f: file }).json('body.base64') !== undefined;
        const own = { headers: { 'content-type': 'own' } };
        found.own = headers(http.post(`${U}/echo`, { f: file }, own))['content-type'];""",
    )
    part = '--B\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n{}\r\n'
    assert found["multipart"] == (
        part.format("a", "", 'x"y')
        + part.format("f", '; filename="n\\"%0A.txt"\r\nContent-Type: text/x', "data")
        + part.format("b", "", "1") + part.format("b", "", "2") + "--B--\r\n"
    )  # fmt: skip
    assert found["form"] == "a=1&a=two&b=true&c=%3Cnil%3E&z=%C3%A4%26"
    assert (found["buffer"], found["typed"]) == ({"base64": "AQL/BA=="}, {"base64": "/wQ="})
    assert found["view"] == {"base64": "Av8="} and found["binary"] and found["own"] == "own"
    assert found["file"] == ['n"a.bin', "image/png", "application/octet-stream", True]
    assert "JSON.stringify()" in found["number"] and "JSON.stringify()" in found["list"]


def test_response_types(tmp_path: Path, known_server: Server) -> None:
    body = """const of = (type, path = 'status/200') => {
          const body = http.get(`${U}/${path}`, type ? { responseType: type } : {}).body;
          return body === null ? 'null' : Object.prototype.toString.call(body);
        };
        found.types = [of('text'), of('binary'), of('none'), of('', 'status/204'), of()];
        found.head = http.head(`${U}/echo`).body;
        found.unknown = thrown(() => of('blob'));
        found.json = thrown(() => http.get(`${U}/echo`, { responseType: 'none' }).json());
        found.binary = http.get(`${U}/echo`, { responseType: 'binary' }).json('method');"""
    url = known_server("--site")
    found, _ = ask(tmp_path, url, body)
    text = "[object String]"
    assert found["types"] == [text, "[object ArrayBuffer]", "null", "null", text]
    assert found["head"] == "" and found["binary"] == "GET"
    assert "use 'text', 'binary' or 'none'" in found["unknown"] and "body is null" in found["json"]
    found, _ = ask(tmp_path, url, body, {"discardResponseBodies": True})
    assert found["types"] == [text, "[object ArrayBuffer]", "null", "null", "null"]


def test_basic_and_digest_authentication(tmp_path: Path, known_server: Server) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        HEAD
        + """import { check } from 'k6';
        export default function () {
          const as = (path, params, who = 'us%40er:pa:ss') => http.get(`http://${who}@${host}${path}`, params);
          const digest = (rest, params) => as(`/digest/us@er/pa:ss${rest}`, { auth: 'digest', ...params });
          check(null, {
            'basic of the URL': () => as('/basic/us@er/pa:ss').status === 200,
            'auth basic': () => as('/basic/us@er/pa:ss', { auth: 'basic' }).status === 200,
            'own header': () => {
              const r = as('/echo', { headers: { Authorization: 'Bearer x' } });
              return headers(r).authorization === 'Bearer x';
            },
            'digest': () => {
              const r = digest('?x=1');
              return r.status === 200 && r.url === `${U}/digest/us@er/pa:ss?x=1`;
            },
            'SHA-256': () => digest('?algorithm=SHA-256').status === 200,
            'SHA-512-256': () => digest('?algorithm=SHA-512-256').status === 200,
            'session': () => digest('?algorithm=MD5-sess').status === 200,
            'without qop': () => digest('?qop=none').status === 200,
            'with the body': () => {
              const url = `http://us%40er:pa:ss@${host}/digest/us@er/pa:ss?qop=auth-int`;
              const r = http.post(url, 'text', { auth: 'digest' });
              return r.status === 200 && r.json('body') === 'text' && r.request.headers.Authorization === undefined;
            },
            'wrong password': () => as('/digest/us@er/other', { auth: 'digest' }).error_code === 1401,
            'no challenge': () => as('/echo', { auth: 'digest' }).status === 200,
            'ntlm': () => thrown(() => as('/echo', { auth: 'ntlm' })).includes('not supported yet'),
          });
        }"""
    )
    run = EngineRun(EngineConfig(script=script, env={"URL": known_server("--site")})).begin()
    seconds = list(run.snapshots())
    summary = run.result()["summary"]
    metrics = summary["metrics"]
    checks = {check["name"]: check["passes"] for check in summary["root_group"]["checks"]}
    assert checks and set(checks.values()) == {1}, checks
    # Six digests and one wrong password ask twice; the challenge itself is expected.
    assert metrics["http_reqs"]["values"]["count"] == 3 + 7 * 2 + 1
    assert metrics["http_req_failed"]["values"]["passes"] == 1
    names = {series.tags.get("name", "") for second in seconds for series in second.series}
    assert any(name.startswith("http://****:****@") and name.endswith("/basic/us@er/pa:ss") for name in names)
    assert not any("us%40er" in name for name in names)


def test_redirects(tmp_path: Path, known_server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    found, _ = ask(
        tmp_path,
        known_server("--site"),
        """const at = encodeURIComponent;
        const to = (status, url, params) => http.post(`${U}/to?status=${status}&url=${at(url)}`, 'body',
          { headers: { 'X-A': '1', Authorization: 'z', Cookie: 'c=d', Host: 'own' }, ...params });
        const shown = (r) => [r.url.replace(U, ''), r.status, r.json('method'), r.json('body'), headers(r)['x-a']];
        for (const status of [301, 302, 303, 307, 308]) found[status] = shown(to(status, '/echo'));
        for (const status of [300, 305]) found[status] = to(status, '/echo').status;
        const set = http.post(`${U}/redirect/3?set=1`, 'body', { cookies: { k: 'v' } });
        found.cookies = headers(set).cookie;
        found.referer = headers(set).referer.replace(U, '');
        found.request = [set.request.method, set.request.url.replace(U, ''), set.request.body, set.request.cookies];
        found.none = [0, 2, -1].map((redirects) => http.get(`${U}/redirect/5`, { redirects }).url.replace(U, ''));
        found.same = ['host', 'authorization', 'cookie'].map((name) => headers(to(302, '/echo'))[name].slice(0, 3));
        const other = headers(to(302, U.replace('127.0.0.1', 'localhost') + '/echo'));
        found.other = ['authorization', 'cookie'].map((name) => other[name] === undefined);
        found.host = other.host.replace(/[0-9]+$/, '');
        found.scheme = to(302, 'ftp://x/').error_code;
        found.refused = to(302, 'http://127.0.0.1:9/').error_code;
        found.silent = http.get(`${U}/redirect/20`, { redirects: 3 }).status;
        found.many = [http.get(`${U}/redirect/20`)].map((r) => [r.status, r.error_code, r.url.replace(U, '')])[0];""",
    )
    assert [found[str(status)] for status in (301, 302, 303)] == [["/echo", 200, "GET", "", "1"]] * 3
    assert [found[str(status)] for status in (307, 308)] == [["/echo", 200, "POST", "body", "1"]] * 2
    assert (found["300"], found["305"]) == (300, 305)
    assert found["cookies"] == "k=v; hop3=3; hop2=2; hop1=1" and found["referer"] == "/redirect/1?set=1"
    sent = {"k": [{"name": "k", "value": "v", "replace": False}]}
    assert found["request"] == ["POST", "/redirect/3?set=1", "body", sent]
    assert found["none"] == ["/redirect/5", "/redirect/3", "/redirect/5"]
    assert found["same"] == ["own", "z", "c=d"] and found["other"] == [True, True] and found["host"] == "localhost:"
    assert (found["scheme"], found["refused"]) == (1000, 1212)
    assert found["many"] == [302, 0, "/redirect/10"] and found["silent"] == 302
    warnings = capfd.readouterr().err
    assert warnings.count("WARN stopped after the most redirects") == 1 and "/redirect/10" in warnings


def test_cookie_jars(tmp_path: Path, known_server: Server) -> None:
    found, _ = ask(
        tmp_path,
        known_server("--site"),
        """const jar = http.cookieJar(), sent = (params) => headers(http.get(`${U}/echo`, params)).cookie;
        jar.set(U, 'long', '1', { path: '/x', max_age: 100, http_only: true });
        jar.set(U, 'b', '2');
        jar.set(U, 'n', 5, { expires: 'Thu, 01 Jan 2037 00:00:00 GMT' });
        jar.set(U, 'd', '2', { domain: 'example.com' });
        jar.set(U, 'o', '2', { expires: 'Thu, 01 Jan 2007 00:00:00 GMT' });
        jar.set(U, 'u', '2', { expires: 'Thu, 01 Jan 1970 00:00:00 UTC' });
        found.bad = thrown(() => jar.set(U, 'e', '2', { expires: 'tomorrow' }));
        found.root = jar.cookiesForURL(U);
        found.deep = jar.cookiesForURL(`${U}/x/y`);
        found.sent = sent();
        found.given = sent({ cookies: { b: 'mine', c: { value: 'x' }, n: { value: 'r', replace: true } } });
        found.header = sent({ headers: { Cookie: 'h=1; i=2' }, cookies: { c: 'x' } });
        jar.delete(U, 'b');
        found.deleted = jar.cookiesForURL(U);
        jar.clear(U);
        found.cleared = [jar.cookiesForURL(U), Object.keys(jar.cookiesForURL(`${U}/x`))];
        const own = new http.CookieJar();
        own.set(U, 'own', '1');
        found.own = [sent({ jar: own }), sent()];
        http.get(`${U}/set?cookie=z=1`, { jar: own });
        found.kept = [own.cookiesForURL(U), http.cookieJar().cookiesForURL(U)];
        found.nowhere = thrown(() => jar.cookiesForURL('::'));""",
    )
    assert "'tomorrow' is not a date" in found["bad"] and "not a URL" in found["nowhere"]
    assert found["root"] == {"b": ["2"], "n": ["5"]} and found["deep"] == {"long": ["1"], "b": ["2"], "n": ["5"]}
    assert found["sent"] == "b=2; n=5"
    assert found["given"] == "b=mine; c=x; n=r; b=2" and found["header"] == "h=1; i=2; c=x; b=2; n=5"
    assert found["deleted"] == {"n": ["5"]} and found["cleared"] == [{}, ["long"]]
    assert found["own"] == ["own=1", None] and found["kept"] == [{"own": ["1"], "z": ["1"]}, {}]


def test_cookies_of_a_response_have_all_their_fields(tmp_path: Path, known_server: Server) -> None:
    found, _ = ask(
        tmp_path,
        known_server("--site"),
        """const cookies = ['a=1; Path=/x; Domain=127.0.0.1; Max-Age=60; Secure; HttpOnly',
          'b=2; Expires=Thu, 01 Jan 2037 00:00:00 GMT',
          'c="q v"', 'a=3; Max-Age=0', 'bad name=1', 'e=', 'nothing'];
        const r = http.get(`${U}/set?${cookies.map((cookie) => 'cookie=' + encodeURIComponent(cookie)).join('&')}`);
        found.cookies = r.cookies;
        found.header = r.headers['Set-Cookie'].slice(0, 9);""",
    )
    none = {"domain": "", "path": "", "http_only": False, "secure": False, "max_age": 0, "expires": -6795364578871}
    assert found["cookies"] == {
        "a": [
            {"name": "a", "value": "1", **none, "domain": "127.0.0.1", "path": "/x", "http_only": True, "secure": True,
             "max_age": 60},
            {"name": "a", "value": "3", **none, "max_age": -1},
        ],
        "b": [{"name": "b", "value": "2", **none, "expires": 2114380800000}],
        "c": [{"name": "c", "value": "q v", **none}],
        "e": [{"name": "e", "value": "", **none}],
    }  # fmt: skip
    assert found["header"] == "a=1; Path"


def test_every_field_of_a_response(tmp_path: Path, known_server: Server) -> None:
    found, _ = ask(
        tmp_path,
        known_server("--site"),
        """const r = http.post(`${U}/echo?a=1`, { x: 'y' }, { headers: { 'x-low': '1' }, cookies: { k: 'v' } });
        Object.assign(found, JSON.parse(JSON.stringify(r)));
        found.port = U.endsWith(`:${r.remote_port}`);
        for (const name of ['html', 'submitForm', 'clickLink']) {
          found[name] = thrown(() => r[name]()).includes('not supported yet');
        }
        const refused = http.get('http://127.0.0.1:9/');
        found.refused = [refused.body, refused.headers, refused.cookies, refused.status_text, refused.remote_ip];""",
    )
    assert set(found["timings"]) == {
        "duration", "blocked", "looking_up", "connecting", "tls_handshaking", "sending", "waiting", "receiving",
    }  # fmt: skip
    assert found["timings"]["blocked"] >= found["timings"]["connecting"] > 0
    assert found["status_text"] == "200 OK" and found["proto"] == "HTTP/1.1" and found["port"]
    assert found["headers"]["Content-Type"] == "application/json" and found["cookies"] == {}
    assert (found["error"], found["error_code"], found["tls_version"], found["tls_cipher_suite"]) == ("", 0, "", "")
    assert found["ocsp"] == {
        "produced_at": 0, "this_update": 0, "next_update": 0, "revoked_at": 0, "revocation_reason": "", "status": "",
    }  # fmt: skip
    assert found["request"]["headers"]["X-Low"] == ["1"] and found["request"]["body"] == "x=y"
    assert found["request"]["cookies"] == {"k": [{"name": "k", "value": "v", "replace": False}]}
    assert found["html"] and found["submitForm"] and found["clickLink"]
    assert found["refused"] == [None, {}, {}, "", ""]


SELECTORS: dict[str, Any] = {
    "name.first": "Tom", "children.1": "Alex", "children.#": 3, "friends.#.first": ["Dale", "Roger", "Jane"],
    "fav\\.movie": "Deer Hunter", "nothing": "undefined", "name": {"first": "Tom"}, "n": None,
    "child*.2": "Jack", "c?ildren.0": "Sara", 'friends.#(last=="Murphy").first': "Dale",
    'friends.#(last=="Murphy")#.first': ["Dale", "Jane"], "friends.#(age>45)#.last": ["Craig", "Murphy"],
    'friends.#(first%"D*").last': "Murphy", "children.@reverse": ["Jack", "Alex", "Sara"],
    "friends.#(age>99)": "undefined", "children|0": "Sara",
}  # fmt: skip


def test_selectors_of_json_speak_gjson(tmp_path: Path, known_server: Server) -> None:
    document = {
        "name": {"first": "Tom"}, "children": ["Sara", "Alex", "Jack"], "fav.movie": "Deer Hunter", "n": None,
        "friends": [{"first": "Dale", "last": "Murphy", "age": 44}, {"first": "Roger", "last": "Craig", "age": 68},
                    {"first": "Jane", "last": "Murphy", "age": 47}],
    }  # fmt: skip
    found, _ = ask(
        tmp_path,
        known_server("--site"),
        f"""const r = http.post(`${{U}}/back`, {json.dumps(json.dumps(document))});
        for (const selector of {json.dumps(list(SELECTORS))}) {{
          const value = r.json(selector);
          found[selector] = value === undefined ? 'undefined' : value;
        }}
        const text = http.get(`${{U}}/status/200`);
        found.text = [text.json('a.b') === undefined, text.json('a|b') === undefined];
        found.text.push(thrown(() => text.json()) !== 'nothing');""",
    )
    assert found.pop("text") == [True, True, True]
    assert found == SELECTORS


def test_failures_have_k6s_codes(tmp_path: Path, known_server: Server) -> None:
    found, _ = ask(
        tmp_path,
        known_server("--site"),
        """const code = (url, params) => { const r = http.get(url, params); return [r.status, r.error_code, r.error]; };
        found.timeout = code(`${U}/stall`, { timeout: 100 });
        found.close = code(`${U}/close`);
        found.reset = code(`${U}/reset`);
        found.refused = code('http://127.0.0.1:9/');
        found.name = code('http://does-not-exist.invalid/').slice(0, 2);
        found.blocked = code('http://blocked.test/');
        found.wildcard = code('http://a.wild.test/');
        found.blacklisted = code('http://127.0.9.3:9/');
        found.mapped = code('http://listed.test/');
        found.relative = code('nope').slice(0, 2);
        found.scheme = code('ftp://x/').slice(0, 2);
        found.invalid = code('http://a b/').slice(0, 2);
        found.batch = http.batch([['GET', 'nope'], `${U}/echo`]).map((r) => r.error_code);
        found.statuses = [404, 499, 500, 302].map((status) => http.get(`${U}/status/${status}`).error_code);
        found.throw = ['nope', 'http://127.0.0.1:9/', `${U}/status/500`].map(
          (url) => thrown(() => http.get(url, { throw: true })));""",
        {
            "blockHostnames": ["blocked.test", "*.wild.test"],
            "blacklistIPs": ["127.0.9.0/24"],
            "hosts": {"listed.test": "127.0.9.4"},
        },
    )
    assert found["timeout"] == [0, 1050, "request timeout"] and found["close"] == [0, 1000, "EOF"]
    assert found["reset"] == [0, 1220, "read: connection reset by peer"]
    assert found["refused"] == [0, 1212, "dial: connection refused"] and found["name"] == [0, 1101]
    assert found["blocked"] == found["wildcard"] == [0, 1111, "hostname is blocked"]
    assert found["blacklisted"] == found["mapped"] == [0, 1110, "ip is blacklisted"]
    assert found["relative"] == found["scheme"] == [0, 1000] and found["invalid"] == [0, 1020]
    assert found["batch"] == [1000, 0] and found["statuses"] == [1404, 1499, 1500, 0]
    assert "unsupported protocol scheme" in found["throw"][0] and "refused" in found["throw"][1]
    assert found["throw"][2] == "nothing"


def test_constants_are_k6s(tmp_path: Path) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        "import http, { TLS_1_3, OCSP_REASON_AA_COMPROMISE } from 'k6/http';\n"
        "const all = [http.TLS_1_0, TLS_1_3, http.OCSP_STATUS_SERVER_FAILED, OCSP_REASON_AA_COMPROMISE].join();\n"
        "export const options = { tags: { all } };\n"
        "export default () => {};"
    )
    assert inspect(EngineConfig(script=script))["options"]["tags"]["all"] == "tls1.0,tls1.3,server_failed,aa_compromise"


def test_mistakes_in_options_of_the_network_come_before_the_load(tmp_path: Path) -> None:
    script = tmp_path / "script.js"
    script.write_text("export default () => {};")
    key = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n-----END RSA PRIVATE KEY-----"
    for options, wanted in [
        ({"tlsAuth": [{"cert": "x", "key": "y"}]}, "options.tlsAuth[0].cert: no certificate in PEM"),
        ({"tlsAuth": [{"cert": "x", "key": key, "password": "p"}]}, "openssl pkey"),
        ({"tlsCipherSuites": ["TLS_RSA_WITH_RC4_128_SHA"]}, "none of TLS_RSA_WITH_RC4_128_SHA is supported"),
        ({"hosts": {"a": "b"}}, "options.hosts: 'b' is not an IP address"),
    ]:
        with pytest.raises(InputError) as caught:
            inspect(EngineConfig(script=script, options=options))
        assert wanted in str(caught.value)


def test_every_method_and_what_counts_as_success(tmp_path: Path, known_server: Server) -> None:
    found, metrics = ask(
        tmp_path,
        known_server("--site"),
        """const url = `${U}/echo`, method = (r) => r.json('method');
        found.methods = [http.get(url), http.post(url), http.put(url), http.patch(url), http.del(url),
          http.options(url), http.request('PURGE', url), http.request('get', url),
          http.get(http.url`${U}/echo`)].map(method);
        http.get(`${U}/status/404`, { responseCallback: http.expectedStatuses(404) });
        http.get(`${U}/status/500`, { responseCallback: http.expectedStatuses({ min: 500, max: 599 }) });
        http.setResponseCallback(http.expectedStatuses(201));
        http.get(`${U}/status/404`);""",
    )
    assert found["methods"] == ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE", "GET", "GET"]
    failed = metrics["http_req_failed"]["values"]
    assert (failed["passes"], failed["fails"]) == (1, 11)


def test_options_are_the_defaults_of_requests(tmp_path: Path, known_server: Server) -> None:
    found, _ = ask(
        tmp_path,
        known_server("--site"),
        """found.agent = headers(http.get(`${U}/echo`))['user-agent'];
        const odd = headers(http.get(`${U}/echo`, { headers: { A: null, B: ['x', 'y'], C: 5, D: true } }));
        found.odd = ['a', 'b', 'c', 'd'].map((name) => odd[name]);
        found.none = headers(http.get(`${U}/echo`, { headers: { 'User-Agent': '' } }))['user-agent'] === undefined;
        found.redirect = http.get(`${U}/redirect/5`).url.replace(U, '');
        found.throw = thrown(() => http.get('http://127.0.0.1:9/'));""",
        {"userAgent": "mine", "maxRedirects": 2, "throw": True},
    )
    assert (found["agent"], found["none"], found["redirect"]) == ("mine", True, "/redirect/3")
    assert found["odd"] == ["null", "x,y", "5", "true"]
    assert found["throw"] == "GET http://127.0.0.1:9/: dial: connection refused"


@pytest.mark.parametrize("kept", [True, False])
def test_connections_and_cookies_between_iterations(tmp_path: Path, known_server: Server, kept: bool) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        HEAD
        + """import { Trend } from 'k6/metrics';
        const port = new Trend('port'), cookies = new Trend('cookies');
        export default function () {
          port.add(http.get(`${U}/echo`).json('port'));
          cookies.add(Object.keys(http.cookieJar().cookiesForURL(U)).length);
          http.get(`${U}/set?cookie=a=1`);
        }"""
    )
    options = {"iterations": 3, "noVUConnectionReuse": not kept, "noCookiesReset": kept}
    run = EngineRun(EngineConfig(script=script, env={"URL": known_server("--site")}, options=options)).begin()
    list(run.snapshots())
    metrics = run.result()["summary"]["metrics"]
    port = metrics["port"]["values"]
    assert (port["min"] == port["max"]) is kept
    assert metrics["cookies"]["values"]["max"] == (1 if kept else 0)
