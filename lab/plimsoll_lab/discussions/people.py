"""Who asks: sessions by a cookie, and the token that proves that a change was asked for by the page itself.

A session's cookie is a random secret, of which the database keeps the digest. Django's rule holds for CSRF: a request
that changes something must carry the value of the cookie `csrftoken` in the header X-CSRFToken as well, which a
foreign page cannot read.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from plimsoll_lab.discussions.forms import Refusal
from plimsoll_lab.discussions.queries import now_ms
from plimsoll_lab.discussions.schema import MODERATOR, sessions, users
from plimsoll_lab.discussions.seed import digest

SESSION_COOKIE, CSRF_COOKIE, CSRF_HEADER = "sessionid", "csrftoken", "x-csrftoken"
SESSION_MS = 14 * 86_400_000
SAFE_METHODS = ("GET", "HEAD")


@dataclass(frozen=True)
class Viewer:
    """The user who asks."""

    id: int
    username: str
    email: str
    role: str

    @property
    def is_moderator(self) -> bool:
        return self.role == MODERATOR


def viewer_of(connection: Connection, session: str) -> Viewer | None:
    """The user of a session's cookie; None if there is no such session or it is too old."""
    own = (sessions.c.digest == digest(session), sessions.c.created_ms > now_ms() - SESSION_MS)
    statement = select(users).join(sessions, sessions.c.user_id == users.c.id).where(*own)
    row = connection.execute(statement).first()
    return None if row is None else Viewer(row.id, row.username, row.email, row.role)


def log_in(connection: Connection, email: str, password: str) -> tuple[Viewer, str] | None:
    """A new session for who knows the password: the user and the cookie's value; None if it is wrong."""
    row = connection.execute(select(users).where(users.c.email == email.lower())).first()
    kept = row.secret_sha256 if row is not None else digest("")
    if not hmac.compare_digest(kept, digest(password)) or row is None:
        return None
    return Viewer(row.id, row.username, row.email, row.role), _new_session(connection, row.id)


def log_in_without_password(connection: Connection, username: str) -> tuple[Viewer, str] | None:
    """A new session for that user, as Open edX's auto_auth gives for load tests; None if there is no such user."""
    row = connection.execute(select(users).where(users.c.username == username)).first()
    if row is None:
        return None
    return Viewer(row.id, row.username, row.email, row.role), _new_session(connection, row.id)


def log_out(connection: Connection, session: str) -> None:
    """End a session."""
    connection.execute(delete(sessions).where(sessions.c.digest == digest(session)))


def new_token() -> str:
    """A value for the cookie `csrftoken`."""
    return secrets.token_hex(16)


def check_token(method: str, cookie: str | None, header: str | None) -> None:
    """Refuse a change whose header does not repeat the cookie."""
    if method in SAFE_METHODS:
        return
    step = "Get one at /csrf/api/v1/token and send it as the cookie csrftoken and the header X-CSRFToken."
    if not cookie or not header:
        missing = "cookie csrftoken" if not cookie else "header X-CSRFToken"
        raise Refusal(403, f"CSRF check failed: the {missing} is missing. {step}")
    if not hmac.compare_digest(cookie.encode(), header.encode()):
        raise Refusal(403, f"CSRF check failed: X-CSRFToken is not the cookie's value. {step}")


def _new_session(connection: Connection, user_id: int) -> str:
    session = secrets.token_hex(16)
    connection.execute(delete(sessions).where(sessions.c.created_ms <= now_ms() - SESSION_MS))
    values = {"digest": digest(session), "user_id": user_id, "created_ms": now_ms()}
    connection.execute(insert(sessions).values(values))
    return session
