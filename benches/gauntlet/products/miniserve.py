"""miniserve: a folder shared over HTTP, with listings and search. Rust, from crates.io."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from processes import await_answer, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

VERSION = "0.35.0"


def install(cache: Cache) -> None:
    cache.cargo("miniserve", VERSION, "--no-default-features")


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    shared = folder / "shared"
    for group in range(20):
        place = shared / f"project-{group}"
        place.mkdir(parents=True)
        for number in range(150):
            (place / f"report-{number}.txt").write_text(f"Report {number} of project {group}\n" + "text " * 800)
    (shared / "project-0" / "README.md").write_text("# Project\n\n" + "- a line with *emphasis*\n" * 200)
    port, log = free_port(), folder / "miniserve.log"
    program = cache.folder / "cargo" / "bin" / "miniserve"
    command = [program, "-i", "127.0.0.1", "-p", port, "--readme", "--enable-tar-gz", "--compress-response", shared]
    with running(command, log) as process:
        await_answer(f"http://127.0.0.1:{port}/", process, log)
        yield {"BASE_URL": f"http://127.0.0.1:{port}"}


PRODUCT = Product("miniserve", "Rust", "miniserve, files", f"crates.io miniserve {VERSION}", install, stands)
