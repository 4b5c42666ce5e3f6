"""The script of a test plan makes the requests that the plan declares: by method, path, headers and body. JMeter 5.6.3
made the same ones of the same plan, each as often."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "unit" / "drafts"))
from plans import arguments, assertion, body, defaults, element, headers, sampler, threads, variables, written

TOKEN = "t0k3n"
USERS, LOOPS = 2, 3
PASSES = USERS * LOOPS


class Shop:
    """Counts what it is asked for. A poll is done at the third time of a user."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.bodies: list[tuple[str, str, str]] = []
        self.polls: Counter[str] = Counter()
        shop = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                given = self.rfile.read(length).decode()
                shop.asked[f"{self.command} {self.path}"] += 1
                if given:
                    shop.bodies.append((self.path, given, self.headers.get("Content-Type", "")))
                status, content = shop.answer(self.path, self.headers)
                text = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("X-Token", TOKEN)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_POST = do_PUT = do_DELETE = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, path: str, sent: Any) -> tuple[int, Any]:
        if path.startswith("/items/"):
            return 200, {"next": {"id": f"n{path[7:]}"}, "parts": [{"id": 7}, {"id": 8}]}
        if path == "/poll":
            user = sent.get("X-User", "")
            self.polls[user] += 1
            return 200, {"status": "done" if self.polls[user] % 3 == 0 else "busy"}
        if path == "/orders":
            return (201 if sent.get("X-Token") == TOKEN else 401), {}
        return 200, {}


@pytest.fixture
def shop() -> Iterator[Shop]:
    found = Shop()
    yield found
    found.server.shutdown()
    found.server.server_close()


def extractor(name: str, path: str, number: str = "1") -> str:
    props = {"referenceNames": name, "jsonPathExprs": path, "match_numbers": number, "defaultValues": "none"}
    return element("JSONPostProcessor", name, **{f"JSONPostProcessor__{key}": value for key, value in props.items()})


def parts_of(port: int) -> list[str]:
    """A plan with most of what plans have."""
    token = element(
        "RegexExtractor",
        RegexExtractor__useHeaders="true",
        RegexExtractor__refname="token",
        RegexExtractor__regex="(?i)x-token: (.*)",
        RegexExtractor__template="$1$",
        RegexExtractor__match_number="1",
        below="",
    )
    keep = element("JSR223PostProcessor", scriptLanguage="groovy", script='props.put("token", vars.get("token"));')
    rows = element(
        "CSVDataSet", filename="data/rows.csv", variableNames="id,word", delimiter=",", quotedData=True, recycle=True,
        shareMode="shareMode.all", ignoreFirstLine=False,
    )  # fmt: skip
    busy = '${__groovy(!"done".equals(vars.get("status")) ,)}'
    fragment = element("TestFragmentController", "Fragment", below=sampler("GET", "/fragment"))
    path = "".join(f'<stringProp name="1">{one}</stringProp>' for one in ("Test Plan", "Plan", "Fragment"))
    steps = [
        rows,
        element("ConstantTimer", ConstantTimer__delay="5"),
        element("OnceOnlyController", below=sampler("GET", "/once")),
        element("TransactionController", "See", below=sampler(
            "GET", "/items/${id}", below=extractor("next", "$.next.id") + extractor("part", "$.parts[*].id", "-1"),
        ) + sampler("GET", "next/${next}")),
        element("LoopController", LoopController__loops="${times}", LoopController__continue_forever=True,
                below=sampler(
            "POST", "/orders", given=body('{"key": "${__UUID}", "item": "${id}", "word": "${word}"}'),
            below=headers({"Content-Type": "application/json", "X-Token": "${__property(token)}"})
            + assertion("response_code", 8, "201") + assertion("response_data", 2, "^\\{"),
        )),
        element("IfController", IfController__condition='${__jexl3("${id}" == "2" && ${times} > 1,)}',
                IfController__useExpression=True, below=sampler("GET", "/if")),
        element("IfController", IfController__condition='"${id}" == "nobody"', below=sampler("GET", "/never")),
        sampler("GET", "/begin", below=element("JSR223PostProcessor", script='vars.put("status", "busy");')),
        element("WhileController", WhileController__condition=busy,
                below=sampler("GET", "/poll", below=extractor("status", "$.status"))),
        element("ThroughputController", ThroughputController__style=1, ThroughputController__percentThroughput="50",
                ThroughputController__perThread=True, below=sampler("GET", "/half")),
        element("InterleaveControl", below=sampler("GET", "/a") + sampler("GET", "/b")),
        element("RandomController", below=sampler("GET", "/r") + sampler("GET", "/r")),
        element("ForeachController", ForeachController__inputVal="part", ForeachController__returnVal="one",
                ForeachController__useSeparator=True, below=sampler("GET", "/parts/${one}")),
        element("SwitchController", SwitchController__value="w${id}",
                below="".join(sampler("GET", f"/w{at}", name=f"w{at}") for at in (1, 2, 3))),
        element("ModuleController",
                inner=f'<collectionProp name="ModuleController.node_path">{path}</collectionProp>'),
        sampler("POST", "/form", given=arguments([("a b", "x&y"), ("c", "d")], encode=True)),
        sampler("GET", "/search", given=arguments([("q", "a+b"), ("w", "${word}")])),
        sampler("DELETE", "/items/${id}/x y"),
        element("HTTPSamplerProxy", "off", on=False,
                HTTPSampler__path="/disabled", HTTPSampler__method="GET"),
    ]  # fmt: skip
    return [
        variables(times="2", user="${__P(user.name,somebody)}"),
        defaults(domain="${__P(host,127.0.0.1)}", port=str(port), protocol="http"),
        headers({"X-User": "${__threadNum}", "X-Name": "${user}"}),
        fragment,
        threads("Log in", sampler("POST", "/login", given=body("{}"), below=token + keep), kind="SetupThreadGroup"),
        threads("Shop", "".join(steps), users=USERS, loops=LOOPS),
    ]


EXPECTED = {
    "POST /login": 1,
    "GET /once": USERS,
    **{f"GET /items/{at}": PASSES // 3 for at in (1, 2, 3)},
    **{f"GET /next/n{at}": PASSES // 3 for at in (1, 2, 3)},
    "POST /orders": 2 * PASSES,
    "GET /if": PASSES // 3,
    "GET /begin": PASSES,
    "GET /poll": 3 * PASSES,
    "GET /a": 2 * USERS,
    "GET /b": USERS,
    "GET /r": PASSES,
    "GET /parts/7": PASSES,
    "GET /parts/8": PASSES,
    **{f"GET /w{at}": PASSES // 3 for at in (1, 2, 3)},
    "GET /fragment": PASSES,
    "POST /form": PASSES,
    **{f"GET /search?q=a+b&w={word}": PASSES // 3 for word in ("one", "two,three", "four")},
    **{f"DELETE /items/{at}/x%20y": PASSES // 3 for at in (1, 2, 3)},
}


def rows_in(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "rows.csv").write_text('1,one\n2,"two,three"\n3,four\n')


def test_the_script_makes_the_requests_of_the_plan(shop: Shop, tmp_path: Path) -> None:
    rows_in(tmp_path)
    path = written(tmp_path, *parts_of(shop.port))
    plimsoll = [sys.executable, "-m", "plimsoll"]
    made = _done(tmp_path, *plimsoll, "new", shop.url, "--jmx", path.name)
    assert shop.asked == {"GET /": 1} and "Next: plimsoll capacity load/study.yaml" in made.stdout
    shop.asked.clear()
    _done(tmp_path, *plimsoll, "run", "-q", "--summary-export", "s.json", "load/script.js")
    half = shop.asked.pop("GET /half")
    assert shop.asked == EXPECTED
    assert half == USERS, "half of three passes is one, as in JMeter, whose controller does not draw lots"
    metrics = json.loads((tmp_path / "s.json").read_text())["metrics"]
    assert metrics["checks"]["fails"] == 0
    orders = [json.loads(given) for place, given, _ in shop.bodies if place == "/orders"]
    assert len({one["key"] for one in orders}) == 2 * PASSES
    assert Counter((one["item"], one["word"]) for one in orders) == {
        ("1", "one"): 4,
        ("2", "two,three"): 4,
        ("3", "four"): 4,
    }
    assert ("/form", "a+b=x%26y&c=d", "application/x-www-form-urlencoded") in shop.bodies


def test_the_study_of_a_plan_is_run_as_it_is(shop: Shop, tmp_path: Path) -> None:
    path = written(tmp_path, defaults(domain="127.0.0.1"), threads("Read", sampler("GET", "/a"), users=4, loops=-1))
    plimsoll = [sys.executable, "-m", "plimsoll"]
    _done(tmp_path, *plimsoll, "new", shop.url, "--jmx", path.name)
    study = (tmp_path / "load" / "study.yaml").read_text()
    assert "model: closed" in study and "expected_users: 4" in study
    held = [*plimsoll, "hold", "load/study.yaml", "--for", "14s", "--baseline", "0", "--json"]
    done = subprocess.run(held, cwd=tmp_path, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode in (0, 3, 99), done.stderr
    assert shop.asked["GET /a"] > 20


def _done(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done
