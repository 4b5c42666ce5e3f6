"""The live page of a run in Chromium: what it shows by the second, what it tells the run, and that it holds nothing."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable

import psutil
import pytest
from command_line import Cli
from live_page import Begin, Live, OpenPage, violated
from playwright.sync_api import expect

from plimsoll.runs.directory import latest
from plimsoll.runs.kept.labels import notes_of


@pytest.fixture
def target(known_server: Callable[..., str]) -> str:
    return known_server("--servers", 4, "--service-ms", 5)


def begun(begin: Begin, target: str, lasts: str = "60s") -> Live:
    return begin("run", "script.js", "--ui", "-e", f"BASE_URL={target}", "-e", f"LASTS={lasts}")


def test_a_level_set_on_the_page_is_seen_there_in_all_windows_and_after_a_reload(
    begin: Begin, open_page: OpenPage, target: str, axe: str
) -> None:
    run = begun(begin, target)
    first, second = open_page(run.url), open_page(run.url, width=390, dark=True)
    for seen in (first, second):
        expect(seen.page.locator("#phase")).to_have_text("running")
        expect(seen.page.locator("#connection")).to_have_text("live")
        expect(seen.page.locator("#plot-rate canvas")).to_be_visible()
    first.page.get_by_label("Level", exact=True).fill("2")
    first.page.get_by_role("button", name="Set").click()
    expect(first.page.locator("#answer")).to_have_text("level 2: 2 times the declared load")
    for seen in (first, second):
        expect(seen.page.locator("#held")).to_contain_text("level 2")
        expect(seen.page.locator("#tiles")).to_contain_text(re.compile(r"of (39|40|41) planned"))
        expect(seen.page.locator("#notes")).to_contain_text("level 2: 2 times the declared load")
    second.page.reload()
    expect(second.page.locator("#held")).to_contain_text("level 2")
    first.page.get_by_role("button", name="Pause").click()
    expect(second.page.get_by_role("button", name="Resume")).to_be_visible()
    expect(second.page.locator("#phase")).to_have_text("paused")
    second.page.get_by_role("button", name="Resume").click()
    expect(first.page.locator("#held")).to_contain_text("level 2")
    for seen, theme in ((first, "dark"), (second, "light")):
        for _ in range(2):
            violations = violated(seen.page, axe)
            assert violations == []
            seen.page.emulate_media(color_scheme=theme)
    assert first.wrong == second.wrong == []


def test_a_page_whose_process_is_gone_says_so_and_is_live_again_when_it_is_back(
    begin: Begin, open_page: OpenPage, target: str
) -> None:
    begun(begin, target)
    serving = begin("ui", "runs", "--port", "0")
    seen = open_page(serving.url)
    seen.page.get_by_role("link", name="run", exact=True).click()
    expect(seen.page.locator("#connection")).to_have_text("live")
    serving.process.kill()
    expect(seen.page.locator("#connection")).to_have_text("The connection is lost; trying again …")
    begin("ui", "runs", "--port", serving.port)
    expect(seen.page.locator("#connection")).to_have_text("live")
    seen.page.get_by_role("button", name="Pause").click()
    expect(seen.page.locator("#answer")).to_contain_text("Reload it and try again.")
    seen.page.reload()
    seen.page.get_by_role("button", name="Pause").click()
    expect(seen.page.locator("#phase")).to_have_text("paused")


def test_a_note_is_kept_with_the_run_and_stop_ends_it(begin: Begin, open_page: OpenPage, target: str, cli: Cli) -> None:
    run = begun(begin, target)
    seen = open_page(run.url)
    expect(seen.page.locator("#phase")).to_have_text("running")
    seen.page.get_by_label("Note").fill("<b>the cache</b> was emptied")
    seen.page.get_by_role("button", name="Add").click()
    expect(seen.page.locator("#notes")).to_contain_text("<b>the cache</b> was emptied")
    seen.page.on("dialog", lambda asked: asked.accept())
    seen.page.get_by_role("button", name="Stop").click()
    expect(seen.page.locator("#ended-words")).to_have_text("The run has ended: interrupted")
    expect(seen.page.locator("#ended-command")).to_contain_text("plimsoll report ")
    expect(seen.page.locator("#ended-answer")).to_contain_text("requests")
    assert run.wait() == 103
    (note,) = notes_of(latest(cli.folder / "runs"))
    assert note["text"] == "<b>the cache</b> was emptied" and note["second"] > 0
    time.sleep(2)  # the process of the page is gone; the page stays as it is
    expect(seen.page.locator("#ended")).to_be_visible()
    assert seen.wrong == []


def test_viewers_hold_the_end_of_a_run_for_a_second_at_most(begin: Begin, open_page: OpenPage, target: str) -> None:
    run = begun(begin, target, "8s")
    seen = [open_page(run.url) for _ in range(2)]
    expect(seen[0].page.locator("#phase")).to_have_text("running")
    path = seen[0].page.url.removeprefix(run.origin)
    deaf = socket.create_connection(("127.0.0.1", run.port))  # asks, and reads nothing
    deaf.sendall(f"GET {path}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    for one in seen:
        expect(one.page.locator("#ended-words")).to_have_text("The run has ended: finished", timeout=30_000)
    began_s = time.monotonic()
    assert run.wait() == 0
    assert time.monotonic() - began_s < 3
    deaf.close()
    assert [one.wrong for one in seen] == [[], []]


def test_the_page_ends_with_a_verb_that_is_killed(begin: Begin, open_page: OpenPage, target: str) -> None:
    run = begun(begin, target)
    seen = open_page(run.url)
    expect(seen.page.locator("#phase")).to_have_text("running")
    run.process.kill()
    run.process.wait()
    expect(seen.page.locator("#ended-words")).to_have_text("The run has ended: killed")
    port = run.port
    deadline_s = time.monotonic() + 10
    while (is_there := answers(port)) and time.monotonic() < deadline_s:
        time.sleep(0.1)
    assert not is_there


def test_a_verb_that_chooses_its_levels_offers_to_stop_it_as_ctrl_c_does(
    begin: Begin, open_page: OpenPage, target: str
) -> None:
    flags = ("-e", f"BASE_URL={target}", "-e", "LASTS=60s", "--duration", "60s", "--baseline", "0", "--warm-up", "1")
    run = begin("hold", "script.js", "--ui", *flags)
    seen, beside = open_page(run.url), open_page(begin("ui", "runs", "--port", "0").url)
    expect(seen.page.locator("#phase")).to_have_text("holding")
    expect(seen.page.locator("#clock")).to_contain_text("left")
    expect(seen.page.locator("#limits-rows")).to_contain_text("p95 below 2 s")
    expect(seen.page.get_by_role("button", name="Pause")).to_have_count(0)
    beside.page.get_by_role("link", name="hold").click()
    expect(beside.page.locator("#phase")).to_have_text("holding")
    expect(beside.page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(beside.page.get_by_text("Ctrl-C in its terminal stops it.")).to_be_visible()
    seen.page.on("dialog", lambda asked: asked.accept())
    seen.page.get_by_role("button", name="Stop").click()
    for one in (seen, beside):
        expect(one.page.locator("#ended-words")).to_contain_text("interrupted", timeout=30_000)
    assert run.wait() == 130
    beside.page.get_by_role("link", name="Open the report").click()
    expect(beside.page.locator("html.drawn")).to_be_attached(timeout=60_000)
    assert seen.wrong == beside.wrong == []


def test_the_page_of_a_study_leads_to_its_next_experiment(
    begin: Begin, open_page: OpenPage, target: str, cli: Cli
) -> None:
    hold = "{hold: {users: 1, duration_s: 4, warm_up_s: 1, baseline_s: 0}}"
    cli.write(
        script_js="""import http from 'k6/http';
export default function () { http.get(__ENV.BASE_URL); }
""",
        study_yaml=f"""name: two
target: {{url: {target}}}
workload:
  script: script.js
  env: {{BASE_URL: {target}}}
  model: open
  operations: [{{name: home, exec: default, per_user_hour: 36000}}]
expected_users: 1
experiments: [{hold}, {hold}]
""",
    )
    run = begin("study", "study.yaml", "--ui")
    seen = open_page(run.url)
    expect(seen.page.locator("#phase")).to_have_text("holding", timeout=40_000)
    first = seen.page.url
    seen.page.get_by_role("link", name="The next run goes on: show it").click(timeout=60_000)
    expect(seen.page.locator("#phase")).to_have_text("holding")
    assert seen.page.url != first
    seen.page.get_by_role("link", name="All runs").click()
    seen.page.get_by_role("link", name="study").click()
    expect(seen.page.locator(".run")).to_have_count(2)
    run.wait()
    assert seen.wrong == []


def test_a_run_that_begins_paused_is_begun_on_the_page(begin: Begin, open_page: OpenPage, target: str) -> None:
    run = begin("run", "script.js", "--paused", "--ui", "-e", f"BASE_URL={target}", "-e", "LASTS=3s")
    seen = open_page(run.url)
    expect(seen.page.locator("#phase")).to_have_text("paused")
    seen.page.get_by_role("button", name="Resume").click()
    expect(seen.page.locator("#ended-words")).to_have_text("The run has ended: finished")
    assert run.wait() == 0 and seen.wrong == []


def answers(port: int) -> bool:
    """Whether something listens there."""
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def test_wrong_input_is_told_as_without_the_page(cli: Cli) -> None:
    without, done = cli("run", "missing.js"), cli("run", "missing.js", "--ui")
    assert done.returncode == without.returncode and without.stderr in done.stderr


def test_a_run_goes_on_when_the_process_of_its_page_is_killed(begin: Begin, target: str) -> None:
    run = begun(begin, target, "4s")
    (page,) = (one for one in psutil.Process(run.process.pid).children() if "plimsoll.ui.beside" in one.cmdline())
    page.kill()
    assert run.wait() == 0
    assert not any("Traceback" in line for line in run.said)
