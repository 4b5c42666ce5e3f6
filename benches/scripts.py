"""The work that the benches give to every generator that runs scripts, for k6 and Plimsoll, and for Locust."""

from __future__ import annotations

from pathlib import Path

MINIMAL = "import http from 'k6/http';\nexport default function () { http.get(__ENV.URL); }\n"
REALISTIC = """import http from 'k6/http';
import { check } from 'k6';
import { Trend } from 'k6/metrics';
const seen = new Trend('items_time', true);
export default function () {
  const body = JSON.stringify({ a: 1, b: 'two', c: [1, 2, 3] });
  const params = { headers: { 'Content-Type': 'application/json' }, tags: { name: 'POST /' } };
  const response = http.post(__ENV.URL, body, params);
  const data = response.json();
  check(response, { ok: (r) => r.status === 200 && data.items.length === 2 });
  seen.add(response.timings.duration);
}
"""
IDLE = """import http from 'k6/http';
import { sleep } from 'k6';
export default function () { http.get(__ENV.URL); sleep(1); }
"""
DISTINCT = """import http from 'k6/http';
import exec from 'k6/execution';
export default function () { http.get(`${__ENV.URL}item/${exec.scenario.iterationInTest % Number(__ENV.URLS)}`); }
"""
FIRST_ITERATIONS = """import http from 'k6/http';
import { sleep } from 'k6';
import { Trend } from 'k6/metrics';
const first = new Trend('first_iteration_unix_ms');
export const options = { summaryTrendStats: ['min', 'max', 'count'] };
export default function () {
  if (__ITER === 0) first.add(Date.now());
  http.get(__ENV.URL);
  sleep(1);
}
"""
LOCUST_GET = """from locust import FastHttpUser, task


class Client(FastHttpUser):
    @task
    def get(self):
        self.client.get("/")
"""
LOCUST_REALISTIC = """import json

from locust import FastHttpUser, task


class Client(FastHttpUser):
    @task
    def post(self):
        body = json.dumps({"a": 1, "b": "two", "c": [1, 2, 3]})
        headers = {"Content-Type": "application/json"}
        with self.client.post("/", data=body, headers=headers, name="POST /", catch_response=True) as response:
            if response.status_code != 200 or len(response.json()["items"]) != 2:
                response.failure("not as expected")
"""


def written(folder: Path, name: str, text: str) -> Path:
    """The text as a file of the folder."""
    path = folder / name
    path.write_text(text)
    return path
