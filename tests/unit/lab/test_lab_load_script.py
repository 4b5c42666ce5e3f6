"""The load script and study that come with the tracker agree with each other."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from plimsoll_lab.tracker import seed

LOAD = Path(seed.__file__).parent / "load"

YOUTRACK = Path(__file__).parents[3] / "lab" / "studies" / "youtrack"


def test_the_study_names_operations_and_requests_of_the_script() -> None:
    study = yaml.safe_load((LOAD / "study.yaml").read_text())
    script = (LOAD / study["workload"]["script"]).read_text()
    exported = set(re.findall(r"export function (\w+)", script))
    named = set(re.findall(r"'((?:GET|POST) [^']+)'", script))
    operations = study["workload"]["operations"]
    minor = yaml.safe_load((YOUTRACK / "minor.yaml").read_text())["workload"]["operations"]
    assert {one["exec"] for one in [*operations, *minor]} < exported
    around = {
        name for name in named if name.startswith(("GET /inbox", "GET /permissions", "GET /filter", "GET /admin"))
    }
    assert len(around) == len(minor)
    named -= around
    assert {objective["request"] for objective in study["objectives"]} == named


def test_a_user_does_what_the_report_says_an_hour() -> None:
    study = yaml.safe_load((LOAD / "study.yaml").read_text())
    rates = {each["name"]: each["per_user_hour"] for each in study["workload"]["operations"]}
    assert rates == {"create_issue": 1, "update_issue": 9, "view_issue": 30, "search_issues": 10}
