"""Apache Jena Fuseki: SPARQL over HTTP on a TDB2 store. Java, from Maven Central."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from processes import await_answer, done, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

VERSION = "5.2.0"
PEOPLE = 4000


def install(cache: Cache) -> None:
    cache.maven("org.apache.jena", "jena-fuseki-server", VERSION)


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    archive = cache.maven("org.apache.jena", "jena-fuseki-server", VERSION)
    data, store, port, log = folder / "people.nt", folder / "store", free_port(), folder / "fuseki.log"
    data.write_text("".join(triples(number) for number in range(PEOPLE)))
    store.mkdir()
    done(["java", "-cp", archive, "tdb2.tdbloader", "--loc", store, data], log)
    flags = ["--localhost", "--port", port, "--tdb2", f"--loc={store}", "--update", "/people"]
    command = ["java", "-Xmx1g", "-cp", archive, "org.apache.jena.fuseki.main.cmds.FusekiMainCmd", *flags]
    with running(command, log, env={"FUSEKI_BASE": str(folder)}) as process:
        await_answer(f"http://127.0.0.1:{port}/people/sparql?query=ASK%7B%7D", process, log)
        yield {"BASE_URL": f"http://127.0.0.1:{port}"}


def triples(number: int) -> str:
    """A person, whom they know, where they live."""
    person = f"<http://example.org/p{number}>"
    lines = [f'{person} <http://example.org/name> "Person {number}" .']
    lines.append(f"{person} <http://example.org/lives> <http://example.org/town{number % 80}> .")
    knows = (f"{person} <http://example.org/knows> <http://example.org/p{number * k % PEOPLE}> ." for k in range(3, 11))
    return "\n".join([*lines, *knows, ""])


PRODUCT = Product(
    "fuseki", "Java", "Jena Fuseki, TDB2", f"Maven Central jena-fuseki-server {VERSION}", install, stands,
    "/people/sparql?query=ASK%7B%7D",
)  # fmt: skip
