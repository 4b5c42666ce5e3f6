"""Serve the tracker: one process, one core, until SIGTERM or SIGINT; ready line and signals as in
plimsoll_lab/serving.py."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from plimsoll_lab.seeded_data import Wanted
from plimsoll_lab.serving import TargetOptions, bound_socket, pin_to_core, say, serve_app, url_of
from plimsoll_lab.tracker import queries
from plimsoll_lab.tracker.app import create_app
from plimsoll_lab.tracker.background import Background
from plimsoll_lab.tracker.background_job import BackgroundJob, Cadence
from plimsoll_lab.tracker.data_directory import open_data
from plimsoll_lab.tracker.load_files import write_load_files
from plimsoll_lab.tracker.text_indexer import TextIndexer


@dataclass(frozen=True)
class ServerOptions(TargetOptions):
    """The command line of `plimsoll lab tracker`; what each means is in its --help."""

    issues: int | None = None
    age_recount: bool = False
    job_every: float | None = None
    job_work: float | None = None
    index_per_s: float | None = None


def serve(options: ServerOptions) -> int:
    """Seed if need be, serve until told to stop, return 0. Raises InputError before it serves."""
    cadence = Cadence.of(options.job_every, options.job_work)
    pin_to_core(options.cpu)
    listener = bound_socket(options.host, options.port)
    with contextlib.closing(listener):
        wanted = Wanted(options.issues, options.seed, options.reset)
        rate = options.index_per_s
        data = open_data(options.data, wanted, options.dsn, say=say, deferred_index=rate is not None)
        with contextlib.closing(data):
            with data.database.engine.begin() as connection:
                people = queries.load_people(connection)
            background = Background(
                BackgroundJob(data.database, cadence) if cadence is not None else None,
                TextIndexer(data.database, rate) if rate is not None else None,
            )
            app = create_app(data.database, people, data.restore, options.age_recount, background)
            url = url_of(options.host, listener.getsockname()[1])
            study = write_load_files(options.data, url, data.facts.count)
            say(f"To load it, in another terminal: plimsoll capacity {study}")
            ready = {"url": url, "users": str(options.data / "users.json"), "study": str(study)}
            serve_app(app, listener, ready, keep_going=background.keep_going())
    return 0
