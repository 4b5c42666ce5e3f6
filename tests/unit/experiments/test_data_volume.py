"""Reading how much data a target holds: from a command, from JSON, and what is said when there is no number."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import TargetError
from plimsoll.experiments.long_runs.data_volume import DataVolume
from plimsoll.study import Target


def reader(folder: Path, what: str, notes: list[str] | None = None, limit_s: float = 30, **target: Any) -> DataVolume:
    about = Target(data_volume=what, time_limits={"data_volume_s": limit_s}, **target)
    on_note = (notes if notes is not None else []).append
    return DataVolume(about, folder / "logs", directory=folder, on_note=on_note)


@pytest.fixture
def address() -> Iterator[str]:
    """A server that answers every path with one JSON document."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(404 if self.path == "/none" else 200)
            self.end_headers()
            self.wfile.write(b'{"issues": {"total": 20017}, "sizes": [1.5, "2.5"], "name": "x"}')

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_command_runs_in_the_folder_of_the_study_with_its_environment(tmp_path: Path):
    (tmp_path / "rows").write_text("a\nb\n")
    read = reader(tmp_path, "echo counting; expr $(wc -l < rows) + $MORE", environment={"MORE": 5})
    assert read() == 7
    (tmp_path / "rows").write_text("a\nb\nc\n")
    assert read() == 8


@pytest.mark.parametrize(("place", "value"), [("issues.total", 20017), ("sizes.0", 1.5), ("sizes.1", 2.5)])
def test_a_number_is_found_in_the_json_of_a_url_or_a_path_below_the_target(
    tmp_path: Path, address: str, place: str, value: float
):
    assert reader(tmp_path, f"{address}/status#{place}")() == value
    assert reader(tmp_path, f"/status#{place}", url=address)() == value


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("echo many", "is no number: 'many'"),
        ("true", "is no number"),
        ("echo no database; exit 3", r"ended with 3: no database"),
        ("sleep 600", r"did not end within 0.5 s"),
        ("/status#issues.count", "count is missing"),
        ("/status#name", "is no number: 'x'"),
        ("/status", "is no number"),
        ("/none#issues", "gave no JSON"),
        ("http://127.0.0.1:9/#x", "gave no JSON"),
    ],
)
def test_what_gives_no_number_is_a_mistake_of_the_study(tmp_path: Path, address: str, what: str, words: str):
    with pytest.raises(TargetError, match=words + r"[\s\S]*Correct target.data_volume"):
        reader(tmp_path, what, limit_s=0.5, url=address)()


def test_a_volume_that_cannot_be_read_any_more_is_unknown_and_told_once(tmp_path: Path):
    notes: list[str] = []
    (tmp_path / "count").write_text("5")
    read = reader(tmp_path, "cat count", notes)
    assert read() == 5
    (tmp_path / "count").unlink()
    assert read() is None and read() is None
    assert len(notes) == 1 and "cannot be read" in notes[0]


def test_what_a_reading_printed_does_not_pass_for_the_next(tmp_path: Path):
    (tmp_path / "count").write_text("5")
    read = reader(tmp_path, "cat count")
    assert read() == 5
    (tmp_path / "count").write_text("")
    assert read() is None
