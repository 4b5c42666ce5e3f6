"""HTTP samplers with their defaults and headers as requests of a script, and which address a plan is for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.drafts.jmeter.plan_tree import Node
from plimsoll.drafts.jmeter.private import Private
from plimsoll.drafts.jmeter.texts import Texts
from plimsoll.drafts.script_text import string_of

SAMPLERS = ("HTTPSamplerProxy", "HTTPSampler", "HTTPSampler2")
DEFAULTS = "ConfigTestElement"
_IN_QUERY = ("GET", "DELETE", "HEAD", "OPTIONS")
_ABSOLUTE = re.compile(r"(https?)://([^/?#]*)", re.IGNORECASE)


@dataclass(frozen=True)
class Sampler:
    """A sampler with the HTTP defaults in whose scope it stands, the nearest first."""

    node: Node
    defaults: tuple[Node, ...] = ()

    def text(self, name: str) -> str:
        """A property, from the nearest that has it."""
        return next((found for one in (self.node, *self.defaults) if (found := one.text(f"HTTPSampler.{name}"))), "")

    @property
    def label(self) -> str:
        """What JMeter calls it."""
        return re.sub(r"\$\{(.*?)\}", r"{\1}", self.node.name) or self.method

    @property
    def method(self) -> str:
        return (self.node.text("HTTPSampler.method") or "GET").strip().upper()

    def arguments(self) -> list[dict[str, str]]:
        """Those of the defaults too, as JMeter merges them."""
        own = list(self.node.rows("HTTPsampler.Arguments", "Arguments.arguments"))
        names = {one.get("Argument.name") for one in own}
        for defaults in self.defaults:
            merged = defaults.rows("HTTPsampler.Arguments", "Arguments.arguments")
            own += [one for one in merged if one.get("Argument.name") not in names]
        return own

    def why_not(self) -> str | None:
        """Why it is not imported."""
        if any(one.get("File.path") for one in self.node.rows("HTTPsampler.Files", "HTTPFileArgs.files")):
            return "it uploads a file"
        if self.node.flag("HTTPSampler.DO_MULTIPART_POST"):
            return "its body is multipart"
        return None

    def origin(self, texts: Texts) -> str | None:
        """ "https://host:port" where the plan says it always; empty where it names none; None where nobody knows."""
        path = texts.always(self.text("path"))
        if path is not None and (whole := _ABSOLUTE.match(path)):
            return f"{whole[1]}://{whole[2]}".lower()
        given = self.text("domain")
        if not given.strip():
            return ""
        domain, scheme, port = (texts.always(one) for one in (given, self.text("protocol"), self.text("port")))
        if not domain or scheme is None or port is None:
            return None
        scheme = scheme.strip().lower() or "http"
        usual = {"http": "80", "https": "443"}.get(scheme)
        return f"{scheme}://{domain.strip().lower()}" + (f":{port.strip()}" if port.strip() not in ("", usual) else "")


def main_origin(samplers: Iterable[Sampler], texts: Texts) -> str:
    """The address that most samplers ask; empty where none names one."""
    found = Counter(origin for one in samplers if (origin := one.origin(texts)))
    return found.most_common(1)[0][0] if found else ""


def request_of(one: Sampler, headers: Sequence[tuple[str, str]], texts: Texts, private: Private) -> Iterator[str]:
    """The fields of the request's object in JavaScript."""
    yield f"name: {string_of(one.label)}"
    yield f"method: {string_of(one.method)}"
    path = texts.script(_without_origin(one.text("path")))
    arguments = [_without_secrets(given, one.label, private) for given in one.arguments()]
    is_raw = one.node.flag("HTTPSampler.postBodyRaw") or (
        bool(arguments) and not any(given.get("Argument.name") for given in arguments) and one.method not in _IN_QUERY
    )
    pairs = ", ".join(_pair(given, texts) for given in arguments)
    if is_raw:
        yield f"path: {path}"
        whole = "".join(given.get("Argument.value", "") for given in arguments)
        yield f"body: {texts.script(private.body(whole, one.label))}"
    elif arguments and one.method in _IN_QUERY:
        yield f"path: withQuery({path}, [{pairs}])"
    else:
        yield f"path: {path}"
        if arguments:
            yield f"body: pairs([{pairs}])"
    all_headers = {name: private.value(name, value, one.label) for name, value in headers}
    has_body = bool(arguments) and (is_raw or one.method not in _IN_QUERY)
    if has_body and not any(name.lower() == "content-type" for name in all_headers):  # what JMeter says then
        all_headers["Content-Type"] = "text/plain; charset=UTF-8" if is_raw else "application/x-www-form-urlencoded"
    if all_headers:
        shown = ", ".join(f"{string_of(name)}: {texts.script(value)}" for name, value in all_headers.items())
        yield f"headers: {{ {shown} }}"
    if not (one.node.flag("HTTPSampler.follow_redirects") or one.node.flag("HTTPSampler.auto_redirects")):
        yield "redirects: 0"
    limit = texts.always(one.text("response_timeout"))
    if limit and limit.strip().isdigit() and int(limit) > 0:
        yield f"timeout: {int(limit)}"


def _without_secrets(given: dict[str, str], label: str, private: Private) -> dict[str, str]:
    name = given.get("Argument.name", "")
    return given | {"Argument.value": private.value(name, given.get("Argument.value", ""), label)} if name else given


def _without_origin(path: str) -> str:
    return _ABSOLUTE.sub("", path, count=1) if _ABSOLUTE.match(path) else path


def _pair(given: dict[str, str], texts: Texts) -> str:
    """[name, value, whether it is encoded]; without an equals sign the name alone."""
    value = texts.script(given.get("Argument.value", ""))
    encode = given.get("HTTPArgument.always_encode", "").lower() == "true"
    if given.get("HTTPArgument.use_equals", "").lower() == "false" and not given.get("Argument.value"):
        value = "null"
    return f"[{texts.script(given.get('Argument.name', ''))}, {value}, {'true' if encode else 'false'}]"
