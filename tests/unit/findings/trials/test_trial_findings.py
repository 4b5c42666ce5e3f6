"""What compare, decompose and sweep say of trials whose numbers are made up for the purpose."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from findings_as_json import checked

import plimsoll
from plimsoll.errors import InputError
from plimsoll.findings.exit_codes import exit_code
from plimsoll.findings.trials.compare import compare_finding
from plimsoll.findings.trials.decompose import decompose_finding
from plimsoll.findings.trials.sweep import sweep_finding
from plimsoll.findings.trials.trials import Figure, left_out, sound_trials
from plimsoll.report.finding_view import view
from plimsoll.runs.histogram import Histogram
from plimsoll.runs.snapshot import Series, Snapshot
from plimsoll.runs.writer import RunFacts, RunWriter
from plimsoll.study.secrets.redactor import Redactor
from plimsoll.verbs.run_sets import alternate
from plimsoll.words import interval_words, time_words

Pairs = Sequence[tuple[float, float]]


def plan(experiment: str, names: Sequence[str], **analysis: Any) -> dict[str, Any]:
    return {
        "experiment": experiment,
        "variants": [{"name": n, "label": n, "facts": {"variables": {}}} for n in names],
        "levels": [{"level": 1.0, "words": "10 users"}],
        "repetitions": 10,
        "open": False,
        "analysis": analysis,
    }


COMPARE = plan("compare", ["a", "b"], margin=0.05, primary=["p95"], paired=True)


def trial(number: int, repetition: int, variant: str, ms: float, failed: int = 0, level: float = 1.0) -> dict[str, Any]:
    every = {"operation": None, "request": None, "count": 500, "failed": failed, "requests": 500, "max_ms": 2 * ms}
    every |= dict.fromkeys(("mean_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms"), ms)
    return {
        "trial": number, "repetition": repetition, "variant": variant, "level": level, "load": "10 users",
        "start_s": 10 * number, "measured_from_s": 10 * number, "end_s": 10 * number + 5, "seconds": 5,
        "planned": 500, "done": 500, "done_per_s": 1000 / ms, "unfinished_end": 0, "answered": 500 - failed,
        "failed": failed, "requests": 500, "causes": {"status 500": failed} if failed else {},
        "work": {"count": 500, "mean_ms": ms, "p50_ms": ms}, "endpoints": [every], "resources": {},
    }  # fmt: skip


def trials_of(pairs: Pairs, failed_b: int = 0) -> list[dict[str, Any]]:
    return [
        trial(2 * place + at + 1, place + 1, variant, ms, failed_b if variant == "b" else 0)
        for place, pair in enumerate(pairs)
        for at, (variant, ms) in enumerate(zip("ab", pair, strict=True))
    ]


def scattered(ratio: float, noise: float = 0.02, count: int = 10) -> Pairs:
    draw = np.random.default_rng(1)
    a, b = 100 * np.exp(noise * draw.standard_normal((2, count)))
    return list(zip(a, b * ratio, strict=True))


def compared(pairs: Pairs, failed_b: int = 0) -> dict[str, Any]:
    return checked(compare_finding(COMPARE, trials_of(pairs, failed_b), run_path="runs/x"))


def test_a_fifth_slower_is_slower_with_its_interval_and_fails_the_command() -> None:
    finding = compared(scattered(1.2))
    assert finding["answer"].startswith("Yes: B (b) is slower than A (a): p95 at 10 users +")
    one = finding["comparisons"][0]
    assert one["interval"][0] < 1.2 < one["interval"][1] and one["interval"][0] > 1.1
    assert exit_code(finding) == 99
    assert exit_code(compared(scattered(1 / 1.2))) == 0


def test_slower_by_less_than_matters_is_said_and_passes() -> None:
    finding = compared(scattered(1.02, noise=0.001))
    assert finding["verdict"] == "slower" and exit_code(finding) == 0
    assert "by less than the margin of 5%" in finding["sentences"][0]


def test_the_same_is_called_the_same_only_within_the_margin() -> None:
    assert compared(scattered(1.0, noise=0.01))["verdict"] == "same"
    finding = compared(scattered(1.0, noise=0.10))
    assert finding["verdict"] == "undecided"
    wanted = finding["comparisons"][0]["pairs_to_settle"]
    assert wanted > 10 and f"--pairs {wanted}" in finding["next"][0]


@pytest.mark.parametrize(
    ("asked", "step"),
    [
        ({"request": {"a": ["X=1"]}}, "Go on where it ended: plimsoll compare --resume 'runs/x y'"),
        ({"request": {"a": ["X=***"]}}, "Go on where it ended: the same command with --resume 'runs/x y'"),
        (None, "Go on where it ended: the same command with --resume 'runs/x y'"),
    ],
)
def test_the_command_that_goes_on_is_whole_where_the_run_holds_all_that_was_asked(asked: Any, step: str) -> None:
    told = COMPARE | {"asked": asked}
    finding = compare_finding(told, trials_of(scattered(1.2)), status="interrupted", run_path="runs/x y")
    assert finding["next"][0] == step


def test_that_a_and_b_are_the_same_stands_first_in_the_answer() -> None:
    """It was told on stderr alone, and "B is slower than A" stood without it."""
    same = COMPARE | {"analysis": COMPARE["analysis"] | {"same": True}}
    answer = compare_finding(same, trials_of(scattered(1.2)), run_path="runs/x")["answer"]
    assert answer.startswith("A and B are the same: this comparison shows how often chance alone")
    assert "Yes: B (b) is slower" in answer


def test_an_arm_that_fails_more_is_told_first_and_is_never_called_faster() -> None:
    finding = compared(scattered(0.5), failed_b=100)
    assert finding["answer"].startswith("B fails more requests: 20% at 10 users (A 0%). Undecided")
    assert finding["verdict"] == "undecided" and "not of the same work" in finding["sentences"][0]
    assert exit_code(finding) == 99


def test_one_pair_far_from_the_rest_is_named_and_counted() -> None:
    pairs = [*scattered(1.0, noise=0.01, count=9), (100.0, 250.0)]
    [words] = [text for text in compared(pairs)["anomalies"] if "far from the rest" in text]
    assert "pair 10 (B ÷ A 2.5; trials 19 and 20)" in words and "Without it, the verdict would be same" in words


def test_a_drift_of_both_and_an_error_burst_are_named() -> None:
    drifting = [(a * 1.05**n, b * 1.05**n) for n, (a, b) in enumerate(scattered(1.0, noise=0.01))]
    assert any("in A and B alike over the session" in text for text in compared(drifting)["anomalies"])
    trials = trials_of(scattered(1.0, noise=0.01))
    trials[4] |= {"failed": 50, "causes": {"status 503": 50}}
    finding = compare_finding(COMPARE, trials)
    assert any("Trial 5 (a, 10 users) failed 10% of its requests (status 503)" in one for one in finding["anomalies"])


def late_seconds(lag_p50_ms: float) -> tuple[list[Snapshot], list[dict[str, Any]]]:
    """The seconds of the first trial, in which the hypervisor took a fifth of the host: late by 60 ms at p99."""
    times = Series.of_trend("http_req_response_time", {}, Histogram.from_values(np.full(50, 100.0)))
    generator = {"lag_p50_ms": lag_p50_ms, "lag_p99_ms": 60.0}
    rows = [{"second": 10 + n, "source": "generator", "values": {"host_steal_share": 0.2}} for n in range(5)]
    return [Snapshot(10 + n, generator=generator, series=(times,)) for n in range(5)], rows


@pytest.mark.parametrize(("lag_p50_ms", "counts"), [(0.1, ["counts", "middle"]), (30.0, ["counts"])])
def test_a_generator_that_was_late_spoils_the_times_that_it_reaches_and_nothing_else(
    lag_p50_ms: float, counts: list[Figure]
) -> None:
    sound = sound_trials([trial(1, 1, "a", 100)], *late_seconds(lag_p50_ms), rests_on="middle")
    assert [figure for figure in ("counts", "middle", "tail") if sound.of(figure)] == counts
    assert sound.generator["healthy"] == ("middle" in counts)
    assert left_out(sound.excluded, "counts") == set() and left_out(sound.excluded, "tail") == {1}


def test_trials_beside_which_others_took_the_host_say_so_in_the_notes() -> None:
    beside = {"host": {"cores": 2.0, "cpu_share": 0.98}, "process:target": {"cpu_cores_used": 0.4}}
    made = [trial(number, 1, "a", 100) for number in (1, 2, 3)]
    made[1]["resources"] = beside
    notes = sound_trials(made, *late_seconds(0.0), rests_on="middle").generator["notes"]
    assert [one.partition(" Stop")[0] for one in notes] == [
        "Others took CPU time of the host in 1 of 3 trials that count. The worst was trial 2: other processes used "
        "1.56 of the host's 2 cores, so the target had only what was left and may answer faster than this run shows."
    ]
    assert not sound_trials(made[:1], *late_seconds(0.0), rests_on="middle").generator["notes"]


def test_failures_and_throughput_of_a_late_trial_count_and_its_times_do_not() -> None:
    trials = [{**one, "failed": 30 if one["variant"] == "b" else 0} for one in trials_of(scattered(1.0, noise=0.01))]
    seconds, rows = late_seconds(30.0)
    finding = compare_finding(COMPARE | {"open": False}, trials, seconds, rows)
    pairs = {one["statistic"]: one["pairs"] for one in finding["comparisons"]}
    assert pairs["p95"] == pairs["mean"] == 9 and pairs["throughput"] == 10
    assert finding["failures"] and finding["excluded"][0]["keeps"] == ["counts"]
    assert any("The response times are left out of trial 1 (a, 10 users)" in text for text in finding["notes"])


def test_trials_that_count_are_one_number_and_those_whose_percentiles_count_another() -> None:
    """Seen: "Trials that count: 5 trials" beside "12 of 12 trials that count" and 6 pairs."""
    seconds, rows = late_seconds(0.1)
    finding = checked(compare_finding(COMPARE, trials_of(scattered(1.0)), seconds, rows, run_path="runs/x"))
    told = {one["about"]: one["count"] for one in finding["evidence"] if one["unit"] == "trials"}
    assert told == {"Trials that count": 20, "Of these, those whose high percentiles count": 19}


@pytest.mark.parametrize(("trial_s", "is_long"), [(1, False), (600, True)])
def test_what_would_settle_it_says_how_long_and_what_comes_first_where_that_is_hours(
    trial_s: int, is_long: bool
) -> None:
    """Seen: "Make a new comparison with --pairs 726", which was 5 hours and not said to be."""
    trials = [
        {**one, "start_s": trial_s * at, "end_s": trial_s * (at + 1), "ended_unix": 1e9 + trial_s * at}
        for at, one in enumerate(trials_of(scattered(1.02, noise=0.3, count=6)))
    ]
    finding = checked(compare_finding(COMPARE, trials, run_path="runs/x"))
    pairs = finding["comparisons"][0]["pairs_to_settle"]
    assert finding["verdict"] == "undecided" and pairs > 60
    length = time_words(2 * trial_s * pairs)
    assert f"{pairs:,} take about {length}) would settle it" in finding["sentences"][0]
    [step] = [one for one in finding["next"] if f"--pairs {pairs}" in one]
    assert f"--pairs {pairs} (about {length})" in step
    assert step.startswith("Make the trials scatter less: on a quieter machine") is is_long


def test_an_interval_that_says_nothing_is_not_written_as_numbers() -> None:
    """Seen: "99% interval -100.0% to any"."""
    assert interval_words(0.0, 1e9) == interval_words(0.1, 12.0) == "cannot be told"
    assert interval_words(0.98, 1.205) == "-2.0% to +20.5%"
    finding = compared([(100.0, 20.0), (100.0, 900.0)])
    assert (
        "(99% interval: cannot be told, 2 pairs)" in finding["answer"] and "any" not in finding["sentences"][0].split()
    )


def test_a_trial_that_the_generator_limited_takes_its_pair_out_and_is_named() -> None:
    seconds = [Snapshot(10 + n, generator={"busiest_thread_share": 0.99, "threads": 1}) for n in range(5)]
    finding = compare_finding(COMPARE, trials_of(scattered(1.2)), seconds)
    assert finding["comparisons"][0]["pairs"] == 9 and finding["excluded"][0]["trial"] == 1
    assert any("Trial 1 (a, 10 users) left out" in text for text in finding["notes"])


@pytest.mark.parametrize("pairs", [[], [(100.0, 120.0)]])
def test_too_few_trials_are_no_answer_and_it_says_of_what(pairs: Pairs) -> None:
    finding = compared(pairs)
    assert not finding["valid"] and exit_code(finding) == 3
    assert finding["answer"].startswith(f"Cannot tell whether B ({finding['b']}) is slower than A ({finding['a']}): ")


def refused(trials: Sequence[dict[str, Any]], variant: str = "") -> list[dict[str, Any]]:
    """Those trials, without an answer to any request of that variant, or of all."""
    causes = {"failed": 500, "answered": 0, "causes": {"connection refused": 500}, "next_step": "Start the target."}
    return [one | causes if variant in ("", one["variant"]) else one for one in trials]


@pytest.mark.parametrize("variant", ["", "b"])
def test_a_trial_of_which_nothing_was_answered_is_no_time_to_compare(variant: str) -> None:
    """Seen: two targets that both refuse are "the same", as both fail within the same time."""
    finding = checked(compare_finding(COMPARE, refused(trials_of(scattered(1.0)), variant), run_path="runs/x"))
    assert not finding["valid"] and exit_code(finding) == 3
    assert "left out, because no request was answered (500 × connection refused)." in finding["invalid_because"][0]
    assert finding["generator"]["healthy"] and finding["next"][0] == "Start the target."
    assert finding["answer"].startswith("B fails more requests: 100%") is (variant == "b")


def test_a_time_that_failures_took_is_no_layer() -> None:
    names = ["whole", "inner"]
    layers = plan("decompose", names, parts=False, statistic="mean")
    trials = [trial(2 * at + place, at, name, 40 - 20 * place) for at in range(5) for place, name in enumerate(names)]
    assert decompose_finding(layers, trials)["valid"]
    found = checked(decompose_finding(layers, refused(trials)))
    assert not found["valid"] and exit_code(found) == 3 and found["answer"].startswith("Cannot tell")


def test_a_sweep_of_which_no_cell_answers_is_not_valid() -> None:
    over = plan("sweep", ["1", "2"], over={"SIZE": ["1", "2"]}, level_parameter=None)
    for variant in over["variants"]:
        variant["facts"]["variables"]["SIZE"] = variant["name"]
    trials = [trial(at, 1, str(1 + at % 2), 10.0) for at in range(4)]
    assert sweep_finding(over, refused(trials, "2"))["valid"], "it says from where on nothing answers"
    found = checked(sweep_finding(over, refused(trials)))
    assert not found["valid"] and exit_code(found) == 3
    assert found["answer"].startswith("No request was answered in any cell. From SIZE=1 on nothing answers")


def test_requests_below_each_arms_own_address_are_the_same_request() -> None:
    told = COMPARE | {
        "variants": [
            {"name": n, "label": n, "facts": {"variables": {"BASE_URL": f"http://{n}:1/"}}} for n in ("a", "b")
        ]
    }
    trials = trials_of(scattered(1.2))
    for one in trials:
        for path in ("/x", "/y"):
            one["endpoints"].append({**one["endpoints"][0], "request": f"http://{one['variant']}:1{path}"})
    names = {one["request"] for one in compare_finding(told, trials)["comparisons"]}
    assert names == {None, "/x", "/y"}


def split(values: Sequence[float], scatter: float = 0.01, **analysis: Any) -> dict[str, Any]:
    names = ["whole", "orm", "static"]
    draw = np.random.default_rng(2)
    trials = [
        trial(3 * n + at, n, name, float(ms * np.exp(scatter * draw.standard_normal())))
        for n in range(1, 11)
        for at, (name, ms) in enumerate(zip(names, values, strict=True))
    ]
    return checked(decompose_finding(plan("decompose", names, statistic="mean", **analysis), trials))


def test_layers_add_up_and_the_largest_is_named() -> None:
    finding = split([100, 50, 20], parts=False)
    layers = finding["levels"][0]["layers"]
    assert [round(layer["share"], 1) for layer in layers] == [0.5, 0.3, 0.2]
    assert sum(layer["share"] for layer in layers) == pytest.approx(1)
    assert finding["answer"].endswith("Whole without orm takes the most.")


def test_shares_that_are_known_to_less_than_a_point_have_a_digit_more() -> None:
    fine = split([100, 60, 20], scatter=0.001, parts=False)
    assert "orm without static 40%" in fine["answer"]
    said = r"orm without static takes 40% \(95% interval ([\d.]+)% to (\d+\.\d)%\)"
    found = re.search(said, " ".join(fine["sentences"]))
    assert found and float(found[1]) < float(found[2])
    thirds = split([100, 66.7, 20], scatter=0.001, parts=False)
    assert "orm without static 46.7%" in thirds["answer"]
    assert "orm without static 41% and" in split([100, 60, 20], scatter=0.02, parts=False)["answer"]


def test_kiwis_parts_are_the_authors_and_a_wrong_order_is_said() -> None:
    finding = split([1120, 234, 333], parts=True)
    assert [layer["layer"] for layer in finding["levels"][0]["layers"]] == ["the rest of whole", "orm", "static"]
    assert [round(layer["share"], 1) for layer in finding["levels"][0]["layers"]] == [0.5, 0.2, 0.3]
    wrong = split([1120, 234, 333], parts=False)
    assert "would be below zero" in wrong["answer"] and any("--parts" in text for text in wrong["next"])
    same = split([100, 50, 50], parts=False)
    assert "Cannot separate orm from static" in " ".join(same["sentences"])


def test_a_sweep_tells_the_exponent_what_has_none_and_where_it_stops() -> None:
    over = {"R": ["1", "10", "100", "1000"]}
    told = plan("sweep", [f"R={r}" for r in over["R"]], over=over, level_parameter=None, stop_at_failure=True)
    for variant, r in zip(told["variants"], over["R"], strict=True):
        variant["facts"]["variables"]["R"] = r
    draw = np.random.default_rng(3)
    trials = [
        trial(4 * n + at, n, f"R={r}", float(3 * float(r) ** 2 * np.exp(0.02 * draw.standard_normal())))
        for n in range(3)
        for at, r in enumerate(over["R"][:3])
    ]
    trials += [trial(90, 0, "R=1000", 1.0, failed=500)]
    finding = checked(sweep_finding(told, trials))
    law = next(one for one in finding["dependencies"] if one["metric"] == "work")
    assert law["form"] == "power" and law["interval"][0] < 2 < law["interval"][1]
    assert [cell["state"] for cell in finding["cells"]] == ["answers"] * 3 + ["silent"]
    assert "From R=1000 on nothing answers (status 500)." in finding["answer"]
    assert any("grows faster than R" in text for text in finding["next"])


def write_run(folder: Path, start: float, ms: float, valid: bool = True) -> Path:
    """A finished run of three seconds whose requests take about `ms`."""
    draw = np.random.default_rng(int(start))
    clock = iter([start, start + 3, start + 3])
    with RunWriter.create(folder, RunFacts("run"), redactor=Redactor(), clock=lambda: next(clock), tables=False) as run:
        for second in range(3):
            times = Histogram.from_values(ms * np.exp(0.1 * draw.standard_normal(400)))
            series = Series.of_trend("http_req_duration", {"scenario": "default", "name": "GET /"}, times)
            run.append_snapshot(Snapshot(second, start + second, 1.0, done=400, series=(series,)))
        run.write_findings([{"valid": valid, "invalid_because": [] if valid else ["The generator was full."]}])
    return run.path


def test_runs_that_alternate_are_pairs_and_others_are_two_sets(tmp_path: Path) -> None:
    assert alternate([(0, 1), (4, 5)], [(2, 3), (6, 7)]) and not alternate([(0, 1), (2, 3)], [(4, 5), (6, 7)])
    runs = [write_run(tmp_path / "made", 10.0 * n, 100 if n % 2 else 130, valid=n != 8) for n in range(1, 9)]
    request = plimsoll.CompareRequest(runs_a=tuple(runs[0::2]), runs_b=tuple(runs[1::2]))
    [finding] = plimsoll.compare(request, plimsoll.TrialChoices(runs=tmp_path / "runs")).findings
    assert finding["verdict"] == "slower" and finding["comparisons"][0]["paired"]
    assert finding["comparisons"][0]["ratio"] == pytest.approx(1.3, rel=0.03)
    assert finding["comparisons"][0]["pairs"] == 3 and finding["excluded"][0]["reason"] == "The generator was full."


def test_runs_that_cannot_be_compared_are_refused_all_at_once(tmp_path: Path) -> None:
    run = write_run(tmp_path / "made", 10.0, 100)
    with pytest.raises(InputError, match="needs two or more") as found:
        plimsoll.compare(plimsoll.CompareRequest(runs_a=(run,), runs_b=(run,)))
    assert "is given 2 times" in str(found.value)
    other = write_run(tmp_path / "made", 20.0, 100)
    request = plimsoll.CompareRequest(
        runs_a=(run, other), runs_b=(write_run(tmp_path, 30.0, 1), write_run(tmp_path, 40.0, 1)), skip_s=3
    )
    with pytest.raises(InputError, match="no response times that count"):
        plimsoll.compare(request, plimsoll.TrialChoices(runs=tmp_path / "runs"))


def test_an_undecided_answer_names_what_was_decided_as_well() -> None:
    both = plan("compare", ["a", "b"], margin=0.05, primary=["p50", "p95"], paired=True)
    trials = trials_of(scattered(1.0, noise=0.1))
    for one in trials:
        one["endpoints"] = [{**endpoint, "p50_ms": 20.0} for endpoint in one["endpoints"]]
    answer = compare_finding(both, trials, run_path="runs/x")["answer"]
    assert answer.startswith("Undecided whether") and answer.endswith("Same: p50 at 10 users.")


def test_a_sweep_over_three_parameters_says_each_dependence_in_one_sentence() -> None:
    over = {"SIZE": ["10", "100"], "FORM": ["a", "b", "c"], "COLOUR": ["x", "y"]}
    places = [(s, f, c) for s in over["SIZE"] for f in over["FORM"] for c in over["COLOUR"]]
    told = plan("sweep", [f"SIZE={s},FORM={f},COLOUR={c}" for s, f, c in places], over=over, level_parameter=None)
    for variant, (s, f, c) in zip(told["variants"], places, strict=True):
        variant["facts"]["variables"].update(SIZE=s, FORM=f, COLOUR=c)
    trials = [
        trial(12 * n + at, n, f"SIZE={s},FORM={f},COLOUR={c}", float(s) * {"a": 1, "b": 2, "c": 2}[f])
        for n in range(2)
        for at, (s, f, c) in enumerate(places)
    ]
    finding = checked(sweep_finding(told, trials))
    about = [text for text in finding["sentences"] if text.startswith("Duration of an iteration")]
    assert len(about) == 3 and len(finding["dependencies"]) > 20
    assert "by a factor of 10 over SIZE" in about[0] and "10 ms at SIZE=10 to 100 ms at SIZE=100" in about[0]
    assert "by a factor of 2 over FORM" in about[1]
    [by_form, *_] = [one["words"] for one in finding["dependencies"] if one["parameter"] == "FORM"]
    assert by_form.endswith(": 10 ms at FORM=a, 20 ms at FORM=b, 20 ms at FORM=c.")


def test_a_sweep_s_answer_sums_up_what_differs_by_setting_and_names_what_was_restarted() -> None:
    over = {"FORM": ["a", "b"], "SIZE": ["10", "100", "1000"]}
    places = [(form, size) for form in over["FORM"] for size in over["SIZE"]]
    told = plan("sweep", [f"FORM={form},SIZE={size}" for form, size in places], over=over, level_parameter=None)
    for variant, (form, size) in zip(told["variants"], places, strict=True):
        variant["facts"]["variables"].update(FORM=form, SIZE=size)
    trials = [
        trial(10 * n + at, n, f"FORM={form},SIZE={size}", float(size) if form == "a" else 50.0)
        for n in range(3)
        for at, (form, size) in enumerate(places)
        if (form, size) != ("a", "1000")
    ]
    trials += [
        trial(100 + n, n, "FORM=a,SIZE=1000", 900.0, failed=250) | {"resources": {"process:store": {"restarts": 2.0}}}
        for n in range(3)
    ]
    finding = checked(sweep_finding(told, trials))
    assert "Duration of an iteration changes by a factor of" in finding["answer"]
    assert "store was restarted at least 6 times" in finding["answer"]
    assert any("memory limit of store" in text for text in finding["next"])


def test_of_users_nothing_is_done_for_each_and_what_hardly_changes_is_said_without_its_ends() -> None:
    """Seen: "look at what GET /x does once for each of users", "by a factor of 1: 3.44 MiB at WHO=a to 3.44 MiB at
    WHO=a"."""
    over = {"WHO": ["a", "b"], "users": ["1", "4", "16"]}
    told = plan("sweep", ["WHO=a", "WHO=b"], over=over, level_parameter="users")
    told["levels"] = [{"level": float(n), "words": f"{n} users"} for n in over["users"]]
    for variant, who in zip(told["variants"], over["WHO"], strict=True):
        variant["facts"]["variables"]["WHO"] = who
    trials = []
    for place, (n, level, who) in enumerate((n, x, w) for n in range(3) for x in over["users"] for w in "ab"):
        one = trial(place, n, f"WHO={who}", 10 * float(level) ** 1.5, level=float(level))
        every = one["endpoints"][0]
        one["endpoints"].append({**every, "request": "GET /x"})
        trials.append(one | {"resources": {"process:app": {"rss_bytes": 3_600_000.0}}})
    finding = checked(sweep_finding(told, trials))
    assert not any("for each of" in step or "grows faster than" in step for step in finding["next"])
    assert "Memory of the target changes by less than 10% over WHO, at every setting of the others." in " ".join(
        finding["sentences"]
    )


@pytest.mark.parametrize(("failed", "counts"), [(25, True), (51, False)])
def test_a_combination_of_which_many_requests_fail_tells_nothing_of_what_depends_on_what(
    failed: int, counts: bool
) -> None:
    """Failures are quick here: with them, more users would wait less."""
    over = {"R": ["5", "10", "20"]}
    told = plan("sweep", [f"R={r}" for r in over["R"]], over=over, level_parameter=None)
    for variant, r in zip(told["variants"], over["R"], strict=True):
        variant["facts"]["variables"]["R"] = r
    times = {"5": 50.0, "10": 100.0, "20": 5.0}
    trials = [
        trial(3 * n + at, n, f"R={r}", times[r], failed=failed if r == "20" else 0)
        for n in range(3)
        for at, r in enumerate(over["R"])
    ]
    assert {one["requests"] for one in trials} == {500}
    finding = checked(sweep_finding(told, trials))
    [work] = [one for one in finding["dependencies"] if one["metric"] == "work"]
    assert (work["least"][0] == "20") is counts and work["most"] == ("10", pytest.approx(100, rel=0.1))
    assert any("left out of what depends" in note for note in finding["notes"]) is not counts
    assert finding["stops"][0]["parameters"] == {"R": "20"}


def test_where_it_stops_is_told_of_each_word_as_words_have_no_order() -> None:
    over = {"FORM": ["product", "profiled"], "R": ["5", "10"]}
    places = [(form, r) for form in over["FORM"] for r in over["R"]]
    told = plan("sweep", [f"FORM={form},R={r}" for form, r in places], over=over, level_parameter=None)
    for variant, (form, r) in zip(told["variants"], places, strict=True):
        variant["facts"]["variables"].update(FORM=form, R=r)
    trials = [
        trial(4 * n + at, n, f"FORM={form},R={r}", 10.0, failed=400 if r == "10" else 0)
        for n in range(2)
        for at, (form, r) in enumerate(places)
    ]
    stops = sweep_finding(told, trials)["stops"]
    assert [one["parameters"] for one in stops] == [{"FORM": form, "R": "10"} for form in over["FORM"]]


THREE = ("GET /a", "GET /b", "GET /c")


def swept(
    times: Callable[[int, str], float], names: Sequence[str] = THREE, host: float = 0.0, count: int = 500
) -> dict[str, Any]:
    """The finding of a sweep over R = 5, 10, 20 whose requests take so many ms; `host`: scatter of all of a trial."""
    sizes = (5, 10, 20)
    told = plan("sweep", [f"R={r}" for r in sizes], over={"R": [str(r) for r in sizes]}, level_parameter=None)
    trials = []
    for place, (r, variant) in enumerate(zip(sizes, told["variants"], strict=True)):
        variant["facts"]["variables"]["R"] = str(r)
        for n in range(3):
            one, draw = trial(3 * n + place, n, f"R={r}", float(r)), np.random.default_rng(10 * r + n)
            every, slowed = one["endpoints"][0], float(np.exp(host * draw.standard_normal()))
            one["endpoints"] += [
                {**every, "request": name, "count": count, "mean_ms": times(r, name) * slowed * draw.normal(1, 0.02)}
                for name in names
            ]
            trials.append(one)
    return sweep_finding(told, trials)


def grows(r: int, name: str) -> float:
    """One of them takes longer the larger R."""
    return 5 + (0.2 * r if name == "GET /b" else 0)


@pytest.mark.parametrize("host", [0.0, 0.3])
def test_a_sweep_names_the_request_that_takes_longer_the_larger_the_parameter(host: float) -> None:
    finding = swept(grows, host=host)
    [one] = finding["requests"]
    assert one["request"] == "GET /b" and one["factor"] == pytest.approx(9 / 6, rel=0.1)
    assert one["interval"][0] > 0 and one["confidence"] == pytest.approx(1 - 0.05 / 6)
    assert one["beside_others"] or not host, "a host that changes hides it, but for what all requests have in common"
    assert any(text.startswith("GET /b takes longer the larger R") for text in finding["sentences"])
    assert "Look at what GET /b does once for each of R." in finding["next"]


@pytest.mark.parametrize("host", [0.0, 0.3])
def test_requests_that_take_the_same_are_not_behind_it(host: float) -> None:
    finding = swept(lambda r, name: 5, host=host)
    assert finding["requests"] == []
    assert "No single request is seen to take longer or shorter with R." in finding["sentences"]


def test_where_most_requests_go_with_the_parameter_the_one_that_does_not_is_not_called_shorter() -> None:
    finding = swept(lambda r, name: 5 if name == "GET /b" else float(r))
    assert {(one["request"], one["beside_others"]) for one in finding["requests"]} == {
        ("GET /a", False), ("GET /c", False)
    }  # fmt: skip


@pytest.mark.parametrize(("names", "count"), [(("GET /a",), 500), (THREE, 19)])
def test_one_request_alone_or_few_of_each_say_nothing_that_the_whole_does_not(
    names: tuple[str, ...], count: int
) -> None:
    finding = swept(lambda r, name: float(r), names=names, count=count)
    assert finding["requests"] == [] and not any("request" in text for text in finding["sentences"])


def test_scripts_that_do_not_make_the_same_requests_say_so_before_any_verdict_but_slower() -> None:
    """Seen: "Undecided" where B made twice the requests of A, which only a note told."""
    trials = trials_of(scattered(1.0))
    for one in trials:
        one["requests"] = (2 if one["variant"] == "b" else 1) * one["done"]
    found = checked(compare_finding(COMPARE, trials, run_path="runs/x"))
    words = "A and B do not make the same requests: A 1, B 2 requests in an iteration at 10 users."
    assert found["answer"].startswith(words)
    slower = trials_of(scattered(1.5))
    for one in slower:
        one["requests"] = (2 if one["variant"] == "b" else 1) * one["done"]
    answer = compare_finding(COMPARE, slower, run_path="runs/x")["answer"]
    assert answer.startswith("Yes: B") and words in answer, "more work that takes longer"
    assert found["request_changes"] == [{"load": "10 users", "a": 1.0, "b": 2.0}]
    [row] = [row for row in view(found).decided if row.badge == "not the same work"]
    assert row.words == "A 1, B 2 in an iteration."
    assert not compared(scattered(1.0))["request_changes"]
    for place, one in enumerate(trials):  # what is under way at the ends of a trial
        one["requests"] = one["done"] + place % 3
    assert not compare_finding(COMPARE, trials, run_path="runs/x")["request_changes"]


def test_a_sweep_of_how_many_requests_says_that_a_duration_is_of_an_iteration() -> None:
    """Seen: "88.1 ms at R=8" above "R=1, where it takes longest, 11.4 ms": an iteration, and one request."""
    trials, number = [], 0
    variants = [{"name": f"R={r}", "label": f"R={r}", "facts": {"variables": {"R": str(r)}}} for r in (1, 2, 4, 8)]
    for repetition in range(1, 4):
        for r in (1, 2, 4, 8):
            number += 1
            trials.append(trial(number, repetition, f"R={r}", 11.0 * r) | {"requests": 500 * r})
    about = {"over": {"R": ["1", "2", "4", "8"]}, "level_parameter": None, "stop_at_failure": False}
    swept = {**plan("sweep", [], **about), "variants": variants}
    found = checked(sweep_finding(swept, trials))
    assert "An iteration makes 1 request at R=1 and 8 requests at R=8." in found["answer"]
    for one in trials:
        one["requests"] = 500
    assert "An iteration makes" not in sweep_finding(swept, trials)["answer"]
