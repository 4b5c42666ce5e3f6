"""Secrets in the parameters of URLs and of forms: `?sig=…`, `&X-Amz-Signature=…`, `#access_token=…`, `code=…&state=…`.

A parameter is known by what stands before it (`?`, `&`, `#`, `;`, also as `&amp;`, `\\u0026` or percent-encoded, as in
a URL inside another one); the first of a form by the `&` behind it. Names are whole and their case does not matter:

- those that always hold a secret: signatures (Azure's SAS, Amazon's, Google's, CloudFront's), keys, codes and tokens;
- those that may, as `state`, `session` or `auth`: hidden unless the value is plain (a word, a number).

A name is read as the server reads it: `?To%6ben=…` is `Token`, also percent-encoded more than once.

What stands for a value stays: `?key=${KEY}`, `?key={key}`, `?key=:key`, `?key=%s`, `?key=$1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from plimsoll.study.secrets.names import HIDDEN, SHORT_WORDS, WORDS

_SIGNED = (
    r"sig|signature|sign|hmac|x-amz-(?:signature|credential|security-token)|x-goog-[\w\-]+|awsaccesskeyid|googleaccessid|"
    r"key-pair-id|oauth_(?:signature|token|token_secret|verifier|consumer_key)|sas|sas_?token|"
    r"saml(?:request|response|art)|client_?assertion|assertion|code_verifier|device_code|user_code"
)
_KEYS = r"key|code|x-api-key|x-functions-key|app_?key|auth_?key|auth_?token|consumer_?key|ticket_?granting_?ticket"
_MAYBE = r"state|session|sess|sid|auth|ticket|nonce|otp|pin|hash|login_?hint|invite|invitation|magic|verification|reset"
_GLUED = r"[\w.\-]{0,40}(?:password|passwd|secret|token|apikey|api_key|api-key)s?"
_ENCODED = r"%(?:25){0,8}"  # begins a character that is percent-encoded, once or more often
_BEFORE = rf"[?&#;]|&amp;|\\u0026|{_ENCODED}(?:3F|26|23)"
_FIRST_OF_FORM = r"(?<![\w?&#;%.\-])(?=[\w.\-]{1,40}=[^\s&]{0,400}&[\w.\-]+=)"
_DIGIT = r"[^\s&#;<>\"'`\\)\]}]"
_TEMPLATE = r"\$?\{[^{}\s]{0,60}\}|%\(\w+\)s"
_VALUE = rf"(?:{_TEMPLATE}|{_DIGIT})+"
_VALUE_INSIDE = rf"(?:{_TEMPLATE}|(?!{_ENCODED}2[63]){_DIGIT})+"  # of a URL that is itself a parameter
_PARAMETER = re.compile(
    rf"(?P<name>(?:{_BEFORE}|{_FIRST_OF_FORM})"
    rf"(?:(?P<maybe>{_MAYBE})|{_SIGNED}|{_KEYS}|(?:[\w.\-]{{1,60}}(?:\[|%5B))?(?:{WORDS}|{SHORT_WORDS}|{_GLUED})(?:\]|%5D)?)"
    rf"(?:=(?={_DIGIT}|\{{)|{_ENCODED}3D))(?P<value>(?<==){_VALUE}|(?<=3D){_VALUE_INSIDE})",
    re.IGNORECASE,
)
_LETTER = rf"[\w.\-\[\]+]|{_ENCODED}(?!3D|3F|26|23)[0-9A-F]{{2}}"
_ENCODED_NAME = re.compile(
    rf"(?P<before>(?:{_BEFORE}|(?<![\w%.\-\[\]+]))(?P<name>(?=[\w.\-\[\]+]{{0,60}}%)(?:{_LETTER}){{1,120}})"
    rf"(?:=(?={_DIGIT}|\{{)|{_ENCODED}3D))(?P<value>(?<==){_VALUE}|(?<=3D){_VALUE_INSIDE})",
    re.IGNORECASE,
)
_MOST_DECODINGS = 9
_STANDS = re.compile(
    r"\$\d{1,4}|\?|%[sd]|%\(\w+\)s|\$?\{[^{}\s]*\}|\$\w+|:[A-Za-z_]{1,30}|<\w*|…|\.{3}|\*+|%7B\w+%7D", re.IGNORECASE
)
_PLAIN = re.compile(r"\d{1,6}|[A-Za-z]{1,11}(?:[_\-][A-Za-z]{1,11}){0,2}")
_NUMBER = re.compile(r"\d{1,5}")


def hide_in_urls(text: str) -> str:
    """The text with "***" in place of the secret parameters of its URLs and forms."""
    if "=" not in text and "%" not in text:
        return text
    if "%" in text:
        text = _ENCODED_NAME.sub(lambda found: found["before"] + HIDDEN if _has_secret(found) else found[0], text)
    return _PARAMETER.sub(lambda found: found["name"] + HIDDEN if _is_secret(found) else found[0], text)


def secret_parameters(text: str) -> Iterator[str]:
    """The values of these parameters."""
    if "%" in text:
        yield from (found["value"] for found in _ENCODED_NAME.finditer(text) if _has_secret(found))
    if "=" in text or "%" in text:
        yield from (found["value"] for found in _PARAMETER.finditer(text) if _is_secret(found))


def _has_secret(encoded: re.Match[str]) -> bool:
    """Whether a parameter with a percent-encoded name is secret by the name that it means."""
    name = encoded["name"]
    for _ in range(_MOST_DECODINGS):
        plain = unquote(name)
        if plain == name:
            break
        name = plain
    found = _PARAMETER.match(f"?{name}={encoded['value']}")
    return found is not None and _is_secret(found)


def _is_secret(found: re.Match[str]) -> bool:
    value = found["value"]
    if _STANDS.fullmatch(value):
        return False
    return not (_PLAIN if found["maybe"] else _NUMBER).fullmatch(value)
