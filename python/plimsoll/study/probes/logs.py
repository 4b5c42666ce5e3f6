"""Log files that are read beside the load, as an entry of the study's `probes.logs`."""

from __future__ import annotations

import re

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from plimsoll.study.part import StudyPart
from plimsoll.study.probes.patterns import compiled

_NAME = re.compile(r"^[a-z][a-z0-9_]*$")


class LogOptions(StudyPart):
    """Which files, and what is counted in them beside the built-in kinds of lines."""

    label: str = Field(default="target", min_length=1, description="what reports call them")
    files: list[str] = Field(min_length=1, description="paths with * and ?, below the study's folder or absolute")
    patterns: dict[str, str] = Field(
        default_factory=dict,
        description="name → regular expression; a group named ms, s or value is a number whose mean is told",
    )
    built_in: bool = Field(default=True, description="count the built-in kinds (docs/probes/logs.md)")
    most_bytes_per_s: int = Field(
        default=1 << 20, ge=4096, le=64 << 20, description="to read; what is beyond is skipped"
    )

    @field_validator("patterns")
    @classmethod
    def _are_patterns(cls, patterns: dict[str, str]) -> dict[str, str]:
        for name, text in patterns.items():
            if not _NAME.match(name):
                what = f"{name!r} is no name"
                raise PydanticCustomError(
                    "pattern", "{what}", {"what": what, "next_step": "Use small letters, digits and _, as in deadlock."}
                )
            try:
                pattern = compiled(text)
            except (re.error, RecursionError, OverflowError) as error:
                what = f"{name}: {text!r} is no regular expression ({error})"
                raise PydanticCustomError("pattern", "{what}", {"what": what, "next_step": "Correct it."}) from None
            if pattern.search(""):
                what = f"{name}: {text!r} matches every line"
                raise PydanticCustomError("pattern", "{what}", {"what": what, "next_step": "Say what is in the line."})
        return patterns
