"""The study and the load script for the tracker that serves, beside its users.json: ready to be run as they are.

    plimsoll lab tracker                            serves, and writes DIR/study.yaml, DIR/tracker.js, DIR/words.json
    plimsoll capacity .lab/tracker/study.yaml       in another terminal

How, and when they are left alone: plimsoll_lab/load_files.py.
"""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from plimsoll_lab.load_files import RESTORE_LIMIT_S, first_line, restoring, write_study

LOAD = Path(__file__).parent / "load"
OURS = first_line("tracker")
TEMPLATE_URL, TEMPLATE_PORT, TEMPLATE_ISSUES = "http://127.0.0.1:8710", "port: 8710", "env: {ISSUES: 20000}"


def write_load_files(directory: Path, url: str, issues: int) -> Path:
    """Write study and script for the tracker at `url` with that many seeded issues; returns the study's path."""
    changes = {
        TEMPLATE_URL: url,
        TEMPLATE_PORT: f"port: {urlsplit(url).port}",
        TEMPLATE_ISSUES: f"env: {{ISSUES: {issues}}}",
    }
    return write_study(directory, "tracker", LOAD, ("tracker.js", "words.json"), changes, restore_url=url)


def restore_at(url: str, users: Path) -> None:
    """Take the tracker that serves at `url` back to its seeded data. Raises TargetError if it does not do so."""
    with restoring("the tracker", "tracker", url):
        token = json.loads(users.read_text(encoding="utf-8"))[0]["token"]
        headers = {"Authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"{url}/api/admin/reset", method="POST", headers=headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=RESTORE_LIMIT_S):
            pass
