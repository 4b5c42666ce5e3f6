"""The options of each experiment, as an entry of the study's list `experiments`.

An entry is `- capacity: {width: 0.05}`, `- capacity:` or plainly `- capacity`.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Part(BaseModel):
    """Unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Options(Part):
    """What the options of all experiments share: who takes part."""

    of: list[Annotated[str, Field(min_length=1)]] = Field(
        default_factory=list, description="names of the operations or groups that take part; all when left out"
    )


class CapacityOptions(Options):
    """How much does it carry, and what stops it? `width`: relative gap between good and bad to stop at."""

    width: float = Field(default=0.10, gt=0, lt=1)
    step_s: float = Field(default=10.0, gt=0)
    min_users: float | None = Field(default=None, gt=0)
    max_users: float | None = Field(default=None, gt=0)
    budgets: dict[str, Annotated[float, Field(gt=0, le=1)]] = Field(
        default_factory=dict,
        description="share of a resource that may be used, to see how far it would go: cpu, disk, a process's label",
    )
    cores: int | None = Field(default=None, ge=1, description="of another host, to see how far it would go")


class HoldOptions(Options):
    """Is it stable at a fixed load? `users` defaults to the study's expected users; `baseline_s`: one user alone
    before."""

    users: float | None = Field(default=None, gt=0)
    duration_s: float = Field(default=600.0, gt=0)
    warm_up_s: float = Field(default=30.0, ge=0)
    baseline_s: float = Field(default=30.0, ge=0, description="of one user alone before the load; 0 leaves it out")
    memory_limit_mb: float | None = Field(
        default=None,
        gt=0,
        description="resident memory in MiB that the target must not reach; the host's when left out",
    )


class GrowOptions(Options):
    """How long does loading `items` take, and how does it age? Users are creates at a time."""

    items: int = Field(gt=0)
    exec: str | None = Field(
        default=None,
        min_length=1,
        description="exported function that creates one item; the first operation's if left out",
    )
    min_users: int = Field(default=1, ge=1)
    max_users: int | None = Field(default=None, ge=1)
    counter: str | None = Field(
        default=None,
        min_length=1,
        description="a Counter of the script that counts items, where a call creates several",
    )
    allowed_failures: float = Field(default=0.0, ge=0, lt=1, description="share of creates that may fail")


class CompareOptions(Options):
    """Is B slower than A? Interleaved pairs at each level; `margin`: the relative change that does not matter."""

    a: str = Field(min_length=1, description="form A: NAME=value, URL, variant of the target, or script")
    b: str = Field(min_length=1, description="form B, likewise")
    users: list[float] = Field(default_factory=list, description="levels; the expected users when empty")
    pairs: int = Field(default=10, ge=2)
    trial_s: float = Field(default=10.0, ge=1, description="seconds a trial is held and counts")
    margin: float = Field(default=0.05, gt=0, lt=1)


class DecomposeOptions(Options):
    """Where does the time go? The same work in several forms, from the whole to the least."""

    variants: dict[str, str] = Field(
        min_length=2,
        description="name: form (exported function, NAME=value, URL, variant of the target, script), the whole first",
    )
    parts: bool = Field(default=False, description="the others are separate parts of the first, and not nested")
    users: float = Field(default=1, gt=0)
    rounds: int = Field(default=10, ge=2)
    trial_s: float = Field(default=10.0, ge=1, description="seconds a trial is held and counts")


class SweepOptions(Options):
    """How does it depend on parameters? `users` and `rate` are levels; others reach the script as variables."""

    over: dict[str, list[str | float]] = Field(min_length=1, description="name of the parameter: its values")
    users: float | None = Field(default=None, gt=0, description="the level, where it is not swept")
    repeats: int = Field(default=3, ge=1)
    trial_s: float = Field(default=10.0, ge=1, description="seconds a trial is held and counts")
    stop_at_failure: bool = Field(default=False, description="where nothing answered, try no larger values")


class DrainOptions(Options):
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
    index_budget_mb: float | None = Field(default=None, gt=0, description="MiB that the index must not exceed")
    memory_budget_mb: float | None = Field(default=None, gt=0, description="MiB that the processes must not exceed")
    operation: str | None = Field(
        default=None, min_length=1, description="the operation that puts items in; all if left out"
    )
    items_per_operation: float = Field(default=1.0, gt=0)
    users: float | None = Field(default=None, gt=0)
    duration_s: float = Field(default=600.0, gt=0)
    warm_up_s: float = Field(default=10.0, ge=0)
    drain_s: float = Field(default=300.0, ge=0, description="how long to wait for the backlog after the load")


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
