"""What the OpenAPI document says is what the tracker does: schemathesis sends what it allows and what it forbids."""

from __future__ import annotations

from pathlib import Path

from lab_process import lab_process
from openapi_run import assert_schemathesis_finds_nothing

# Searches and commands are languages; an issue and a comment need a text, or a draft that is kept.
LANGUAGES = ("sortedIssues", "countIssues", "countEach", "applyCommand", "createIssue", "addComment")


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    with lab_process("tracker", "--issues", 50, "--data", tmp_path) as tracker:
        token = {"Authorization": f"Bearer {tracker.first_user()['token']}"}
        assert_schemathesis_finds_nothing(tracker.url, tmp_path, token, languages=LANGUAGES)
        assert "Traceback" not in tracker.errors()
