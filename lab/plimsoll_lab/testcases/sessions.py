"""Login, sessions and permissions.

A session lives in this process: as many as MOST_SESSIONS, the one not used for longest goes first. What its user may
do is read once, at login. Passwords are kept as PBKDF2 hashes.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass

from sqlalchemy import Connection, select

from plimsoll_lab.testcases import schema as s

MOST_SESSIONS = 10_000
ROUNDS = 20_000  # few, as the users are invented


@dataclass(frozen=True)
class Person:
    """Who calls, and whether they may change anything."""

    id: int
    username: str
    may_write: bool


class Sessions:
    """Session id → person."""

    def __init__(self, most: int = MOST_SESSIONS) -> None:
        self._most = most
        self._people: OrderedDict[str, Person] = OrderedDict()

    def open(self, person: Person) -> str:
        """A new session of that person; returns its id."""
        key = secrets.token_urlsafe(24)
        self._people[key] = person
        if len(self._people) > self._most:
            self._people.popitem(last=False)
        return key

    def person(self, key: str | None) -> Person | None:
        """Whose session that is; None if it is none."""
        person = self._people.get(key) if key else None
        if person is not None and key is not None:
            self._people.move_to_end(key)
        return person

    def close(self, key: str | None) -> None:
        """End that session, if there is one."""
        if key:
            self._people.pop(key, None)

    def close_all(self) -> None:
        """End every session."""
        self._people.clear()


def hashed(password: str, salt: bytes) -> str:
    """Salt and hash, hexadecimal."""
    return salt.hex() + hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ROUNDS).hex()


def known_person(connection: Connection, username: str, password: str) -> Person | None:
    """The person with that login and password; an unknown login takes as long as a wrong password."""
    row = connection.execute(select(s.users).where(s.users.c.username == username)).first()
    kept = row.password if row else hashed("", bytes(16))
    right = hmac.compare_digest(hashed(password, bytes.fromhex(kept[:32])), kept)
    return Person(row.id, row.username, row.may_write) if row is not None and right else None
