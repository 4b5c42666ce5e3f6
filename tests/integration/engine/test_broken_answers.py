"""Answers that break the rules have failed, as in k6: in what the script reads, in samples, checks and thresholds, and
whether the script reads the body or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile_answers import ask

from plimsoll.engine import EngineConfig, EngineRun

Server = Callable[..., str]

# Path to a part of the error; k6's code of all of them is 1000.
BROKEN = {
    "/short": "unexpected EOF",
    "/close/head": "unexpected EOF",
    "/chunks/plus": "invalid byte in chunk length",
    "/chunks/empty": "invalid byte in chunk length",
    "/chunks/bare": "chunked line ends with bare LF",
    "/chunks/end": "malformed chunked encoding",
    "/chunks/cut": "unexpected EOF",
    "/chunks/long": "a line over 4 KiB",
    "/trailer/bad": "malformed line",
    "/trailer/endless": "trailer is over 64 KiB",
    "/lengths/differ": 'multiple Content-Length headers; got ["3" "4"]',
    "/lengths/list": 'bad Content-Length "3, 3"',
    "/lengths/plus": 'bad Content-Length "+3"',
    "/transfer/gzip": "unsupported transfer encoding",
    "/transfer/xchunked": "unsupported transfer encoding",
    "/head/65": "head is over 64 KiB",
    "/head/endless": "head is over 64 KiB",
}
GOOD = {"/chunks/good": "abcdef", "/trailer/good": "abc", "/lengths/same": "abc", "/transfer/chunked": "abc"}
CODINGS = ["gzip", "deflate", "br", "zstd", "gzip,br", "zstd,deflate"]


def run_script(tmp_path: Path, text: str, url: str, options: dict[str, Any]) -> dict[str, Any]:
    script = tmp_path / "script.js"
    script.write_text(text)
    run = EngineRun(EngineConfig(script=script, env={"URL": url}, options=options)).begin()
    list(run.snapshots())
    return run.result()


def over(scheme: str, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The site over HTTP/1.1 or, over TLS, HTTP/2."""
    if scheme == "HTTP/1.1":
        return server("--site")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls" / "ca.pem"))
    return server("--site", "--tls", tmp_path / "tls")


def test_what_is_broken_on_the_wire_has_failed_and_what_is_only_odd_has_not(
    tmp_path: Path, known_server: Server
) -> None:
    found = ask(
        tmp_path,
        known_server("--site"),
        f"""for (const path of {[*BROKEN, *GOOD]}) found[path] = told(http.get(U + path));
        for (const path of {list(BROKEN)}) {{
          found['none ' + path] = told(http.get(U + path, {{ responseType: 'none' }}))[1];
        }}
        found.folded = http.get(`${{U}}/folded`).headers['X-Folded'];""",
    )
    for path, what in BROKEN.items():
        status, code, error, body = found[path]
        assert (status, code, body) == (0, 1000, None) and what in error, (path, found[path])
        assert found["none " + path] == 1000, "a body that is thrown away is looked at as well"
    assert {path: found[path] for path in GOOD} == {path: [200, 0, "", body] for path, body in GOOD.items()}
    assert found["folded"].split() == ["one", "two"]


def test_no_script_has_to_look_samples_checks_and_thresholds_see_it(tmp_path: Path, known_server: Server) -> None:
    paths = [*BROKEN, "/coded/cut/gzip", "/coded/changed/deflate", "/coded/cut/br", "/coded/end/zstd"]
    ended = run_script(
        tmp_path,
        f"""import http from 'k6/http';
        import {{ check }} from 'k6';
        export default function () {{
          for (const path of {paths}) check(http.get(__ENV.URL + path), {{ ok: (r) => r.status === 200 }});
        }}""",
        known_server("--site"),
        {
            "iterations": 1,
            "thresholds": {
                "http_req_failed": ["rate==0"],
                "http_reqs{error_code:1701}": ["count==4"],
                "http_reqs{error_code:1000}": [f"count=={len(BROKEN)}"],
                "http_reqs{expected_response:true}": ["count==0"],
                "http_reqs{status:0}": [f"count=={len(paths)}"],
            },
        },
    )
    metrics = ended["summary"]["metrics"]
    failed = metrics["http_req_failed"]
    assert (failed["values"]["passes"], failed["values"]["fails"]) == (len(paths), 0)
    assert failed["thresholds"]["rate==0"]["ok"] is False
    assert metrics["checks"]["values"]["passes"] == 0
    for of, count in (("error_code:1701", 4), ("error_code:1000", len(BROKEN)), ("status:0", len(paths))):
        assert metrics[f"http_reqs{{{of}}}"]["values"]["count"] == count, (of, metrics[f"http_reqs{{{of}}}"])


@pytest.mark.parametrize("scheme", ["HTTP/1.1", "HTTP/2.0"])
def test_a_coded_body_that_is_broken_has_k6s_code_1701(
    tmp_path: Path, known_server: Server, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    found = ask(
        tmp_path,
        over(scheme, tmp_path, known_server, monkeypatch),
        f"""const bad = (kind, codings) => {{
          for (const coding of codings) {{
            found[`${{kind}} ${{coding}}`] = told(http.get(`${{U}}/coded/${{kind}}/${{coding}}`));
          }}
        }};
        bad('cut', {CODINGS});
        bad('end', {CODINGS});
        bad('changed', ['gzip', 'deflate']);
        bad('longer', ['gzip', 'br', 'zstd']);
        bad('empty', ['gzip']);
        for (const coding of {CODINGS}) {{
          const good = http.get(`${{U}}/encoded/${{coding}}`);
          found[`good ${{coding}}`] = [good.status, good.error_code, good.json('hello'), good.proto];
        }}
        for (const coding of {CODINGS[:4]}) found['not ' + coding] = told(http.get(`${{U}}/broken/${{coding}}`));
        found['many gzip'] = told(http.get(`${{U}}/broken/${{Array(9).fill('gzip').join(',')}}`));
        found.nothing = told(http.get(`${{U}}/coded/empty/zstd`));
        found.none = told(http.get(`${{U}}/coded/cut/gzip`, {{ responseType: 'none' }}));
        found.head = told(http.head(`${{U}}/coded/cut/gzip`));
        found.batch = http.batch([`${{U}}/coded/cut/gzip`, `${{U}}/echo`]).map((r) => r.error_code);
        found.async = (await http.asyncRequest('GET', `${{U}}/coded/cut/gzip`)).error_code;
        found.throw = thrown(() => http.get(`${{U}}/coded/cut/gzip`, {{ throw: true }}));
        const cut = http.get(`${{U}}/coded/cut/gzip`);
        found.fields = [cut.headers, cut.cookies, cut.status_text, cut.remote_ip];
        found.after = http.get(`${{U}}/echo`).status;""",
    )  # fmt: skip
    assert found.pop("none") == [200, 0, "", None], "k6 decodes nothing that nobody keeps"
    assert found.pop("nothing") == [200, 0, "", ""], "no frame of zstd is nothing, as in k6"
    assert found.pop("head")[:2] == [200, 0], "where no body is, none is broken"
    assert found.pop("batch") == [1701, 0] and found.pop("async") == 1701 and found.pop("after") == 200
    assert "error decompressing response body" in found.pop("throw")
    assert found.pop("fields") == [{}, {}, "", "127.0.0.1"]
    good = {name: found.pop(name) for name in list(found) if name.startswith("good")}
    assert set(map(tuple, good.values())) == {(200, 0, "world", scheme)} and len(good) == len(CODINGS)
    assert len(found) == 23
    for name, (status, code, error, body) in found.items():
        assert (status, code, body) == (0, 1701, None), (name, status, code, body)
        assert error.startswith("error decompressing response body ("), name


def test_the_body_of_a_redirection_is_nobodys(tmp_path: Path, known_server: Server) -> None:
    found = ask(
        tmp_path,
        known_server("--site"),
        """const to = (kind, params) => { const r = http.get(`${U}/moved/${kind}`, { timeout: '20s', ...params });
          return [r.status, r.error_code, r.url.replace(U, '')]; };
        found.broken = to('broken');
        found.endless = to('endless');
        found.last = to('broken', { redirects: 0 });
        found.nowhere = to('nowhere');""",
    )
    assert found["broken"] == found["endless"] == [200, 0, "/echo"]
    assert found["last"] == [0, 1701, "/moved/broken"], "one that is handed over is read"
    assert found["nowhere"] == [302, 0, "/moved/nowhere"], "an empty Location leads nowhere, as in k6"


@pytest.mark.parametrize("scheme", ["HTTP/1.1", "HTTP/2.0"])
def test_a_head_may_have_any_number_of_headers_up_to_64_kib(
    tmp_path: Path, known_server: Server, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    found = ask(
        tmp_path,
        over(scheme, tmp_path, known_server, monkeypatch),
        """const many = (count) => { const r = http.get(`${U}/many/${count}`);
          return [r.status, r.headers[`X-${count - 1}`], r.error_code, r.error]; };
        found.many = [100, 129, 500, 4000].map(many);
        found.over = many(8000);""",
    )
    assert found["many"] == [[200, str(count - 1), 0, ""] for count in (100, 129, 500, 4000)]
    assert found["over"] == [0, None, 1000, "the response's head is over 64 KiB"]


def test_a_head_of_64_kib_is_read(tmp_path: Path, known_server: Server) -> None:
    found = ask(
        tmp_path,
        known_server("--site"),
        """const r = http.get(`${U}/head/64`);
        found.r = [r.status, r.body, r.headers['X-Filler'].length];
        found.many = [200, 3000].map((count) => http.get(`${U}/headers/${count}`).headers[`X-${count - 1}`]);""",
    )
    assert found == {"r": [200, "abc", 65_486], "many": ["199", "2999"]}


@pytest.mark.parametrize("scheme", ["HTTP/1.1", "HTTP/2.0"])
def test_coded_answers_of_one_url_are_looked_at_as_well(
    scheme: str, tmp_path: Path, known_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bodies are thrown away, but a broken one is no good answer."""
    url = over(scheme, tmp_path, known_server, monkeypatch)
    load = {"vus": 1, "iterations": 3, "insecureSkipTLSVerify": True}

    def failed(path: str) -> float:
        run = EngineRun(
            EngineConfig(
                script=None, url={"url": f"{url}{path}", "method": "GET", "headers": [], "body": ""}, options=load
            )
        ).begin()
        list(run.snapshots())
        rates: dict[str, float] = run.result()["summary"]["metrics"]["http_req_failed"]["values"]
        return rates["rate"]

    for coding in ("gzip", "br", "zstd"):
        assert (failed(f"/encoded/{coding}"), failed(f"/coded/cut/{coding}")) == (0, 1), coding
