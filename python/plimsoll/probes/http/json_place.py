"""A place in a JSON document that a URL answers: `http://host/path#items.0.count`."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from plimsoll.errors import InputError
from plimsoll.probes.http.page import basic_authorization, shown_url
from plimsoll.probes.http.plain_get import NoAnswer, plain_get, without_user
from plimsoll.probes.probe import ProbeUnavailable
from plimsoll.study.secrets.redactor import redact
from plimsoll.study.urls import mistake_of_url

LIMIT_S = 5.0


class JsonPlace:
    """`url`, as it may be shown, and `place`, its parts with dots between: keys of objects, and places in lists from 0.
    The whole document without. An answer that takes longer than `limit_s` is none. InputError for what is no URL."""

    def __init__(self, text: str, limit_s: float = LIMIT_S) -> None:
        address, _, self.place = text.partition("#")
        mistake = mistake_of_url(address)
        if mistake is not None:
            raise InputError(f"{redact(address)}: {mistake[0]}", mistake[1])
        parts = urlsplit(address)
        self.url = shown_url(parts)
        self._plain, self._authorization = without_user(address), basic_authorization(parts)
        self._limit_s = limit_s

    def value(self) -> Any:
        """What is there now. Raises ProbeUnavailable."""
        try:
            document: Any = json.loads(plain_get(self._plain, self._limit_s, authorization=self._authorization)[1])
        except (NoAnswer, ValueError, RecursionError) as error:
            raise ProbeUnavailable(f"{self.url} gave no JSON ({error})") from None
        for part in filter(None, self.place.split(".")):
            if isinstance(document, dict) and part in document:
                document = document[part]
            elif isinstance(document, list) and part.isdigit() and int(part) < len(document):
                document = document[int(part)]
            else:
                raise ProbeUnavailable(f"the JSON of {self.url} has no {self.place}: {part} is missing")
        return document
