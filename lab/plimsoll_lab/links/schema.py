"""Tables of the link index, for SQLite and PostgreSQL.

Addresses are kept without what depends on a port (/qm/versions/7), so that the index outlives a restart of its sources.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, MetaData, String, Table, Text

SCHEMA_VERSION = 1
ADDRESS_LETTERS = 500

INDEX = MetaData()
Number = BigInteger().with_variant(Integer, "sqlite")

# What is tracked: versions of test cases, defects. `died` and `removed` as in configurations/schema.py.
tracked = Table(
    "tracked",
    INDEX,
    Column("resource", String(200), primary_key=True),
    Column("source", String(4), nullable=False),
    Column("artifact", Number, nullable=False),
    Column("stream_id", Number, nullable=False),
    Column("born", Number, nullable=False),
    Column("died", Number),
    Column("removed", Boolean, nullable=False),
    Column("title", String(200), nullable=False),
)
Index("tracked_by_artifact", tracked.c.source, tracked.c.artifact)

# What points where.
entries = Table(
    "entries",
    INDEX,
    Column("target", String(ADDRESS_LETTERS), primary_key=True),
    Column("resource", String(200), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("type", String(20), nullable=False),
)
Index("entries_by_resource", entries.c.resource)

# What contributes to global configurations, directly.
contributions = Table(
    "contributions",
    INDEX,
    Column("configuration_id", Number, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("service", String(4)),
    Column("project", Number),
    Column("local_id", Number),
    Column("child_id", Number),
)
known_configurations = Table(
    "known_configurations", INDEX, Column("configuration_id", Number, primary_key=True)
)  # fmt: skip

# How far each source has been followed; None: its base is still to be read.
progress = Table(
    "progress",
    INDEX,
    Column("source", String(4), primary_key=True),
    Column("last_change", Number),
)

# What each poll did: the change log of the administration page.
polls = Table(
    "polls",
    INDEX,
    Column("source", String(4), primary_key=True),
    Column("number", Number, primary_key=True),
    Column("kind", String(8), nullable=False),  # initial, changes, all
    Column("started_ms", BigInteger, nullable=False),
    Column("changes", Number, nullable=False),
    Column("retrieved", Number, nullable=False),
    Column("duration_ms", BigInteger, nullable=False),
    Column("index_bytes", BigInteger, nullable=False),
    Column("problem", Text),
)

about = Table(
    "about", INDEX, Column("key", String(20), primary_key=True), Column("value", Integer, nullable=False)
)  # fmt: skip
