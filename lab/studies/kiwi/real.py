#!/usr/bin/env python3
"""Kiwi TCMS 12.4 itself as the study's target: installs it, or serves it until told to stop. Python 3.9 to 3.11.

    ./real.py install       a virtual environment, PostgreSQL's data, migrations, 10,000 cases and runs: 5 to 20 minutes
    ./real.py serve         PostgreSQL and one worker of Kiwi TCMS on 127.0.0.1; SIGTERM or Ctrl-C stops both
    plimsoll study lab/studies/kiwi/real.yaml       does `serve` by itself

Everything is kept in the folder .kiwi beside this file; removing that removes all. PostgreSQL comes from the system's
package (Debian: apt-get install postgresql). Nothing of Kiwi TCMS is part of Plimsoll: it comes from PyPI, under GPL 2.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import own_postgresql  # noqa: E402


def main() -> int:
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("verb", choices=("install", "serve"))
    top.add_argument(
        "--folder", type=Path, default=HERE / ".kiwi", help="where all of it is kept (default %(default)s)"
    )
    top.add_argument("--port", type=int, default=28713, help="of Kiwi TCMS (default %(default)s)")
    top.add_argument("--database-port", type=int, default=28714, help="of PostgreSQL (default %(default)s)")
    top.add_argument(
        "--cases", type=int, default=10_000, help="cases and runs that install seeds (default %(default)s)"
    )
    kept = os.environ.get("KEEP_CONNECTIONS") == "1"
    told = "keep database connections between requests; KEEP_CONNECTIONS=1 in the environment too"
    top.add_argument("--keep-connections", action="store_true", default=kept, help=told)
    chosen = top.parse_args()
    if not (3, 9) <= sys.version_info[:2] <= (3, 11):
        needed, step = "Kiwi TCMS 12.4 needs Python 3.9 to 3.11.", "Start this file with such a Python."
        return own_postgresql.refused("real.py", needed, step)
    return own_postgresql.told("real.py", lambda: _install(chosen) if chosen.verb == "install" else _serve(chosen))


def _install(chosen: argparse.Namespace) -> int:
    folder: Path = chosen.folder.resolve()
    if (folder / "users.json").exists():
        print(f"{folder} is complete; remove it to install anew.")
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "kiwi-requirements.txt"], check=True)
    own_postgresql.create(folder / "postgresql", "kiwi")
    password = secrets.token_urlsafe(18)
    with own_postgresql.running(folder / "postgresql", chosen.database_port):
        connect = ["-h", "127.0.0.1", "-p", str(chosen.database_port), "-U", "kiwi"]
        subprocess.run([own_postgresql.program("createdb"), *connect, "kiwi"], check=True)
        environment = {**_environment(chosen), "KIWI_PASSWORD": password, "KIWI_CASES": str(chosen.cases)}
        django = folder / "venv" / "bin" / "django-admin"
        subprocess.run([django, "migrate", "-v", "0"], check=True, env=environment)
        with (HERE / "kiwi_seed.py").open() as recipe:
            subprocess.run([django, "shell"], check=True, env=environment, stdin=recipe)
    users = folder / "users.unfinished"
    with open(os.open(users, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump([{"username": "load", "password": password}], file)
    os.replace(users, folder / "users.json")
    print(f"Installed in {folder}. Next: plimsoll study {HERE / 'real.yaml'}")
    return 0


def _serve(chosen: argparse.Namespace) -> int:
    folder: Path = chosen.folder.resolve()
    if not (folder / "users.json").exists():
        raise RuntimeError(f"there is no Kiwi TCMS in {folder}: run ./real.py install")
    # One worker with two threads: the report has one client, and a probe must not wait for it.
    words = ["-b", f"127.0.0.1:{chosen.port}", "-w", "1", "-k", "gthread", "--threads", "2", "--keep-alive", "75"]
    gunicorn = [folder / "venv" / "bin" / "gunicorn", *words, "--log-level", "warning", "tcms.wsgi:application"]
    own_postgresql.exit_when_terminated()
    with own_postgresql.running(folder / "postgresql", chosen.database_port):
        return own_postgresql.served(gunicorn, _environment(chosen), folder)


def _environment(chosen: argparse.Namespace) -> dict[str, str]:
    """What Kiwi TCMS and its settings read."""
    return {
        **os.environ,
        "KIWI_DB_ENGINE": "django.db.backends.postgresql",
        "KIWI_DB_NAME": "kiwi",
        "KIWI_DB_USER": "kiwi",
        "KIWI_DB_HOST": "127.0.0.1",
        "KIWI_DB_PORT": str(chosen.database_port),
        "KIWI_FOLDER": str(chosen.folder.resolve()),
        "KIWI_CONN_MAX_AGE": "600" if chosen.keep_connections else "0",
        "DJANGO_SETTINGS_MODULE": "kiwi_settings",
        "PYTHONPATH": str(HERE),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


if __name__ == "__main__":
    sys.exit(main())
