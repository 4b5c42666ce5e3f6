"""The options of each experiment, as an entry of the study's list `experiments`.

An entry is `- capacity: {width: 0.05}`, `- capacity:` or plainly `- capacity`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from plimsoll.errors import InputError
from plimsoll.study.bounds import (
    MOST_CORES,
    MOST_ITEMS,
    MOST_MIB,
    MOST_PARTS,
    MOST_PER_S,
    MOST_REPEATS,
    MOST_SECONDS,
    MOST_USERS,
    MOST_VUS,
)
from plimsoll.study.durations import parse_duration
from plimsoll.study.kept_objectives import parse_kept
from plimsoll.study.part import StudyPart, truth_as_text

Statistic = Literal["mean", "p50", "p90", "p95", "p99"]
Text = Annotated[str, Field(min_length=1)]
MARGIN = 0.05
PRIMARY: tuple[Statistic, ...] = ("p50", "p95")
WARM_UP_S = 2.0


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str | int | float) and not isinstance(value, bool) else value


def _one_or_more(of: dict[str, Any]) -> Any:
    """One value stands for a list of one; `of` is the schema of each."""
    return BeforeValidator(_listed), WithJsonSchema({"anyOf": [of, {"type": "array", "items": of}]}, mode="validation")


def _load_time(value: Any) -> Any:
    """The text of a duration. A number has no unit."""
    if value is None:
        return None
    try:
        parse_duration(str(value), "")
    except InputError as error:
        raise PydanticCustomError("duration", "{what}", {"what": error.what, "next_step": error.next_step}) from error
    return str(value).strip()


def _seconds(value: Any) -> Any:
    """Seconds of a number or of a duration with its unit."""
    if not isinstance(value, str):
        return value
    try:
        return parse_duration(value, "", bare_s=True)
    except InputError as error:
        raise PydanticCustomError("duration", "{what}", {"what": error.what, "next_step": error.next_step}) from error


_AS_LEVELS, _LEVELS_SCHEMA = _one_or_more({"type": "number", "exclusiveMinimum": 0})
_AS_TEXTS, _TEXTS_SCHEMA = _one_or_more({"type": "string", "minLength": 1})
Levels = Annotated[
    list[Annotated[float, Field(gt=0, le=MOST_USERS)]], _AS_LEVELS, Field(max_length=MOST_PARTS), _LEVELS_SCHEMA
]
Seconds = Annotated[
    float, BeforeValidator(_seconds), WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}]})
]
Texts = Annotated[list[Text], _AS_TEXTS, _TEXTS_SCHEMA]
Swept = Annotated[str | int | float, BeforeValidator(truth_as_text)]


def _kept(texts: list[str]) -> list[str]:
    for text in texts:
        try:
            parse_kept(text)
        except InputError as error:
            told = {"what": error.what, "next_step": error.next_step}
            raise PydanticCustomError("objective", "{what}", told) from error
    return texts


class Part(StudyPart):
    """A Python name stands for the key that is a word of Python too (`for_` for `for`)."""

    model_config = ConfigDict(populate_by_name=True)


class Options(Part):
    """What the options of all experiments share: who takes part."""

    of: list[Annotated[str, Field(min_length=1)]] = Field(
        default_factory=list, description="names of the operations or groups that take part; all when left out"
    )
    for_: Annotated[str | None, BeforeValidator(_load_time)] = Field(
        default=None, alias="for", description="time of load, as 90s, 5m or 1h30m"
    )

    @property
    def for_s(self) -> float | None:
        """The time of load that `for` gives, in seconds."""
        return None if self.for_ is None else parse_duration(self.for_, "for")


class LoadOptions(Options):
    """What capacity, hold, grow and drain share."""

    variant: str | None = Field(default=None, min_length=1, description="variant of the target to switch to before")


class CapacityOptions(LoadOptions):
    """How much does it carry, and what stops it? `width`: relative gap between good and bad to stop at."""

    width: float = Field(default=0.10, ge=0.001, le=0.9)
    step_s: float = Field(default=10.0, ge=1, le=MOST_SECONDS)
    min_users: float | None = Field(default=None, gt=0, le=MOST_USERS)
    max_users: float | None = Field(default=None, gt=0, le=MOST_USERS)
    max_rate: float | None = Field(
        default=None, gt=0, le=MOST_PER_S, description="never more arrivals per second than this; of an open workload"
    )
    budgets: dict[str, Annotated[float, Field(gt=0, le=1)]] = Field(
        default_factory=dict,
        description="share of a resource that may be used, to see how far it would go: cpu, disk, a process's label",
    )
    cores: int | None = Field(
        default=None, ge=1, le=MOST_CORES, description="of another host, to see how far it would go"
    )
    negligible_below: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="share of the target below which these operations, at the expected users, are called negligible",
    )
    recovery: bool = Field(
        default=True,
        description="overload a target that collapses once more at the end, to find the level at which it recovers",
    )
    verify: str | None = Field(
        default=None,
        min_length=1,
        description="a command: find the capacity, run it, find it again, and say what it changed",
    )


class HoldOptions(LoadOptions):
    """Is it stable at a fixed load? `users` defaults to the study's expected users; `baseline_s`: one user alone
    before."""

    users: float | None = Field(default=None, gt=0, le=MOST_USERS)
    keep: Annotated[Texts, AfterValidator(_kept)] = Field(
        default_factory=list,
        description="an objective or several, as p95<=300ms or detail: p95<=20ms: the load is steered so that they "
        "just hold; users is where it begins",
    )
    max_users: float | None = Field(
        default=None, gt=0, le=MOST_USERS, description="of a steered load: never more than this"
    )
    duration_s: Seconds = Field(default=600.0, ge=1, le=MOST_SECONDS)
    warm_up_s: float = Field(default=30.0, ge=0, le=MOST_SECONDS)
    baseline_s: float = Field(
        default=30.0, ge=0, le=MOST_SECONDS, description="of one user alone before the load; 0 leaves it out"
    )
    memory_limit_mb: float | None = Field(
        default=None,
        gt=0,
        le=MOST_MIB,
        description="resident memory in MiB that the target must not reach; the host's when left out",
    )


class GrowOptions(LoadOptions):
    """How long does loading `items` take, and how does it age? Users are creates at a time."""

    items: int = Field(ge=1, le=MOST_ITEMS)
    exec: str | None = Field(
        default=None,
        min_length=1,
        description="exported function that creates one item; the first operation's if left out",
    )
    min_users: int = Field(default=1, ge=1, le=MOST_VUS)
    max_users: int | None = Field(default=None, ge=1, le=MOST_VUS)
    counter: str | None = Field(
        default=None,
        min_length=1,
        description="a Counter of the script that counts items, where a call creates several",
    )
    allowed_failures: float = Field(default=0.0, ge=0, le=0.99, description="share of creates that may fail")


class TrialOptions(Options):
    """What compare, decompose and sweep share."""

    users: Levels = Field(default_factory=list, description="level, or list of levels")
    rate: Levels = Field(default_factory=list, description="levels in arrivals per second in place of users")
    trial_s: float = Field(default=10.0, ge=1, le=MOST_SECONDS, description="seconds a trial is held and counts")
    warm_up_s: float = Field(
        default=WARM_UP_S, ge=0, le=MOST_SECONDS, description="seconds before them that do not count"
    )


class CompareOptions(TrialOptions):
    """Is B slower than A? Interleaved pairs at each level, the expected users when none is given; or two sets of
    finished runs. `margin`: the relative change that does not matter."""

    a: Texts = Field(
        default_factory=list, description="form A: NAME=value, URL, variant of the target, or script; or several"
    )
    b: Texts = Field(default_factory=list, description="form B, likewise")
    pairs: int = Field(default=10, ge=2, le=MOST_REPEATS)
    margin: float = Field(default=MARGIN, gt=0, lt=1)
    primary: list[Statistic] = Field(
        default_factory=lambda: list(PRIMARY), min_length=1, description="the statistics that decide"
    )
    runs_a: list[Text] = Field(
        default_factory=list, description="run directories that are A, from the study's folder; nothing is run then"
    )
    runs_b: list[Text] = Field(default_factory=list, description="those that are B")
    skip_s: float = Field(
        default=0.0, ge=0, le=MOST_SECONDS, description="first seconds of finished runs that do not count"
    )

    @property
    def is_of_runs(self) -> bool:
        """Whether finished runs are compared."""
        return bool(self.runs_a or self.runs_b)


class DecomposeOptions(TrialOptions):
    """Where does the time go? The same work in several forms, from the whole to the least; one user when no level is
    given."""

    variants: dict[str, str] = Field(
        min_length=2,
        description="name: form (exported function, NAME=value, URL, variant of the target, script), the whole first",
    )
    parts: bool = Field(default=False, description="the others are separate parts of the first, and not nested")
    statistic: Literal["mean", "p50"] = Field(default="mean", description="of an iteration's duration")
    rounds: int = Field(default=10, ge=2, le=MOST_REPEATS)


class SweepOptions(TrialOptions):
    """How does it depend on parameters? `users` and `rate` are levels, here or swept; other parameters reach the script
    as variables."""

    over: dict[str, Annotated[list[Swept], Field(max_length=MOST_REPEATS)]] = Field(
        min_length=1, max_length=MOST_PARTS, description="name of the parameter: its values"
    )
    repeats: int = Field(default=3, ge=1, le=MOST_REPEATS)
    stop_at_failure: bool = Field(default=False, description="where nothing answered, try no larger values")


class DrainOptions(LoadOptions):
    """Does the asynchronous consumer keep up? Each place of a number is a URL of JSON with #place, `sql:DSN QUERY`,
    `log:FILE PATTERN`, `size:PATH`, `trs:URL` or a command that prints it. It takes `backlog`, or `consumed`, with or
    without `produced`."""

    backlog: str | None = Field(default=None, min_length=1, description="items waiting")
    produced: str | None = Field(
        default=None, min_length=1, description="counter of items put in; the load's own operations when left out"
    )
    consumed: str | None = Field(default=None, min_length=1, description="counter of items the consumer has done")
    index: str | None = Field(default=None, min_length=1, description="bytes that the consumer keeps, as size:FOLDER")
    polls: str | None = Field(
        default=None,
        min_length=1,
        description="URL of JSON with #place of the list of the consumer's polls: items and seconds of each",
    )
    index_budget_mb: float | None = Field(
        default=None, gt=0, le=MOST_MIB, description="MiB that the index must not exceed"
    )
    memory_budget_mb: float | None = Field(
        default=None, gt=0, le=MOST_MIB, description="MiB that the processes must not exceed"
    )
    operation: str | None = Field(
        default=None, min_length=1, description="the operation that puts items in; all if left out"
    )
    items_per_operation: float = Field(default=1.0, gt=0, le=MOST_USERS)
    users: float | None = Field(default=None, gt=0, le=MOST_USERS)
    duration_s: Seconds = Field(default=600.0, ge=1, le=MOST_SECONDS)
    warm_up_s: float = Field(default=10.0, ge=0, le=MOST_SECONDS)
    drain_s: float = Field(
        default=300.0, ge=0, le=MOST_SECONDS, description="how long to wait for the backlog after the load"
    )


class Experiment(Part):
    """One entry: exactly one of the fields is set."""

    capacity: CapacityOptions | None = None
    hold: HoldOptions | None = None
    grow: GrowOptions | None = None
    compare: CompareOptions | None = None
    decompose: DecomposeOptions | None = None
    sweep: SweepOptions | None = None
    drain: DrainOptions | None = None

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, value: Any) -> Any:
        """`capacity` and `{capacity: null}` mean `{capacity: {}}`."""
        if isinstance(value, str):
            return {value: {}}
        if isinstance(value, dict) and len(value) == 1:
            return {name: {} if options is None else options for name, options in value.items()}
        return value

    @property
    def name(self) -> str:
        """Which experiment it is, for example "capacity"."""
        return next(name for name in type(self).model_fields if getattr(self, name) is not None)

    @property
    def options(self) -> Options:
        """The options of that experiment."""
        return getattr(self, self.name)

    def of_all(self) -> Experiment:
        """The same, in which all operations or groups take part."""
        return self.model_copy(update={self.name: self.options.model_copy(update={"of": []})})


Chosen = TypeVar("Chosen", bound=Options)


def first_of(kind: type[Chosen], experiments: Iterable[Experiment]) -> Chosen | None:
    """The options of the first experiment of that kind, which its verb takes; None without one."""
    return next((item.options for item in experiments if isinstance(item.options, kind)), None)
