"""Names that tell of a secret: of keys, environment variables, headers, parameters and flags."""

from __future__ import annotations

import re

HIDDEN = "***"

WORDS = (
    r"tokens?|passwords?|passwd|passphrase|pwd|secrets?|dsn|cookies?|authorization|credentials?|jwt|"
    r"(?:api|access|private|secret|account|subscription|functions|signing|encryption|master)[_-]?keys?|"
    r"shared[_-]?access[_-]?(?:keys?|signature)|[jp]?session[_-]?id|phpsessid|connect\.sid|bearer"
)
SHORT_WORDS = "pass|pw"  # in running text they are words like others; as a whole part of a name they tell
SCHEMES = "Bearer|Basic|Token|ApiKey|Api-Key|Negotiate|NTLM|GenieKey|SSWS|JWT"  # one word of credentials follows
_TELLING = re.compile(rf"(?:^|[_\-. ])(?:{WORDS}|{SHORT_WORDS})(?:$|[_\-. ])|[_\-]auth$", re.IGNORECASE)
_TELLING_END = re.compile(r"(?:password|passwd|secret|token)s?$", re.IGNORECASE)
_OF_NO_SECRET = re.compile(
    r"[_\-](?:file|dir|directory|path|stdin|jar|ttl|timeout|length|name|type|policy)$", re.IGNORECASE
)
_OF_REQUEST = re.compile(r"[/{?]|://")  # a request's or a submetric's name, no name of a value
_OF_SHELLS = ("PWD", "OLDPWD")  # the current folder
# Of variables (-e STRIPE_KEY=…), whose other words may be anything.
_VARIABLE = re.compile(r"(?:^|_)(?:KEY|SIG|SIGNATURE|SALT|HMAC|PIN|OTP|AUTH)$", re.IGNORECASE)
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def is_secret_key(key: str) -> bool:
    """Whether a key of that name holds a secret: db_password, apiToken, PGPASSWORD, DB_PASS, X-Authorization …"""
    if key in _OF_SHELLS or _OF_REQUEST.search(key):
        return False
    spaced = _CAMEL_CASE.sub("_", key)
    return bool(_TELLING.search(spaced)) or bool(_TELLING_END.search(key))


def is_secret_name(name: str) -> bool:
    """The same for an environment variable or a flag, where PASSWORD_FILE, --token-ttl and --password-stdin say what
    goes with a secret, and hold none."""
    return is_secret_key(name) and not _OF_NO_SECRET.search(name)


def may_be_secret_variable(name: str) -> bool:
    """Whether a variable of that name holds a secret unless its value is plain: STRIPE_KEY, SAS_SIG, LOGIN_PIN."""
    return bool(_VARIABLE.search(name))
