"""A disk that gets full while a run is written."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from commands import Commands, Hung
from knock import Bench, CannotTry, Try, knock
from verbs import server, write_inputs
from written import unreadable

DISK_KIB = 1536
#: Fills a small disk within seconds: each of many names has series of its own.
WORDY = """import http from 'k6/http';
import { sleep } from 'k6';
export const options = { vus: 2, duration: '40s', gracefulStop: '2s' };
export default function () {
  http.get(`${__ENV.BASE_URL}/`, { tags: { name: `${'a long name '.repeat(20)}${Math.floor(Math.random() * 300)}` } });
  sleep(0.01);
}
"""
VERBS = {
    "run": ("run", "-q", "-e", "BASE_URL={url}", "script.js"),
    "hold": ("hold", "-q", "study.yaml", "--duration", 40),
    "capacity": ("capacity", "-q", "study.yaml", "--for", "60s"),
    "sweep": ("sweep", "-q", "study.yaml", "--over", "X=1,2", "--repeats", 8, "--trial", 4, "--warm-up", 1),
}
ENDS_S = 90.0


@knock(
    "full disk",
    "The load ends with a sentence that says so and an exit code that is not 0. What was written before can be read, "
    "the target is stopped, nothing is left running; `run` still prints its summary.",
    limit_s=900.0,
)
def full_disk(bench: Bench) -> Iterator[Try]:
    with server() as url:
        for name, words in VERBS.items():
            case = f"{name}, a disk of {DISK_KIB:,} KiB"
            try:
                yield _on(bench, name, words, url, case, small_disk)
            except CannotTry as reason:
                yield Try(case, skipped=str(reason))
        for name, words in VERBS.items():
            yield _on(bench, name, words, url, f"{name}, files of 200 KiB at most", small_files)


Confine = Callable[[Path], AbstractContextManager[dict[str, Any]]]


def _on(bench: Bench, name: str, words: tuple[object, ...], url: str, case: str, confine: Confine) -> Try:
    folder = bench.try_folder()
    write_inputs(folder, WORDY)
    with Commands(folder) as commands, confine(folder) as options:
        arguments = [word.replace("{url}", url) if isinstance(word, str) else word for word in words]
        try:
            ended = commands.run(*arguments, limit_s=ENDS_S, **options)
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
def small_disk(folder: Path) -> Iterator[dict[str, Any]]:
    """A file system of its own for the run directories."""
    runs = folder / "runs"
    runs.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_KIB}k", "plimsoll-knock", str(runs)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotTry(f"no file system can be mounted: {done.stderr.strip()}")
    try:
        yield {}
    finally:
        subprocess.run(["umount", "--lazy", str(runs)], check=False)


@contextmanager
def small_files(folder: Path) -> Iterator[dict[str, Any]]:
    """No file may be larger (RLIMIT_FSIZE), as on a disk with a quota; needs no privilege."""
    most = 200 << 10
    yield {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))}
