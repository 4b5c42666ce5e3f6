"""Scripts that ask nothing of the target, or only half of what they should: no answer about them is green."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from command_line import Cli

LOAD = """import http from 'k6/http';
export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 40, timeUnit: '1s',
  duration: '3s', preAllocatedVUs: 10 } } };
export default function () { %s }
"""
# What the script does, what is said of it, and whether a request reached the target.
SCRIPTS = {
    "address": ("http.get(`${__ENV.URL}/a%zz`);", "the URL is not valid", False),
    "half": ("http.get(`${__ENV.URL}/${__ITER % 2 ? '%zz' : ''}`);", "the URL is not valid", True),
    "throws": ("throw new Error('no');", "an exception of the script", False),
    "throws half": ("if (__ITER % 2) throw new Error('no'); http.get(__ENV.URL);", "an exception of the script", True),
    "nothing": ("", "made no request", False),
}


@pytest.mark.timeout(200)
def test_no_answer_is_green_where_the_script_asked_nothing_of_the_target(
    cli: Cli, known_server: Callable[..., str]
) -> None:
    """Seen: "Carries at least the declared load", "nothing grew or failed" and exit codes of 0, without a request."""
    url = known_server()
    for name, (body, *_) in SCRIPTS.items():
        (cli.folder / f"{name}.js").write_text(LOAD % body)
    begun = {
        (name, verb): cli.begin(verb, "-q", "-e", f"URL={url}", "--runs", f"{name} {verb}", *flags, f"{name}.js")
        for name in SCRIPTS
        for verb, flags in (("run", ()), ("capacity", ()), ("hold", ("--for", "20s")))
    }
    for (name, verb), process in begun.items():
        output, errors = process.communicate()
        said, (_, words, reached) = " ".join(f"{output}\n{errors}".split()), SCRIPTS[name]
        what = f"{name}, {verb}: {process.returncode}\n{said}"
        if verb == "run":
            is_plain = reached or name == "nothing"  # as in k6, without a threshold
            assert process.returncode == (0 if is_plain else 3), what
            assert "iterations ended with an exception" in said or name == "nothing" or words in said, what
        else:
            assert words in said and "Carries" not in said and "nothing was found" not in said.lower(), what
            assert process.returncode == 3 or (verb == "hold" and reached and "Not stable" in said), what


def test_a_request_that_no_address_takes_is_a_failed_one_and_no_time(
    cli: Cli, known_server: Callable[..., str]
) -> None:
    """k6 counts none; a threshold on failures was met there."""
    script = LOAD.replace("duration: '3s',", "duration: '1s',").replace(
        "} };", "}, thresholds: { http_req_failed: ['rate<0.01'], http_reqs: ['count<1'] } };"
    )
    cli.write(script_js=script % SCRIPTS["address"][0])
    done = cli("run", "-q", "-e", f"URL={known_server()}", "script.js")
    assert done.returncode == 99 and "40 out of 40" in done.stdout, done.stdout
    assert re.search(r"http_reqs\.+: 0 ", done.stdout) and "http_req_duration" not in done.stdout, done.stdout
    [place] = [line for line in done.stderr.splitlines() if "was not sent" in line]
    assert 'invalid URL escape "%zz"' in place and "script.js:4" in done.stderr


HALF = """import { check } from 'k6';
import http from 'k6/http';
export default function () {
  const home = http.get(__ENV.URL);
  check(home, { 'logged in': (r) => r.body.includes('welcome'), 'answered': (r) => r.status === 200 });
  if (__ITER % 2) throw new Error('no token');
}
"""


@pytest.mark.timeout(60)
def test_a_comparison_of_scripts_that_throw_or_whose_checks_fail_says_so_before_its_verdict_is_believed(
    cli: Cli, known_server: Callable[..., str]
) -> None:
    """Seen: "Undecided", or "the same", without a word of it."""
    cli.write(script_js=HALF)
    flags = (
        "--a",
        "X=1",
        "--b",
        "X=2",
        "--pairs",
        2,
        "--trial",
        "1s",
        "--warm-up",
        "1s",
        "-e",
        f"URL={known_server()}",
    )
    done = cli("compare", "-q", *flags, "script.js")
    said = " ".join(done.stdout.split())
    each = r"([\d,]+) of ([\d,]+) in A and ([\d,]+) of ([\d,]+) in B"
    [counts] = re.findall(rf"But: Iterations ended with an exception of the script: {each}\.", said)
    threw_a, all_a, threw_b, all_b = (int(one.replace(",", "")) for one in counts)
    assert 0.4 < threw_a / all_a < 0.6 and 0.4 < threw_b / all_b < 0.6, said
    assert re.search(r"But: The check 'logged in' failed in 100% of [\d,]+ in A and 100% of [\d,]+ in B\.", said), said
    assert "'answered'" not in said and "the same to within" not in said, said
    assert said.index("Next: See the script's exception") < said.index("Next: See why the check 'logged in' fails"), (
        said
    )


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("verb", "flags"),
    [
        ("grow", ("--items", 200, "--exec", "default", "--for", "8s")),
        ("sweep", ("--over", "X=1,2", "--repeats", 1, "--trial", "2s", "--warm-up", "1s")),
    ],
)
def test_items_and_combinations_of_a_script_that_asks_nothing_are_no_answer(
    cli: Cli, verb: str, flags: tuple[object, ...]
) -> None:
    """Seen: "238,465 items were loaded in 0.059 s" and "It answered everywhere that was tried", with 0."""
    cli.write(script_js=LOAD % "const x = __ENV.X;")
    done = cli(verb, "-q", *flags, "script.js")
    assert done.returncode == 3 and "INVALID: The script made no request." in done.stdout, done.stdout
    # A busy host is not why: it can have spoiled no number.
    steps = [line.strip() for line in done.stdout.splitlines() if "Next:" in line]
    assert steps == ["Next: Check that the script makes HTTP requests."], done.stdout
    assert "loaded in" not in done.stdout, done.stdout
