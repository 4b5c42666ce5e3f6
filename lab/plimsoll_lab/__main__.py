"""`python -m plimsoll_lab NAME`: serve one reference target until SIGTERM or SIGINT.

Standard output carries one line of JSON, when the target serves; everything else goes to standard error.
Exit codes: 0 stopped when asked to, 2 the input is wrong (the port is in use, the folder holds other data).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from plimsoll.errors import EXIT_INPUT, PlimsollError
from plimsoll.nearest_word import NamingParser

DATA = Path(".lab")
Add = Callable[..., Any]  # ArgumentParser.add_argument


@dataclass(frozen=True)
class Target:
    """What the command line of a target is made of; its data is in .lab/NAME unless --data says otherwise.

    `counted` is the option of how much is seeded (None: nothing is), `by_default` how much that is, `options` adds what
    only this target has. `restorable`: while it serves, it can be taken back to its seeded data by its
    load_files.restore_at.
    """

    what: str
    port: int
    counted: str | None
    by_default: int
    options: Callable[[Add], None]
    restorable: bool = False
    of_port: str = "0 takes a free one"


def parser() -> argparse.ArgumentParser:
    """The command line of every reference target."""
    top = NamingParser(prog="plimsoll lab", description="Serve a reference target to try Plimsoll on.")
    names = top.add_subparsers(dest="name", required=True, metavar="NAME")
    for name, target in TARGETS.items():
        _add_target(names.add_parser(name, help=target.what).add_argument, name, target)
    return top


def _add_target(add: Add, name: str, target: Target) -> None:
    add(
        "--host",
        default="127.0.0.1",
        help="address to listen on (default %(default)s). Off loopback PLIMSOLL_LAB_TOKEN must hold a token. "
        "Other machines send it as the first part of the path.",
    )
    add("--port", type=_port, default=target.port, help=f"{target.of_port} (default %(default)s)")
    unless = "default: what the data holds, else"
    if target.counted is not None:
        add(f"--{target.counted}", type=_count, help=f"{target.counted} to seed ({unless} {target.by_default})")
        add("--seed", type=int, help=f"seed of the data, its users' secrets included ({unless} 1)")
    add("--data", type=Path, default=DATA / name, metavar="DIR", help="folder of its data (default %(default)s)")
    add("--dsn", help="PostgreSQL instead of SQLite: postgresql://user@host:port/database")
    add("--cpu", type=_count, metavar="N", help="run on this core only (Linux)")
    add("--reset", action="store_true", help="throw away all changes, start from the seeded data")
    if target.restorable:
        add(
            "--restore-at",
            metavar="URL",
            help="serve nothing: take what serves at URL, whose folder is --data, back to its seeded data",
        )
    target.options(add)


def _tracker(add: Add) -> None:
    add(
        "--age-recount",
        action="store_true",
        help="a known defect, off by default: every create recounts all issues, so creates slow down as data grows",
    )
    add(
        "--job-every",
        type=_above_zero,
        metavar="S",
        help="a known defect, off by default: every S seconds a background job takes the tracker's time",
    )
    add("--job-work", type=_above_zero, metavar="MS", help="how long that job works each time, in ms (default 1500)")
    add(
        "--index-per-s",
        type=_above_zero,
        metavar="N",
        help="a worker puts new issues into the text index, N a second; /indexing says what waits (default: at once)",
    )


def _inventory(add: Add) -> None:
    add(
        "--load-all",
        action="store_true",
        help="a known defect, off by default: searches and exports load and decode every document of their result",
    )
    add(
        "--missing-index",
        action="store_true",
        help="a known defect, off by default: without the indexes of text and titles, every search reads all rows",
    )
    add(
        "--memory-limit",
        type=_size,
        metavar="MB",
        help="end the storage module when its resident memory passes this, as a container does (default: no limit)",
    )
    add("--profiler", action="store_true", help="watch the storage module from within: /admin/profile; it costs time")


def _discussions(add: Add) -> None:
    add("--accounts-port", type=_port, default=0, help="of the accounts service, a second process; 0 takes a free one")
    add("--auto-auth", action="store_true", help="log in without a password at /auto_auth, as load tests do")
    add(
        "--unread-index",
        choices=("old", "new"),
        default="new",
        help="old: a known defect, unread counts by time of change, with an index that they cannot use (default new)",
    )
    add(
        "--accounts-calls",
        choices=("page", "author"),
        default="page",
        help="author: a known defect, a call of the accounts service for each author of a page (default page)",
    )


def _testcases(add: Add) -> None:
    add(
        "--recount-results",
        action="store_true",
        help="a known defect, off by default: every result reads all results of its run, so large runs get slow",
    )


def _configurations(add: Add) -> None:
    add("--artifacts", type=_count, help="artifacts to seed in each tool (default: what the data holds, else 2000)")
    add(
        "--resolve-each",
        action="store_true",
        help="a known defect, off by default: a tool asks gc for the configuration of each artifact, not of each list",
    )
    add(
        "--recount-artifacts",
        action="store_true",
        help="a known defect, off by default: every create counts all artifacts, so creates slow down as data grows",
    )
    add(
        "--shared-cpu",
        type=_count,
        metavar="N",
        help="gc and jts share core N, as on one small server: the budget that the report divides (Linux)",
    )


def _links(add: Add) -> None:
    add(
        "--configurations",
        type=Path,
        default=DATA / "configurations",
        metavar="DIR",
        help="data folder of the running configurations that it follows (default %(default)s)",
    )
    add(
        "--source",
        action="append",
        choices=("gc", "rm", "qm", "cm"),
        help="a source to follow, repeat for several (default gc, qm and cm)",
    )
    add("--poll-every", type=_above_zero, default=60.0, metavar="S", help="seconds between polls (default %(default)s)")
    add("--threads", type=_at_least_one, default=2, metavar="N", help="threads for each source (default %(default)s)")
    add(
        "--reindex-all",
        action="store_true",
        help="a known defect, off by default: each poll processes all there is, not what changed, so polls get longer",
    )
    add(
        "--keep-versions",
        action="store_true",
        help="a known defect, off by default: versions that are gone stay, so the index grows with every save",
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Serve the target that `argv` names; returns the exit code when it was asked to stop."""
    arguments = parser().parse_args(argv)
    options = {key: value for key, value in vars(arguments).items() if key != "name"}
    try:
        return _serve(arguments.name, options)
    except PlimsollError as error:
        print(f"plimsoll lab {arguments.name}: {error}", file=sys.stderr)
        return getattr(error, "exit_code", EXIT_INPUT)


def _serve(name: str, options: dict[str, Any]) -> int:
    # Imported late: `--help` and a wrong option must not wait for SQLAlchemy and Starlette.
    url = options.pop("restore_at", None)
    if url is not None:
        import_module(f"plimsoll_lab.{name}.load_files").restore_at(url.rstrip("/"), options["data"] / "users.json")
        return 0
    server = import_module(f"plimsoll_lab.{name}.server")
    code: int = server.serve(server.ServerOptions(**options))
    return code


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is negative; give 0 or more")
    return number


def _above_zero(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def _size(text: str) -> int:
    number = _count(text)
    if number < 1:
        raise argparse.ArgumentTypeError("0 MiB hold nothing; give 1 or more")
    return number


def _at_least_one(text: str) -> int:
    number = _count(text)
    if number < 1:
        raise argparse.ArgumentTypeError("0 do nothing; give 1 or more")
    return number


def _port(text: str) -> int:
    number = _count(text)
    if number > 65535:
        raise argparse.ArgumentTypeError(f"{number} is no port; give 0 to 65535")
    return number


TARGETS = {
    "tracker": Target(
        "an issue tracker: drafts, issues, commands, full-text search", 8710, "issues", 20_000, _tracker,
        restorable=True,
    ),
    "inventory": Target(
        "a library's inventory: JSON documents, CQL search, export of ids", 8720, "instances", 20_000, _inventory,
        of_port="of the gateway; its modules take the next three; 0 takes free ones",
    ),
    "discussions": Target(
        "a forum: threads, responses, comments, votes, profile images", 8730, "threads", 1_000, _discussions,
        restorable=True,
    ),
    "testcases": Target(
        "test cases, as many runs, and results behind JSON-RPC and XML-RPC", 8713, "cases", 10_000, _testcases
    ),
    "configurations": Target(
        "global configurations over three tools, with change feeds", 8760, "components", 131, _configurations,
        of_port="of the whole; gc, rm, qm, cm, jts take the next five; 0 takes free ones",
    ),
    "links": Target("a link index that follows the feeds of the lab's configurations", 8770, None, 0, _links),
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
