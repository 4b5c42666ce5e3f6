"""One authenticated request of the tracker, and what its handler works with."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection
from starlette.requests import Request

from plimsoll.lab.database import Database
from plimsoll.lab.tracker.json_forms import Refusal, number_of
from plimsoll.lab.tracker.queries import Filter, People, Person
from plimsoll.lab.tracker.search_syntax import parse_search
from plimsoll.lab.tracker.telemetry import Telemetry

Restore = Callable[[Connection], None]


@dataclass(frozen=True)
class Tracker:
    """What the handlers work with."""

    database: Database
    people: People
    telemetry: Telemetry
    restore: Restore
    age_recount: bool = False


@dataclass(frozen=True)
class Call:
    """One authenticated request."""

    tracker: Tracker
    request: Request
    person: Person

    async def json(self, kind: type) -> Any:
        """The body, which must be a JSON object (dict) or list (list); an empty body is an empty one of that kind."""
        body = await self.request.body()
        try:
            value = json.loads(body) if body.strip() else kind()
        except ValueError:
            raise Refusal(400, "bad_request", "The body is not JSON. Send application/json.") from None
        if not isinstance(value, kind):
            raise Refusal(400, "bad_request", f"The body must be a JSON {'object' if kind is dict else 'list'}.")
        return value

    def number(self, name: str, default: int | None, largest: int) -> int | None:
        """A query parameter that is a whole number from 1; larger than `largest` becomes that."""
        value = self.request.query_params.get(name)
        if value is None:
            return default
        if not value.isascii() or not value.isdigit() or int(value) < 1:
            raise Refusal(400, "bad_request", f"{name} must be a whole number from 1, not '{value}'.")
        return min(int(value), largest)

    def issue(self) -> int:
        """The number of the issue in the path."""
        return number_of(self.request.path_params["id"])

    def filter(self, query: str) -> Filter:
        """What a search asks for, as this user."""
        return Filter.of(parse_search(query), self.tracker.people, self.person)


Handler = Callable[[Call], Awaitable[Any]]
