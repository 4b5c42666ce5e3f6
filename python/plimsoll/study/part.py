"""What every part of a study file is: a frozen model that knows its keys, and takes no yes for a number."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError


class StudyPart(BaseModel):
    """Unknown keys are mistakes, values do not change once read, and a number is written as one."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_as_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """YAML reads yes, no, on and off as true and false, which pydantic takes for 1 and 0."""
        if any(isinstance(one, bool) for one in (value if isinstance(value, list) else [value])):
            kinds = set(kinds_within(cls.model_fields[str(info.field_name)].annotation))
            if kinds & {int, float} and bool not in kinds:
                raise PydanticCustomError("truth_as_number", "must be a number, and is true or false")
        return value


def truth_as_text(value: Any) -> Any:
    """What a variable has where YAML reads yes, no, on and off as true and false."""
    return str(value).lower() if isinstance(value, bool) else value


def kinds_within(annotation: Any) -> Iterator[Any]:
    """The types that a value of that annotation may be made of, through lists, unions and Annotated."""
    inner = typing.get_args(annotation)
    if not inner:
        yield annotation
    for part in inner:
        yield from kinds_within(part)
