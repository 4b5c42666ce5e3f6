"""`plimsoll doctor`: whether this machine can make a load that can be believed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXIT_SPOILED = 1
MARKS = {"ok": "✓", "note": "!", "spoils": "✗"}


def doctor(
    runs: Annotated[Path, typer.Option(help="folder of run directories")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="print the checks as JSON on stdout")] = False,
) -> None:
    """Check this machine before a run: what limits a load, what would make its result invalid, and the remedy.
    Exit code 1 when something would."""
    import json
    from dataclasses import asdict, replace

    from plimsoll.engine import vu_runtimes
    from plimsoll.probes.machine.machine_checks import judge, read_facts

    checks = judge(replace(read_facts(runs), vu_runtimes=vu_runtimes()))
    spoiled = any(check.state == "spoils" for check in checks)
    if as_json:
        print(json.dumps({"ok": not spoiled, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        for check in checks:
            print(f"  {MARKS[check.state]} {check.name:<13} {check.found}; {check.limits}")
            if check.remedy:
                print(f"{'':18}{check.remedy}")
        print("\nSomething would spoil a run: see ✗." if spoiled else "\nNothing here would spoil a run.")
    raise typer.Exit(EXIT_SPOILED if spoiled else 0)
