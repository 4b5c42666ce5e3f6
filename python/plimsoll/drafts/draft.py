"""What `plimsoll new` found and wrote, as data."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plimsoll.drafts.left_out import LeftOut
from plimsoll.drafts.logs.sessions import Activity
from plimsoll.drafts.recordings.correlation import Step

PER_USER_HOUR = 60.0  # of each operation, where nobody knows how often a user asks
MOST_OPERATIONS = 200  # a script of more is not read by anybody; a study takes 1,000


@dataclass(frozen=True)
class DraftOperation:
    """One operation of the script. `rows` are the values that its requests are drawn from, each a value for every
    parameter of the template, and under "query" the query with its question mark; without parameters there are none.
    Shares are of 1; None where the source does not know."""

    name: str
    exec: str
    method: str
    template: str
    per_user_hour: float
    rows: tuple[dict[str, str], ...] = ()
    fixed_query: str = ""
    requests: int | None = None
    share: float | None = None
    time_share: float | None = None
    session_share: float | None = None
    failed_share: float | None = None
    p95_ms: float | None = None

    @property
    def request(self) -> str:
        """The tag `name` of its requests: GET /issues/{id}."""
        return f"{self.method} {self.template}".strip()

    def path_of(self, row: Mapping[str, str]) -> str:
        """The path with its query, with the values of a row."""
        path = self.template
        for name, value in row.items():
            if name != "query":
                path = path.replace(f"{{{name}}}", value, 1)
        return path + row.get("query", f"?{self.fixed_query}" if self.fixed_query else "")


@dataclass(frozen=True)
class DraftGroup:
    """Users who wait for their answers, as a thread group of JMeter; `requests`: how many the script has for them."""

    name: str
    exec: str
    users: int
    requests: int


@dataclass(frozen=True)
class Draft:
    """All of it. `head` says what was read, `notes` what to know before the load is put on, `asked` the paths that a
    running service was asked for, each with the status of its answer (0: none); `is_silent`: nothing answers there.

    A recording has `steps`: its one operation makes them one after the other; `taken` says which values come from
    earlier answers, `secrets` which variables it wants, and for what. A test plan has `groups` instead of operations,
    and its whole `script`."""

    source: str
    url: str | None
    head: tuple[str, ...]
    operations: tuple[DraftOperation, ...]
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    expected_users: float | None = None
    activity: Activity | None = None
    asked: tuple[tuple[str, int], ...] = ()
    is_silent: bool = False
    steps: tuple[Step, ...] = ()
    taken: tuple[str, ...] = ()
    secrets: tuple[tuple[str, str], ...] = ()
    groups: tuple[DraftGroup, ...] = ()
    script: str = ""
    files: tuple[Path, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """As data; values drawn from are in values.json alone."""
        data = dataclasses.asdict(dataclasses.replace(self, steps=()))
        del data["script"]
        data["steps"] = [{"request": one.request, "ms": one.ms} for one in self.steps]
        for operation, one in zip(data["operations"], self.operations, strict=True):
            operation["rows"] = len(one.rows)
            operation["request"] = one.request
        return data | {"files": [str(path) for path in self.files]}

    def __str__(self) -> str:
        """What was found on a terminal."""
        from plimsoll.drafts.screen import screen_of

        return screen_of(self)
