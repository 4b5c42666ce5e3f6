"""What is given in place of a script is named."""

from __future__ import annotations

from pathlib import Path

from plimsoll.script_mistakes import script_mistake


def test_a_study_that_is_given_as_a_script_is_named_as_one(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text("target: {url: http://127.0.0.1:1}\n")
    error = script_mistake("SyntaxError: unexpected line terminator in regexp", script=study)
    assert error.what == "is a study, and a k6 script is wanted"
    assert f"plimsoll capacity {study}" in error.next_step


def test_one_mistake_of_several_rules_is_told_once(tmp_path: Path) -> None:
    """Seen: the unknown metric of two thresholds, in the same words twice."""
    script = tmp_path / "script.js"
    script.write_text("export default function () {}")
    mistakes = "threshold 'x': there is no metric 'x'\nthreshold 'x': there is no metric 'x'\noptions.vus: too many"
    error = script_mistake(mistakes, script=script)
    told = ["threshold 'x': there is no metric 'x'", "options.vus: too many"]
    assert error.what.splitlines() == [f"{script}: {one}" for one in told]
