"""Secrets in the parameters of URLs and of forms: `?sig=…`, `&X-Amz-Signature=…`, `#access_token=…`, `code=…&state=…`.

A parameter is known by what stands before it (`?`, `&`, `#`, `;`, also as `&amp;`, `\\u0026` or percent-encoded, as in
a URL inside another one); the first of a form by the `&` behind it. Names are whole and their case does not matter:

- those that always hold a secret: signatures (Azure's SAS, Amazon's, Google's, CloudFront's), keys, codes and tokens;
- those that may, as `state`, `session` or `auth`: hidden unless the value is plain (a word, a number).

What stands for a value stays: `?key=${KEY}`, `?key={key}`, `?key=:key`, `?key=%s`, `?key=$1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from plimsoll.study.secret_names import HIDDEN, SHORT_WORDS, WORDS

_SIGNED = (
    r"sig|signature|sign|hmac|x-amz-(?:signature|credential|security-token)|x-goog-[\w\-]+|awsaccesskeyid|googleaccessid|"
    r"key-pair-id|oauth_(?:signature|token|token_secret|verifier|consumer_key)|sas|sas_?token|"
    r"saml(?:request|response|art)|client_?assertion|assertion|code_verifier|device_code|user_code"
)
_KEYS = r"key|code|x-api-key|x-functions-key|app_?key|auth_?key|auth_?token|consumer_?key|ticket_?granting_?ticket"
_MAYBE = r"state|session|sess|sid|auth|ticket|nonce|otp|pin|hash|login_?hint|invite|invitation|magic|verification|reset"
_GLUED = r"[\w.\-]{0,40}(?:password|passwd|secret|token|apikey|api_key|api-key)s?"
_BEFORE = r"[?&#;]|&amp;|\\u0026|%3F|%26|%23"
_FIRST_OF_FORM = r"(?<![\w?&#;%.\-])(?=[\w.\-]{1,40}=[^\s&]{0,400}&[\w.\-]+=)"
_DIGIT = r"[^\s&#;<>\"'`\\)\]}]"
_TEMPLATE = r"\$?\{[^{}\s]{0,60}\}|%\(\w+\)s"
_VALUE = rf"(?:{_TEMPLATE}|{_DIGIT})+"
_VALUE_INSIDE = rf"(?:{_TEMPLATE}|(?!%26|%23){_DIGIT})+"  # of a URL that is itself a parameter
_PARAMETER = re.compile(
    rf"(?P<name>(?:{_BEFORE}|{_FIRST_OF_FORM})"
    rf"(?:(?P<maybe>{_MAYBE})|{_SIGNED}|{_KEYS}|(?:[\w.\-]{{1,60}}(?:\[|%5B))?(?:{WORDS}|{SHORT_WORDS}|{_GLUED})(?:\]|%5D)?)"
    rf"(?:=(?={_DIGIT}|\{{)|%3D))(?P<value>(?<==){_VALUE}|(?<=%3D){_VALUE_INSIDE})",
    re.IGNORECASE,
)
_STANDS = re.compile(
    r"\$\d{1,4}|\?|%[sd]|%\(\w+\)s|\$?\{[^{}\s]*\}|\$\w+|:[A-Za-z_]{1,30}|<\w*|…|\.{3}|\*+|%7B\w+%7D", re.IGNORECASE
)
_PLAIN = re.compile(r"\d{1,6}|[A-Za-z]{1,11}(?:[_\-][A-Za-z]{1,11}){0,2}")
_NUMBER = re.compile(r"\d{1,5}")


def hide_in_urls(text: str) -> str:
    """The text with "***" in place of the secret parameters of its URLs and forms."""
    if "=" not in text and "%3" not in text:
        return text
    return _PARAMETER.sub(lambda found: found["name"] + HIDDEN if _is_secret(found) else found[0], text)


def secret_parameters(text: str) -> Iterator[str]:
    """The values of these parameters."""
    if "=" in text or "%3" in text:
        yield from (found["value"] for found in _PARAMETER.finditer(text) if _is_secret(found))


def _is_secret(found: re.Match[str]) -> bool:
    value = found["value"]
    if _STANDS.fullmatch(value):
        return False
    return not (_PLAIN if found["maybe"] else _NUMBER).fullmatch(value)
