"""hledger-web: a plain-text ledger in the browser. Haskell, from Debian."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from processes import await_answer, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

ENTRIES = 300


def install(cache: Cache) -> None:
    cache.debian("hledger-web")


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    journal = folder / "club.journal"
    journal.write_text(
        "".join(
            f"2025-{1 + n % 12:02}-{1 + n % 28:02} Member {n % 90}\n"
            f"    Expenses:Club {n % 12}  EUR {5 + n % 70}.50\n    Assets:Bank\n\n"
            for n in range(ENTRIES)
        )
    )
    port, log = free_port(), folder / "hledger.log"
    command = ["hledger-web", "-f", journal, "--serve", "--host", "127.0.0.1", "--port", port]
    command += ["--base-url", f"http://127.0.0.1:{port}"]
    with running(command, log, env={"LANG": "C.UTF-8", "HOME": str(folder)}) as process:
        await_answer(f"http://127.0.0.1:{port}/journal", process, log)
        yield {"BASE_URL": f"http://127.0.0.1:{port}"}


PRODUCT = Product(
    "hledger-web", "Haskell", "hledger-web, a journal file", "Debian hledger-web", install, stands, "/robots.txt"
)
