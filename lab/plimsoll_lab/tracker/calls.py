"""One authenticated request of the tracker, and what its handler works with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection
from starlette.requests import Request

from plimsoll_lab.database import Database
from plimsoll_lab.json_input import TooLarge, strict_json, whole_body
from plimsoll_lab.tracker.json_forms import BODY_BYTES, Refusal, number_of
from plimsoll_lab.tracker.queries import Filter, People, Person
from plimsoll_lab.tracker.search_syntax import parse_search
from plimsoll_lab.tracker.telemetry import Telemetry

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
        try:
            body = await whole_body(self.request.stream(), BODY_BYTES)
            value = strict_json(body) if body else kind()
        except TooLarge as error:
            raise Refusal(413, "too_large", str(error)) from None
        except ValueError:
            raise Refusal(400, "bad_request", "The body is not JSON, or is nested too deeply. Send JSON.") from None
        if not isinstance(value, kind):
            raise Refusal(400, "bad_request", f"The body must be a JSON {'object' if kind is dict else 'list'}.")
        return value

    def number(self, name: str, default: int, largest: int, least: int = 1) -> int:
        """A query parameter that is a whole number from `least`; larger than `largest` becomes that."""
        value = self.request.query_params.get(name)
        if value is None:
            return default
        # Python reads no number of over 4,300 digits; one digit more than `largest` has is enough to be larger.
        digits = (value.lstrip("0") or "0")[: len(str(largest)) + 1]
        if not (value.isascii() and value.isdigit() and int(digits) >= least):
            raise Refusal(400, "bad_request", f"{name} must be a whole number from {least}, not '{value[:60]}'.")
        return min(int(digits), largest)

    def issue(self) -> int:
        """The number of the issue in the path."""
        return number_of(self.request.path_params["id"])

    def filter(self, query: str) -> Filter:
        """What a search asks for, as this user. Raises SyntaxMistake."""
        return Filter.of(parse_search(query), self.tracker.people, self.person)


Handler = Callable[[Call], Awaitable[Any]]
