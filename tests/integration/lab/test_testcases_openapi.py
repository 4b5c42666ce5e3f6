"""What the OpenAPI document says is what the testcases do: schemathesis sends what it allows and what it forbids."""

from __future__ import annotations

from pathlib import Path

import httpx
from lab_process import lab_process
from openapi_run import assert_schemathesis_finds_nothing

# JSON-RPC and XML-RPC answer wrong calls with 200; rpc_answers.py reads those answers. The largest size of the work
# without RPC takes 20,000 calls, and the cookie is sent always, also to /admin/reset where it should be missing:
# test_testcases_api.py asks both.
SETTINGS = """
[[operations]]
include-path-regex = "-rpc/"
checks.negative_data_rejection.enabled = false
[[operations]]
include-path = "/orm/work"
enabled = false
[[operations]]
include-path = "/admin/reset"
checks.negative_data_rejection.enabled = false
"""


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    with lab_process("testcases", "--cases", 20, "--data", tmp_path) as lab:
        user = {name: lab.first_user()[name] for name in ("username", "password")}
        call = {"jsonrpc": "2.0", "id": 1, "method": "Auth.login", "params": user}
        session = httpx.post(f"{lab.url}/json-rpc/", json=call, trust_env=False).json()["result"]
        cookie = {"Cookie": f"sessionid={session}"}
        assert_schemathesis_finds_nothing(lab.url, tmp_path, cookie, settings=SETTINGS, hooks="rpc_answers")
        assert "Traceback" not in lab.errors()
