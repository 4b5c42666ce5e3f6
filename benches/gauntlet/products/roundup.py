"""Roundup: an issue tracker with its own web server and SQLite. Python, from PyPI."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from processes import await_answer, done, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

PACKAGE = "roundup==2.6.0"
SEED = """
import sys
from roundup import instance
database = instance.open(sys.argv[1]).open("admin")
for number in range(400):
    message = database.msg.create(content="It does not work as expected. " * 20, author="1")
    title = f"Printer {number} says {number * 7919 % 1000}"
    database.issue.create(title=title, priority=str(1 + number % 5), status=str(1 + number % 8), messages=[message])
    if number % 50 == 49:
        database.commit()
database.commit()
database.close()
"""


def install(cache: Cache) -> None:
    cache.python("roundup", PACKAGE)


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    programs, home, log = cache.python("roundup", PACKAGE), folder / "tracker", folder / "roundup.log"
    port = free_port()
    url = f"http://127.0.0.1:{port}/desk/"
    settings = f"mail_domain=example.org,mail_host=localhost,tracker_web={url},rdbms_backend=sqlite"
    done([programs / "roundup-admin", "-i", home, "install", "classic", "sqlite", settings], log)
    done([programs / "roundup-admin", "-i", home, "initialise", "secret"], log)
    done([programs / "python", "-c", SEED, home], log)
    command = [programs / "roundup-server", "-n", "127.0.0.1", "-p", port, "-t", "thread", "-u", "root", f"desk={home}"]
    with running(command, log) as process:
        await_answer(url, process, log)
        yield {"BASE_URL": f"http://127.0.0.1:{port}"}


PRODUCT = Product("roundup", "Python", "Roundup, SQLite", f"PyPI {PACKAGE}", install, stands, "/desk/user1")
