"""A recording of a browser (HAR): the requests that a load needs, in their order, and what is left out."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from plimsoll.drafts.kinds import READING, WRITING, is_static
from plimsoll.drafts.left_out import LeftOut
from plimsoll.drafts.logs.log_lines import path_of
from plimsoll.drafts.queries import has_secret
from plimsoll.errors import InputError

MOST_BYTES = 512 * 2**20
MOST_REQUESTS = 500
DEEPEST = 40  # objects within each other, in a body or an answer
_TELLS_SECRET = re.compile(r"passw|secret|token|credential", re.IGNORECASE)
_NEXT = "Save it in the browser's developer tools: Network, Export HAR."
_STATIC_TYPES = ("image/", "font/", "text/css", "video/", "audio/", "application/font", "application/wasm")
_SCRIPT_TYPES = ("javascript", "ecmascript")


@dataclass(frozen=True)
class Recorded:
    """One request. `form` has the fields of a form, `document` a body of JSON, `text` another body; `answer` the text
    of the answer, `bearer` the token that was sent."""

    at_s: float
    method: str
    target: str
    status: int
    ms: float
    content_type: str
    document: Any
    form: tuple[tuple[str, str], ...] | None
    text: str | None
    answer_type: str
    answer: str
    bearer: str | None


@dataclass(frozen=True)
class Recording:
    """What a load makes again of it, all at one host; `lasts_s` from the first request to the end of the last."""

    origin: str
    requests: tuple[Recorded, ...]
    left_out: tuple[LeftOut, ...]
    lasts_s: float


def read_recording(path: Path) -> Recording:
    """The recording in that file. InputError for what is none, or has no request that a load could make."""
    entries = [one for one in _entries(path) if isinstance(one.get("request"), dict)]
    origin = _origin(entries)
    if origin is None:
        raise InputError("the recording has no request of http", _NEXT, file=path)
    kept: list[Recorded] = []
    counts: Counter[tuple[str, str, str]] = Counter()
    for entry in entries:
        reason = _why_not(entry, origin)
        found = _recorded(entry) if reason is None else None
        if found is None:
            counts[reason or ("broken", "that cannot be read", "the recording has too little of them")] += 1
        else:
            kept.append(found)
    if not kept:
        what = f"the recording has no request at {origin} that a load could make again"
        raise InputError(what, "Record the use of the service itself.", file=path)
    if len(kept) > MOST_REQUESTS:
        what = f"the recording has {len(kept):,} requests, more than {MOST_REQUESTS:,}"
        raise InputError(what, "Record one thing that a user does.", file=path)
    kept.sort(key=lambda one: one.at_s)
    lasts_s = max(one.at_s + one.ms / 1000 for one in kept) - kept[0].at_s
    left_out = [LeftOut(kind, what, count, why) for (kind, what, why), count in counts.most_common()]
    return Recording(origin, tuple(kept), tuple(left_out), lasts_s)


def _entries(path: Path) -> list[dict[str, Any]]:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"the recording cannot be read ({error.strerror or error})", _NEXT, file=path) from None
    if len(content) > MOST_BYTES:
        raise InputError(f"the recording is larger than {MOST_BYTES >> 20} MiB", "Record less.", file=path)
    try:
        document = json.loads(content.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        raise InputError("the recording is no JSON", _NEXT, file=path) from None
    log = document.get("log") if isinstance(document, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        raise InputError("this is no recording, as it has no log.entries", _NEXT, file=path)
    return [one for one in entries if isinstance(one, dict)]


def _origin(entries: Sequence[Mapping[str, Any]]) -> str | None:
    """Where the first page or call came from: scheme and host of the first request that is no static file."""
    for entry in entries:
        parts = _split(str(entry["request"].get("url") or ""))
        if parts is not None and not is_static(parts[1]):
            return parts[0]
    return None


def _split(url: str) -> tuple[str, str] | None:
    """(origin, path) of an http URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return None
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", parts.path or "/"


def _why_not(entry: Mapping[str, Any], origin: str) -> tuple[str, str, str] | None:
    """(kind, which, why) of what is left out."""
    request = entry["request"]
    parts = _split(str(request.get("url") or ""))
    if parts is None:
        return "other", "of other kinds", "as web sockets and data within the page"
    if parts[0] != origin:
        return "host", f"to {parts[0]}", "another host"
    kind = _mime(_mapping(_mapping(entry.get("response")).get("content")).get("mimeType"))
    if is_static(parts[1]) or kind.startswith(_STATIC_TYPES) or any(word in kind for word in _SCRIPT_TYPES):
        return "static", "for static files", "a cache or another server usually answers them"
    if request.get("method") not in (*READING, *WRITING):
        return "preflight", "with OPTIONS and other methods", "browsers send them by themselves"
    status = _mapping(entry.get("response")).get("status")
    if not isinstance(status, int) or not 200 <= status < 400:
        return "failed", "that failed in the recording", "they have no answer to go on with"
    body = _mapping(request.get("postData"))
    kind = _mime(body.get("mimeType"))
    if kind.startswith("multipart/"):
        return "upload", "with files", "a recording does not have them whole"
    is_plain = "json" not in kind and "form" not in kind
    if has_secret(parts[1]) or (is_plain and _TELLS_SECRET.search(str(body.get("text") or ""))):
        return "private", "that may hold a secret", "in a path, or a body that is neither JSON nor a form"
    return None


def _recorded(entry: Mapping[str, Any]) -> Recorded | None:
    request, response = entry["request"], _mapping(entry.get("response"))
    at_s, target = _moment(entry.get("startedDateTime")), path_of(str(request["url"]))
    if at_s is None or not target:
        return None
    headers = dict(_headers(request.get("headers")))
    body = _mapping(request.get("postData"))
    text = body.get("text") if isinstance(body.get("text"), str) else None
    kind = _mime(body.get("mimeType") or headers.get("content-type"))
    document, form = None, None
    if kind == "application/x-www-form-urlencoded":
        given = [one for one in _list(body.get("params")) if isinstance(one, dict) and "name" in one]
        pairs = (
            parse_qsl(text, keep_blank_values=True) if text else [(one["name"], one.get("value", "")) for one in given]
        )
        form, text = tuple((str(name), str(value)) for name, value in pairs), None
    elif text is not None and "json" in kind:
        document = _parsed(text)
        if _depth(document) > DEEPEST or (document is None and _TELLS_SECRET.search(text)):
            return None
        text = text if document is None else None
    authorization = headers.get("authorization", "")
    content = _mapping(response.get("content"))
    duration = entry.get("time")
    return Recorded(
        at_s=at_s,
        method=str(request["method"]),
        target=target,
        status=int(response["status"]),
        ms=max(0.0, float(duration)) if isinstance(duration, int | float) else 0.0,
        content_type=kind,
        document=document,
        form=form,
        text=text,
        answer_type=_mime(content.get("mimeType")),
        answer=_answer(content),
        bearer=authorization[7:].strip() if authorization.lower().startswith("bearer ") else None,
    )


def _answer(content: Mapping[str, Any]) -> str:
    text = content.get("text")
    if not isinstance(text, str):
        return ""
    if content.get("encoding") != "base64":
        return text
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        return ""


def _headers(given: Any) -> Iterator[tuple[str, str]]:
    for one in _list(given):
        if isinstance(one, dict):
            yield str(one.get("name", "")).lower(), str(one.get("value", ""))


def _moment(text: Any) -> float | None:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except (ValueError, OverflowError):
        return None


def _parsed(text: str) -> Any:
    """What JSON says; None for what is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _depth(given: Any, depth: int = 0) -> int:
    """How deep lists and objects lie within each other; no more is counted than matters."""
    if depth > DEEPEST or not isinstance(given, dict | list):
        return depth
    inner = given.values() if isinstance(given, dict) else given
    return max((_depth(one, depth + 1) for one in inner), default=depth)


def _mime(given: Any) -> str:
    return str(given or "").partition(";")[0].strip().lower()


def _mapping(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, dict) else {}


def _list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else []
