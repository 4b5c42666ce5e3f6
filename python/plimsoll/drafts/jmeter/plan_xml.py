"""The XML of a test plan, read safely: no document type and so no entities, bounded in size and depth."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from plimsoll.errors import InputError
from plimsoll.plain_text import plain

LARGEST = 64 << 20
DEEPEST = 400
_PLAN = "Save the test plan in JMeter again, and give the .jmx file."


@dataclass
class Xml:
    """An XML element."""

    tag: str
    attributes: dict[str, str]
    children: list[Xml] = field(default_factory=list)
    text: str = ""

    def named(self, name: str) -> Xml | None:
        """The child with that attribute `name`, as JMeter's properties have it."""
        return next((one for one in self.children if one.attributes.get("name") == name), None)


class _Refused(Exception):
    """Why the file is not read on."""


def read_xml(path: Path) -> Xml:
    """The root element. InputError for what is no test plan."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(
            f"the test plan cannot be read ({error.strerror or error})", "Give a .jmx file.", file=plain(path)
        ) from None
    if len(content) > LARGEST:
        raise InputError(f"the test plan is larger than {LARGEST >> 20} MiB", "Give a smaller one.", file=plain(path))
    try:
        root = _parsed(content)
    except (_Refused, expat.ExpatError, ValueError, LookupError) as error:
        raise InputError(f"this is no test plan of JMeter ({plain(error)})", _PLAN, file=plain(path)) from None
    if root.tag != "jmeterTestPlan":
        raise InputError(f"this is no test plan of JMeter, its root is {plain(root.tag)[:40]}", _PLAN, file=plain(path))
    return root


def _parsed(content: bytes) -> Xml:
    head = re.sub(rb"""(<\?xml[^>]*version=["'])1\.1""", rb"\g<1>1.0", content[:200], count=1)  # JMeter once wrote 1.1
    parser = expat.ParserCreate()
    top = Xml("", {})
    open_: list[Xml] = [top]
    texts: list[list[str]] = [[]]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(open_) > DEEPEST:
            raise _Refused(f"its elements are nested more than {DEEPEST} deep")
        one = Xml(tag, attributes)
        open_[-1].children.append(one)
        open_.append(one)
        texts.append([])

    def end(_: str) -> None:
        open_.pop().text = "".join(texts.pop())

    def refuse(*_: object) -> None:
        raise _Refused("it has a document type, which test plans do not have")

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = lambda text: texts[-1].append(text)
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.Parse(head + content[200:], True)
    return top.children[0]
