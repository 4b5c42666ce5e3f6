"""Serve the forum: one process for it, one for the accounts service, until SIGTERM or SIGINT; ready line and signals as
in plimsoll_lab/serving.py, the second process as in plimsoll_lab/children.py."""

from __future__ import annotations

import contextlib
import secrets
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from plimsoll.errors import InputError
from plimsoll_lab.children import end_children, start_child, what_child_says
from plimsoll_lab.discussions.accounts import AccountsOptions
from plimsoll_lab.discussions.app import Forum, create_app
from plimsoll_lab.discussions.data_directory import Wanted, open_data
from plimsoll_lab.discussions.load_files import write_load_files
from plimsoll_lab.discussions.profile_images import AccountsCalls, ProfileImages
from plimsoll_lab.discussions.schema import UnreadIndex
from plimsoll_lab.ports import free_port
from plimsoll_lab.serving import TargetOptions, bound_socket, pin_to_core, say, serve_app, url_of

ACCOUNTS_END_S = 10


@dataclass(frozen=True)
class ServerOptions(TargetOptions):
    """The command line of `plimsoll lab discussions`; what each means is in its --help."""

    accounts_port: int = 0
    threads: int | None = None
    auto_auth: bool = False
    unread_index: UnreadIndex = "new"
    accounts_calls: AccountsCalls = "page"


@dataclass(frozen=True)
class Accounts:
    """The accounts service that runs: its process, address and key."""

    process: subprocess.Popen[str]
    url: str
    key: str


def serve(options: ServerOptions) -> int:
    """Seed if need be, serve until told to stop, return 0. Raises InputError before it serves."""
    pin_to_core(options.cpu)
    with contextlib.ExitStack() as until_end:
        listener = until_end.enter_context(contextlib.closing(bound_socket(options.host, options.port)))
        wanted = Wanted(options.threads, options.seed, options.reset, options.unread_index)
        data = until_end.enter_context(contextlib.closing(open_data(options.data, wanted, options.dsn, say=say)))
        accounts = until_end.enter_context(accounts_service(options, data.facts.seed))
        images = ProfileImages(accounts.url, accounts.key, options.accounts_calls)
        forum = Forum(data.database, images, data.restore, options.unread_index, options.auto_auth)
        app = create_app(forum)
        url = url_of(options.host, listener.getsockname()[1])
        study = write_load_files(options.data, url, accounts.url, data.facts.count)
        say(f"To load it, in another terminal: plimsoll study {study}")
        ready = {
            "url": url,
            "accounts": {"url": accounts.url, "pid": accounts.process.pid},
            "users": str(options.data / "users.json"),
            "study": str(study),
        }
        serve_app(app, listener, ready, lifespan="on")
    return 0


@contextlib.contextmanager
def accounts_service(options: ServerOptions, seed: int) -> Iterator[Accounts]:
    """The accounts service in a process of its own, ended on leaving. Raises InputError if it cannot serve."""
    key = secrets.token_hex(16)
    port = options.accounts_port or free_port(options.host)
    wanted = AccountsOptions(options.host, port, str(options.data), seed, key, options.dsn)
    process = start_child("plimsoll_lab.discussions.accounts", asdict(wanted))
    try:
        told = what_child_says(process)
        if not told.get("ready"):
            what = told.get("what", "The accounts service ended at once")
            raise InputError(what, told.get("next_step", "Its message is above."))
        yield Accounts(process, url_of(options.host, port), key)
    finally:
        end_children([process], ACCOUNTS_END_S)
