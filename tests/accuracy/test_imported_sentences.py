"""Loads of nineteen shapes in three tools' files: no sentence goes against the levels; each says what was planted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from imported_sentences import contradictions
from imported_shapes import NO_KNEE, SHAPES, WRITERS, Played, drawn, no_knee, played

from plimsoll.verbs.analysis import AnalysisChoices, analyze

SEED = 81_001
SAYS = {
    "flat from one user on": "Throughput does not rise with the load",
    "flat from five users on": "Throughput does not rise with the load",
    "a flat ramp": "Throughput does not rise with the load",
    "steps that fall": "it falls, by",
    "a ramp that falls": "it falls, by",
    "one level only": "the only level with a throughput",
    "steps that end in proportion": "Throughput rises in proportion up to",
    "the same test twice": "on, more bring no more throughput",
    "two tests of which the second is slower": "levels disagree, so the target or the load was not the same each time",
}


def answers(run: Played, tool: str, folder: Path) -> list[dict[str, Any]]:
    WRITERS[tool](run, folder / "results")
    [analysed] = analyze([folder / "results"], AnalysisChoices(runs=folder / "runs", report=False))
    return analysed.findings


@pytest.mark.parametrize("shape", SHAPES)
def test_no_sentence_goes_against_the_levels_of_a_shape_with_a_knee(shape: str, tmp_path: Path) -> None:
    run = played(SHAPES[shape], drawn(SEED), SEED)
    for tool in WRITERS:
        findings = answers(run, tool, tmp_path)
        assert not list(contradictions(findings)), (tool, findings[0]["answer"])


@pytest.mark.parametrize("shape", NO_KNEE)
def test_no_sentence_goes_against_the_levels_of_a_shape_without_one_and_it_is_told_as_what_it_is(
    shape: str, tmp_path: Path
) -> None:
    run = no_knee(shape, SEED)
    for tool in WRITERS:
        findings = answers(run, tool, tmp_path)
        assert SAYS[shape] in findings[0]["answer"], tool
        assert not list(contradictions(findings)), (tool, findings[0]["answer"])


def test_a_pause_between_two_tests_is_no_load(tmp_path: Path) -> None:
    """A file whose level is told by its requests alone kept that of the last one for a quarter of an hour."""
    findings = answers(no_knee("the same test twice", SEED), "JTL", tmp_path)
    truth = drawn(SEED)
    assert findings[0]["capacity"]["plateau_per_s"] == pytest.approx(1 / truth.demand_s, rel=0.03)
    assert any("a pause between tests" in note for note in findings[-1]["notes"])
