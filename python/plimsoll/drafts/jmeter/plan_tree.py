"""The tree of a test plan: each element with its properties and what stands below it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from plimsoll.drafts.jmeter.plan_xml import Xml

_TEXTS = ("stringProp", "boolProp", "intProp", "longProp", "floatProp", "doubleProp")


@dataclass
class Node:
    """An element of the plan. `kind` is its class without the package; `path` the names from the root to it."""

    kind: str
    name: str
    is_enabled: bool
    xml: Xml
    path: tuple[str, ...]
    children: list[Node] = field(default_factory=list)

    def text(self, name: str, otherwise: str = "") -> str:
        """A property as text."""
        found = self.xml.named(name)
        if found is not None and found.tag in _TEXTS:
            return found.text
        for one in self.xml.children:  # <FloatProperty><name>…</name><value>…</value></FloatProperty>
            parts = {part.tag: part.text for part in one.children}
            if parts.get("name") == name and "value" in parts:
                return parts["value"]
        return otherwise

    def flag(self, name: str, otherwise: bool = False) -> bool:
        """A property that is true or false."""
        return {"true": True, "false": False}.get(self.text(name).strip().lower(), otherwise)

    def rows(self, *names: str) -> Iterator[dict[str, str]]:
        """The properties of each element of a collection, which lies in that property, maybe in another one."""
        found: Xml | None = self.xml
        for name in names:
            found = found.named(name) if found is not None else None
        for one in found.children if found is not None else ():
            if one.tag in _TEXTS:
                yield {"": one.text}
            else:
                yield {part.attributes.get("name", ""): part.text for part in one.children if part.tag in _TEXTS}

    def inner(self, name: str) -> Node:
        """The element that is a property of this one, as a thread group's loop."""
        found = self.xml.named(name)
        return Node("", name, True, found if found is not None else Xml("", {}), self.path)

    def all(self) -> Iterator[Node]:
        """It and all below it, in order."""
        yield self
        for one in self.children:
            yield from one.all()


def tree_of(root: Xml) -> Node:
    """The plan as a tree; below a `hashTree` elements and the trees of these take turns."""
    top = Node("jmeterTestPlan", "", True, root, ())
    for one in root.children:
        if one.tag == "hashTree":
            _fill(top, one)
    return top


def _fill(parent: Node, tree: Xml) -> None:
    last: Node | None = None
    for one in tree.children:
        if one.tag == "hashTree":
            if last is not None:
                _fill(last, one)
            continue
        kind = (one.attributes.get("testclass") or one.tag).rpartition(".")[2]
        name = one.attributes.get("testname", "")
        last = Node(kind, name, one.attributes.get("enabled") != "false", one, (*parent.path, name))
        parent.children.append(last)
