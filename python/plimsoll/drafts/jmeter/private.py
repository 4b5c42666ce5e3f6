"""Passwords and tokens that stand in a plan are not written: the script wants a variable for each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from plimsoll.drafts.queries import is_secret_parameter, is_web_token
from plimsoll.study.secrets.names import is_secret_key

_IN_JSON = re.compile(r'("(?P<name>[^"\\]{1,60})"\s*:\s*)"(?P<value>(?:[^"\\]|\\.)*)"')


@dataclass
class Private:
    """Takes secrets out of texts; `variables` has the name of each, and what it is."""

    variables: dict[str, str] = field(default_factory=dict)

    def value(self, name: str, text: str, what: str) -> str:
        """A value under a name: as it is, or the property that stands for it. What comes from a variable or an answer
        is no secret of the plan."""
        if "${" in text or not text.strip() or not (is_secret_parameter(name) or is_web_token(text)):
            return text
        return self._hidden(name, what)

    def body(self, text: str, what: str) -> str:
        """The values of such keys in a body of JSON. Keys that only may be secret, as `code`, stay."""

        def hidden(found: re.Match[str]) -> str:
            name, value = found["name"], found["value"]
            if "${" in value or not value or not (is_secret_key(name) or is_web_token(value)):
                return found[0]
            return f'{found[1]}"{self._hidden(name, what)}"'

        return _IN_JSON.sub(hidden, text)

    def _hidden(self, name: str, what: str) -> str:
        variable = "SECRET_" + (re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").upper() or "VALUE")
        self.variables.setdefault(variable, f"{name} of {what}")
        return f"${{__P({variable},)}}"
