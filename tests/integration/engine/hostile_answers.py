"""Scripts that ask the testkit's site for what no server should answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from plimsoll.engine import EngineConfig, EngineRun

HEAD = """import http from 'k6/http';
const U = __ENV.URL;
const found = {};
const thrown = (f) => { try { f(); return 'nothing'; } catch (error) { return String(error.message); } };
const told = (r) => [r.status, r.error_code, r.error, r.body];
"""


def ask(tmp_path: Path, url: str, body: str, options: dict[str, Any] | None = None, **config: Any) -> dict[str, Any]:
    """What `body` puts into `found`."""
    script = tmp_path / "script.js"
    script.write_text(
        HEAD
        + f"export async function setup() {{ {body}\n return found; }}\nexport default function () {{}}\n"
        + "export const handleSummary = (data) => ({ found: JSON.stringify(data.setup_data) });"
    )
    options = {"setupTimeout": "120s", **(options or {})}
    run = EngineRun(EngineConfig(script=script, env={"URL": url}, options=options, **config)).begin()
    list(run.snapshots())
    return dict(json.loads(run.result()["handled"]["found"]))
