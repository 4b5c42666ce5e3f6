"""The forms of a load or of its target that trials hold: from the words of a request to arms."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

from plimsoll.errors import InputError, InputErrors
from plimsoll.plans.read_variables import mentions, reading_of
from plimsoll.plans.requests import CompareRequest, Source
from plimsoll.study import Study, Target, Variant, load_study
from plimsoll.study.experiments import Experiment
from plimsoll.study.forms import kind_of_form, mistake_of_form
from plimsoll.study.secrets.redactor import HIDDEN, is_secret_key

Say = Callable[[str], None]


@dataclass(frozen=True)
class Arm:
    """One form of the load or of its target: `switch_to` is the variant of the target that it needs."""

    name: str
    label: str
    script: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    exec: str | None = None
    switch_to: str | None = None


@dataclass(frozen=True)
class Base:
    """The source of a request, read once; `target` also has what the command line says of it."""

    source: Source
    study: Study | None
    script: Path
    target: Target

    @property
    def experiments(self) -> Sequence[Experiment]:
        """The study's experiments."""
        return self.study.experiments if self.study is not None else []


def is_study(source: Source) -> bool:
    """Whether it is a study or its file, and no script."""
    return isinstance(source, Study) or Path(source).suffix in (".yaml", ".yml")


def base_of(source: Source | None, experiment: str, request: CompareRequest | None = None) -> Base:
    """The study or script that is asked for. Raises InputError for none or flags that it does not take."""
    if source is None:
        raise InputError(f"nothing to {experiment} is given", "Give a script (.js) or a study (.yaml).")
    study = None
    if is_study(source):
        study = (source if isinstance(source, Study) else load_study(source)).for_experiment(experiment)
    switches = {name: getattr(request, f"switch_{name}", None) for name in "ab"}
    reset = request.reset if request is not None else None
    told = {name: command for name, command in switches.items() if command is not None}
    empty = [InputError(f"--switch-{name} is an empty command", "Leave it out.") for name in told if not told[name]]
    if empty or reset == "":
        raise InputErrors(empty or [InputError("--reset is an empty command", "Leave it out.")])
    if study is not None:
        if told or reset is not None:
            raise InputError(
                "--switch-a, --switch-b and --reset are for scripts; a study says how its target is switched",
                "Write them as target.variants and target.reset of the study, and name the variants with --a and --b.",
            )
        return Base(source, study, study.script_path, study.target)
    for name, command in told.items():
        if not command.strip():
            raise InputError(f"--switch-{name} is empty", "Give the command that switches the target to that arm.")
    if reset is not None and not reset.strip():
        raise InputError("--reset is empty", "Give the command that sets the target's data back, or leave it out.")
    variants = {name: Variant(switch=told.get(name, "true")) for name in "ab"} if told else {}
    return Base(source, None, Path(str(source)), Target(reset=reset, variants=variants))


def arm_of(name: str, texts: Sequence[str], base: Base, exec_allowed: bool = False) -> Arm:
    """The form that these texts describe."""
    arm = Arm(name, "")
    for text in texts:
        arm = _formed(arm, text, base, exec_allowed)
    return arm


def _formed(arm: Arm, text: str, base: Base, exec_allowed: bool) -> Arm:
    variants = list(base.target.variants) if base.study is not None else []
    mistake = mistake_of_form(text, variants, exec_allowed)
    if mistake is not None:
        raise InputError(*mistake)
    match kind_of_form(text, variants, exec_allowed):
        case "url":
            return _labelled(arm, text, env={**arm.env, "BASE_URL": text})
        case "variant":
            return _labelled(arm, text, switch_to=text)
        case "variable":
            key, _, value = text.partition("=")
            shown = f"{key}={HIDDEN if is_secret_key(key) else value}"
            return _labelled(arm, shown, env={**arm.env, key: value})
        case "script":
            folder = base.study.directory if base.study is not None else Path()
            return _labelled(arm, text, script=folder / text)
    return _labelled(arm, text, exec=text)


def _labelled(arm: Arm, label: str, **changes: Any) -> Arm:
    return dataclasses.replace(arm, label=f"{arm.label}, {label}" if arm.label else label, **changes)


def named_arm(text: str, base: Base) -> Arm:
    """`NAME` or `NAME:FORM`."""
    name, divided, form = text.partition(":")
    if not name or name in ("http", "https"):
        raise InputError(f"--variant {text}: it has no name", f"Write --variant NAME:{text}.")
    arm = arm_of(name, [form if divided else name], base, exec_allowed=True)
    return dataclasses.replace(arm, label=name)


def with_scripts(arms: Sequence[Arm], scripts: Sequence[Path]) -> list[Arm]:
    """Arms with a script each, labelled by what tells the scripts apart."""
    both = zip(arms, scripts, _shown(scripts), strict=True)
    return [_labelled(dataclasses.replace(arm, script=script), label) for arm, script, label in both]


def _shown(scripts: Sequence[Path]) -> list[str]:
    """As little of the end of their paths as tells scripts apart; that of the same one is the same."""
    paths = [Path(os.path.abspath(script)) for script in scripts]
    for count in range(1, max(len(path.parts) for path in paths)):
        found = {path: "/".join(path.parts[-count:]) for path in paths}
        if len(set(found.values())) == len(found):
            return [found[path] for path in paths]
    return [str(path) for path in paths]


def mention(arms: Iterable[Arm], base: Base, say: Say) -> None:
    """A variable that a script does not read makes all its forms the same."""
    for arm in arms:
        script = arm.script or base.script
        text = text_of(script)
        if text is None:
            continue
        for name in arm.env:
            if (reading := reading_of(name, text)) == "never":
                say(f"{script} never reads __ENV.{name}: its value makes no difference.")
            elif reading == "maybe" and not mentions(name, text):
                say(
                    f"{script} does not mention {name}: unless a module that it imports reads __ENV.{name}, its value "
                    "makes no difference."
                )


def text_of(script: Path) -> str | None:
    """The script's text; None where it cannot be read, which is told with its place when it is loaded."""
    try:
        return script.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def mention_one_sided(arms: Sequence[Arm], given: Mapping[str, str], base: Base, say: Say) -> None:
    """A variable that one form of two has, and nothing gives the other: an address, say, that was forgotten."""
    known = {*given, *(base.study.workload.env if base.study is not None else ())}
    known |= {"BASE_URL"} if base.target.url else set()
    for mine, other in permutations(arms, 2):
        for name in sorted(mine.env.keys() - other.env.keys() - known):
            say(
                f"{name} is set for {mine.name.upper()} alone. {other.name.upper()} runs with what the script says "
                f"where it is not set; to set it there, give --{other.name}, or -e {name}=… for both."
            )
