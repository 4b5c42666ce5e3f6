"""The live page of a run in Chromium: what it shows by the second, what it tells the run, and that it holds nothing."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from plimsoll.runs.directory import latest
from plimsoll.runs.kept.labels import notes_of


@pytest.fixture
def target(known_server: Callable[..., str]) -> str:
    return known_server("--servers", 4, "--service-ms", 5)


def begun(begin, target: str, lasts: str = "60s"):  # type: ignore[no-untyped-def]
    return begin("run", "script.js", "--ui", "-e", f"BASE_URL={target}", "-e", f"LASTS={lasts}")


def test_a_level_set_on_the_page_is_seen_there_in_all_windows_and_after_a_reload(begin, open_page, target) -> None:  # type: ignore[no-untyped-def]
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
    assert first.wrong == second.wrong == []


def test_a_note_is_kept_with_the_run_and_stop_ends_it(begin, open_page, target, cli) -> None:  # type: ignore[no-untyped-def]
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


def test_viewers_hold_the_end_of_a_run_for_a_second_at_most(begin, open_page, target) -> None:  # type: ignore[no-untyped-def]
    run = begun(begin, target, "5s")
    seen = [open_page(run.url) for _ in range(2)]
    for one in seen:
        expect(one.page.locator("#ended-words")).to_have_text("The run has ended: finished", timeout=30_000)
    began_s = time.monotonic()
    assert run.wait() == 0
    assert time.monotonic() - began_s < 3
    assert [one.wrong for one in seen] == [[], []]


def test_the_page_ends_with_a_verb_that_is_killed(begin, open_page, target) -> None:  # type: ignore[no-untyped-def]
    run = begun(begin, target)
    seen = open_page(run.url)
    expect(seen.page.locator("#phase")).to_have_text("running")
    run.process.kill()
    run.process.wait()
    expect(seen.page.locator("#ended-words")).to_have_text("The run has ended: killed")
    port = int(run.origin.rsplit(":", 1)[1])
    deadline_s = time.monotonic() + 10
    while (is_there := answers(port)) and time.monotonic() < deadline_s:
        time.sleep(0.1)
    assert not is_there


def answers(port: int) -> bool:
    """Whether something listens there."""
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
