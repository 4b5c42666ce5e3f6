"""Locust's history: what is counted, and how little of it is kept."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from importing import DATA, imported

from plimsoll.errors import InputError
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.locust.history import FORMAT
from plimsoll.runs.importers.spill import Spill

LINES = (DATA / "locust_history.csv").read_text().splitlines(keepends=True)
OF_ALL = [LINES[0], *(line for line in LINES if ",Aggregated," in line)]
T0 = 1_795_325_697


def test_a_history_without_endpoints_counts_all_together_as_one_with_them(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("".join(OF_ALL))
    found, full = imported(tmp_path / "h.csv"), imported(DATA / "locust_history.csv")
    assert found.spill.samples == full.spill.samples > 0
    assert list(found.returned) == [window for window in full.returned if window.name is None]


def test_a_wrong_time_in_a_history_without_endpoints_names_its_line(tmp_path: Path) -> None:
    later = OF_ALL[-1].replace("17953257", "27953257").split(",")
    later[17] = "99999"
    (tmp_path / "h.csv").write_text("".join([*OF_ALL, ",".join(later), OF_ALL[-1]]))
    with pytest.raises(InputError) as caught:
        imported(tmp_path / "h.csv")
    assert f"h.csv:{len(OF_ALL) + 1}" in str(caught.value)


def test_a_count_with_a_fraction_is_refused(tmp_path: Path) -> None:
    cells = OF_ALL[-1].split(",")
    cells[17] = "1.664"
    (tmp_path / "h.csv").write_text("".join([*OF_ALL, ",".join(cells)]))
    with pytest.raises(InputError, match=r"Total Request Count: '1.664' is no whole number"):
        imported(tmp_path / "h.csv")


def test_of_each_line_a_few_numbers_are_kept(tmp_path: Path) -> None:
    """4,000 lines of 20 endpoints, whose text is 600 kB: about 100 bytes of windows a line, and counts per second."""
    with (tmp_path / "h.csv").open("w") as file:
        file.write(LINES[0])
        for line in range(4000):
            second, name = divmod(line, 20)
            times = ",".join(str(line % 89 + step) for step in range(11))
            file.write(f"{T0 + second},9,GET,home{name},7.5,0.0,{times},{second},0,5,5.5,1,9,44\n")
    with Spill() as spill:
        source = SourceFile(tmp_path / "h.csv")
        tracemalloc.start()
        windows = FORMAT.read(source, spill)
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(windows) == 4000 and spill.samples == 20 * 199
    assert kept < 4000 * 250
