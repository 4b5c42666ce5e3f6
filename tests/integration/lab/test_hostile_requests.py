"""Every operation of every target, asked as no library asks: done or refused with words, never with 500."""

from __future__ import annotations

import urllib.request
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
from configurations_client import Answering, configurations, link_index
from hostile_requests import answers
from inventory_client import serving
from lab_process import lab_process


def assert_refused_with_words(url: str, headers: Mapping[str, str], least_refused: float = 0.25) -> None:
    """`least_refused`: of all, so that it is not the hostile requests that are mild."""
    asked = list(answers(url, headers))
    assert len(asked) >= 20
    wrong = [one for one in asked if one.status >= 500 or (one.status >= 400 and not one.text)]
    assert not wrong, f"{len(wrong)} of {len(asked)}:\n" + "\n".join(map(str, wrong[:20]))
    assert sum(400 <= one.status < 500 for one in asked) >= least_refused * len(asked)
    with urllib.request.urlopen(f"{url}/openapi.json", timeout=10) as answer:
        assert answer.status == 200


def test_of_the_tracker(tmp_path: Path) -> None:
    with lab_process("tracker", "--issues", 50, "--data", tmp_path) as tracker:
        assert_refused_with_words(tracker.url, {"Authorization": f"Bearer {tracker.first_user()['token']}"})
        assert "Traceback" not in tracker.errors()


def test_of_the_inventory(tmp_path: Path) -> None:
    with serving(tmp_path, instances=20) as inventory:
        token = {"X-Okapi-Token": inventory.client.headers["X-Okapi-Token"]}
        assert_refused_with_words(inventory.ready["url"], token)
        assert "Traceback" not in inventory.errors()
        assert inventory.telemetry()["storage.restarts"] == 0


def test_of_the_discussions(tmp_path: Path) -> None:
    with lab_process("discussions", "--threads", 25, "--auto-auth", "--data", tmp_path) as forum:
        with httpx.Client(base_url=forum.url, trust_env=False) as client:
            client.get("/auto_auth?username=user002")
            cookies = dict(client.cookies)
        headers = {
            "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
            "X-CSRFToken": cookies["csrftoken"],
        }
        assert_refused_with_words(forum.url, headers)
        assert "Traceback" not in forum.errors()


def test_of_the_testcases(tmp_path: Path) -> None:
    with lab_process("testcases", "--cases", 20, "--data", tmp_path) as lab:
        user = {name: lab.first_user()[name] for name in ("username", "password")}
        call = {"jsonrpc": "2.0", "id": 1, "method": "Auth.login", "params": user}
        session = httpx.post(f"{lab.url}/json-rpc/", json=call, trust_env=False).json()["result"]
        assert_refused_with_words(lab.url, {"Cookie": f"sessionid={session}"})
        assert "Traceback" not in lab.errors()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> object:
    with configurations(tmp_path_factory.mktemp("configurations"), artifacts=22) as ready:
        yield ready


@pytest.mark.parametrize("service", ["gc", "rm", "qm", "cm", "jts", "whole"])
def test_of_the_configurations(whole: Answering, service: str) -> None:
    url = {**whole.urls, "whole": whole.ready["url"]}[service]
    # The address of the whole has pages without parameters, which take no notice of any.
    least = 0.0 if service == "whole" else 0.25
    assert_refused_with_words(url, {"Authorization": whole.client.headers["Authorization"]}, least)
    assert "Traceback" not in whole.errors.read_text()
    assert not any(count for name, count in whole.telemetry().items() if name.endswith(".restarts"))


def test_of_the_link_index(whole: Answering, tmp_path: Path) -> None:
    with link_index(tmp_path, whole) as ldx:
        assert_refused_with_words(ldx.ready["url"], {"Authorization": whole.client.headers["Authorization"]})
        assert "Traceback" not in ldx.errors.read_text()
