"""One user alone before a hold: how often it asks, and that nothing follows where it gets nothing."""

from __future__ import annotations

from collections.abc import Callable

from command_line import Cli

from plimsoll.runs.reader import RunReader


def test_a_hold_of_a_target_that_does_nothing_for_one_user_ends_before_its_load(cli: Cli) -> None:
    cli.write(
        script_js="""import http from 'k6/http';
        export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 20, duration: '1m',
          preAllocatedVUs: 5 } } };
        export default function () { http.get('http://127.0.0.1:9/'); }"""
    )
    done = cli("hold", "-q", "--for", "20s", "script.js", "--details")
    assert done.returncode == 3, done.stderr
    told = " ".join(done.stdout.split())
    assert "No request of one user alone succeeded (" in told and "× connection refused)" in told
    assert "Start the target" in told
    assert "answers of the target" not in told and "spread as chance" not in told


def test_one_user_alone_asks_a_quick_target_no_more_often_than_is_needed(
    cli: Cli, known_server: Callable[..., str]
) -> None:
    cli.write(
        script_js="""import http from 'k6/http';
        export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 5, duration: '1m',
          preAllocatedVUs: 5 } } };
        export default function () { http.get(__ENV.URL); }"""
    )
    url = known_server("--service-ms", 1)
    done = cli("hold", "-q", "--baseline", "4", "--warm-up", "0", "--for", "14s", "-e", f"URL={url}", "script.js")
    [run] = cli.runs()
    told = [one.second for one in RunReader(run).snapshots()]
    assert told == list(range(len(told))) and "cannot be read" not in done.stdout, "no second is lost between the loads"
    seconds = [one for one in RunReader(run).snapshots() if one.second < 4]
    assert 10 <= sum(one.done for one in seconds) <= 22
