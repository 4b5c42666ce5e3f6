"""Remote modules of a script (`import … from 'https://…'`): fetched once while it is loaded, never under load.

What was fetched is kept by its hash in the user's cache. The hashes stand in a lock file beside the script, which
belongs beside it in version control: a module that has changed since is refused, as it would make another load. The
addresses stand there without their secrets (`https://***@host/m.js?token=***`), and are looked up so.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from plimsoll.errors import InputError
from plimsoll.module_download import NotFetchedError, download
from plimsoll.runs.format.small_files import read_small
from plimsoll.study.secrets.in_text import hide_in_message
from plimsoll.user_cache import made_in_cache, user_cache
from plimsoll.written_files import write_named, write_own

LOCK_NAME = "plimsoll-modules.json"
OFFLINE = "PLIMSOLL_OFFLINE"
_VERSION = 1
_FORM = '{"version": 1, "modules": {"https://…": "SHA-256"}}'
_SHA256 = re.compile(r"[0-9a-f]{64}")


class ChangedModuleError(NotFetchedError):
    """A module that is not the one that the lock file records."""


def known_modules(script: Path) -> dict[str, Path]:
    """The files of the modules that the script's lock file records, as far as they are in the cache, by address; those
    with secrets in it are not found so, see fetch_module.

    Raises InputError for a lock file that is none.
    """
    return {url: file for url, sha256 in _recorded(script).items() if _is_whole(file := _kept_as(url, sha256), sha256)}


def fetch_module(url: str, script: Path, *, offline: bool = False) -> Path:
    """The file of a module that is not known yet: of the cache, where it has what the lock file records; else fetched,
    compared with the lock file or recorded in it.

    Proxies are those of HTTPS_PROXY, HTTP_PROXY and NO_PROXY; further authorities those of SSL_CERT_FILE and
    SSL_CERT_DIR. Raises NotFetchedError.
    """
    recorded = _recorded(script)
    locked = recorded.get(url) or recorded.get(without_secrets(url))
    if locked is not None and _is_whole(kept := _kept_as(url, locked), locked):
        return kept
    if offline or os.environ.get(OFFLINE) not in (None, "", "0", "false"):
        raise NotFetchedError(f"Nothing is fetched offline ({OFFLINE}, --offline). Correct that, or fetch it by hand.")
    content = download(url)
    sha256 = hashlib.sha256(content).hexdigest()
    lock = lock_of(script)
    if locked not in (None, sha256):
        raise ChangedModuleError(
            f"Its SHA-256 is {sha256}, and {lock} records {locked}. Find out what changed and who changed it: compare "
            f"it with a copy that you trust, or ask who serves it. Only if it is as it should be, take its line out of "
            f"{lock.name}: the next run records it anew."
        )
    file = _kept_as(url, sha256)
    try:
        made_in_cache("modules", sha256)
        write_own(file, content)
    except OSError as error:
        raise NotFetchedError(f"It cannot be kept in {file.parent}: {error.strerror}. Set XDG_CACHE_HOME.") from None
    if locked is None:
        _record(lock, {**recorded, url: sha256})
        told = f"plimsoll: fetched {without_secrets(url)} ({len(content):,} bytes) and recorded its hash in {lock}"
        print(told, file=sys.stderr)
    return file


def without_secrets(text: str) -> str:
    """An address, or a message with addresses, as they are shown and recorded."""
    return hide_in_message(text)


def lock_of(script: Path) -> Path:
    """The lock file of a script."""
    return script.resolve().parent / LOCK_NAME


def _recorded(script: Path) -> dict[str, str]:
    """SHA-256 of each module that the lock file records; empty without one."""
    lock = lock_of(script)
    try:
        text = read_small(lock).decode("utf-8")
        modules = _modules_in(text)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise _broken_lock(lock, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _broken_lock(lock, "is no text in UTF-8") from None
    except json.JSONDecodeError as error:
        raise _broken_lock(lock, "is no JSON", error.lineno) from None
    except (ValueError, RecursionError):
        raise _broken_lock(lock, "is no JSON that can be read") from None
    if isinstance(modules, str):
        raise _broken_lock(lock, modules)
    return modules


def _modules_in(text: str) -> dict[str, str] | str:
    """What a lock file records, or what is wrong with it."""
    content = json.loads(text)
    if not isinstance(content, dict) or "modules" not in content:
        return "has no 'modules'"
    modules = content["modules"]
    if not isinstance(modules, dict):
        return "has no addresses in its 'modules'"
    for url, sha256 in modules.items():
        if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
            return f"has no SHA-256 (64 hexadecimal digits) for {without_secrets(url)}"
    return modules


def _broken_lock(lock: Path, what: str, line: int | None = None) -> InputError:
    step = f"Restore it, or delete it to record the modules anew; its form is {_FORM}."
    return InputError(f"the lock file of remote modules {what}", step, file=lock, line=line)


def _record(lock: Path, modules: Mapping[str, str]) -> None:
    hidden = {without_secrets(url): sha256 for url, sha256 in modules.items()}
    text = json.dumps({"version": _VERSION, "modules": dict(sorted(hidden.items()))}, indent=2) + "\n"
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
