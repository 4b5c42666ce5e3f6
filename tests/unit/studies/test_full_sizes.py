"""The full sizes of the studies are the reports': users, data, times, and how busy each user is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from published_figures import STUDIES, figures, rows

from plimsoll.study import load_study
from plimsoll.study.workload import shares

GC, TRACKER = figures("clm-gc"), figures("youtrack")
LINKS = {  # of the reports' scenarios
    "RTC-DNG": "link_defect_to_requirement",
    "RTC-RQM": "link_defect_to_test",
    "RQM-DNG": "link_test_to_requirement",
}


def full(study: str, name: str = "full.yaml") -> Any:
    return load_study(STUDIES / study / name)


def iterations_per_hour(study: Any, users: float) -> dict[str, float]:
    """Of each group, of users who get their answers at once."""
    think_s = {group.name: group.mean_think_time_s for group in study.workload.groups}
    return {name: users * share * 3600 / think_s[name] for name, share in shares(study.workload).items()}


def links_published(study: str, users: int) -> dict[str, float]:
    return {
        LINKS[row["integration scenario"]]: float(row["throughput (per hour)"].replace(",", ""))
        for row in rows(study, "links")
        if row["users"] == str(users)
    }


def test_users_of_the_web_ui_read_and_create_as_often_as_the_reports() -> None:
    study = full("clm-gc")
    done = iterations_per_hour(study.with_experiment(study.experiments[0]), 100)
    [each] = [row for row in rows("clm-gc", "rates") if row["users"] == "100"]
    created = sum(rate for name, rate in done.items() if name.startswith("create_"))
    assert created == pytest.approx(float(each["creations (per hour)"]), rel=0.02)
    assert sum(done.values()) - created == pytest.approx(float(each["searches (per hour)"]), rel=0.02)


def test_users_through_the_proxies_ask_as_often_as_the_reports() -> None:
    study = full("clm-gc")
    [shared] = rows("clm-gc", "shared")
    done = iterations_per_hour(study.with_experiment(study.experiments[1]), float(shared["users"]))
    requests = 1 + GC["GETs for each search through a proxy"]
    assert requests * sum(done.values()) / 3600 == pytest.approx(float(shared["throughput (tps)"]), rel=0.02)


def test_users_of_the_integration_link_as_often_as_the_reports() -> None:
    study = full("clm-gc")
    done = iterations_per_hour(study.with_experiment(study.experiments[2]), 500)
    for name, published in links_published("clm-gc", 500).items():
        assert done[name] == pytest.approx(published, rel=0.02)


def test_users_of_the_index_link_as_often_as_the_reports() -> None:
    study = full("clm-ldx")
    for item in study.experiments[1:]:
        [name] = item.options.of
        of_30 = iterations_per_hour(study.with_experiment(item), 30)[name]
        assert of_30 == pytest.approx(links_published("clm-ldx", 30)[name], rel=0.02)
        [kind] = [kind for kind, group in LINKS.items() if group == name]
        last = max(int(row["users"]) for row in rows("clm-ldx", "links")
                   if row["integration scenario"] == kind and row["throughput (per hour)"] != "--")  # fmt: skip
        assert item.options.users == last


def test_the_index_polls_once_a_minute_and_begins_with_as_many_test_artifacts() -> None:
    words = dict(re.findall(r"(\w+)=(\d+)", full("clm-ldx").target.start))
    tests = max(float(row["items"]) for row in rows("clm-ldx", "initial"))
    assert float(words["ARTIFACTS"]) == tests
    assert float(words["POLL_EVERY"]) == 60 * figures("clm-ldx", "sizing")["interval of polls"]


def test_the_tracker_holds_the_reports_issues_for_an_hour_and_loads_as_many_before() -> None:
    study, upload = full("youtrack"), full("youtrack", "full-upload.yaml")
    before, after = (int(re.findall(r"ISSUES=(\d+)", one.target.start)[0]) for one in (upload, study))
    assert before == TRACKER["issues before the upload"]
    assert after == pytest.approx(TRACKER["issues after the upload"], rel=0.001)
    [hold] = [one.options for one in study.experiments if one.name == "hold"]
    assert hold.duration_s == 60 * TRACKER["hold"]
    [grow] = [one.options for one in upload.experiments]
    assert (grow.items, grow.max_users) == (TRACKER["issues to create"], TRACKER["users of the upload"])
    rates = {one.name.split("_")[0]: one.per_user_hour for one in study.workload.operations}
    assert {name: rates[name] for name in ("create", "update", "view", "search")} == {
        name: TRACKER[f"{name} of a user"] for name in ("create", "update", "view", "search")
    }


def test_the_inventory_has_the_reports_users_results_and_half_hours() -> None:
    [sweep] = [one.options for one in full("folio").experiments if one.name == "sweep"]
    published = rows("folio", "runs")
    assert {float(row["users"]) for row in published} == set(map(float, sweep.over["users"]))
    assert {float(row["duration (s)"]) for row in published} == {sweep.trial_s}
    least, most = ({float(row[f"{which} result"]) for row in published} for which in ("smallest", "largest"))
    assert min(least) <= min(map(float, sweep.over["SIZE"])) and max(map(float, sweep.over["SIZE"])) == max(most)


def test_kiwi_has_the_reports_values_of_r() -> None:
    model = figures("kiwi")
    study = full("kiwi")
    assert float(study.workload.env["R"]) == model["R"]
    over = [item.options.over for item in study.experiments if item.name == "sweep"]
    values = {float(value) for one in over for value in one.get("R", ())}
    assert {model["R"], model["other R of the first series"]} <= values


def test_the_forum_has_the_levels_of_both_of_the_reports_comparisons() -> None:
    images, index = [one.options.users for one in full("edx").experiments[:2]]
    assert {48, 96, 240, 336} <= set(images)
    assert {48, 96, 162, 240, 336, 460, 510, 578} <= set(index)
