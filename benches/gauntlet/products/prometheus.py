"""Prometheus: dashboards ask for rates and sums over series that it scrapes from itself. Go, from Debian."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from processes import await_answer, done, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

BEGAN_S, HOURS, EVERY_S, SERIES = 1_760_000_000, 3, 15, 120


def install(cache: Cache) -> None:
    cache.debian("prometheus")


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    metrics = folder / "seed.txt"
    metrics.write_text(seed())
    done(["promtool", "tsdb", "create-blocks-from", "openmetrics", metrics, folder / "data"], folder / "seed.log")
    metrics.unlink()
    (folder / "prometheus.yml").write_text("global: {scrape_interval: 1m}\n")
    port, log = free_port(), folder / "prometheus.log"
    command = [
        "prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address=127.0.0.1:{port}", "--storage.tsdb.retention.time=50y",
    ]  # fmt: skip
    with running(command, log) as process:
        await_answer(f"http://127.0.0.1:{port}/-/ready", process, log)
        yield {"BASE_URL": f"http://127.0.0.1:{port}", "BEGAN": str(BEGAN_S)}


def seed() -> str:
    """Counters of requests by instance and status, over HOURS."""
    lines = ["# TYPE requests counter"]
    for series in range(SERIES):
        labels = f'instance="web-{series % 20}",status="{(200, 200, 301, 404, 500, 503)[series % 6]}",path="/p{series}"'
        lines += [
            f"requests_total{{{labels}}} {step * (1 + series % 17)} {BEGAN_S + step * EVERY_S}"
            for step in range(HOURS * 3600 // EVERY_S)
        ]
    return "\n".join([*lines, "# EOF", ""])


PRODUCT = Product("prometheus", "Go", "Prometheus, its TSDB", "Debian prometheus 2.42", install, stands, "/-/ready")
