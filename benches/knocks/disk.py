"""A disk that gets full while a run is written."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from commands import Commands, Hung, Running, wait_until
from knock import Bench, CannotTry, Try, knock
from stops import LOADED_S, seconds_written
from verbs import server, write_inputs
from written import unreadable

DISK_MIB = 256
SPARE_PAGES = 64  # which a line that is written meanwhile may take
WORDY = """import http from 'k6/http';
import { sleep } from 'k6';
const all = { executor: 'constant-vus', vus: 2, duration: '40s', gracefulStop: '2s' };
export const options = { scenarios: { all } };
export default function () {
  http.get(`${__ENV.BASE_URL}/${__ENV.X || ''}`, { tags: { name: `name ${Math.floor(Math.random() * 200)}` } });
  sleep(0.01);
}
"""
VERBS: dict[str, tuple[object, ...]] = {
    "run": ("run", "-q", "-e", "BASE_URL={url}", "script.js"),
    "hold": ("hold", "-q", "study.yaml", "--duration", 40),
    "capacity": ("capacity", "-q", "study.yaml", "--for", "60s"),
    "sweep": ("sweep", "-q", "study.yaml", "--over", "X=1,2", "--repeats", 8, "--trial", 4, "--warm-up", 1),
}
ENDS_S = 90.0
Fill = Callable[[Commands, Running], None]


@knock(
    "full disk",
    "The load ends with a sentence that says so and an exit code that is not 0. What was written before can be read, "
    "the target is stopped, nothing is left running; `run` still prints its summary.",
    limit_s=900.0,
)
def full_disk(bench: Bench) -> Iterator[Try]:
    with server() as url:
        for name in VERBS:
            case, folder = f"{name}, a disk without room", bench.try_folder()
            try:
                with small_disk(folder / "runs"):
                    yield _on(folder, name, url, case, _fill_disk)
            except CannotTry as reason:
                yield Try(case, skipped=str(reason))
        for name in VERBS:
            yield _on(bench.try_folder(), name, url, f"{name}, files that may not grow", _forbid_growth)


def _on(folder: Path, name: str, url: str, case: str, fill: Fill) -> Try:
    write_inputs(folder, WORDY)
    with Commands(folder) as commands:
        arguments = [word.replace("{url}", url) if isinstance(word, str) else word for word in VERBS[name]]
        running = commands.begin(*arguments)
        if not wait_until(lambda: seconds_written(commands) >= 2, LOADED_S):
            return Try(case, (f"no load within {LOADED_S:.0f} s: {running.errors.read_text()[-200:]!r}",))
        fill(commands, running)
        try:
            ended = running.end(ENDS_S)
        except Hung as hung:
            return Try(case, (f"it {hung}",))
        broken = ended.mistakes()
        if ended.code == 0:
            broken.append("exit code 0")
        if not any(text in ended.text for text in ("No space left", "File too large", "disk")):
            broken.append(f"the disk is not named: {ended.errors[-200:].strip()!r}")
        if name == "run" and "http_reqs" not in ended.output:
            broken.append("no summary")
        for run in commands.runs():
            broken += unreadable(run, "failed", "interrupted", "killed")
        broken += commands.left_behind()
        if (folder / "started").exists() and not (folder / "stopped").exists():
            broken.append("the target's stop command did not run")
    return Try(case, tuple(broken))


@contextmanager
def small_disk(place: Path) -> Iterator[None]:
    """A file system of its own there."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "plimsoll-knock", str(place)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotTry(f"no file system can be mounted: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=False)


def _fill_disk(commands: Commands, _: Running) -> None:
    """All that is left of the disk, as by somebody else's file."""
    place = commands.folder / "runs"
    left = os.statvfs(place)
    with (place / "filler").open("wb", buffering=0) as file, suppress(OSError):  # until there is no room for a page
        os.posix_fallocate(file.fileno(), 0, max(0, left.f_bavail - SPARE_PAGES) * left.f_bsize)
        file.seek(0, os.SEEK_END)
        while file.write(bytes(left.f_bsize)):
            pass


def _forbid_growth(_: Commands, running: Running) -> None:
    """No file may be larger than a page (RLIMIT_FSIZE), as with a quota that is used up; needs no privilege."""
    psutil.Process(running.process.pid).rlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
