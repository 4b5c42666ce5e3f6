"""Hostile servers: each kind of broken or endless answer on a load of its own, and many of them together."""

from __future__ import annotations

import json
from collections.abc import Iterator

from commands import Commands, Hung
from hostile_http2 import KINDS2, serve2
from hostile_server import KINDS, Kind, serve
from knock import Bench, Try, knock

TIMEOUT_S = 2.0
ITERATIONS, VUS = 8, 4
#: Iterations one after the other that all take the whole timeout, and what starting and the summary take.
ENDS_S = ITERATIONS / VUS * TIMEOUT_S + 6.0
MOST_MORE_MIB = 200.0
MANY = 10_000
SCRIPT = """import http from 'k6/http';
const kinds = __ENV.KINDS.split(' ');
export const options = { discardResponseBodies: __ENV.DISCARD === 'yes', scenarios: { all: {
  executor: 'shared-iterations', vus: %d, iterations: Number(__ENV.COUNT), maxDuration: '60s', gracefulStop: '1s' } } };
const upload = 'x'.repeat(Number(__ENV.UPLOAD_MIB) << 20);
export default function () {
  const url = `${__ENV.BASE_URL}/${kinds[__ITER %% kinds.length]}`;
  const given = { timeout: '%ds', responseCallback: http.expectedStatuses({ min: 200, max: 399 }) };
  const answer = upload ? http.post(url, upload, given) : http.get(url, given);
  if (answer.body) { answer.body.length; }
  if (upload && answer.status !== 413) { console.error(`UNREAD ${answer.status} ${answer.error}`); }
}
""" % (VUS, int(TIMEOUT_S))  # noqa: UP031  # braces are JavaScript's


@knock(
    "hostile servers",
    "A broken answer is a failed request, a whole one is not. Each call ends within its timeout, whatever the server "
    f"does, and no answer costs more than {MOST_MORE_MIB:.0f} MiB of memory. HTTP/1.1 and HTTP/2.",
    limit_s=1200.0,
)
def hostile_servers(bench: Bench) -> Iterator[Try]:
    with serve() as url:
        usual_mib = _load(bench, url, "good", KINDS["good"], False, 0.0)[1]
        for name, kind in KINDS.items():
            yield _load(bench, url, name, kind, kind.fails, usual_mib)[0]
        yield _many(bench, url, usual_mib)
    for name, kind2 in KINDS2.items():
        with serve2(kind2, bench.try_folder()) as url:
            yield _load(bench, url, f"HTTP/2 {name}", KINDS["good"], kind2.fails, usual_mib)[0]


def _load(bench: Bench, url: str, name: str, kind: Kind, fails: float | None, usual_mib: float) -> tuple[Try, float]:
    """What a load of that kind did, and the memory it took; `fails`: the share of requests that should (None: any)."""
    folder = bench.try_folder()
    (folder / "script.js").write_text(SCRIPT)
    given = {"BASE_URL": url, "KINDS": name.rpartition(" ")[2], "COUNT": ITERATIONS, "UPLOAD_MIB": kind.upload_mib,
             "DISCARD": "yes" if kind.discard else "no"}  # fmt: skip
    words = [word for key, value in given.items() for word in ("-e", f"{key}={value}")]
    words += ["--insecure-skip-tls-verify", "--no-connection-reuse", "--summary-export", "summary.json"]
    with Commands(folder) as commands:
        try:
            ended = commands.run("run", "-q", *words, "script.js", limit_s=ENDS_S)
        except Hung as hung:
            return Try(name, (f"it {hung}",)), 0.0
        broken = ended.mistakes(0, 3)
        if not broken:
            broken = _counted(json.loads((folder / "summary.json").read_text()), fails)
        if "UNREAD" in ended.errors:
            broken.append(f"the answer was not read: {ended.errors[:200].strip()!r}")
    more_mib = max(0.0, ended.peak_mib - usual_mib) if usual_mib else 0.0
    if more_mib > MOST_MORE_MIB:
        broken.append(f"{more_mib:,.0f} MiB more than of good answers")
    return Try(name, tuple(broken), {"MiB more": more_mib, "s": ended.seconds}), ended.peak_mib


def _counted(summary: dict, fails: float | None) -> list[str]:
    """Whether as many of the requests failed as should."""
    failed = summary["metrics"].get("http_req_failed", {}).get("value")
    if failed is None:
        return ["no request was counted"]
    if fails is None:
        return []
    return [] if failed == fails else [f"{failed:.0%} of the requests failed, {fails:.0%} should have"]


def _many(bench: Bench, url: str, usual_mib: float) -> Try:
    """Many answers of all kinds that end by themselves."""
    case = f"{MANY:,} of all kinds that end"
    ends = [name for name, kind in KINDS.items() if name not in ("bomb", "no-answer", "early-413", "slow-redirect")
            and not name.startswith(("endless", "drip", "continue", "header-endless", "header-of"))]  # fmt: skip
    folder = bench.try_folder()
    (folder / "script.js").write_text(SCRIPT)
    given = {"BASE_URL": url, "KINDS": " ".join(ends), "COUNT": MANY, "UPLOAD_MIB": 0, "DISCARD": "no"}
    words = [word for key, value in given.items() for word in ("-e", f"{key}={value}")]
    with Commands(folder) as commands:
        try:
            ended = commands.run("run", "-q", *words, "script.js", limit_s=120.0)
        except Hung as hung:
            return Try(case, (f"it {hung}",))
    more_mib = max(0.0, ended.peak_mib - usual_mib)
    broken = ended.mistakes(0, 3)
    if more_mib > MOST_MORE_MIB:
        broken.append(f"{more_mib:,.0f} MiB more than of good answers")
    return Try(case, tuple(broken), {"MiB more": more_mib})
