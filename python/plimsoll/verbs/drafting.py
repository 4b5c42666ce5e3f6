"""A first study and its script from what is there already: `plimsoll new` as a function.

import plimsoll
draft = plimsoll.new("http://127.0.0.1:8080", access_log="access.log", output="load")
print(draft)
print(draft.operations[0].request, draft.operations[0].per_user_hour, draft.expected_users)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from plimsoll.drafts.draft import Draft
from plimsoll.drafts.files import check_free, write_draft
from plimsoll.drafts.logs.access_log import Reading, requests_of
from plimsoll.drafts.logs.log_mix import LEAST_SHARE, LogMix
from plimsoll.errors import InputError
from plimsoll.study.urls import mistake_of_url

FOLDER = Path("load")


def new(
    url: str | None = None,
    *,
    access_log: str | Path | Iterable[str | Path] | None = None,
    openapi: str | Path | None = None,
    har: str | Path | None = None,
    jmx: str | Path | None = None,
    output: str | Path = FOLDER,
    force: bool = False,
    least_share: float = LEAST_SHARE,
    token: str | None = None,
) -> Draft:
    """Write study.yaml, script.js and, where requests have values to draw, values.json into the folder `output`.

    From an access log (a file or several, "-" is standard input): the operations, how often a user does each, and how
    many users there are; with `url` each that reads is asked once, by GET. From a browser's recording (`har`, a file):
    its requests one after the other, with what later ones take from earlier answers. From an OpenAPI description (a
    file or URL), or from a URL alone, which is searched for one: the operations that read; with `url` each is asked
    once, by GET alone. From a test plan of JMeter (`jmx`, a file): its thread groups.

    `least_share` is the share of requests and time below which an operation of a log that few use is left out; `token`
    is sent to `url` as "Authorization: Bearer …" and never written. Raises InputError for what cannot be read, and
    where files are there already without `force`.
    """
    address = None if url is None else _checked(url)
    folder = Path(output)
    given = {"--access-log": access_log, "--openapi": openapi, "--har": har, "--jmx": jmx}
    sources = [name for name, source in given.items() if source is not None]
    if len(sources) > 1:
        raise InputError(f"{' and '.join(sources)} are given together", "Give one of them.")
    if not 0 <= least_share <= 1:
        raise InputError(f"the least share {least_share:g} is no share", "Give one from 0% to 100%.")
    if token is not None and address is None:
        raise InputError("--token is given, and no service is asked", "Give the URL of one.")
    if token is not None and not re.fullmatch(r"[\x21-\x7e]+", token):
        raise InputError("--token: it has signs that no header can hold, or none", "Give it as the service made it.")
    check_free(folder, force)
    if access_log is not None:
        logs = [access_log] if isinstance(access_log, str | Path) else list(access_log)
        draft = _of_logs(logs, address, least_share)
    elif har is not None:
        from plimsoll.drafts.recordings.recorded import draft_of_recording

        draft = draft_of_recording(Path(har), address)
    elif jmx is not None:
        from plimsoll.drafts.jmeter.imported import draft_of_plan

        draft = draft_of_plan(Path(jmx), address, folder)
    elif address is not None or openapi is not None:
        from plimsoll.drafts.services.described import draft_of_description

        draft = draft_of_description(openapi, address, token)
    else:
        raise InputError(
            "there is nothing to begin with",
            "Give --access-log FILE, --har FILE, --jmx FILE, --openapi FILE or the URL of a service.",
        )
    if address is not None and (access_log is not None or har is not None or jmx is not None):
        from plimsoll.drafts.services.trying import tried

        draft = tried(draft, address, token)
    return replace(draft, files=write_draft(draft, folder))


def _of_logs(logs: list[str | Path], url: str | None, least_share: float) -> Draft:
    if not logs:
        raise InputError("no access log is given", "Give at least one file, or - for standard input.")
    mix, reading = LogMix(), Reading()
    for request in requests_of(logs, reading):
        mix.add(request)
    reading.check()
    names = "standard input" if str(logs[0]) == "-" else Path(logs[0]).name
    source = f"the access log {names}" + (f" and {len(logs) - 1} more" if len(logs) > 1 else "")
    return mix.draft(reading, source, url, least_share)


def _checked(url: str) -> str:
    """The address without a slash at its end."""
    if "@" in url.partition("://")[2].partition("/")[0]:
        what = "the URL has a user or password, which would stand in the study"
        raise InputError(what, "Give it without, and the script a token: -e TOKEN=….")
    mistake = mistake_of_url(url)
    if mistake is not None:
        raise InputError(mistake[0], mistake[1])
    parts = urlsplit(url)
    return parts._replace(query="", fragment="", path=parts.path.rstrip("/")).geturl()
