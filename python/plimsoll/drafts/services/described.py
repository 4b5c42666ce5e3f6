"""A draft from an OpenAPI description, or from a running service that is searched for one.

Only operations that read are taken, by GET. With a running service ids are found in the answers of its lists, and each
operation is asked once with its first values: one that does not succeed is left out, with its status.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

from plimsoll.drafts.draft import MOST_OPERATIONS, PER_USER_HOUR, Draft, DraftOperation
from plimsoll.drafts.left_out import LeftOut
from plimsoll.drafts.names import named_template, operation_names
from plimsoll.drafts.queries import is_secret_parameter
from plimsoll.drafts.services.asking import Asker, Told, does_something
from plimsoll.drafts.services.descriptions import (
    Described,
    Description,
    Parameter,
    is_description,
    places_of,
    read_description,
)
from plimsoll.drafts.services.found_ids import ids_in
from plimsoll.drafts.services.pages import draft_of_page
from plimsoll.errors import InputError
from plimsoll.plain_text import plain
from plimsoll.study.secrets.in_urls import hide_in_urls
from plimsoll.study.urls import mistake_of_url
from plimsoll.words import count_words, number

USUAL_PLACES = (
    "/openapi.json",
    "/openapi.yaml",
    "/swagger.json",
    "/v3/api-docs",
    "/v2/api-docs",
    "/api-docs",
    "/swagger/v1/swagger.json",
    "/api/openapi.json",
    "/api/swagger.json",
    "/api/schema/",
    "/api/v1/openapi.json",
    "/docs/openapi.json",
    "/q/openapi",
    "/swagger/doc.json",  # Go's swag
    "/apispec_1.json",  # Flask's flasgger
    "/api/spec.yaml",  # Jupyter
    "/",  # PostgREST
)
_MOST_ROWS = 60
_MOST_PARENTS = 5  # rows of a list's own path that are asked for the ids below
_MOST_TRIED = 3  # rows of an operation, until one succeeds
_LARGEST = 16 * 2**20
_Row = dict[str, str]


def draft_of_description(source: str | Path | None, url: str | None, token: str | None = None) -> Draft:
    """From the description at `source` (a file or URL), or one that the service at `url` has. With `url` the service is
    asked. InputError for what cannot be read, where nothing answers, and where no operation is left."""
    asker = None if url is None else Asker(url, token)
    text: str | None
    if source is not None:
        where, text = hide_in_urls(str(source)), _text_of(str(source))
    else:
        assert asker is not None
        where, text = _searched(asker)
    if text is None:
        assert asker is not None and url is not None
        return draft_of_page(asker, url)
    description = read_description(text, where)
    return _Drafting(description, where, url, asker).draft()


@dataclass
class _Drafting:
    """Goes through the operations of a description."""

    description: Description
    where: str
    url: str | None
    asker: Asker | None
    left_out: list[LeftOut] = field(default_factory=list)

    def draft(self) -> Draft:
        """The draft; InputError where nothing is left."""
        found: list[tuple[Described, list[_Row]]] = []
        for one in self.description.operations:
            reason = self._why_not(one)
            if reason is None:
                rows = self._rows(one)
                reason = self._trouble(one, rows) if rows else self._why_no_rows(one)
            if reason is None and len(found) >= MOST_OPERATIONS:
                reason = f"beyond the first {MOST_OPERATIONS:,}"
            if reason is None:
                found.append((one, rows))
            else:
                kind = "not_read" if one.method not in ("GET", "HEAD") else "not_usable"
                self.left_out.append(LeftOut(kind, f"{one.method} {self._prefix}{one.path}", 0, reason))
        if not found:
            reasons = "; ".join(f"{one.request}: {one.reason}" for one in self.left_out[:5])
            what = f"no operation of {plain(self.where)} can be used ({plain(reasons)})"
            raise InputError(what, "Give the URL of a running service, so that ids can be found, or --access-log.")
        return Draft(
            source=f"the description {plain(self.where)}",
            url=self.url,
            head=tuple(self._head(len(found))),
            operations=tuple(_operations(found, self._prefix)),
            left_out=tuple(self.left_out),
            asked=() if self.asker is None else self.asker.asked,
        )

    @property
    def _prefix(self) -> str:
        """What lies between the service's address and a path of the description."""
        base = self.description.base
        own = "" if self.url is None else urlsplit(self.url).path.rstrip("/")
        return base.removeprefix(own) if own and (base == own or base.startswith(f"{own}/")) else base

    def _head(self, kept: int) -> Iterator[str]:
        title = plain(self.description.title)[:60] or "without a title"
        yield (
            f"{plain(self.where)}: {title}, OpenAPI {plain(self.description.version)[:10]}, "
            f"{count_words(len(self.description.operations))} operations; the script makes {count_words(kept)} of them."
        )
        yield f"A description has no rates: each operation has {number(PER_USER_HOUR)} per user and hour. Set them."
        if self.asker is None:
            yield "Nothing was asked of the service. With its URL ids are found, and each operation is tried."

    def _why_not(self, one: Described) -> str | None:
        """Why an operation is not even asked for."""
        if one.method not in ("GET", "HEAD"):
            return "it may write"
        if does_something(one.path, one.operation_id):
            return "its name says that it does something"
        if one.is_deprecated:
            return "it is deprecated"
        if any(part.is_required and is_secret_parameter(part.name) for part in one.parameters if part.place == "query"):
            return "it needs a secret in its query"
        return None

    def _why_no_rows(self, one: Described) -> str:
        missing = [part.name for part in (*one.in_path(), *_needed(one)) if not part.values]
        return f"no value is known for {plain(', '.join(missing))}" if missing else "no value is known"

    def _rows(self, one: Described) -> list[_Row]:
        """Values for all that must be given; empty where some are not known. Without parameters one empty row."""
        rows = self._rows_of_path(one.path, one.in_path())
        for at, part in enumerate(_needed(one)):
            values = _values_without_asking(part)
            if not values:
                return []
            rows = _spread(rows, f"?{part.name}", values, at)
        return rows[:_MOST_ROWS]

    def _rows_of_path(self, path: str, parts: Sequence[Parameter]) -> list[_Row]:
        rows: list[_Row] = [{}]
        for at, part in enumerate(parts):
            found = self._rows_with_ids(path, part, rows)
            if found:
                rows = found
                continue
            values = _values_without_asking(part) or self._guess(part)
            rows = _spread(rows, part.name, values, at)
        return rows[:_MOST_ROWS]

    def _rows_with_ids(self, path: str, part: Parameter, rows: Sequence[_Row]) -> list[_Row]:
        """The rows with ids from the list above the place, where the description has that list."""
        above = path.partition(f"{{{part.name}}}")[0]
        if self.asker is None or not above.endswith("/"):
            return []
        listed = self._list_at(above.rstrip("/"))
        if listed is None:
            return []
        name = above.rstrip("/").rpartition("/")[2]
        found = []
        for row in rows[:_MOST_PARENTS]:
            told = self._ask(listed, row)
            if told is not None and told.is_success:
                found += [{**row, part.name: one} for one in ids_in(told.body, part.name, name)]
        return found

    def _list_at(self, path: str) -> Described | None:
        """The operation that reads that path without anything else that must be given."""
        return next(
            (
                one
                for one in self.description.operations
                if one.method == "GET"
                and one.path.rstrip("/") == path
                and self._why_not(one) is None
                and not _needed(one)
            ),
            None,
        )

    def _guess(self, part: Parameter) -> tuple[str, ...]:
        """Of numbers the first few, where the service can be asked whether it has them."""
        return ("1", "2", "3") if self.asker is not None and part.type in ("integer", "number") else ()

    def _ask(self, one: Described, row: _Row) -> Told | None:
        """The answer of an operation with these values; None where nothing more is asked."""
        assert self.asker is not None
        if self.asker.why_no_more is not None:
            return None
        return self.asker.ask(self._prefix + _filled(one.path, row) + _query_of(row))

    def _trouble(self, one: Described, rows: list[_Row]) -> str | None:
        """Why the service does not answer it; None where it does, or is not asked. Rows that failed are taken out."""
        if self.asker is None:
            return None
        words = ""
        for row in rows[:_MOST_TRIED]:
            told = self._ask(one, row)
            if told is None:
                return self.asker.why_no_more
            if told.is_success:
                return None
            words = f"it {told.words}, asked for {plain(self._prefix + _filled(one.path, row) + _query_of(row))}"
            if told.status in (401, 403):
                return f"{words}; it needs somebody who signed in (--token)"
            rows.remove(row)
        return words


def _operations(found: Sequence[tuple[Described, list[_Row]]], prefix: str) -> Iterator[DraftOperation]:
    templates = [named_template(prefix + one.path) for one, _ in found]
    names = operation_names((one.method, template) for (one, _), (template, _) in zip(found, templates, strict=True))
    for (one, rows), (template, places), (name, function) in zip(found, templates, names, strict=True):
        queries = {_query_of(row) for row in rows}
        fixed = next(iter(queries)).removeprefix("?") if len(queries) == 1 else ""
        given = []
        for row in rows:
            values = {
                place: quote(row[old], safe="", errors="replace")
                for place, old in zip(places, places_of(one.path), strict=True)
            }
            given.append(values | ({} if len(queries) == 1 else {"query": _query_of(row)}))
        yield DraftOperation(
            name=name,
            exec=function,
            method=one.method,
            template=template,
            per_user_hour=PER_USER_HOUR,
            rows=tuple(given) if given and given[0] else (),
            fixed_query=fixed,
        )


def _needed(one: Described) -> list[Parameter]:
    return [part for part in one.parameters if part.place == "query" and part.is_required]


def _values_without_asking(part: Parameter) -> tuple[str, ...]:
    """Its examples, enum or default; of a boolean both."""
    return part.values or (("true", "false") if part.type == "boolean" else ())


def _spread(rows: Sequence[_Row], name: str, values: Sequence[str], at: int) -> list[_Row]:
    """Each row with a value, and as many rows as there are values; all pairs where a place is not the first."""
    if at == 0 or len(rows) * len(values) <= _MOST_ROWS:
        return [{**row, name: value} for row in rows for value in values]
    return [{**row, name: values[place % len(values)]} for place, row in enumerate(rows)]


def _filled(path: str, row: _Row) -> str:
    return re.sub(r"\{([^{}]+)\}", lambda found: quote(row.get(found[1], ""), safe="", errors="replace"), path)


def _query_of(row: _Row) -> str:
    """The query of a row, whose names begin with a question mark there."""
    pairs = [
        f"{quote(name[1:], safe='', errors='replace')}={quote(value, safe='', errors='replace')}"
        for name, value in row.items()
        if name[0] == "?"
    ]
    return f"?{'&'.join(pairs)}" if pairs else ""


def _text_of(source: str) -> str:
    """The text at a path or URL. InputError where it cannot be read."""
    if source.lower().startswith(("http://", "https://")):
        mistake = mistake_of_url(source)
        if mistake is not None:
            raise InputError(f"--openapi: {mistake[0]}", mistake[1])
        parts = urlsplit(source)
        if "@" in parts.netloc:
            raise InputError("--openapi: the URL has a user or password", "Save the description, and give its file.")
        told = Asker(f"{parts.scheme}://{parts.netloc}").ask(parts.path + (f"?{parts.query}" if parts.query else ""))
        if not told.is_success:
            raise InputError(
                f"the description {told.words}", "Give its file, or a URL that answers.", file=hide_in_urls(source)
            )
        return told.body.decode("utf-8", "replace")
    try:
        with Path(source).open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise InputError(
            f"the description cannot be read ({error.strerror or error})", "Give its file or URL.", file=source
        ) from None
    if len(content) > _LARGEST:
        raise InputError(f"the description is larger than {_LARGEST >> 20} MiB", "Give a smaller one.", file=source)
    return content.decode("utf-8-sig", "replace")


def _searched(asker: Asker) -> tuple[str, str | None]:
    """(where, the text) of the description that the service has at a usual place; no text where it has none."""
    for place in USUAL_PLACES:
        told = asker.ask(place)
        if told.status == 0:
            raise InputError(f"the service {told.words}", "Start it, or give the URL where it answers.")
        if told.status == 200 and is_description(text := told.body.decode("utf-8", "replace")):
            return place, text
    return "", None
