"""A name of a file does not steer the terminal on which `plimsoll analyze` answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.cli.app import app
from plimsoll.plain_text import plain

JTL = "timeStamp,elapsed,label,responseCode,success\n" + "".join(
    f"{1_700_000_000_000 + 20 * number},{5 + number % 7},GET /,200,true\n" for number in range(500)
)


@pytest.mark.parametrize("name", ["e\x1b[31mx.jtl", "b\udcffd.jtl", "n\nl.jtl"])
@pytest.mark.parametrize("as_json", [False, True])
def test_an_answer_has_no_control_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, as_json: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(JTL)
    done = CliRunner().invoke(app, ["analyze", name, *(["--json"] if as_json else [])])
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert "\x1b" not in done.output and "\nl.jtl" not in done.output
    if as_json:
        assert json.loads(done.stdout)
    else:
        assert plain(name) in done.stdout
