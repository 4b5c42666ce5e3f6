"""The study and the load script for the tracker that serves, beside its users.json: ready to be run as they are.

    plimsoll lab tracker                            serves, and writes DIR/study.yaml, DIR/tracker.js, DIR/words.json
    plimsoll capacity .lab/tracker/study.yaml       in another terminal

The files are written anew at each start, with the address and the number of issues of that tracker; a study whose first
line was removed is the user's own and is left alone.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from plimsoll.errors import TargetError

LOAD = Path(__file__).parent / "load"
OURS = "# Written by `plimsoll lab tracker` at each start. Remove this line to keep your own changes.\n"
TEMPLATE_URL, TEMPLATE_PORT = "http://127.0.0.1:8710", "8710"
RESTORE_LIMIT_S = 120


def write_load_files(directory: Path, url: str, issues: int) -> Path:
    """Write study and script for the tracker at `url` with that many seeded issues; returns the study's path."""
    study = directory / "study.yaml"
    if study.exists() and not study.read_text(encoding="utf-8").startswith(OURS):
        return study
    for name in ("tracker.js", "words.json"):
        _replace(directory / name, (LOAD / name).read_text(encoding="utf-8"))
    text = (LOAD / "study.yaml").read_text(encoding="utf-8")
    text = text.replace(TEMPLATE_URL, url).replace(f"port: {TEMPLATE_PORT}", f"port: {urlsplit(url).port}")
    restore = [sys.executable, "-m", "plimsoll.lab", "tracker", "--restore-at", url, "--data", "."]
    text = text.replace("  ready: /healthz\n", f"  ready: /healthz\n  reset: {json.dumps(shlex.join(restore))}\n")
    text = text.replace("env: {ISSUES: 20000}", f"env: {{ISSUES: {issues}}}")
    _replace(study, OURS + text)
    return study


def restore_at(url: str, users: Path) -> None:
    """Take the tracker that serves at `url` back to its seeded data. Raises TargetError if it does not do so."""
    step = "Start it with `plimsoll lab tracker`, and give its folder as --data."
    try:
        token = json.loads(users.read_text(encoding="utf-8"))[0]["token"]
        headers = {"Authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"{url}/api/admin/reset", method="POST", headers=headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=RESTORE_LIMIT_S):
            pass
    except (OSError, ValueError, LookupError) as error:  # HTTPError and URLError are OSErrors
        raise TargetError(f"the tracker at {url} was not restored: {error}", step) from None


def _replace(path: Path, text: str) -> None:
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)
