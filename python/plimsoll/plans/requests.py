"""What a caller asks of an experiment of trials: a class each for compare, decompose and sweep, and what they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from plimsoll.errors import InputError, InputErrors
from plimsoll.study import Study

Source = str | Path | Study


@dataclass(frozen=True)
class TrialChoices:
    """How trials are made. Empty or None means: as the study says, else the default.

    `users` or `rate` (arrivals per second, open loads) are the levels; without them the study's expected users, or the
    load that the script declares. `repetitions`: pairs of `compare`, rounds of the others; `for_s`: load time of all
    trials, which says how many; `trial_s` is held and counts after `warm_up_s`; `resume`: the run to go on with; `env`
    goes to the script's __ENV. The rest as in `Choices`.
    """

    runs: Path = Path("runs")
    env: Mapping[str, str] = field(default_factory=dict)
    users: tuple[float, ...] = ()
    rate: tuple[float, ...] = ()
    repetitions: int | None = None
    trial_s: float | None = None
    warm_up_s: float | None = None
    arrival_process: str | None = None
    seed: int = 1
    threads: int = 1
    isolate: bool = False
    background: bool = False
    resume: Path | None = None
    for_s: float | None = None


@dataclass(frozen=True)
class CompareRequest:
    """A against B: of one `source` (study or script) two forms `a` and `b`, or two scripts `source` and `other`, or two
    sets of finished runs `runs_a`, `runs_b`.

    A form is given by texts: `NAME=value` for the script's __ENV, a URL (BASE_URL), a variant of the study's target,
    another script. `switch_a`, `switch_b` are commands that make the target this one, `reset` restores its data before
    each trial (for scripts; a study has its own). `margin`: relative change that does not matter; `primary`:
    statistics that decide; `skip_s`: seconds at the beginning of finished runs that do not count. None means: as the
    study says, else the default (0.05; p50 and p95; 0).
    """

    source: Source | None = None
    other: Path | None = None
    a: tuple[str, ...] = ()
    b: tuple[str, ...] = ()
    switch_a: str | None = None
    switch_b: str | None = None
    reset: str | None = None
    margin: float | None = None
    primary: tuple[str, ...] | None = None
    runs_a: tuple[Path, ...] = ()
    runs_b: tuple[Path, ...] = ()
    skip_s: float | None = None


@dataclass(frozen=True)
class DecomposeRequest:
    """The same work in several forms, the whole first: `variants` of one `source`, or one script each (`sources`).

    A variant is `NAME`, an exported function of the script or a variant of the study's target, or `NAME:FORM` with a
    form as in CompareRequest. Each variant holds the next one (nested), or with `parts` the others are separate parts
    of the first, and the rest of it is a layer of its own. `statistic`: mean or p50 of an iteration's duration; None
    means as the study says, else mean.
    """

    sources: tuple[Source, ...] = ()
    variants: tuple[str, ...] = ()
    parts: bool | None = None
    statistic: str | None = None


@dataclass(frozen=True)
class SweepRequest:
    """Every combination of the values of the parameters `over`: `users` and `rate` are levels, others go to the
    script's __ENV. `stop_at_failure`: where nothing answered, larger values are not tried."""

    source: Source | None = None
    over: Mapping[str, Sequence[str]] = field(default_factory=dict)
    stop_at_failure: bool | None = None


Request = CompareRequest | DecomposeRequest | SweepRequest
Wanted = TypeVar("Wanted", CompareRequest, DecomposeRequest, SweepRequest)
_OF_THE_SESSION = ("runs", "resume", "background")
_EXPERIMENTS: dict[str, type[Request]] = {
    "compare": CompareRequest,
    "decompose": DecomposeRequest,
    "sweep": SweepRequest,
}


def experiment_of(request: Request) -> str:
    """ "compare", "decompose" or "sweep"."""
    return next(name for name, kind in _EXPERIMENTS.items() if isinstance(request, kind))


def request_of(
    kind: type[Wanted], given: Wanted | Source | None, choices: TrialChoices | None, options: Mapping[str, Any]
) -> tuple[Wanted, TrialChoices]:
    """Request and choices from what a caller of a verb gives: a request as it is, or a source and `options` by name, of
    which a single value stands for a list of one. InputErrors for names that there are not."""
    own: dict[str, Field[Any]] = {item.name: item for item in fields(kind)}
    shared: dict[str, Field[Any]] = {item.name: item for item in fields(TrialChoices)}
    unknown = [
        InputError(f"there is no option '{name}'", f"There are {', '.join([*own, *shared])}.")
        for name in options
        if name not in own and name not in shared
    ]
    if unknown:
        raise InputErrors(unknown)
    told = {name: _as_field(value, (own | shared)[name]) for name, value in options.items()}
    of_request = {name: value for name, value in told.items() if name in own}
    choices = replace(choices or TrialChoices(), **{name: value for name, value in told.items() if name not in own})
    if isinstance(given, kind):
        return replace(given, **of_request), choices
    if given is not None:
        first = next(iter(own.values()))
        of_request[first.name] = _as_field(given, first)
    return kind(**of_request), choices


def _as_field(value: Any, field: Field[Any]) -> Any:
    if not str(field.type).startswith("tuple"):
        return value
    return (value,) if isinstance(value, str | Path | Study | int | float) else tuple(value)


def asked(request: Request, choices: TrialChoices) -> dict[str, Any] | None:
    """Both as plain data, for plan.json, so that a run can be resumed without saying it all again; None where a Study
    object, which no file holds, is part of it."""
    data = {item.name: _plain(getattr(request, item.name)) for item in fields(request)}
    if any(isinstance(part, Study) for value in vars(request).values() for part in (value, *_members(value))):
        return None
    shared = {
        item.name: _plain(getattr(choices, item.name)) for item in fields(choices) if item.name not in _OF_THE_SESSION
    }
    return {"request": data, "choices": {("variables" if name == "env" else name): v for name, v in shared.items()}}


def asked_again(experiment: str, data: Mapping[str, Any], choices: TrialChoices) -> tuple[Request, TrialChoices]:
    """The request and choices that plan.json holds; those of the session, and variables given anew, from `choices`."""
    request = _EXPERIMENTS[experiment](**{name: _frozen(value) for name, value in data["request"].items()})
    told = {name: _frozen(value) for name, value in data["choices"].items()}
    env = {**told.pop("variables"), **choices.env}
    session = {name: getattr(choices, name) for name in _OF_THE_SESSION}
    return request, TrialChoices(**{**told, "env": env, **session})


def _members(value: Any) -> Sequence[Any]:
    return value if isinstance(value, tuple) else ()


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value.absolute())
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
