"""A process that writes a run as fast as it can until it is killed; argument: the folder for runs."""

from __future__ import annotations

import sys

from plimsoll.runs import Histogram, RunFacts, RunWriter, Series, Snapshot


def one_second(second: int) -> Snapshot:
    """A second whose numbers all follow from its position, so that a reader can check each."""
    times = Histogram.from_values([1.0 + second % 7] * (1 + second % 5))
    series = Series.of_trend("http_req_duration", {"scenario": "a", "name": "GET /"}, times)
    return Snapshot(
        second, t_unix=1e9 + second, planned=second, done=second, series=(series,), generator={"cpu_s": 0.1}
    )


def main() -> None:
    """Write until killed, having said on standard output that the run is open."""
    writer = RunWriter.create(sys.argv[1], RunFacts("capacity", t0_unix=1e9))
    print(writer.path, flush=True)
    second = 0
    while True:
        writer.append_snapshot(one_second(second))
        writer.append_resource({"t_unix": 1e9, "second": second, "source": "host", "values": {"cpu_share": 0.5}})
        if second % 10 == 0:
            writer.append_event("level", second=second, level=second)
            writer.write_findings([{"schema": 1, "second": second}])
        second += 1


if __name__ == "__main__":
    main()
