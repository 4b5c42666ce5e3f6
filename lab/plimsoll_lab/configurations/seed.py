"""N global components with their streams and baselines, as many projects in each tool, and artifacts with links; the
same numbers and seed give the same data, in every service.

The report's repository: 131 components, each with a stream and two baselines, and a project in each of three tools.
Project n of a tool belongs to component n. Every tenth component is a product: the nine after it contribute to it as
global configurations, and every hundredth is a product line of ten products, so that resolving one goes three levels
down. Artifacts come before any change is logged: a reader of the feeds finds them in the base.

    local configurations of project n    3n-2 the stream, 3n-1 and 3n its baselines
    global configurations of component n 3n-2 the stream, 3n-1 and 3n its baselines
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, MetaData, Table, insert

from plimsoll_lab.configurations import rules, schema
from plimsoll_lab.configurations.change_log import CLOCK
from plimsoll_lab.configurations.local_queries import ARTIFACTS
from plimsoll_lab.configurations.schema import NOW
from plimsoll_lab.configurations.titles import words_of
from plimsoll_lab.configurations.tokens import invented_users
from plimsoll_lab.seeded_data import Seeding
from plimsoll_lab.seeding import continue_numbers, seeded_faker, word_pool, write_rows

DEFAULT_COMPONENTS = 131
DEFAULT_ARTIFACTS = 2_000
TOOLS = ("rm", "qm", "cm")
PRODUCT, LINE = 10, 100
BATCH = 2_000
CREATED_MS = 1_735_689_600_000  # 2025-01-01T00:00:00Z
LINKED_SHARE = 0.5
_TARGETS = {"qm": ("validates", "rm"), "cm": ("implements", "rm")}


def global_seeding(finish: Callable[[Connection], None] = lambda _: None) -> Seeding:
    """What gc is seeded with; counted are its components."""
    return Seeding(
        target="the global configuration service",
        counted="components",
        default_count=DEFAULT_COMPONENTS,
        schema_version=schema.SCHEMA_VERSION,
        fill=fill_global,
        drop=schema.GLOBAL.drop_all,
        users=users_rows,
        finish=finish,
    )


def tool_seeding(tool: str, components: int) -> Seeding:
    """What a tool is seeded with, for so many components; counted are its artifacts."""

    def fill(connection: Connection, count: int, seed: int) -> None:
        fill_tool(connection, tool, components, count, seed)

    return Seeding(
        target=f"the tool {tool}",
        counted="artifacts",
        default_count=DEFAULT_ARTIFACTS,
        schema_version=schema.SCHEMA_VERSION,
        fill=fill,
        drop=schema.LOCAL.drop_all,
        users=users_rows,
    )


def users_rows(seed: int) -> Sequence[Mapping[str, object]]:
    """The rows of users.json."""
    return [{"username": user.username, "password": user.password} for user in invented_users(seed)]


# --- gc ------------------------------------------------------------------------------------------------------------


def fill_global(connection: Connection, count: int, seed: int) -> None:
    """Tables, components, configurations, contributions, words."""
    schema.GLOBAL.create_all(connection)
    source, titles = random.Random(seed), component_titles(count, seed)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in ("components", "configurations", "contributions")}
    indexed: list[dict[str, Any]] = []
    for number, title in enumerate(titles, start=1):
        rows["components"].append({"id": number, "title": title, "created_ms": CREATED_MS})
        indexed += _words("component", number, title)
        for configuration, kind, name in configurations_of(number):
            full = f"{title} {name}"
            rows["configurations"].append(
                {"id": configuration, "component_id": number, "kind": kind, "title": full,
                 "from_id": None if kind == "stream" else 3 * number - 2, "born": 0, "created_ms": CREATED_MS}
            )  # fmt: skip
            indexed += _words(kind, configuration, full)
            rows["contributions"] += _contributions(number, configuration, kind, count)
    source.shuffle(indexed)  # as they would come over time
    write_rows(connection, schema.components, rows["components"])
    write_rows(connection, schema.configurations, rows["configurations"])
    write_rows(connection, schema.contributions, rows["contributions"])
    write_rows(connection, schema.words, indexed)
    _finish(connection, schema.GLOBAL, schema.global_counters, {CLOCK: 0})


def configurations_of(number: int) -> list[tuple[int, str, str]]:
    """(id, kind, name) of the configurations of a component or project: a stream and two baselines."""
    first = 3 * number - 2
    return [(first, "stream", "main"), (first + 1, "baseline", "release 1"), (first + 2, "baseline", "release 2")]


def children_of(number: int, count: int) -> range:
    """The components that contribute to a product or a product line."""
    if number % LINE == 0:
        return range(number + PRODUCT, min(number + LINE, count + 1), PRODUCT)
    if number % PRODUCT == 0:
        return range(number + 1, min(number + PRODUCT, count + 1))
    return range(0)


def _contributions(number: int, configuration: int, kind: str, count: int) -> Iterator[dict[str, Any]]:
    """A project of each tool, then the children; of a baseline the like-named ones."""
    place = configuration - (3 * number - 2)
    for position, tool in enumerate(TOOLS, start=1):
        yield {
            "configuration_id": configuration, "position": position, "service": tool, "project": number,
            "local_id": 3 * number - 2 + place, "local_kind": kind, "child_id": None,
        }  # fmt: skip
    for position, child in enumerate(children_of(number, count), start=len(TOOLS) + 1):
        yield {
            "configuration_id": configuration, "position": position, "service": None, "project": None,
            "local_id": None, "local_kind": None, "child_id": 3 * child - 2 + place,
        }  # fmt: skip


def component_titles(count: int, seed: int) -> list[str]:
    """Titles of invented parts; the first M of N are those of M."""
    faker = seeded_faker(seed)
    source = random.Random(seed)
    nouns = [faker.unique.word() for _ in range(300)]
    parts = ("controller", "sensor", "display", "pump", "valve", "gateway", "battery", "motor", "chassis", "harness")
    return [
        f"{source.choice(nouns).capitalize()} {source.choice(parts)} {number}" for number in range(1, count + 1)
    ]  # fmt: skip


def _words(kind: str, subject: int, title: str) -> Iterator[dict[str, Any]]:
    for word in dict.fromkeys(words_of(title)):
        yield {"word": word, "kind": kind, "subject_id": subject}


# --- a tool --------------------------------------------------------------------------------------------------------


def fill_tool(connection: Connection, tool: str, components: int, count: int, seed: int) -> None:
    """Tables, projects, their configurations, artifacts in the streams (baselines hold them too), links."""
    schema.LOCAL.create_all(connection)
    titles = component_titles(components, seed)
    write_rows(connection, schema.projects, [{"id": n, "title": title} for n, title in enumerate(titles, start=1)])
    made, seen = [], []
    for number, title in enumerate(titles, start=1):
        for configuration, kind, name in configurations_of(number):
            stream = 3 * number - 2
            made.append(
                {"id": configuration, "project_id": number, "kind": kind, "title": f"{title} {name}",
                 "from_id": None if kind == "stream" else stream, "created_ms": CREATED_MS}
            )  # fmt: skip
            upto = NOW if kind == "stream" else 0
            seen.append({"configuration_id": configuration, "depth": 0, "stream_id": stream, "upto": upto})
    write_rows(connection, schema.local_configurations, made)
    write_rows(connection, schema.lineage, seen)
    batch: list[dict[str, Any]] = []
    linked: list[dict[str, Any]] = []
    for version, targets in _artifacts(tool, components, count, seed):
        batch.append(version)
        linked += targets
        if len(batch) == BATCH:
            write_rows(connection, schema.versions, batch)
            write_rows(connection, schema.links, linked)
            batch, linked = [], []
    write_rows(connection, schema.versions, batch)
    write_rows(connection, schema.links, linked)
    _finish(connection, schema.LOCAL, schema.local_counters, {CLOCK: 0, ARTIFACTS: count})


def _artifacts(
    tool: str, components: int, count: int, seed: int
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Artifact after artifact with its links: those of the tests and defects point at requirements of their project."""
    source = random.Random(f"{seed} {tool}")
    pool = word_pool(seed)
    people = [user.username for user in invented_users(seed)]
    for number in range(1, count + 1):
        project = (number - 1) % max(1, components) + 1
        version = {
            "id": number, "artifact": number, "stream_id": 3 * project - 2,
            "title": pool.text(source, 6)[: rules.TITLE_LETTERS],
            "description": pool.text(source, 25),
            "context": 3 * project - 2, "born": 0, "died": None, "removed": False, "author": source.choice(people),
        }  # fmt: skip
        targets = []
        if tool in _TARGETS and source.random() < LINKED_SHARE:
            kind, other = _TARGETS[tool]
            at_same_project = (number - 1) % max(1, components) + 1
            target = at_same_project + components * source.randrange(max(1, count // max(1, components)))
            targets.append(
                {"version_id": number, "position": 1, "type": kind, "target": f"/{other}/artifacts/{target}"}
            )
        yield version, targets


# --- both ----------------------------------------------------------------------------------------------------------


def _finish(connection: Connection, metadata: MetaData, counters: Table, values: Mapping[str, int]) -> None:
    """The counters; PostgreSQL's sequences go on after the numbers that were given out here."""
    connection.execute(insert(counters), [{"name": name, "value": value} for name, value in values.items()])
    for table in metadata.sorted_tables:
        if "id" in table.c:
            continue_numbers(connection, table)
