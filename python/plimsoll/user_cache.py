"""Where things are kept that can be had again: the user's cache (XDG Base Directory Specification). What is in it goes
into reports and scripts, so that nobody else may write there, whatever the umask says."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from plimsoll.written_files import PRIVATE_FOLDER


def user_cache() -> Path:
    """The folder of Plimsoll's there; a relative XDG_CACHE_HOME counts for nothing, as the current folder may be
    anybody's."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path("~/.cache").expanduser()) / "plimsoll"


def made_in_cache(*names: str) -> Path:
    """A folder in it, made where it is missing. It and those above it in the cache are their owner's alone, also those
    that an earlier version made otherwise. Raises OSError."""
    cache = user_cache()
    for missing in reversed([cache, *cache.parents]):
        if not missing.exists():
            missing.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    folder = cache
    for name in ("", *names):
        folder = folder / name
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        if stat.S_IMODE(folder.stat().st_mode) & ~PRIVATE_FOLDER:
            with contextlib.suppress(PermissionError):  # somebody else's, as in an image of a CI system
                folder.chmod(PRIVATE_FOLDER)
    return folder
