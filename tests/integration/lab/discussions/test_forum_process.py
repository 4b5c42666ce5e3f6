"""The forum as a process, with its accounts service as a second one: ready line, signals, study, reset, OpenAPI."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from lab_process import LabProcess, ended_process, lab_process
from openapi_run import assert_schemathesis_finds_nothing

from plimsoll.study import load_study
from plimsoll_lab.discussions.load_files import OURS, write_load_files

OPTIONS = ("--threads", 25, "--auto-auth")
LIST = "/api/discussion/v1/threads/?course_id=course-v1:DemoX%2BLoad1%2B2026&requested_fields=profile_image"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[LabProcess]:
    with lab_process("discussions", *OPTIONS, "--data", tmp_path) as forum:
        yield forum


def is_gone(pid: int) -> bool:
    """Whether that process ends within ten seconds."""
    for _ in range(100):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_it_serves_with_two_processes_and_both_end(served: LabProcess, number: signal.Signals) -> None:
    process, ready = served.process, served.ready
    accounts = ready["accounts"]
    assert accounts["pid"] not in (ready["pid"], None)
    with httpx.Client(base_url=ready["url"]) as client:
        assert client.get("/auto_auth?username=user002").json()["username"] == "user002"
        answer = client.get(LIST)
        assert (answer.headers["x-transactions"], answer.headers["x-accounts-calls"]) == ("2", "1")
        page = answer.json()["results"]
        assert page[0]["users"][page[0]["author"]]["profile"]["image"]["image_url_full"]
        assert client.get("/status").json()["accounts_calls"] == 1
        assert client.get(f"{accounts['url']}/status").json()["requests"] == 1
        assert client.get(f"{accounts['url']}/api/user/v1/accounts?username=user002").status_code == 401
        process.send_signal(number)
        assert process.wait(timeout=30) == (0 if number != signal.SIGKILL else -9)
    assert is_gone(accounts["pid"])
    assert "Traceback" not in served.errors()


def test_forum_and_accounts_share_a_postgresql_database_that_no_command_line_shows(
    forum_dsn: str, tmp_path: Path
) -> None:
    with lab_process("discussions", *OPTIONS, "--reset", "--data", tmp_path, "--dsn", forum_dsn) as forum:
        with httpx.Client(base_url=forum.url) as client:
            client.get("/auto_auth?username=user002")
            page = client.get(LIST).json()["results"]
            assert page[0]["users"][page[0]["author"]]["profile"]["image"]["image_url_full"]
            about = client.get("/status").json()
            assert (about["database"], about["accounts_failed"]) == ("postgresql", 0)
        assert forum_dsn not in " ".join(psutil.Process(forum.ready["accounts"]["pid"]).cmdline())
        forum.process.terminate()
        assert forum.process.wait(timeout=30) == 0


def test_a_port_in_use_ends_it_with_2(served: LabProcess, tmp_path: Path) -> None:
    port = served.url.rsplit(":", 1)[1]
    for flag in ("--port", "--accounts-port"):
        given = (flag, port, *(() if flag == "--port" else ("--port", 0)))
        ended = ended_process("discussions", *given, "--threads", 5, "--data", tmp_path / "other")
        assert (ended.returncode, ended.stdout) == (2, ""), ended.stderr
        assert f"Port {port}" in ended.stderr


def test_a_forum_that_serves_is_taken_back_to_its_seeded_data(served: LabProcess, tmp_path: Path) -> None:
    with httpx.Client(base_url=served.url) as client:
        client.get("/auto_auth?username=user002")
        body = {"course_id": "c", "topic_id": "t", "title": "A lamp", "raw_body": "Is out."}
        token = {"X-CSRFToken": client.cookies["csrftoken"]}
        assert client.post("/api/discussion/v1/threads/", json=body, headers=token).status_code == 201
        assert client.get("/volume").json()["threads"] == 26
        done = ended_process("discussions", "--restore-at", served.url, "--data", tmp_path)
        assert done.returncode == 0, done.stderr
        assert client.get("/volume").json()["threads"] == 25
    done = ended_process("discussions", "--restore-at", "http://127.0.0.1:9", "--data", tmp_path)
    assert done.returncode == 3 and "was not restored" in done.stderr


def test_the_study_beside_its_data_is_its_own_and_its_script_runs(served: LabProcess, tmp_path: Path) -> None:
    ready = served.ready
    study = load_study(tmp_path / "study.yaml")
    assert study.target.url == ready["url"] and study.target.reset is not None
    assert [f"http://127.0.0.1:{one.port}" for one in study.target.processes] == [
        ready["url"],
        ready["accounts"]["url"],
    ]
    script = ["discussions.js", "-e", f"BASE_URL={ready['url']}", "-e", "USERS=300", "-e", "DURATION=2s"]
    script += ["-e", "USERS_JSON=./users.json", "-e", "THREADS=25", "-e", "SESSIONS=3", "-e", "PROFILE_IMAGE=1"]
    command = [sys.executable, "-m", "plimsoll", "run", *script, "--summary-export", "summary.json", "-q"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    metrics = json.loads((tmp_path / "summary.json").read_text())["metrics"]
    assert metrics["checks"]["fails"] == 0 and metrics["checks"]["passes"] > 20
    status = httpx.get(f"{ready['url']}/status", trust_env=False).json()
    told = {name: one for name, one in status["by_operation"].items() if name not in ("csrf_token", "login")}
    transactions = sum(one["transactions"] for one in told.values())
    calls = sum(one["accounts_calls"] for one in told.values())
    assert metrics["accounts_calls_among_transactions"]["value"] == pytest.approx(calls / transactions)
    assert metrics["server_transactions_per_request"]["avg"] == pytest.approx(
        transactions / sum(one["requests"] for one in told.values())
    )


def test_a_study_that_the_user_made_his_own_is_left_alone(tmp_path: Path) -> None:
    path = write_load_files(tmp_path, "http://127.0.0.1:20001", "http://127.0.0.1:20002", 300)
    assert load_study(path).workload.env["THREADS"] == "300"
    own = path.read_text().removeprefix(OURS)
    path.write_text(own)
    write_load_files(tmp_path, "http://127.0.0.1:20003", "http://127.0.0.1:20004", 300)
    assert path.read_text() == own


def test_schemathesis_finds_nothing(served: LabProcess, tmp_path: Path) -> None:
    with httpx.Client(base_url=served.url) as client:
        client.get("/auto_auth?username=user002")
        cookies = dict(client.cookies)
    settings = (
        f'[auth.openapi.session]\napi_key = "{cookies["sessionid"]}"\n'
        f'[auth.openapi.csrf_cookie]\napi_key = "{cookies["csrftoken"]}"\n'
        f'[auth.openapi.csrf_header]\napi_key = "{cookies["csrftoken"]}"\n'
        # A comment goes with its thread, which the tool deletes in between and then takes for a loss.
        '[[operations]]\ninclude-path-regex = "/comments/"\nchecks.ensure_resource_availability.enabled = false\n'
    )
    # No schema says that only responses are endorsed, and only they have comments.
    more_than_a_schema = ("createComment", "changeComment")
    assert_schemathesis_finds_nothing(served.url, tmp_path, {}, languages=more_than_a_schema, settings=settings)
    assert "Traceback" not in served.errors()
