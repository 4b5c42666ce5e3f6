"""`python -m plimsoll.lab NAME`: serve one reference target until SIGTERM or SIGINT.

Standard output carries one line of JSON, when the target serves; everything else goes to standard error.
Exit codes: 0 stopped when asked to, 2 the input is wrong (the port is in use, the folder holds other data).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from plimsoll.errors import EXIT_INPUT, PlimsollError

DEFAULT_PORT = 8710
DEFAULT_DATA = Path(".lab/tracker")


def parser() -> argparse.ArgumentParser:
    """The command line of every reference target."""
    top = argparse.ArgumentParser(prog="plimsoll lab", description="Serve a reference target to try Plimsoll on.")
    names = top.add_subparsers(dest="name", required=True, metavar="NAME")
    tracker = names.add_parser("tracker", help="an issue tracker: drafts, issues, commands, full-text search")
    tracker.add_argument("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
    tracker.add_argument("--port", type=_port, default=DEFAULT_PORT, help="0 takes a free one (default %(default)s)")
    tracker.add_argument("--issues", type=_count, help="issues to seed (default: what the data holds, else 20000)")
    tracker.add_argument("--seed", type=int, help="seed of texts and tokens (default: what the data holds, else 1)")
    tracker.add_argument(
        "--data", type=Path, default=DEFAULT_DATA, metavar="DIR", help="folder of its data (default %(default)s)"
    )
    tracker.add_argument("--dsn", help="PostgreSQL instead of SQLite: postgresql://user@host:port/database")
    tracker.add_argument("--cpu", type=_count, metavar="N", help="run on this core only (Linux)")
    tracker.add_argument("--reset", action="store_true", help="throw away all changes, start from the seeded data")
    tracker.add_argument(
        "--restore-at",
        metavar="URL",
        help="serve nothing: take the tracker at URL, whose folder is --data, back to its seeded data",
    )
    tracker.add_argument(
        "--age-recount",
        action="store_true",
        help="a known defect, off by default: every create recounts all issues, so creates slow down as data grows",
    )
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Serve the target that `argv` names; returns the exit code when it was asked to stop."""
    arguments = parser().parse_args(argv)
    # Imported late: `--help` and a wrong option must not wait for SQLAlchemy and Starlette.
    from plimsoll.lab.tracker.load_files import restore_at
    from plimsoll.lab.tracker.server import ServerOptions, serve

    options = {key: value for key, value in vars(arguments).items() if key not in ("name", "restore_at")}
    try:
        if arguments.restore_at is not None:
            restore_at(arguments.restore_at.rstrip("/"), arguments.data / "users.json")
            return 0
        return serve(ServerOptions(**options))
    except PlimsollError as error:
        print(f"plimsoll lab {arguments.name}: {error}", file=sys.stderr)
        return getattr(error, "exit_code", EXIT_INPUT)


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is negative; give 0 or more")
    return number


def _port(text: str) -> int:
    number = _count(text)
    if number > 65535:
        raise argparse.ArgumentTypeError(f"{number} is no port; give 0 to 65535")
    return number


if __name__ == "__main__":
    sys.exit(main())
