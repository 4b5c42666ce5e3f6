"""The download of one remote module: whole or not at all, within a time, and through proxies that are spoken to in
plain HTTP."""

from __future__ import annotations

import base64
import contextlib
import threading
import time
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

from plimsoll.study.secrets.in_text import hide_in_message

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from urllib.request import OpenerDirector, Request

SILENCE_S = 30.0  # without a byte
WHOLE_S = 60.0
MOST_BYTES = 10 * 2**20
_PORTION_BYTES = 1 << 16
_BY_HAND = 'Fetch it by hand into the folder vendor beside the script (docs/k6.md, "Remote imports").'


class NotFetchedError(Exception):
    """Why a module could not be had, and what to do, in whole sentences."""


def download(url: str, whole_s: float = WHOLE_S) -> bytes:
    """The module at that address, which is text. User and password in it are sent as Basic authorization, to that host
    alone. Raises NotFetchedError after `whole_s` at the latest; Ctrl-C ends the wait."""
    _check_proxy(url)
    contents: list[bytes] = []
    errors: list[NotFetchedError] = []
    until_s = time.monotonic() + whole_s

    def fetch() -> None:
        try:
            contents.append(_fetched(url, until_s))
        except NotFetchedError as error:
            errors.append(error)

    # The sockets of Python have a limit for each byte only, so that the whole is waited for from outside.
    thread = threading.Thread(target=fetch, name="module download", daemon=True)
    thread.start()
    thread.join(whole_s)
    if not contents and time.monotonic() >= until_s:
        raise _too_slow(whole_s)
    if errors:
        raise errors[0]
    return contents[0]


def _too_slow(whole_s: float) -> NotFetchedError:
    return NotFetchedError(
        f"It could not be fetched: it was not here whole after {whole_s:g} s. Check the network and "
        f"its server. {_BY_HAND}"
    )


def _check_proxy(url: str) -> None:
    """NotFetchedError for a proxy that urllib would speak plain HTTP to, though its address says otherwise."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme, "")
    kind, named, _ = proxy.partition("://")
    if not named or kind.lower() == "http":
        return
    with contextlib.suppress(OSError):
        if parts.hostname and proxy_bypass(parts.hostname):
            return
    raise NotFetchedError(
        f"Modules are fetched through http:// proxies only, and {parts.scheme.upper()}_PROXY names one of {kind}://. "
        f"Name another, except its host with NO_PROXY, or do without the network: {_BY_HAND}"
    )


def _fetched(url: str, until_s: float) -> bytes:
    import http.client  # with urllib.request a third of what the engine takes to import, for scripts that fetch
    import urllib.error

    try:
        with _opener().open(_request(url), timeout=SILENCE_S) as answer:
            return _body(answer, until_s)
    except urllib.error.HTTPError as error:
        raise NotFetchedError(
            f"It could not be fetched: status {error.code} ({hide_in_message(str(error.reason))}). Check its address."
        ) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        words = reason.strerror if isinstance(reason, ConnectionError) and reason.strerror else str(reason)
        what = f"It could not be fetched: {hide_in_message(words) or 'it broke off'}"
        step = "Check the network, HTTPS_PROXY and SSL_CERT_FILE, or fetch it by hand."
        raise NotFetchedError(f"{what}. {step}") from None


def _request(url: str) -> Request:
    from urllib.request import Request

    parts = urlsplit(url)
    user, divided, host = parts.netloc.rpartition("@")
    request = Request(urlunsplit(parts._replace(netloc=host, fragment="")))
    if divided:
        name, _, password = user.partition(":")
        pair = f"{unquote(name)}:{unquote(password)}".encode()
        request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(pair).decode('ascii')}")
    return request


def _opener() -> OpenerDirector:
    """One that sends credentials on to the same host only."""
    from urllib.request import HTTPRedirectHandler, build_opener

    class Redirects(HTTPRedirectHandler):
        def redirect_request(self, req: Request, *answer: object) -> Request | None:  # type: ignore[override]
            to = super().redirect_request(req, *answer)  # type: ignore[arg-type]
            given = req.unredirected_hdrs.get("Authorization")
            if to is not None and given and urlsplit(to.full_url)[:2] == urlsplit(req.full_url)[:2]:
                to.add_unredirected_header("Authorization", given)
            return to

    return build_opener(Redirects)


def _body(answer: HTTPResponse, until_s: float) -> bytes:
    content = bytearray()
    while portion := answer.read1(_PORTION_BYTES):
        content += portion
        if len(content) > MOST_BYTES:
            raise NotFetchedError(f"It could not be fetched: it is larger than {MOST_BYTES // 2**20} MiB.")
        if time.monotonic() > until_s:
            raise TimeoutError  # nobody waits any more
    if answer.length:  # http.client takes a body that ends early for whole
        raise NotFetchedError(
            f"It could not be fetched: its body ended {answer.length:,} bytes early. Run again; if that helps nothing, "
            f"check its server and the proxy. {_BY_HAND}"
        )
    _check_text(bytes(content), answer.headers.get("Content-Encoding", ""))
    return bytes(content)


def _check_text(content: bytes, encoding: str) -> None:
    if content.startswith(b"\x1f\x8b") or encoding.lower() not in ("", "identity"):
        what = encoding.lower() or "gzip"
        raise NotFetchedError(f"Its server sends it compressed ({what}) without being asked to. {_BY_HAND}")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotFetchedError(
            f"It is no text in UTF-8 (byte {error.start:,}), as a module is. Check its address."
        ) from None
    if "\0" in text:
        raise NotFetchedError("It holds NUL and is no text, as a module is. Check its address.")
