"""The study and the load script for the forum that serves, beside its users.json: ready to be run as they are.

    plimsoll lab discussions                            serves, and writes DIR/study.yaml and DIR/discussions.js
    plimsoll study .lab/discussions/study.yaml          in another terminal

How, and when they are left alone: plimsoll_lab/load_files.py.
"""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlsplit

from plimsoll_lab.load_files import RESTORE_LIMIT_S, first_line, restoring, write_study

LOAD = Path(__file__).parent / "load"
OURS = first_line("discussions")
TEMPLATE_URL, TEMPLATE_PORT, TEMPLATE_ACCOUNTS_PORT = "http://127.0.0.1:8730", "port: 8730", "port: 8721"


def write_load_files(directory: Path, url: str, accounts_url: str, threads: int) -> Path:
    """Write study and script for the forum at `url` with that many seeded threads; returns the study's path."""
    changes = {
        TEMPLATE_PORT: f"port: {urlsplit(url).port}",
        TEMPLATE_URL: url,
        TEMPLATE_ACCOUNTS_PORT: f"port: {urlsplit(accounts_url).port}",
        "THREADS: 1000": f"THREADS: {threads}",
    }
    return write_study(directory, "discussions", LOAD, ("discussions.js",), changes, restore_url=url)


def restore_at(url: str, users: Path) -> None:
    """Take the forum that serves at `url` back to its seeded data, as the moderator. Raises TargetError if it does not
    do so."""
    with restoring("the forum", "discussions", url):
        moderator = json.loads(users.read_text(encoding="utf-8"))[0]
        jar = CookieJar()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(jar))

        def send(path: str, form: dict[str, str] | None = None) -> None:
            token = next((str(cookie.value) for cookie in jar if cookie.name == "csrftoken"), "")
            data = None if form is None else urllib.parse.urlencode(form).encode()
            with opener.open(urllib.request.Request(url + path, data, {"X-CSRFToken": token}), timeout=RESTORE_LIMIT_S):
                pass

        send("/csrf/api/v1/token")
        login = {"email": moderator["email"], "password": moderator["password"]}
        send("/api/user/v1/account/login_session/", login)
        send("/admin/reset", {})
