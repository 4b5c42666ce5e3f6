"""k6's samples: --out csv=FILE (grafana.com/docs/k6, "Results output, CSV"); times are whole seconds unless
K6_CSV_TIME_FORMAT says otherwise."""

from __future__ import annotations

from plimsoll.runs.importers.clock import moment
from plimsoll.runs.importers.k6.json_samples import ARRIVALS, BUILT_IN, Taker
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.plain_numbers import real
from plimsoll.runs.importers.source import LOOP_UNKNOWN, NO_GENERATOR, BadRecord, Format
from plimsoll.runs.importers.spill import Spill

NEEDED = ("metric_name", "timestamp", "metric_value")


def looks_like(head: str) -> bool:
    """Whether its first line names k6's columns."""
    return head.startswith(",".join(NEEDED))


def read(file: SourceFile, into: Spill) -> None:
    """All requests, iterations, VUs and dropped arrivals into `into`."""
    rows = file.rows()
    header = next(rows)
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise file.error(BadRecord(f"the columns {', '.join(missing)} are missing", None, "Export it with --out csv."))
    metric, at, value = (header.index(name) for name in NEEDED)
    take, width = Taker(into), len(header)

    def row(cells: list[str]) -> None:
        if len(cells) != width:
            if not cells:
                return
            raise BadRecord(f"{len(cells)} columns instead of {width}")
        if cells[metric] not in BUILT_IN:
            return
        try:
            number = real(cells[value])
        except ValueError:
            raise BadRecord(f"{cells[value]!r} is no number", "metric_value") from None
        take(cells[metric], moment(cells[at], "timestamp"), number, dict(zip(header, cells, strict=True)))

    file.records(rows, row)


FORMAT = Format(
    name="k6-csv",
    title="k6, samples as CSV",
    shape="samples",
    loop="unknown",
    looks_like=looks_like,
    read=read,
    supports="as k6-json, without own metrics; times are whole seconds",
    cannot=(LOOP_UNKNOWN, ARRIVALS, NO_GENERATOR),
)
