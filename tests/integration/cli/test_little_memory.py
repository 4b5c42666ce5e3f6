"""Under a limit of address space, which the chart engine does not survive, a run is reported all the same."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from command_line import Cli

sys.path.insert(0, str(Path(__file__).parents[2] / "unit" / "report"))
LIMIT_BYTES = 8_000_000 * 1024


def test_a_report_without_room_for_the_chart_engine_says_so(cli: Cli) -> None:
    from synthetic_run import write_run

    run = write_run(cli.folder / "20260101-000000-capacity-0000")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))

    done = cli("report", run, preexec_fn=limit)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert "the chart engine could not start, it ended with SIG" in done.stderr and "ulimit -v" in done.stderr
    page = (run / "report.html").read_text()
    assert "Charts are not drawn for print" in page and "Carries 7,000 users" in page
