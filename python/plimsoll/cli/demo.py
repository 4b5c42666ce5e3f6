"""`plimsoll demo`: the lab's issue tracker, the capacity experiment and its report, in about two minutes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.flags.shared import AsJson, Details, Quiet, Runs, Ui


def demo(
    runs: Runs = Path("runs"),
    issues: Annotated[int, typer.Option(min=100, max=10_000_000, help="issues in the tracker")] = 20_000,
    as_json: AsJson = False,
    details: Details = False,
    quiet: Quiet = False,
    ui: Ui = False,
) -> None:
    """Start an issue tracker on this machine and find how many users it carries."""
    import shlex
    import sys
    import tempfile
    from dataclasses import replace

    from plimsoll.cli.answers import show
    from plimsoll.cli.flags.page_beside import page_beside
    from plimsoll.cli.lab import installed_lab
    from plimsoll.cli.progress import ProgressLine, listening
    from plimsoll.engine import available_cpus
    from plimsoll.plans.load import Choices
    from plimsoll.study import ProcessSelector, load_study
    from plimsoll.verbs.capacity import capacity

    lab = installed_lab()
    study = load_study(lab.TRACKER_STUDY)
    cpus = available_cpus()
    apart = len(cpus) > 1
    port = lab.free_port()
    with tempfile.TemporaryDirectory(prefix="plimsoll-demo-") as folder:
        command = lab.command("tracker", "--port", port, "--issues", issues, "--data", folder)
        command += ["--cpu", str(cpus[0])] if apart else []
        target = study.target.model_copy(
            update={
                "url": f"http://127.0.0.1:{port}",
                "start": shlex.join(command),
                "ready": f"http://127.0.0.1:{port}/healthz",
                "processes": [ProcessSelector(label="tracker", port=port)],
            }
        )
        demo_study = study.model_copy(update={"target": target})
        demo_study._directory = study.directory
        choices = Choices(
            background=True,
            runs=runs,
            env={"USERS_JSON": str(Path(folder) / "users.json"), "ISSUES": str(issues)},
            cpus=(cpus[1],) if apart else (),
            kept_apart=f"tracker on CPU {cpus[0]}, generator and probes on CPU {cpus[1]}" if apart else None,
        )
        if not quiet:
            print(
                f"An issue tracker with {issues:,} issues on {target.url}; how many users does it carry?",
                file=sys.stderr,
            )
        with page_beside(ui, runs), listening(ProgressLine(quiet=quiet)) as listeners:
            answer = capacity(demo_study, choices, replace(listeners, note=lambda text: None))
    show(answer, as_json, details)
