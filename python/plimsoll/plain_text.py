"""Text of others for a terminal: names of files, runs and series, which may hold anything.

It imports nothing of the package, and all parts of it may import it.
"""

from __future__ import annotations


def plain(text: object) -> str:
    """Without control characters, line breaks and what is no text, so that a name cannot steer the terminal or forge a
    line."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in str(text))
