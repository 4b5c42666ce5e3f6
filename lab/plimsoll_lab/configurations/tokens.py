"""Who is who: users, and the tokens that they get at jts. Every service checks a token by itself, as they share the
secret of the data folder; a tool's proxy asks jts.

A token is `payload.signature`, both base64url: the payload is JSON with user and time of expiry, the signature
HMAC-SHA256. So nothing is kept for each of them, and they outlive a restart.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request

from plimsoll_lab.configurations.answers import Refusal
from plimsoll_lab.seeding import seeded_faker

LIFETIME_S = 12 * 3600
_TOKEN = re.compile(r"[A-Za-z0-9_.-]{1,1000}", re.ASCII)
USERS = 30
INDEXER = "ldx"
STEP = "Send Authorization: Bearer with a token of POST /jts/login."


@dataclass(frozen=True)
class User:
    """One user, with the password that only `users.json` keeps in the clear."""

    username: str
    name: str
    password: str


def invented_users(seed: int) -> list[User]:
    """The users engineer01 … engineer30 and the one that the link indexer works as; the same seed, the same people."""
    faker = seeded_faker(seed)
    names = [f"engineer{number:02d}" for number in range(1, USERS + 1)]
    people = [User(username, faker.name(), _password(seed, username)) for username in names]
    return [*people, User(INDEXER, "Link indexer", _password(seed, INDEXER))]


def _password(seed: int, username: str) -> str:
    return hashlib.sha256(f"plimsoll configurations {seed} {username}".encode()).hexdigest()[:16]


def password_hash(password: str, salt: str) -> bytes:
    """scrypt; light (some 3 ms), as the lab's passwords guard nothing."""
    return hashlib.scrypt(password.encode(errors="replace"), salt=salt.encode(), n=1024, r=8, p=1, dklen=32)


class Tokens:
    """Makes tokens and checks them; `clock` gives seconds since 1970."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._secret = secret.encode()
        self._clock = clock

    def new(self, username: str) -> str:
        """A token that is good for LIFETIME_S."""
        payload = {"sub": username, "exp": int(self._clock()) + LIFETIME_S}
        body = _encoded(json.dumps(payload, separators=(",", ":")).encode())
        return f"{body}.{_encoded(self._signature(body))}"

    def holder(self, token: str) -> str | None:
        """Whose token it is; None if it is forged, damaged or expired."""
        if not could_be_token(token):
            return None
        body, _, signature = token.partition(".")
        try:
            if not hmac.compare_digest(_decoded(signature), self._signature(body)):
                return None
            payload = json.loads(_decoded(body))
            good = payload["exp"] > self._clock()
        except (ValueError, binascii.Error, KeyError, TypeError):
            return None
        return str(payload["sub"]) if good else None

    def user_of(self, request: Request) -> str:
        """Who sends the request. Raises Refusal (401)."""
        holder = self.holder(bearer(request))
        if holder is None:
            raise Refusal(401, f"The token is missing, wrong or expired. {STEP}")
        return holder

    def _signature(self, body: str) -> bytes:
        return hmac.new(self._secret, body.encode(), hashlib.sha256).digest()


def could_be_token(text: str) -> bool:
    """Whether it has the letters and the length of a token; other letters are none that a header could pass on."""
    return _TOKEN.fullmatch(text) is not None


def bearer(request: Request) -> str:
    """The token that the request carries; empty without one."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
