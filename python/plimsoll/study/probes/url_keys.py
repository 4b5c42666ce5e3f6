"""Keys of a study that are URLs, as types of its models."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from plimsoll.study.urls import mistake_of_address, mistake_of_url


def _checked(text: str) -> str:
    return _unless(mistake_of_url(text), text)


def _checked_address(text: str) -> str:
    return _unless(mistake_of_address(text), text)


def _unless(mistake: tuple[str, str] | None, text: str) -> str:
    if mistake is not None:
        raise PydanticCustomError("url", "{what}", {"what": mistake[0], "next_step": mistake[1]})
    return text


HttpUrl = Annotated[str, Field(pattern=r"^https?://[^\s]+$"), AfterValidator(_checked)]
UrlOrCommand = Annotated[str, Field(min_length=1), AfterValidator(_checked_address)]
