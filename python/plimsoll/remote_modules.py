"""Remote modules of a script (`import … from 'https://…'`): fetched once while it is loaded, never under load.

What was fetched is kept by its hash in the user's cache. The hashes stand in a lock file beside the script, which
belongs beside it in version control: a module that has changed since is refused, as it would make another load.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from plimsoll.errors import InputError
from plimsoll.user_cache import user_cache
from plimsoll.written_files import write_named, write_own

LOCK_NAME = "plimsoll-modules.json"
OFFLINE = "PLIMSOLL_OFFLINE"
TIMEOUT_S = 30.0
MOST_BYTES = 10 * 2**20
_VERSION = 1


class NotFetchedError(Exception):
    """Why a module could not be had, and what to do, in whole sentences."""


def known_modules(script: Path) -> dict[str, Path]:
    """The files of the modules that the script's lock file records, as far as they are in the cache, by address.

    Raises InputError for a lock file that is none.
    """
    return {url: file for url, sha256 in _recorded(script).items() if _is_whole(file := _kept_as(url, sha256), sha256)}


def fetch_module(url: str, script: Path, *, offline: bool = False) -> Path:
    """The file of a module that is not here yet: fetched, compared with the lock file or recorded in it.

    Proxies are those of HTTPS_PROXY, HTTP_PROXY and NO_PROXY; further authorities those of SSL_CERT_FILE and
    SSL_CERT_DIR. Raises NotFetchedError.
    """
    if offline or os.environ.get(OFFLINE) not in (None, "", "0", "false"):
        raise NotFetchedError(f"Nothing is fetched offline ({OFFLINE}, --offline). Correct that, or fetch it by hand.")
    content = _download(url)
    sha256 = hashlib.sha256(content).hexdigest()
    recorded = _recorded(script)
    lock = lock_of(script)
    if recorded.get(url, sha256) != sha256:
        raise NotFetchedError(
            f"It has changed: its SHA-256 is {sha256}, and {lock} records {recorded[url]}. Look at what changed; if "
            f"it is as it should be, take its line out of {lock.name}."
        )
    file = _kept_as(url, sha256)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_own(file, content)
    except OSError as error:
        raise NotFetchedError(f"It cannot be kept in {file.parent}: {error.strerror}. Set XDG_CACHE_HOME.") from None
    if url not in recorded:
        _record(lock, {**recorded, url: sha256})
        told = f"plimsoll: fetched {url} ({len(content):,} bytes) and recorded its hash in {lock}"
        print(told, file=sys.stderr)
    return file


def lock_of(script: Path) -> Path:
    """The lock file of a script."""
    return script.resolve().parent / LOCK_NAME


def _download(url: str) -> bytes:
    import http.client  # with urllib.request a third of what the engine takes to import, for scripts that fetch
    import urllib.error
    import urllib.request

    try:
        with urllib.request.urlopen(urllib.request.Request(url), timeout=TIMEOUT_S) as answer:
            content: bytes = answer.read(MOST_BYTES + 1)
    except urllib.error.HTTPError as error:
        raise NotFetchedError(
            f"It could not be fetched: status {error.code} ({error.reason}). Check its address."
        ) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise NotFetchedError(
            f"It could not be fetched: {reason}. Check the network, HTTPS_PROXY and SSL_CERT_FILE, or fetch it by hand."
        ) from None
    if len(content) > MOST_BYTES:
        raise NotFetchedError(f"It could not be fetched: it is larger than {MOST_BYTES // 2**20} MiB.")
    return content


def _recorded(script: Path) -> dict[str, str]:
    """SHA-256 of each module that the lock file records; empty without one."""
    lock = lock_of(script)
    try:
        content = json.loads(lock.read_text(encoding="utf-8"))
        return {str(url): str(sha256) for url, sha256 in content["modules"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        form = '{"version": 1, "modules": {"https://…": "SHA-256"}}'
        step = f"Restore it, or delete it to record the modules anew; its form is {form}."
        raise InputError(f"the lock file of remote modules cannot be read ({error})", step, file=lock) from None


def _record(lock: Path, modules: Mapping[str, str]) -> None:
    text = json.dumps({"version": _VERSION, "modules": dict(sorted(modules.items()))}, indent=2) + "\n"
    try:
        write_named(lock, text)
    except OSError as error:
        print(f"plimsoll: {lock} cannot be written ({error.strerror}): a change would not be noticed", file=sys.stderr)


def _is_whole(file: Path, sha256: str) -> bool:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() == sha256
    except OSError:
        return False


def _kept_as(url: str, sha256: str) -> Path:
    """Where a module is kept; its name keeps the extension, which says what it is."""
    return user_cache() / "modules" / sha256 / (PurePosixPath(urlsplit(url).path).name or "index.js")
