"""`timeout` is one deadline for a whole call, as in k6: its redirects, its answer to a challenge, its body, and
decoding it. A final answer that comes while the upload goes on is read."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_answers import ask

Server = Callable[..., str]

TIMED = """const timed = (f) => { const began = Date.now(), r = f();
  return [r.status, r.error_code, Date.now() - began]; };
"""


def test_all_hops_of_a_call_share_its_timeout(tmp_path: Path, known_server: Server) -> None:
    found = ask(
        tmp_path,
        known_server("--site"),
        TIMED
        + """const timeout = 1500;
        found.hops = timed(() => http.get(`${U}/hops/8/600`, { timeout }));
        found.enough = timed(() => http.get(`${U}/hops/2/100`, { timeout }));
        found.drip = timed(() => http.get(`${U}/drip`, { timeout: 500 }));
        found.none = timed(() => http.get(`${U}/drip`, { timeout: 500, responseType: 'none' }));
        found.interim = timed(() => http.get(`${U}/interim`, { timeout: 500 }));
        const digest = U.replace('http://', 'http://u:p@') + '/digest/u/p?wait=1000';
        found.digest = timed(() => http.get(digest, { auth: 'digest', timeout }));
        found.proved = timed(() => http.get(digest, { auth: 'digest', timeout: 10000 }));
        const began = Date.now();
        const r = await http.asyncRequest('GET', `${U}/hops/8/600`, null, { timeout });
        found.async = [r.status, r.error_code, Date.now() - began];
        found.batch = timed(() => http.batch([['GET', `${U}/hops/8/600`, null, { timeout }]])[0]);""",
    )
    for name in ("hops", "digest", "async", "batch", "drip", "none", "interim"):
        status, code, took_ms = found[name]
        assert (status, code) == (0, 1050), (name, found[name])
        assert took_ms < 4000, (name, took_ms)
    assert found["enough"][:2] == [200, 0] and found["proved"][:2] == [200, 0]


def test_decoding_is_a_part_of_the_call_and_holds_nobody_up(
    tmp_path: Path, known_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIMSOLL_MAX_BODY", "500MiB")
    # zstd writes zeros nearly as fast as memory does: its body is larger, so that no machine is done within the limit.
    found = ask(
        tmp_path,
        known_server("--site"),
        """for (const [coding, mib] of [['gzip', 60], ['deflate', 60], ['br', 60], ['zstd', 400]]) {
          const bomb = `${U}/coded/bomb/${coding}?mib=${mib}`;
          found[coding] = [http.get(bomb, { timeout: '60s' }).error_code, http.get(bomb, { timeout: 5 }).error_code];
        }
        const slow = http.asyncRequest('GET', `${U}/coded/bomb/br?mib=60`);
        await http.asyncRequest('GET', `${U}/echo`);
        found.slow = (await slow).status;""",
    )
    assert [found[coding] for coding in ("gzip", "deflate", "br", "zstd")] == [[0, 1050]] * 4
    assert found["slow"] == 200


@pytest.mark.parametrize("tls", [False, "--no-http2", "h2"])
def test_an_answer_that_comes_during_the_upload_is_read(
    tmp_path: Path, known_server: Server, monkeypatch: pytest.MonkeyPatch, tls: bool | str
) -> None:
    options = ["--site"]
    if tls:
        options += ["--tls", str(tmp_path / "tls")] + (["--no-http2"] if tls == "--no-http2" else [])
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls" / "ca.pem"))
    began = time.monotonic()
    found = ask(
        tmp_path,
        known_server(*options),
        """const body = 'x'.repeat(20e6);
        for (const kind of ['stall', 'close']) {
          found[kind] = told(http.post(`${U}/early/${kind}`, body, { timeout: '50s' }));
        }
        found.after = http.post(`${U}/echo`, 'x'.repeat(3e6)).json('body').length;
        found.before = http.post(`${U}/close`, body, { timeout: '50s' }).status;""",
        # What the server leaves unread fills the window of its HTTP/2 connection for good.
        {"noConnectionReuse": tls == "h2"},
    )
    assert found["stall"] == found["close"] == [413, 1413, "", "too much"]
    assert found["after"] == 3_000_000 and found["before"] == 0
    assert time.monotonic() - began < 45, "no request had to wait for its timeout"
