"""Where things are kept that can be had again: the user's cache (XDG Base Directory Specification)."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache() -> Path:
    """The folder of Plimsoll's there; a relative XDG_CACHE_HOME counts for nothing, as the current folder may be
    anybody's."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path("~/.cache").expanduser()) / "plimsoll"
