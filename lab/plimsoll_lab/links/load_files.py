"""The study and the load script for the link index that serves (plimsoll_lab/load_files.py); the script is
the configurations'.

plimsoll lab links                            serves, and writes DIR/study.yaml, DIR/configurations.js
plimsoll drain .lab/links/study.yaml          in another terminal
"""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

from plimsoll_lab.configurations import load_files as followed_files
from plimsoll_lab.folder import write_file
from plimsoll_lab.load_files import write_study

LOAD = Path(__file__).parent / "load"
TEMPLATE_URL = "http://127.0.0.1:8770"


def write_load_files(directory: Path, url: str, followed: Path) -> Path:
    """Write study and script for the index at `url` that follows the configurations of that folder; returns the
    study's path."""
    where = json.loads((followed / "services.json").read_text(encoding="utf-8"))
    changes = {
        TEMPLATE_URL: url,
        "label: ldx, port: 8770": f"label: ldx, port: {urlsplit(url).port}",
        followed_files.TEMPLATE_URL: where["url"],
        "USERS_JSON: ./users.json": f"USERS_JSON: {json.dumps(str((followed / 'users.json').resolve()))}",
    }
    for name, port in followed_files.TEMPLATE_PORTS.items():
        at = where["services"][name]
        changes[f"label: {name}, port: {port}"] = f"label: {name}, port: {urlsplit(at).port}"
        changes[f"http://127.0.0.1:{port}/"] = f"{at}/"
    write_file(directory / followed_files.SCRIPT, (followed_files.LOAD / followed_files.SCRIPT).read_text("utf-8"))
    return write_study(directory, "links", LOAD, [], changes)
