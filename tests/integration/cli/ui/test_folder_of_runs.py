"""`plimsoll ui` over a folder, in Chromium: list, search, compare, tag, delete, reports, and who may not."""

from __future__ import annotations

import re
import shutil
import signal
import socket
from pathlib import Path

import pytest
from command_line import Cli
from live_page import Begin, Live, OpenPage, violated
from playwright.sync_api import expect

from plimsoll.runs.directory import list_runs
from plimsoll.runs.kept.labels import add_note, set_tags

TOKEN = "a-token-of-enough-length"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of two seconds."""
    folder = tmp_path_factory.mktemp("two")
    cli = Cli(folder)
    script = "import http from 'k6/http'; export const options = { vus: 1, duration: '2s' };"
    cli.write(script_js=f"{script} export default function () {{ http.get('http://127.0.0.1:9/'); }}")
    for _ in range(2):
        cli("run", "script.js", "--quiet")
    made = list_runs(folder / "runs")
    assert len(made) == 2
    return folder / "runs"


def opened(begin: Begin, runs: Path, *flags: object) -> Live:
    return begin("ui", runs, "--port", "0", *flags)


def test_runs_are_listed_searched_tagged_and_compared(begin: Begin, open_page: OpenPage, runs: Path) -> None:
    first, second = list_runs(runs)
    seen = open_page(opened(begin, runs).url)
    page = seen.page
    expect(page.locator(".run")).to_have_count(2)
    page.locator(".run a").first.click()
    page.get_by_label("Tags").fill("baseline, <i>x</i>")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Tags")).to_have_value("baseline, <i>x</i>")
    page.get_by_role("link", name="All runs").click()
    page.get_by_label("Search").fill("BASELINE")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".run")).to_have_count(1)
    expect(page.locator(".run")).to_contain_text("<i>x</i>")
    page.get_by_role("link", name="Show all").click()
    compare = page.get_by_role("button", name="Compare two")
    expect(compare).to_be_disabled()
    for run in (first, second):
        page.get_by_label(run.name).check()
    compare.click()
    expect(page.get_by_role("row", name=re.compile("Failed requests"))).to_contain_text("(100%)")
    expect(page.locator("canvas")).to_have_count(2)
    assert seen.wrong == []


def test_a_finished_run_shows_its_answer_and_its_report_in_a_sandbox(
    begin: Begin, open_page: OpenPage, runs: Path
) -> None:
    live = opened(begin, runs)
    seen = open_page(f"{live.origin}/runs/{list_runs(runs)[0].name}")
    expect(seen.page.locator("#ended-answer")).to_contain_text("none was answered")
    expect(seen.page.locator("#plot-rate canvas")).to_be_visible()
    seen.page.get_by_role("link", name="Open the report").click()
    expect(seen.page.locator("html.drawn")).to_be_attached(timeout=60_000)
    assert seen.page.evaluate("self.origin") == "null"
    assert "cookie" not in seen.page.evaluate("(() => { try { return document.cookie } catch (e) { return 'no' } })()")
    assert seen.wrong == []


def test_a_run_is_deleted_after_a_question(begin: Begin, open_page: OpenPage, cli: Cli, runs: Path) -> None:

    copy = cli.folder / "copied"
    shutil.copytree(runs, copy)
    first, second = list_runs(copy)
    seen = open_page(f"{opened(begin, copy).origin}/runs/{first.name}")
    seen.page.get_by_role("link", name="Delete …").click()
    seen.page.get_by_role("link", name="Leave it").click()
    assert first.is_dir()
    seen.page.get_by_role("link", name="Delete …").click()
    seen.page.get_by_role("button", name="Delete it for good").click()
    expect(seen.page.locator(".run")).to_have_count(1)
    assert list_runs(copy) == [second] and seen.wrong == []


def test_a_wrong_token_is_refused_and_the_right_one_leaves_the_address(
    begin: Begin, open_page: OpenPage, runs: Path
) -> None:
    live = opened(begin, runs, "--host", "0.0.0.0", "--token", TOKEN)
    port = live.origin.rsplit(":", 1)[1]
    origin = f"http://127.0.0.1:{port}"
    seen = open_page(f"{origin}/?token=wrong")
    expect(seen.page.get_by_role("alert")).to_have_text("That token is not the right one.")
    expect(seen.page.locator(".run")).to_have_count(0)
    seen.page.get_by_label("Token").fill(TOKEN)
    seen.page.get_by_role("button", name="Open").click()
    expect(seen.page.locator(".run")).to_have_count(2)
    assert seen.page.url == f"{origin}/"
    assert seen.page.evaluate("document.cookie") == ""
    other = open_page(f"{origin}/")
    expect(other.page.get_by_role("heading", name="This page asks for a token")).to_be_visible()


def test_an_address_that_others_reach_has_a_token_of_its_own_each_time(begin: Begin, runs: Path) -> None:
    urls = [opened(begin, runs, "--host", "0.0.0.0").url for _ in range(2)]
    tokens = {re.search(r"\?token=([\w-]{32,})$", url)[1] for url in urls}  # type: ignore[index]
    assert len(tokens) == 2


def test_what_cannot_be_is_said(cli: Cli, runs: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for words, told in (
            (("--port", port), f"cannot listen at 127.0.0.1:{port}"),
            (("--token", "short"), "Use 16 or more"),
            (("--host", "192.0.2.1"), "cannot listen at 192.0.2.1"),
        ):
            done = cli("ui", runs, *words)
            assert done.returncode == 2 and told in done.stderr, done.stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once_although_somebody_looks(
    begin: Begin, open_page: OpenPage, runs: Path, how: signal.Signals
) -> None:

    live = opened(begin, runs)
    seen = open_page(f"{live.origin}/runs/{list_runs(runs)[0].name}")
    expect(seen.page.locator("#ended")).to_be_visible()
    live.process.send_signal(how)
    assert live.wait(5) == 0
    assert not any("Traceback" in line for line in live.said)


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (1440, True), (390, False), (390, True)])
def test_every_page_can_be_read_and_used_by_all(
    begin: Begin, open_page: OpenPage, runs: Path, axe: str, width: int, dark: bool
) -> None:
    """By axe's rules, with all that a run can show, and nothing wider than the window."""
    first, second = (run.name for run in list_runs(runs))
    set_tags(runs / first, ["baseline"])
    add_note(runs / first, "the cache was emptied", is_running=False)
    live = opened(begin, runs)
    paths = ("", f"runs/{first}", f"compare?run={first}&run={second}", f"runs/{first}/delete", "?q=nothing", "runs/no")
    for path in paths:
        seen = open_page(f"{live.origin}/{path}", width=width, dark=dark)
        page = seen.page
        page.wait_for_timeout(600)
        assert violated(page, axe) == [], path
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
        assert [one for one in seen.wrong if "404" not in one] == []
