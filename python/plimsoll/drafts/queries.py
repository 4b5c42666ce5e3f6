"""Query strings and paths without what is private: values of secret keys are never kept, nor paths that hold one."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from urllib.parse import unquote

from plimsoll.study.secrets.names import is_secret_key, may_be_secret_variable

_SECRET = re.compile(
    r"key|sig|signature|hmac|auth|code|otp|pin|sid|session|ticket|nonce|csrf|xsrf|credential|x-amz-.*|"
    r"assertion|samlresponse|samlrequest|invite|hash",
    re.IGNORECASE,
)
_HARMLESS_ENDS = ("code", "hash")  # country_code
_JWT = re.compile(r"eyJ[\w-]{8,}\.[\w-]+")
_BEFORE_SECRETS = re.compile(
    r"reset(?:-?password)?|password|verify|verification|confirm|activate|activation|invites?|invitations?|magic(?:-?link)?"
    r"|unsubscribe|tokens?|secrets?|share|sso|oauth2?",
    re.IGNORECASE,
)
_LONG = re.compile(r"(?=.*\d)[\w=.~-]{16,}")
LONGEST_TARGET = 2000  # characters of a path with its query that is kept as a value


@lru_cache(maxsize=1 << 14)
def is_secret_parameter(key: str) -> bool:
    """Whether a parameter of that name is never written: token, api_key, password, sig, code …"""
    name = unquote(key).strip()
    last = re.split(r"[._\-\[\]]+", name.rstrip("]"))[-1]
    if is_secret_key(name) or is_secret_key(last) or may_be_secret_variable(name) or _SECRET.fullmatch(name):
        return True
    return _SECRET.fullmatch(last) is not None and last.lower() not in _HARMLESS_ENDS


def without_secrets(query: str) -> tuple[str, list[str]]:
    """(the query without parameters that hold a secret, their names)."""
    if not query:
        return "", []
    kept, secret = [], []
    for part in query.split("&"):
        key, _, value = part.partition("=")
        if is_secret_parameter(key) or _JWT.search(value):
            secret.append(unquote(key)[:40])
        else:
            kept.append(part)
    return "&".join(kept), secret


def is_web_token(value: str) -> bool:
    """Whether a JSON web token is in it."""
    return _JWT.search(value) is not None


def has_secret(path: str) -> bool:
    """Whether a path holds what lets somebody in: /reset/6f1c…, a JSON web token."""
    if _JWT.search(path):
        return True
    segments = path.split("/")
    return any(_BEFORE_SECRETS.fullmatch(before) and _LONG.fullmatch(segment) for before, segment in pairwise(segments))
