"""A browser, a target, and the live page of a run or of a folder."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from importlib.resources import files

import pytest
from command_line import Cli
from live_page import Begin, Live, OpenPage, Watched
from page_in_chromium import MISSING, PROGRAMS
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

expect.set_options(timeout=30_000)  # of a busy machine
SCRIPT = """import http from 'k6/http';
export const options = {
  scenarios: { home: {
    executor: 'constant-arrival-rate', rate: 20, timeUnit: '1s', duration: __ENV.LASTS, preAllocatedVUs: 20 } },
  thresholds: { http_req_duration: ['p(95)<2000'] },
};
export default function () { http.get(__ENV.BASE_URL); }
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for a module: as long as Playwright is there, this thread has a loop that runs, and no other test could have
    one of its own."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.fail(MISSING)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield found
        found.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens an address as a new visitor: `open_page(url, width=390, dark=True)`."""
    contexts: list[BrowserContext] = []

    def visit(url: str, width: int = 1440, dark: bool = False) -> Watched:
        theme = "dark" if dark else "light"
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme))
        page = contexts[-1].new_page()
        page.set_default_timeout(30_000)
        watched = Watched(page, "/".join(url.split("/")[:3]))
        page.goto(url)
        return watched

    yield visit
    for context in contexts:
        context.close()


@pytest.fixture
def begin(cli: Cli) -> Begin:
    """Begins a verb with --ui, or `plimsoll ui`, and reads the address that it prints."""
    cli.write(script_js=SCRIPT)

    def run(*arguments: object) -> Live:
        process = cli.begin(*arguments)
        assert process.stderr is not None
        said = []
        deadline_s = time.monotonic() + 30
        while time.monotonic() < deadline_s:
            line = process.stderr.readline()
            said.append(line.rstrip("\n"))
            found = re.search(r"http://\S+", line) if "page:" in line or "The runs in" in line else None
            if found:
                return Live(process, found[0], said)
            if not line and process.poll() is not None:
                break
        pytest.fail("\n".join(["no address was printed:", *said]))

    return run


@pytest.fixture(scope="session")
def axe() -> str:
    """axe-core's script, which looks for what shuts people out of a page."""
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
