"""Secrets that any text tells by itself: logs, messages, URLs, commands.

Hidden are user and password of URLs, values with telling names before them (`token=…`, `"password": "…"`,
`--api-key …`), the credentials of authorization headers, all cookies of cookie headers, and passwords in SQL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from plimsoll.study.secret_names import HIDDEN, SCHEMES, SHORT_WORDS, WORDS

_IS = r"(?:\\?['\"])?\s*[=:]\s*"  # after a name, which may be in quotes
_QUOTED = r"\\\"[^\"]*\"|\"[^\"]*\"|'[^']*'"
_BRACED = r"\{[^}]*\}|\[[^\]]*\]"
_GLUED = r"\w{0,40}(?:password|passwd|secret|token)s?"  # PGPASSWORD; the bound keeps long lines cheap

_URL_USER = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]{0,30}://)[^\s/?#\"<>]+@")
_COOKIE = r"(?:=\"[^\"]*\"|[^\s;,'\"}])+"
_COOKIES = re.compile(
    rf"(?P<name>\b(?:set-)?cookies?2?{_IS})"
    rf"(?P<value>{_QUOTED}|{_BRACED}|{_COOKIE}(?:;[ \t]*{_COOKIE}|,[ \t]*[\w.\-]+=(?:{_COOKIE})?)*)",
    re.IGNORECASE,
)
# A scheme that is not known may be followed by anything: all to the end of the line, or of the quotes, is hidden.
_AUTHORIZATION = re.compile(
    rf"(?P<name>\b(?:proxy-)?authorization(?:\\?['\"])?\s*:(?!\s*(?:{_QUOTED}))\s*)"
    rf"(?:(?P<kind>(?:{SCHEMES})\s+)[^\s;,'\"}}]+|(?:=\"[^\"]*\"|[^\r\n'\"])+)",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"(?P<name>(?:\b|[_\-])(?:{WORDS}|{_GLUED})\b{_IS}|--(?:[\w]+-)*(?:{WORDS}|{SHORT_WORDS})\s+"
    rf"|(?:\b|[_\-])(?:{SHORT_WORDS})=|(?P<quote>['\"])(?:{SHORT_WORDS})(?P=quote)\s*:\s*)"
    rf"(?P<kind>(?:{SCHEMES})\s+)?(?P<value>{_QUOTED}|{_BRACED}|[^\s&;,'\"}}]+)",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"\b(?P<kind>Bearer|Basic|ApiKey)\s+[A-Za-z0-9._~+/=\-]{6,}", re.IGNORECASE)
_DIGEST = re.compile(r"\bDigest\s+(?=\w+=)[^\r\n']+", re.IGNORECASE)
_SQL = re.compile(
    r"(?P<name>\b(?:IDENTIFIED\s+(?:WITH\s+\S+\s+)?(?:BY|AS)|PASSWORD)\s+)(?P<value>'[^']*'|\"[^\"]*\")", re.IGNORECASE
)


def hide_in_text(text: str) -> str:
    """The text with "***" in place of what it tells to be secret."""
    text = _URL_USER.sub(rf"\g<scheme>{HIDDEN}@", text)
    text = _COOKIES.sub(rf"\g<name>{HIDDEN}", text)
    text = _AUTHORIZATION.sub(lambda match: f"{match['name']}{match['kind'] or ''}{HIDDEN}", text)
    text = _NAMED.sub(lambda match: f"{match['name']}{match['kind'] or ''}{HIDDEN}", text)
    text = _SQL.sub(rf"\g<name>{HIDDEN}", text)
    text = _SCHEME.sub(rf"\g<kind> {HIDDEN}", text)
    return _DIGEST.sub(f"Digest {HIDDEN}", text)


def named_values(text: str) -> Iterator[str]:
    """The values with telling names before them, without quotes."""
    for pattern in (_NAMED, _SQL):
        for match in pattern.finditer(text):
            yield match["value"].strip("\\'\"")


def urls_with_user(text: str) -> Iterator[str]:
    """The URLs in a text that hold a user, up to the host."""
    for match in _URL_USER.finditer(text):
        yield match[0]
