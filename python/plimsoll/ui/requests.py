"""What a page sends: small forms. Each has the page's secret, without which nothing is done (CSRF)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.requests import Request

MOST_BODY_BYTES = 1 << 16
FIELD = "csrf"


class Refused(Exception):
    """A request that is answered with a sentence and a status."""

    def __init__(self, words: str, status: int = 400) -> None:
        super().__init__(words)
        self.words, self.status = words, status


@dataclass(frozen=True)
class Form:
    """The fields of a form."""

    fields: dict[str, list[str]]

    def one(self, name: str) -> str:
        """The value of a field; empty where it is missing."""
        return self.fields.get(name, [""])[0]

    def all(self, name: str) -> list[str]:
        """Every value of a field."""
        return self.fields.get(name, [])


async def form_of(request: Request, csrf: str) -> Form:
    """The form of a request. Raises Refused for one that is too long or does not have the page's secret."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BODY_BYTES:
            raise Refused("That is too long.", 413)
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        raise Refused("That cannot be read.") from None
    form = Form(fields)
    if not secrets.compare_digest(form.one(FIELD).encode(), csrf.encode()):
        raise Refused("This page is older than the process that answers it. Reload it and try again.", 403)
    return form
