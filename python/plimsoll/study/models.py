"""The study file as typed models: target, workload, objectives, probes, experiments.

Every model refuses unknown keys. What one field alone can tell is checked here; what needs two fields is in
`checks.py`, which runs for models made in Python too. Times are in seconds, rates per user and hour.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PrivateAttr,
    Tag,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from plimsoll.errors import InputError, InputErrors
from plimsoll.nearest_word import nearest
from plimsoll.study.bounds import MOST_PARTS, MOST_PER_S, MOST_SECONDS, MOST_SEED, MOST_USERS
from plimsoll.study.checks import contradictions
from plimsoll.study.experiment_checks import no_such_part
from plimsoll.study.experiments import Experiment
from plimsoll.study.objectives import Limit, parse_objective
from plimsoll.study.part import StudyPart, truth_as_text
from plimsoll.study.probes.files import FilesOptions
from plimsoll.study.probes.jvm import JvmOptions
from plimsoll.study.probes.logs import LogOptions
from plimsoll.study.probes.mysql import MysqlOptions
from plimsoll.study.probes.otlp import OtlpOptions
from plimsoll.study.probes.postgresql import PostgresqlOptions
from plimsoll.study.probes.profile import ProfileOptions
from plimsoll.study.probes.prometheus import PrometheusOptions
from plimsoll.study.probes.telemetry import TelemetryOptions
from plimsoll.study.probes.url_keys import HttpUrl, UrlOrCommand

Name = Annotated[str, Field(min_length=1)]


def _as_text(item: Any) -> Any:
    item = truth_as_text(item)
    return str(item) if isinstance(item, (int, float)) else item


def _texts(value: Any) -> Any:
    """YAML reads `PORT: 8080` as a number; an environment holds text."""
    return {str(name): _as_text(item) for name, item in value.items()} if isinstance(value, dict) else value


Environment = Annotated[dict[str, str], BeforeValidator(_texts)]


class TimeLimits(StudyPart):
    """How long each command of the target may take, in seconds."""

    ready_s: float = Field(
        default=60.0, gt=0, le=MOST_SECONDS, description="from the start until the target must answer as ready"
    )
    switch_s: float = Field(default=60.0, gt=0, le=MOST_SECONDS, description="for the switch command of a variant")
    reset_s: float = Field(default=300.0, gt=0, le=MOST_SECONDS, description="for the reset command")
    data_volume_s: float = Field(default=10.0, gt=0, le=MOST_SECONDS, description="for each reading of data_volume")
    stop_s: float = Field(
        default=30.0, gt=0, le=MOST_SECONDS, description="for the stop command, and again before processes are killed"
    )


class ProcessSelector(StudyPart):
    """A process of the target (with its children), found by exactly one of port, pid and name."""

    label: Name = Field(description="what reports call it")
    port: int | None = Field(default=None, ge=1, le=65535, description="the TCP port it listens on")
    pid: int | None = Field(default=None, ge=1, le=2**31 - 1)
    name: str | None = Field(default=None, min_length=1, description="its name, or a word of its command line")


class Variant(StudyPart):
    """The target in another form (version, setting, machine), which a command switches to."""

    switch: str | None = Field(default=None, min_length=1, description="shell command that makes the target this one")
    url: HttpUrl | None = Field(default=None, description="where it answers, if elsewhere")


class Target(StudyPart):
    """The system under test and the commands that control it; without `start` it is taken to run already."""

    url: HttpUrl | None = Field(default=None, description="where it answers")
    start: str | None = Field(default=None, min_length=1, description="shell command that starts it")
    ready: UrlOrCommand | None = Field(
        default=None, description="URL, path below `url`, or command that succeeds when ready"
    )
    reset: str | None = Field(default=None, min_length=1, description="shell command that restores its data")
    variants: dict[Name, Variant] = Field(default_factory=dict, description="chosen with --variant")
    data_volume: UrlOrCommand | None = Field(
        default=None,
        description="how much data it holds: a command that prints a number, or a URL (or path below `url`) of JSON; "
        "what follows # is the place of the number in it, as in /status#issues.total",
    )
    stop: str | None = Field(default=None, min_length=1, description="shell command that stops it")
    environment: Environment = Field(default_factory=dict, description="for these commands; never written to a run")
    processes: list[ProcessSelector] = Field(default_factory=list)
    time_limits: TimeLimits = Field(default_factory=lambda: TimeLimits())

    def variant(self, name: str) -> Variant:
        """The variant of that name; InputError if there is none."""
        if name not in self.variants:
            known = list(self.variants)
            step = nearest(name, known, f"Use one of {', '.join(known)}.") if known else "Add it to target.variants."
            raise InputError(f"the study has no variant {name!r}", step)
        return self.variants[name]

    def as_variant(self, name: str) -> Target:
        """The target where that variant of it answers."""
        return self.model_copy(update={"url": self.variant(name).url or self.url})


class Operation(StudyPart):
    """A thing a user does: an exported function of the script, and how often one user does it."""

    name: Name
    exec: Name | None = Field(default=None, description="exported function of the script; the name when left out")
    per_user_hour: float = Field(gt=0, le=3600 * MOST_PER_S, description="operations per user and hour")


class OpenWorkload(StudyPart):
    """Users arrive whatever the target does: users × operations per user and hour = arrival rate."""

    script: Name
    model: Literal["open"] = "open"
    env: Environment = Field(default_factory=dict, description="for the script's __ENV; -e on the command line wins")
    arrivals: Literal["poisson", "even"] = Field(
        default="poisson", description="even arrivals (k6's) flatter the target"
    )
    operations: list[Operation] = Field(min_length=1, max_length=MOST_PARTS)


class ThinkTime(StudyPart):
    """The pause between two operations of one user, drawn anew each time."""

    distribution: Literal["exponential", "uniform", "constant"] = Field(
        description="exponential is usual in queueing theory: many users who do not coordinate"
    )
    mean_s: float | None = Field(
        default=None, gt=0, le=MOST_SECONDS, description="mean in seconds (exponential, constant)"
    )
    min_s: float | None = Field(default=None, ge=0, le=MOST_SECONDS, description="least in seconds (uniform)")
    max_s: float | None = Field(default=None, gt=0, le=MOST_SECONDS, description="greatest in seconds (uniform)")


class Group(StudyPart):
    """A group of users of a closed workload: its share of all users and the pause between operations."""

    name: Name
    exec: Name | None = Field(default=None, description="exported function of the script; the name when left out")
    weight: float = Field(default=1.0, gt=0, le=MOST_USERS, description="relative share of the users")
    think_time_s: float = Field(
        default=0.0,
        ge=0,
        le=MOST_SECONDS,
        description="seconds from the end of a user's operation to the start of the next",
    )
    think_time: ThinkTime | None = Field(default=None, description="the same at random, in place of think_time_s")

    @property
    def mean_think_time_s(self) -> float:
        """Mean pause between two operations of one user, in seconds."""
        if self.think_time is None:
            return self.think_time_s
        if self.think_time.distribution == "uniform":
            return ((self.think_time.min_s or 0.0) + (self.think_time.max_s or 0.0)) / 2
        return self.think_time.mean_s or 0.0


class ClosedWorkload(StudyPart):
    """A fixed number of users, each waiting for its answer before it goes on."""

    script: Name
    model: Literal["closed"] = "closed"
    env: Environment = Field(default_factory=dict, description="for the script's __ENV; -e on the command line wins")
    groups: list[Group] = Field(min_length=1, max_length=MOST_PARTS)


def _workload_kind(value: Any) -> str:
    """Open or closed: as the key `model` says, else by whether `groups` are given."""
    if isinstance(value, dict):
        if value.get("model") in ("open", "closed"):
            return value["model"]
        return "closed" if "groups" in value and "operations" not in value else "open"
    return getattr(value, "model", "open")


Workload = Annotated[
    Annotated[OpenWorkload, Tag("open")] | Annotated[ClosedWorkload, Tag("closed")], Discriminator(_workload_kind)
]


class Objective(StudyPart):
    """A service-level objective on one operation, on one request, or (neither named) on every request."""

    operation: str | None = Field(default=None, min_length=1)
    request: str | None = Field(
        default=None, min_length=1, description="the `name` tag of the request, as in POST /issues"
    )
    objective: str = Field(description="as in p90<=1000ms or error_rate<=1%")

    @field_validator("objective")
    @classmethod
    def _is_readable(cls, text: str) -> str:
        try:
            parse_objective(text)
        except InputError as error:
            raise PydanticCustomError(
                "objective", "{what}", {"what": error.what, "next_step": error.next_step}
            ) from error
        return text

    @property
    def limit(self) -> Limit:
        """The objective, parsed: statistic, limit and unit."""
        return parse_objective(self.objective)

    def __str__(self) -> str:
        return f"{self.limit} on {self.operation or self.request or 'every request'}"


class Probes(StudyPart):
    """Which facts of the server side are collected each second. `core_speed` takes about 1% of each of the target's
    cores to time a piece of work on them."""

    host: bool = True
    processes: bool = True
    network: bool = True
    core_speed: bool = True
    cgroups: bool = Field(default=True, description="limits of the target's processes, docs/probes/cgroup.md")
    sockets: bool = Field(default=True, description="connections of the target's processes, docs/probes/sockets.md")
    waits: bool = Field(default=True, description="what the threads of these wait for, docs/probes/waits.md")
    peers: bool = Field(
        default=True, description="the same of processes that these connect to on this host, docs/probes/peers.md"
    )
    prometheus: list[PrometheusOptions] = Field(default_factory=list, description="docs/probes/prometheus.md")
    telemetry: list[TelemetryOptions] = Field(default_factory=list, description="docs/probes/telemetry.md")
    otlp: OtlpOptions | None = Field(default=None, description="docs/probes/otlp.md")
    logs: list[LogOptions] = Field(default_factory=list, description="docs/probes/logs.md")
    files: list[FilesOptions] = Field(default_factory=list, description="sizes on disk, docs/probes/files.md")
    postgresql: list[PostgresqlOptions] = Field(
        default_factory=list, description="databases, docs/probes/postgresql.md"
    )
    mysql: list[MysqlOptions] = Field(
        default_factory=list, description="databases of MariaDB and MySQL, docs/probes/mysql.md"
    )
    jvm: list[JvmOptions] = Field(default_factory=list, description="Java virtual machines, docs/probes/jvm.md")
    profile: list[ProfileOptions] = Field(
        default_factory=list, description="functions by own time in each step, docs/probes/profile.md"
    )


class Study(StudyPart):
    """The whole file. `expected_users` is the load that headroom is counted from."""

    name: str | None = Field(default=None, min_length=1)
    target: Target = Field(default_factory=lambda: Target())
    workload: Workload
    expected_users: float | None = Field(default=None, gt=0, le=MOST_USERS)
    objectives: list[Objective] = Field(default_factory=list, max_length=MOST_PARTS)
    probes: Probes = Field(default_factory=lambda: Probes())
    experiments: list[Experiment] = Field(default_factory=list, max_length=MOST_PARTS)
    cannot_decide: list[Name] = Field(
        default_factory=list,
        description="what it is too small or short for, in sentences that are told with its plan",
    )
    seed: int | None = Field(
        default=None,
        ge=0,
        le=MOST_SEED,
        description="for arrivals and orders drawn at random; chosen and recorded if left out",
    )

    _directory: Path = PrivateAttr(default_factory=Path)

    @model_validator(mode="after")
    def _parts_agree(self) -> Study:
        found = contradictions(self.model_dump(exclude_none=True, exclude_unset=True))  # as a file would say it
        if found:
            what = "; ".join(f"{problem.key}: {problem.what}. {problem.next_step}" for problem in found)
            raise PydanticCustomError("contradiction", "{what}", {"what": what, "next_step": ""})
        return self

    @property
    def directory(self) -> Path:
        """Where the study file lies; relative paths in it start there."""
        return self._directory

    @property
    def script_path(self) -> Path:
        """The script, resolved against the study file's folder."""
        return self._directory / self.workload.script

    def with_experiment(self, item: Experiment) -> Study:
        """The same study with that experiment alone, and with those operations or groups alone that take part in it."""
        return self._with(experiments=[item])._of(item)

    def for_experiment(self, name: str) -> Study:
        """The same study with those operations or groups alone that take part in its first experiment of that name."""
        return self._of(next((item for item in self.experiments if item.name == name), None))

    def only(self, names: Collection[str]) -> Study:
        """The same study with those operations or groups alone, whatever its experiments say of who takes part. Raises
        InputErrors for names that its workload does not have."""
        known = list(self.operation_names)
        unknown = [name for name in names if name not in known]
        if unknown:
            raise InputErrors(InputError(*no_such_part(name, known)) for name in unknown)
        return self._only(names)._with(experiments=[one.of_all() for one in self.experiments])

    def _of(self, item: Experiment | None) -> Study:
        return self if item is None or not item.options.of else self._only(item.options.of)

    def _only(self, names: Collection[str]) -> Study:
        part = "operations" if isinstance(self.workload, OpenWorkload) else "groups"
        kept = [one for one in getattr(self.workload, part) if one.name in names]
        return self._with(
            workload=self.workload.model_copy(update={part: kept}),
            objectives=[one for one in self.objectives if one.operation is None or one.operation in names],
        )

    def _with(self, **changed: Any) -> Study:
        other = self.model_copy(update=changed)
        other._directory = self._directory
        return other

    @property
    def operation_names(self) -> tuple[str, ...]:
        """Names of the operations (open) or groups (closed), in the order of the file."""
        parts = self.workload.operations if isinstance(self.workload, OpenWorkload) else self.workload.groups
        return tuple(part.name for part in parts)
