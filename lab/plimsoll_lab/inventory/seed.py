"""N instances, reference data and 20 users of invented data; the same seed gives the same data.

What searches find is planted: each of TOPICS is a subject of a known share of the instances, three words a share,
so that a keyword gives results from a hundredth to half of the data. Titles, names and notes are drawn from the
word pool of plimsoll_lab/seeding.py. The first M instances of N are the M instances of a smaller seeding.
"""

from __future__ import annotations

import hashlib
import json
import random
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from plimsoll_lab.inventory import schema
from plimsoll_lab.inventory.documents import columns_of
from plimsoll_lab.seeding import WordPool, continue_numbers, seeded_faker, word_pool, write_rows

DEFAULT_INSTANCES = 20_000
USERS = 20
BATCH = 2_000
FIRST_YEAR, LAST_YEAR = 1900, 2025

TOPICS: dict[str, float] = {
    "history": 0.5, "english": 0.5, "sources": 0.5,
    "literature": 0.4, "europe": 0.4, "politics": 0.4,
    "science": 0.3, "law": 0.3, "poetry": 0.3,
    "music": 0.2, "philosophy": 0.2, "geography": 0.2,
    "painting": 0.1, "chemistry": 0.1, "theology": 0.1,
    "botany": 0.05, "navigation": 0.05, "astronomy": 0.05,
    "heraldry": 0.025, "numismatics": 0.025, "falconry": 0.025,
    "campanology": 0.01, "sphragistics": 0.01, "glaciology": 0.01,
}  # fmt: skip

REFERENCE_KINDS: dict[str, tuple[str, ...]] = {
    "instance-types": ("text", "notated music", "spoken word", "still image", "two-dimensional moving image",
                       "cartographic image", "computer dataset", "three-dimensional form", "unspecified", "other"),
    "instance-statuses": ("Cataloged", "Uncataloged", "Batch Loaded", "Temporary", "Not yet assigned"),
    "modes-of-issuance": ("single unit", "multipart monograph", "serial", "integrating resource", "unspecified"),
    "contributor-name-types": ("Personal name", "Corporate name", "Meeting name"),
    "identifier-types": ("ISBN", "ISSN", "OCLC", "LCCN", "DOI", "Local identifier", "Publisher number"),
    "instance-formats": ("volume", "sheet", "online resource", "audio disc", "microfilm reel", "video disc"),
    "locations": ("Main Library", "Annex", "Online", "Popular Reading", "Special Collections"),
}  # fmt: skip
_TYPE_WEIGHTS = (70, 5, 4, 4, 4, 3, 3, 2, 3, 2)
_LANGUAGES, _LANGUAGE_WEIGHTS = ("eng", "ger", "fre", "spa", "ita", "chi", "rus", "lat"), (60, 10, 8, 6, 4, 5, 4, 3)


@dataclass(frozen=True)
class User:
    """One user, with the password that only `users.json` keeps in the clear."""

    id: str
    username: str
    name: str
    password: str
    salt: str


@dataclass(frozen=True)
class Reference:
    """One entry of the reference data."""

    kind: str
    position: int
    id: str
    name: str
    code: str


def password_hash(password: str, salt: str) -> str:
    """scrypt, in hexadecimal; light (some 3 ms), as the lab's passwords guard nothing."""
    return hashlib.scrypt(password.encode(), salt=salt.encode(), n=1024, r=8, p=1, dklen=32).hex()


def invented_users(seed: int) -> list[User]:
    """The users librarian01 … librarian20."""
    faker = seeded_faker(seed)
    found = []
    for number in range(1, USERS + 1):
        username = f"librarian{number:02d}"
        digest = hashlib.sha256(f"plimsoll inventory {seed} {username}".encode()).hexdigest()
        found.append(User(_named_id(username), username, faker.name(), digest[:16], digest[16:32]))
    return found


def reference_data() -> list[Reference]:
    """All entries of REFERENCE_KINDS; their ids are the same in every seeding."""
    return [
        Reference(kind, place, _named_id(f"{kind} {name}"), name, name.lower().replace(" ", "-"))
        for kind, names in REFERENCE_KINDS.items()
        for place, name in enumerate(names)
    ]


def invented_instances(count: int, seed: int, pool: WordPool) -> Iterator[dict[str, Any]]:
    """Document after document."""
    source = random.Random(seed)
    faker = seeded_faker(seed)
    names = [f"{faker.last_name()}, {faker.first_name()}" for _ in range(1500)]
    publishers = [(faker.company(), faker.city()) for _ in range(200)]
    ids = {kind: [_named_id(f"{kind} {name}") for name in found] for kind, found in REFERENCE_KINDS.items()}
    for number in range(1, count + 1):
        yield _instance(number, source, pool, names, publishers, ids)


def _instance(
    number: int,
    source: random.Random,
    pool: WordPool,
    names: Sequence[str],
    publishers: Sequence[tuple[str, str]],
    ids: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    publisher, place = source.choice(publishers)
    year = source.randint(FIRST_YEAR, LAST_YEAR)
    subjects = [
        f"{topic.capitalize()} -- {pool.text(source, 2)}" for topic, share in TOPICS.items() if source.random() < share
    ]
    isbn = f"978{source.randrange(10**10):010d}"
    return {
        "id": str(uuid.UUID(int=source.getrandbits(128), version=4)),
        "hrid": f"in{number:011d}",
        "source": "MARC" if source.random() < 0.8 else "FOLIO",
        "title": pool.text(source, source.randint(3, 12)),
        "instanceTypeId": source.choices(ids["instance-types"], _TYPE_WEIGHTS)[0],
        "statusId": source.choice(ids["instance-statuses"]),
        "modeOfIssuanceId": source.choice(ids["modes-of-issuance"]),
        "contributors": [
            {
                "name": source.choice(names),
                "contributorNameTypeId": ids["contributor-name-types"][0],
                "primary": place_of_name == 0,
            }
            for place_of_name in range(source.choice((1, 1, 1, 2, 3)))
        ],
        "identifiers": [
            {"value": isbn, "identifierTypeId": ids["identifier-types"][0]},
            {"value": f"ocm{number:08d}", "identifierTypeId": ids["identifier-types"][2]},
        ],
        "subjects": subjects,
        "languages": [source.choices(_LANGUAGES, _LANGUAGE_WEIGHTS)[0]],
        "publication": [{"publisher": publisher, "place": place, "dateOfPublication": str(year)}],
        "notes": [
            {"note": pool.text(source, source.randint(15, 40)), "staffOnly": source.random() < 0.1}
            for _ in range(source.choice((1, 1, 2)))
        ],
        "metadata": {"createdDate": f"{2015 + number % 10}-01-01T00:00:00Z"},
        "_version": 1,
    }


def seed_database(connection: Connection, instances: int, seed: int) -> None:
    """Fill an empty database: tables, users, reference data, instances. One transaction; indexes come afterwards."""
    schema.create_tables(connection)
    people = [
        {"id": one.id, "username": one.username, "name": one.name, "salt": one.salt,
         "password_hash": password_hash(one.password, one.salt)}
        for one in invented_users(seed)
    ]  # fmt: skip
    write_rows(connection, schema.users, people)
    write_rows(connection, schema.references, [vars(one) for one in reference_data()])
    rows: list[dict[str, Any]] = []
    for number, document in enumerate(invented_instances(instances, seed, word_pool(seed)), start=1):
        rows.append({"number": number, **columns_of(document)})
        if len(rows) == BATCH:
            write_rows(connection, schema.instances, rows)
            rows = []
    write_rows(connection, schema.instances, rows)
    continue_numbers(connection, schema.instances, "number")


def keyword_hits(connection: Connection) -> list[dict[str, Any]]:
    """How many instances each of TOPICS finds as a keyword, most hits first: {"keyword", "hits"}."""
    counted = dict.fromkeys(TOPICS, 0)
    words = ", ".join(f"{field}_words" for field in schema.FIELDS)
    for row in connection.exec_driver_sql(f"SELECT {words} FROM instances"):
        for word in {word for part in row for word in part.split()} & TOPICS.keys():
            counted[word] += 1
    return [{"keyword": word, "hits": hits} for word, hits in sorted(counted.items(), key=lambda one: -one[1])]


def _named_id(name: str) -> str:
    digest = hashlib.sha256(f"plimsoll inventory {name}".encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def keywords_text(connection: Connection) -> str:
    """keywords.json: what the load script searches for."""
    return json.dumps(keyword_hits(connection), indent=1) + "\n"
