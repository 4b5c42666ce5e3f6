"""Tables of gc and of the tools, for SQLite and PostgreSQL; each service has its own (a file, or a schema).

A clock without gaps orders all changes of a service: `counters` holds its value, which each changing transaction
advances first, so that changes become visible in their order (a sequence would let a later one be seen earlier). It is
the order of the change log (trs:order), and what says which versions of artifacts a baseline holds:

    a version lives in a stream from `born` on, and until `died`
    a configuration sees, for each row of its `lineage`, the versions of that stream that lived at `upto`; what an
    artifact has in a nearer stream hides what it has in those behind (`depth`)

So a baseline is one row or a few, however many artifacts it holds, and a stream made from it starts with its content.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
)

SCHEMA_VERSION = 1
NOW = 2**62  # `upto` of a stream: it sees what lives
WORD_LETTERS = 60

Number = BigInteger().with_variant(Integer, "sqlite")


def by_bytes(letters: int) -> String:
    """A text that both databases sort by its bytes: a collation would differ between machines."""
    return String(letters, collation="C").with_variant(String(letters), "sqlite")


def _change_tables(metadata: MetaData) -> tuple[Table, Table]:
    changes = Table(
        "changes",
        metadata,
        Column("number", Number, primary_key=True, autoincrement=False),
        Column("kind", String(12), nullable=False),  # creation, modification, deletion
        Column("resource", String(200), nullable=False),  # path of what changed
        Column("at_ms", BigInteger, nullable=False),
    )
    counters = Table(
        "counters",
        metadata,
        Column("name", String(20), primary_key=True),
        Column("value", Number, nullable=False),
    )
    return changes, counters


GLOBAL = MetaData()
LOCAL = MetaData()

# --- gc ------------------------------------------------------------------------------------------------------------

components = Table(
    "components",
    GLOBAL,
    Column("id", Number, primary_key=True),
    Column("title", String(200), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    sqlite_autoincrement=True,  # a number is never given out twice
)
configurations = Table(
    "configurations",
    GLOBAL,
    Column("id", Number, primary_key=True),
    Column("component_id", Number, ForeignKey("components.id"), nullable=False),
    Column("kind", String(10), nullable=False),  # stream, staging (a baseline that is being made), baseline
    Column("title", String(200), nullable=False),
    Column("from_id", Number),
    Column("born", Number, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    sqlite_autoincrement=True,  # a number is never given out twice
)
Index("configurations_by_component", configurations.c.component_id, configurations.c.kind, configurations.c.id)
Index("configurations_by_kind", configurations.c.kind, configurations.c.id)
contributions = Table(
    "contributions",
    GLOBAL,
    Column("configuration_id", Number, ForeignKey("configurations.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("service", String(4)),  # a local configuration of this service …
    Column("project", Number),
    Column("local_id", Number),
    Column("local_kind", String(10)),
    Column("child_id", Number, ForeignKey("configurations.id")),  # … or another global configuration
)
words = Table(
    "words",
    GLOBAL,
    Column("word", by_bytes(WORD_LETTERS), primary_key=True),
    Column("kind", String(10), primary_key=True),  # component, stream, staging, baseline
    Column("subject_id", Number, primary_key=True),
)
Index("words_by_subject", words.c.subject_id, words.c.kind)
global_changes, global_counters = _change_tables(GLOBAL)

# --- a tool --------------------------------------------------------------------------------------------------------

projects = Table(
    "projects",
    LOCAL,
    Column("id", Number, primary_key=True),
    Column("title", String(200), nullable=False),
)
local_configurations = Table(
    "configurations",
    LOCAL,
    Column("id", Number, primary_key=True),
    Column("project_id", Number, ForeignKey("projects.id"), nullable=False),
    Column("kind", String(10), nullable=False),  # stream, baseline
    Column("title", String(200), nullable=False),
    Column("from_id", Number),
    Column("created_ms", BigInteger, nullable=False),
    sqlite_autoincrement=True,  # a number is never given out twice
)
Index("local_by_project", local_configurations.c.project_id, local_configurations.c.kind, local_configurations.c.id)
lineage = Table(
    "lineage",
    LOCAL,
    Column("configuration_id", Number, ForeignKey("configurations.id"), primary_key=True),
    Column("depth", Integer, primary_key=True),
    Column("stream_id", Number, nullable=False),
    Column("upto", Number, nullable=False),
)
Index("lineage_by_stream", lineage.c.stream_id, lineage.c.upto)
versions = Table(
    "versions",
    LOCAL,
    Column("id", Number, primary_key=True),
    Column("artifact", Number, nullable=False),
    Column("stream_id", Number, nullable=False),
    Column("title", String(200), nullable=False),
    Column("description", String(4000), nullable=False),
    Column("context", Number),  # the global configuration that it was written in
    Column("born", Number, nullable=False),
    Column("died", Number),
    Column("removed", Boolean, nullable=False),  # hides the artifact's versions in streams behind
    Column("author", String(40), nullable=False),
    sqlite_autoincrement=True,  # a number is never given out twice
)
Index("versions_by_stream", versions.c.stream_id, versions.c.artifact, versions.c.born)
Index("versions_by_artifact", versions.c.artifact, versions.c.stream_id)
links = Table(
    "links",
    LOCAL,
    Column("version_id", Number, ForeignKey("versions.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("type", String(20), nullable=False),
    Column("target", String(500), nullable=False),
)
local_changes, local_counters = _change_tables(LOCAL)
