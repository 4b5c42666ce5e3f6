"""Secrets that any text tells by itself: logs, messages, URLs, commands.

Hidden are user and password of URLs, values with telling names before them (`token=…`, `"password": "…"`,
`--api-key …`), the credentials of authorization headers, all cookies of cookie headers, and passwords in SQL.

What stands for a value is no secret and stays: the placeholder of a statement (`token = $1`, `token = ?`), of a script
or command (`token=${X}`, `token=%s`), a constant that was taken out before (`'…'`), and a column of another table
(`s.token = u.token`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from plimsoll.study.secrets.in_urls import hide_in_urls, secret_parameters
from plimsoll.study.secrets.names import HIDDEN, SCHEMES, SHORT_WORDS, WORDS

_IS = r"(?:\\?['\"]|\])?\s*[=:]\s*"  # after a name, which may be in quotes or, of a form, in brackets
_QUOTED = r"\\\"[^\"]*\"|\"[^\"]*\"|'[^']*'"
_BRACED = r"\{[^}]*\}|\[[^\]]*\]"
_CALLED = r"(?:\w+\()+'[^']*'\)?"  # a function of SQL and its constant
_FOR_VALUE = r"\$\{[\w.:\-]+\}|\$[A-Z_][A-Z0-9_]*|\{\{\s*[\w.]+\s*\}\}|<[A-Za-z_\-]+>"  # of scripts and commands
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
    rf"(?P<kind>(?:{SCHEMES})\s+)?"
    rf"(?P<value>{_QUOTED}|(?:{_FOR_VALUE})(?![\w$])|{_BRACED}|{_CALLED}|[^\s&;,'\"}}]+)",
    re.IGNORECASE,
)
_TELLING_COLUMN = rf"\w*(?:{WORDS}|{SHORT_WORDS}|{_GLUED})"
_AROUND = r"(?:\w*\()*", r"(?:::[\w\[\]]+|\))*"  # calls and casts
_PLACEHOLDER = re.compile(
    rf"{_AROUND[0]}(?:\$\d{{1,4}}|\?|%[sd]|%\(\w+\)s|'…'|(?P<quote>[\"'])?(?:{_FOR_VALUE})(?(quote)(?P=quote))){_AROUND[1]}"
)
_REFERENCE = re.compile(rf"{_AROUND[0]}(?:[:@]|\w+\.){_TELLING_COLUMN}{_AROUND[1]}", re.IGNORECASE)
_STATEMENT = re.compile(
    r"\b(?:SELECT|UPDATE|DELETE|INSERT|MERGE|WITH)\b.+\b(?:FROM|SET|INTO|WHERE|VALUES)\b", re.IGNORECASE | re.DOTALL
)
_SCHEME = re.compile(r"\b(?P<kind>Bearer|Basic|ApiKey)\s+[A-Za-z0-9._~+/=\-]{6,}", re.IGNORECASE)
_DIGEST = re.compile(r"\bDigest\s+(?=\w+=)[^\r\n']+", re.IGNORECASE)
_SQL = re.compile(
    r"(?P<name>\b(?:IDENTIFIED\s+(?:WITH\s+\S+\s+)?(?:BY|AS)|PASSWORD)\s+)(?P<value>'[^']*'|\"[^\"]*\")", re.IGNORECASE
)


def stands_for_value(value: str, text: str) -> bool:
    """Whether it is a placeholder, a constant that was taken out or, if `text` around it is a statement, a column or a
    placeholder with a name: no secret, though a telling name precedes it."""
    if _PLACEHOLDER.fullmatch(value):
        return True
    return bool(_REFERENCE.fullmatch(value) and _STATEMENT.search(text))


def hide_in_text(text: str) -> str:
    """The text with "***" in place of what it tells to be secret."""
    text = hide_in_urls(_URL_USER.sub(rf"\g<scheme>{HIDDEN}@", text))
    text = _COOKIES.sub(_hidden, text)
    text = _AUTHORIZATION.sub(lambda match: f"{match['name']}{match['kind'] or ''}{HIDDEN}", text)
    text = _NAMED.sub(_hidden, text)
    text = _SQL.sub(_hidden, text)
    text = _SCHEME.sub(rf"\g<kind> {HIDDEN}", text)
    return _DIGEST.sub(f"Digest {HIDDEN}", text)


def hide_in_message(text: str) -> str:
    """Only what URLs and authorizations tell: a message of ours may name a key, `probes.otlp.token: …`, and say why."""
    text = hide_in_urls(_URL_USER.sub(rf"\g<scheme>{HIDDEN}@", text))
    return _SCHEME.sub(rf"\g<kind> {HIDDEN}", text)


def _hidden(match: re.Match[str]) -> str:
    """The name with "***" behind it; as it stands where no value follows but what stands for one."""
    if stands_for_value(match["value"], match.string):
        return match[0]
    return f"{match['name']}{match.groupdict().get('kind') or ''}{HIDDEN}"


def named_values(text: str) -> Iterator[str]:
    """The values with telling names before them, without quotes."""
    for pattern in (_NAMED, _SQL):
        for match in pattern.finditer(text):
            if stands_for_value(match["value"], text):
                continue
            yield match["value"].strip("\\'\"")
    yield from secret_parameters(text)


def urls_with_user(text: str) -> Iterator[str]:
    """The URLs in a text that hold a user, up to the host."""
    for match in _URL_USER.finditer(text):
        yield match[0]
