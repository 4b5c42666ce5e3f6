"""Serve the tracker: one process, one core, until SIGTERM or SIGINT; ready line and signals as in lab/serving.py."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from plimsoll.lab.seeded_data import Wanted
from plimsoll.lab.serving import TargetOptions, bound_socket, pin_to_core, say, serve_app, url_of
from plimsoll.lab.tracker import queries
from plimsoll.lab.tracker.app import create_app
from plimsoll.lab.tracker.background_job import BackgroundJob, Cadence
from plimsoll.lab.tracker.data_directory import open_data
from plimsoll.lab.tracker.load_files import write_load_files


@dataclass(frozen=True)
class ServerOptions(TargetOptions):
    """The command line of `plimsoll lab tracker`; what each means is in its --help."""

    issues: int | None = None
    age_recount: bool = False
    job_every: float | None = None
    job_work: float | None = None


def serve(options: ServerOptions) -> int:
    """Seed if need be, serve until told to stop, return 0. Raises InputError before it serves."""
    cadence = Cadence.of(options.job_every, options.job_work)
    pin_to_core(options.cpu)
    listener = bound_socket(options.host, options.port)
    with contextlib.closing(listener):
        wanted = Wanted(options.issues, options.seed, options.reset)
        data = open_data(options.data, wanted, options.dsn, say=say)
        with contextlib.closing(data):
            with data.database.engine.begin() as connection:
                people = queries.load_people(connection)
            job = BackgroundJob(data.database, cadence) if cadence is not None else None
            app = create_app(data.database, people, data.restore, options.age_recount, job)
            url = url_of(options.host, listener.getsockname()[1])
            study = write_load_files(options.data, url, data.facts.count)
            say(f"To load it, in another terminal: plimsoll capacity {study}")
            ready = {"url": url, "users": str(options.data / "users.json"), "study": str(study)}
            serve_app(app, listener, ready, keep_going=job.keep_coming if job is not None else None)
    return 0
