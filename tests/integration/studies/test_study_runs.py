"""`plimsoll study`: every experiment of a study on a server whose times are known."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import plimsoll
from plimsoll.errors import InputError, InputErrors
from plimsoll.runs.reader import RunReader
from plimsoll.verbs.listeners import Listeners
from plimsoll.verbs.studies import Part, StudyPlan
from plimsoll_lab.ports import free_port

Server = Callable[..., str]
TESTKIT = Path(__file__).parents[3] / "target" / "release" / "plimsoll-testkit"
SCRIPT = """import http from 'k6/http';
export function work() { http.get(`${__ENV.BASE_URL}/?n=${__ENV.N}`, { tags: { name: 'GET /' } }); }
"""
TWO_TRIALS = "sweep: {over: {N: [1, 2]}, repeats: 1, trial_s: 1}"
COMPARES = "compare: {a: N=1, b: N=2, pairs: 2, trial_s: 1}", "compare: {a: N=1, b: N=3, pairs: 2, trial_s: 1}"


def write_study(folder: Path, url: str, *experiments: str, target: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "work.js").write_text(SCRIPT)
    lines = [
        f"name: {folder.name}",
        f"target: {{url: '{url}'{target}}}",
        "workload: {script: work.js, model: closed, env: {N: 1},",
        "  groups: [{name: all, exec: work, weight: 1, think_time_s: 0.05}]}",
        "expected_users: 2",
        *(["experiments:"] if experiments else []),
        *(f"  - {text}" for text in experiments),
    ]
    (folder / "study.yaml").write_text("\n".join(lines) + "\n")
    return folder / "study.yaml"


def says(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "plimsoll", "study", *map(str, words)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=400, check=False)


def study_folder(folder: Path) -> Path:
    [found] = (folder / "runs").glob("*-study-*")
    return found


def test_a_script_may_open_what_the_start_command_makes(tmp_path: Path) -> None:
    port = free_port()
    start = f", ready: /, start: 'echo 7 > made.txt; exec {TESTKIT} --port {port}'"
    decompose = "decompose: {variants: {one: work, other: again}, rounds: 2, trial_s: 1}"
    study = write_study(tmp_path / "made", f"http://127.0.0.1:{port}", decompose, TWO_TRIALS, target=start)
    script = "const made = open('./made.txt');\n" + SCRIPT + "export function again() { work(); }\n"
    (study.parent / "work.js").write_text(script)
    done = says(tmp_path, study)
    parts = json.loads((study_folder(tmp_path) / "study.json").read_text())["parts"]
    assert [(part["status"], part["problem"]) for part in parts] == [("finished", "")] * 2, done.stderr


def test_each_experiment_runs_with_its_own_options_and_the_page_links_their_reports(
    tmp_path: Path, known_server: Server
) -> None:
    write_study(
        tmp_path / "known", known_server("--servers", 0, "--service-ms", 3, "--constant"), *COMPARES, TWO_TRIALS
    )
    done = says(tmp_path, "known/study.yaml")
    assert done.returncode in (0, 3, 99), done.stderr
    assert (
        "compare: 12 s of load; compare: 12 s of load; sweep: 6 s of load. In all 30 s of load."
        in done.stderr.splitlines()[0]
    )
    folder = study_folder(tmp_path)
    kept = json.loads((folder / "study.json").read_text())["parts"]
    assert [(part["place"], part["experiment"], part["status"]) for part in kept] == [
        (1, "compare", "finished"),
        (2, "compare", "finished"),
        (3, "sweep", "finished"),
    ]
    assert [len(RunReader(folder / part["run"]).trials()) for part in kept] == [4, 4, 2]
    page = (folder / "index.html").read_text()
    links = re.findall(r'href="([^"#][^"]*)"', page)
    assert len(links) == 3 and all((folder / link).is_file() for link in links)
    assert "N=2" in kept[0]["answer"] + page and "N=3" in page
    assert f"Answers: {folder.relative_to(tmp_path)}/index.html" in done.stdout


def test_only_some_experiments_as_json(tmp_path: Path, known_server: Server) -> None:
    write_study(tmp_path / "known", known_server("--servers", 0, "--service-ms", 3), *COMPARES, TWO_TRIALS)
    done = says(tmp_path, "known/study.yaml", "--only", "sweep", "--json", "-q")
    told = json.loads(done.stdout)
    [part] = told["parts"]
    assert (part["place"], part["experiment"]) == (3, "sweep") and part["findings"][0]["experiment"] == "sweep"
    assert done.returncode == part["exit_code"] and done.stderr == ""


def test_an_experiment_is_chosen_by_its_place(tmp_path: Path) -> None:
    study = write_study(tmp_path / "known", "http://127.0.0.1:9", *COMPARES, target=", start: 'exit 3', ready: /")
    answer = plimsoll.run_study(study, plimsoll.StudyChoices(runs=tmp_path / "runs", only=("2",)))
    assert [(part.place, part.experiment, part.status) for part in answer.parts] == [(2, "compare", "failed")]


def test_a_target_that_does_not_come_up_is_told_in_its_place_and_the_next_is_tried(tmp_path: Path) -> None:
    study = write_study(
        tmp_path / "known", "http://127.0.0.1:9", TWO_TRIALS, COMPARES[0], target=", start: 'exit 3', ready: /"
    )
    answer = plimsoll.run_study(study, plimsoll.StudyChoices(runs=tmp_path / "runs"))
    assert [part.status for part in answer.parts] == ["failed", "failed"] and answer.exit_code == 3
    assert all("exit" in part.problem or "ended" in part.problem for part in answer.parts), answer.parts
    assert answer.parts[0].problem.splitlines()[0] in answer.page.read_text().replace("&#39;", "'")


def test_an_interrupted_study_goes_on_with_what_is_left(tmp_path: Path, known_server: Server) -> None:
    long = "sweep: {over: {N: [1, 2]}, repeats: 3, trial_s: 2}"
    write_study(tmp_path / "known", known_server("--servers", 0, "--service-ms", 3), TWO_TRIALS, long)
    command = [sys.executable, "-m", "plimsoll", "study", "known/study.yaml"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("2. sweep"):
            break
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    folder = study_folder(tmp_path)
    first = json.loads((folder / "study.json").read_text())["parts"]
    assert process.returncode == 130 and [part["status"] for part in first] == ["finished", "interrupted"], out
    resumed = says(tmp_path, "known/study.yaml", "--resume", folder, "-q")
    second = json.loads((folder / "study.json").read_text())["parts"]
    assert resumed.returncode in (0, 3), resumed.stderr
    assert [part["status"] for part in second] == ["finished", "finished"]
    if first[0]["exit_code"] == 0:
        assert second[0] == first[0]
    assert second[1]["run"] == first[1]["run"] and len(RunReader(folder / second[1]["run"]).trials()) == 6


def test_all_studies_of_a_folder_have_one_index(tmp_path: Path, known_server: Server) -> None:
    url = known_server("--servers", 0, "--service-ms", 3)
    write_study(tmp_path / "studies" / "a", url, TWO_TRIALS)
    write_study(tmp_path / "studies" / "b", url).write_text("target: [\n")
    done = says(tmp_path, "--all", "studies")
    assert done.returncode in (2, 3), done.stderr
    [folder] = (tmp_path / "runs").glob("*-studies-*")
    assert done.stderr.splitlines()[0] == "2 studies. a: 6 s of load; b: cannot begin. In all 6 s of load."
    page = (folder / "index.html").read_text()
    links = re.findall(r'href="([^"]*)"', page)
    assert len(links) == 2 and all((folder / link).is_file() for link in links)
    assert "study.yaml" in page and "b\n=" in done.stdout


@pytest.mark.parametrize(
    ("experiments", "only", "words"),
    [((), (), "no experiments"), ((TWO_TRIALS,), ("hold", "swep", "2"), "no such experiment")],
)
def test_what_is_wrong_is_told_before_any_load(
    tmp_path: Path, experiments: tuple[str, ...], only: tuple[str, ...], words: str
) -> None:
    study = write_study(tmp_path / "known", "http://127.0.0.1:9", *experiments)
    with pytest.raises((InputError, InputErrors)) as caught:
        plimsoll.run_study(study, plimsoll.StudyChoices(runs=tmp_path / "runs", only=only))
    assert str(caught.value).count(words) == max(1, len(only)) and not (tmp_path / "runs").exists()


def test_a_folder_that_is_no_study_run_and_another_study_cannot_be_resumed(tmp_path: Path) -> None:
    study = write_study(tmp_path / "known", "http://127.0.0.1:9", TWO_TRIALS, target=", start: 'exit 3', ready: /")
    done = plimsoll.run_study(study, plimsoll.StudyChoices(runs=tmp_path / "runs"))
    study.write_text(study.read_text().replace("expected_users: 2", "expected_users: 3"))
    for folder, words in ((tmp_path, "no run of a study"), (done.directory, "is not the one of")):
        with pytest.raises(InputError, match=words):
            plimsoll.run_study(study, plimsoll.StudyChoices(runs=tmp_path / "runs", resume=folder))


def test_neither_a_study_nor_a_folder_or_both_is_refused(tmp_path: Path) -> None:
    for words in ((), ("x.yaml", "--all", ".")):
        done = says(tmp_path, *words)
        assert done.returncode == 2 and "Give a study file, or --all FOLDER" in done.stderr
    assert "*/study.yaml" in says(tmp_path, "--all", ".").stderr


def test_what_a_study_cannot_decide_is_told_with_its_plan_and_on_its_page(tmp_path: Path) -> None:
    study = write_study(tmp_path / "a", "http://127.0.0.1:9", TWO_TRIALS, target=", start: 'exit 3', ready: /")
    study.write_text(study.read_text() + "cannot_decide: [Effects of 5 <b>% or less., Percentiles above p95.]\n")
    done = says(tmp_path, study)
    told = done.stderr.splitlines()
    assert told[1:4] == ["It cannot decide:", "- Effects of 5 <b>% or less.", "- Percentiles above p95."]
    page = (study_folder(tmp_path) / "index.html").read_text()
    assert "<li>Effects of 5 &lt;b&gt;% or less.</li><li>Percentiles above p95.</li>" in page


def test_a_study_that_says_nothing_of_what_it_cannot_decide_has_no_such_part(tmp_path: Path) -> None:
    study = write_study(tmp_path / "a", "http://127.0.0.1:9", TWO_TRIALS, target=", start: 'exit 3', ready: /")
    done = says(tmp_path, study)
    assert "cannot decide" not in done.stderr + (study_folder(tmp_path) / "index.html").read_text()


class Hearer:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def plan_of_all(self, plans: Sequence[StudyPlan], total: str) -> None:
        self.told.append(([plan.name for plan in plans], total))

    def plan(self, plan: StudyPlan) -> None:
        self.told.append((plan.name, [part.status for part in plan.parts], plan.total))

    def listeners(self, part: Part) -> Listeners[Any]:
        self.told.append(part.place)
        return Listeners()


def test_python_hears_the_plan_of_all_studies_before_that_of_each(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_study(tmp_path / "studies" / name, "http://127.0.0.1:9", TWO_TRIALS, target=", start: 'exit 3', ready: /")
    hearer = Hearer()
    plimsoll.run_studies(tmp_path / "studies", plimsoll.StudyChoices(runs=tmp_path / "runs"), hearer)
    each = [[(name, ["planned"], "6 s of load"), 1] for name in ("a", "b")]
    assert hearer.told == [(["a", "b"], "12 s of load"), *each[0], *each[1]]


def test_what_is_done_does_not_count_in_the_plan_of_a_resumed_study(tmp_path: Path) -> None:
    study = write_study(tmp_path / "a", "http://127.0.0.1:9", *COMPARES, target=", start: 'exit 3', ready: /")
    first = plimsoll.run_study(study, plimsoll.StudyChoices(runs=tmp_path / "runs"))
    record = json.loads((first.directory / "study.json").read_text())
    record["parts"][0].update(status="finished", exit_code=0)
    (first.directory / "study.json").write_text(json.dumps(record))
    hearer = Hearer()
    plimsoll.run_study(study, plimsoll.StudyChoices(resume=first.directory), hearer)
    assert hearer.told == [("a", ["finished", "failed"], "12 s of load"), 2]
