"""One trial of a product: Plimsoll is asked as a user would ask it, and k6 says whether the answer is true."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contradictions import of_folder
from core_speed import in_search, keep, measured
from machine import between, usage
from processes import GENERATOR_CORES, NotStarted, answers, on_cores, prefer
from products.product import Product
from registries import ROOT, Cache
from truth import declared_rates, judge, of_both, offered, record_of

FIVE_MINUTES = ("--for", "5m")
ENDS_WITHIN_S = 600
RESTS_S = 30.0
TRIES = 2


@dataclass(frozen=True)
class Asked:
    """How Plimsoll is asked: words added to the command; and the lock that others of the machine wait for."""

    words: tuple[str, ...] = ()
    lock: Path | None = None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock, if there is one."""
        with self.lock.open("w") if self.lock else nullcontext() as file:
            if file is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            yield


class Stand:
    """A product that stands, and can be started anew."""

    def __init__(self, product: Product, cache: Cache, folder: Path) -> None:
        self.product, self.cache, self.folder = product, cache, folder
        self.env: Mapping[str, str] = {}
        self.starts = 0
        self._stack = ExitStack()

    def start(self) -> None:
        """Start it with fresh data, in an empty folder."""
        self.stop()
        place = self.folder / f"product-{self.starts}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        place.chmod(0o755)
        self.starts += 1
        self.env = self._stack.enter_context(self.product.stands(self.cache, place))

    def stop(self) -> None:
        """End it and remove its data; its logs stay."""
        self._stack.close()
        self._stack = ExitStack()

    def answering(self) -> None:
        """Leave it in the state that the last trial left if it answers within RESTS_S, else start it anew."""
        until = time.monotonic() + RESTS_S
        while time.monotonic() < until:
            if answers(self.env["BASE_URL"] + self.product.ready):
                return
            time.sleep(1)
        self.start()


def tried(product: Product, cache: Cache, folder: Path, asked: Asked) -> dict[str, Any]:
    """The record of one trial: what Plimsoll answered, the truth at both ends of its bracket, the machine."""
    stand, began = Stand(product, cache, folder), time.monotonic()
    record: dict[str, Any] = {"product": product.name}
    try:
        with asked.alone():
            stand.start()
            record |= answered(stand, folder, asked)
            record |= truths(stand, record, folder)
            record["starts"] = stand.starts
    except (NotStarted, RuntimeError, OSError, subprocess.SubprocessError) as error:
        record |= {"status": "no answer", "why": str(error)[-500:]}
    finally:
        stand.stop()
    return record | {"took_s": round(time.monotonic() - began, 1)}


def five_minutes() -> tuple[str, ...]:
    """The words that give a search five minutes, where the code under test knows them; else its own budget."""
    command = [sys.executable, "-m", "plimsoll", "capacity", "--help"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "COLUMNS": "200"}
    told = subprocess.run(command, capture_output=True, text=True, check=False, env=env).stdout
    return FIVE_MINUTES if "--for " in told else ()


def truths(stand: Stand, record: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The truth about each end of a bracket, by two trials of it in the order good, bad, bad, good."""
    seen: dict[str, list[dict[str, Any]]] = {"good": [], "bad": []}
    for number, end in enumerate(("good", "bad", "bad", "good")):
        if record.get(end) is not None:
            speed = in_search(folder, record[end])
            seen[end].append(truth_at(stand, record[end], speed, folder / f"truth-{number}-{end}"))
    return {
        f"truth_{end}": {"verdict": of_both(*(one["verdict"] for one in trials)), "trials": trials}
        for end, trials in seen.items()
        if trials
    }


def truth_at(stand: Stand, level: float, speed: float | None, folder: Path) -> dict[str, Any]:
    """What one trial says of a level, near which the product's core had this speed in the search; up to TRIES trials
    where one tells no truth."""
    for number in range(TRIES):
        stand.answering()
        product = stand.product
        place = folder / str(number)
        trial = offered(stand.cache, product.script, stand.env, level, product.think_s, place, speed)
        if judge(trial) != "no truth":
            break
    return record_of(trial)


def answered(stand: Stand, folder: Path, asked: Asked) -> dict[str, Any]:
    """Run `plimsoll capacity` and read its answer; levels are multiples of the rate that the script declares."""
    script = stand.product.script
    words = [sys.executable, "-m", "plimsoll", "capacity", str(script), "--json", "--runs", str(folder / "runs")]
    for name, value in stand.env.items():
        words += ["-e", f"{name}={value}"]
    before, began = usage(), time.monotonic()
    with measured() as speeds, on_cores(GENERATOR_CORES):
        done = subprocess.run(
            [*words, *asked.words], cwd=folder, capture_output=True, text=True, timeout=ENDS_WITHIN_S, check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        )  # fmt: skip
    machine, took_s = between(before, usage()) | {"preferred": prefer()}, round(time.monotonic() - began, 1)
    keep(speeds, folder)
    (folder / "answer.json").write_text(done.stdout)
    (folder / "progress.txt").write_text(done.stderr)
    try:
        findings = json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"status": "no answer", "why": done.stderr[-500:], "exit": done.returncode}
    rate = sum(declared_rates(script).values())
    return {
        **read(findings), "contradictions": of_folder(folder), "asked_s": took_s, "exit": done.returncode,
        "declared_per_s": rate, "machine": machine,
    }  # fmt: skip


def read(findings: list[dict[str, Any]]) -> dict[str, Any]:
    """The bracket, the limit, the objectives and the validity of an answer, with the sentences that a user reads."""
    main = findings[0] if findings else {}
    capacity, limit = main.get("capacity") or {}, main.get("limited_by") or {}
    confirmation = capacity.get("confirmation") or {}
    return {
        "status": "answered",
        "answer": main.get("answer"),
        "ended": main.get("status"),
        "valid": main.get("valid"),
        "good": capacity.get("good"),
        "bad": capacity.get("bad"),
        "width": capacity.get("width"),
        "confirmed": confirmation.get("verdict"),
        "limit": {key: limit.get(key) for key in ("kind", "where")},
        "objectives": [[one.get("objective"), one.get("verdict")] for one in main.get("objectives") or []],
        "notes": main.get("notes") or [],
    }
