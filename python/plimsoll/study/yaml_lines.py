"""YAML with the line of every key and value, so that mistakes can be shown where they are.

`yaml.compose` keeps the marks that `yaml.safe_load` throws away. Tags other than the standard ones are refused, as with
`safe_load`. So is what unfolds to more than a study can be: nested too deeply, or with aliases of aliases, where a few
lines stand for billions of values.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from plimsoll.errors import InputError
from plimsoll.study.contradiction import KeyPath, dotted

MOST_BYTES = 256 << 10
MOST_DEPTH = 40
MOST_VALUES = 20_000
MOST_TEXT = 64 << 10
MOST_DIGITS = 100  # of numbers and dates


@dataclass
class LinedDocument:
    """Plain data, the line (from 1) of each key path, and what was wrong with the YAML itself."""

    data: Any = None
    lines: dict[KeyPath, int] = field(default_factory=dict)
    mistakes: list[InputError] = field(default_factory=list)

    def line_of(self, path: KeyPath) -> int:
        """The line of that path or, if it is not in the file, of the nearest part around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read_lined(text: str, file: str) -> LinedDocument:
    """Read one YAML document. Syntax errors stop it (one mistake); duplicate keys and odd tags are collected."""
    document = LinedDocument()
    loader = None
    if len(text) > MOST_BYTES:
        what = f"a study of {len(text):,} characters is too large"
        step = f"Keep it below {MOST_BYTES >> 10} KiB: leave data to the script and to files that it opens."
        document.mistakes.append(InputError(what, step, file=file, line=1))
        return document
    try:
        loader = _BoundedLoader(text)
        node = loader.get_single_node()
        if node is not None:
            document.data = _Walk(loader, document, file).value(node, ())
    except _TooMuchError as error:
        document.data = None
        line = error.node.start_mark.line + 1
        document.mistakes.append(InputError(error.what, error.next_step, file=file, line=line))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        what = f"this is not valid YAML: {error.problem or error.context}"
        document.mistakes.append(
            InputError(what, "Check indentation, colons and quotes around here.", file=file, line=line)
        )
    except yaml.YAMLError as error:
        what = f"this is not readable text: {str(error).splitlines()[0]}"
        document.mistakes.append(InputError(what, "Save the file as UTF-8 text.", file=file, line=1))
    finally:
        if loader is not None:
            loader.dispose()
    return document


class _TooMuchError(Exception):
    """More than a study can be, at that node or event."""

    def __init__(self, node: Any, what: str, next_step: str) -> None:
        super().__init__(what)
        self.node, self.what, self.next_step = node, what, next_step


def _too_many_values(node: yaml.Node) -> NoReturn:
    what = f"with its aliases (*name) this stands for over {MOST_VALUES:,} values"
    raise _TooMuchError(node, what, "Write out what is needed, without aliases of aliases.")


class _BoundedLoader(yaml.SafeLoader):
    """Stops where nesting or merged keys go beyond what a study can have."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self._depth += 1
        try:
            if self._depth > MOST_DEPTH:
                what = f"this is nested more than {MOST_DEPTH} deep"
                raise _TooMuchError(self.peek_event(), what, "Check for brackets that are never closed.")
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        super().flatten_mapping(node)
        if len(node.value) > MOST_VALUES:
            _too_many_values(node)


class _Walk:
    """Turns nodes into plain data and notes their lines."""

    def __init__(self, loader: yaml.SafeLoader, document: LinedDocument, file: str) -> None:
        self.loader, self.document, self.file = loader, document, file
        self.open_nodes: set[int] = set()
        self.values = 0

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        self.values += 1
        if self.values > MOST_VALUES:
            _too_many_values(node)
        self.document.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        if id(node) in self.open_nodes:
            self._mistake(node, path, "an alias contains itself", "Write the values out instead.")
            return None
        self.open_nodes.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode):
                return [self.value(item, (*path, position)) for position, item in enumerate(node.value)]
            assert isinstance(node, yaml.MappingNode), "YAML has three kinds of nodes"
            return self._mapping(node, path)
        finally:
            self.open_nodes.discard(id(node))

    def _scalar(self, node: yaml.ScalarNode, path: KeyPath) -> Any:
        most = MOST_TEXT if node.tag.endswith((":str", ":binary")) else MOST_DIGITS
        if len(node.value) > most:
            what = f"a value of {len(node.value):,} characters is too long"
            self._mistake(node, path, what, "Shorten it, or leave it to a file that the script opens.")
            return None
        try:
            return self.loader.construct_object(node, deep=True)
        except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, OverflowError) as error:
            what = f"cannot read {node.value[:MOST_DIGITS]!r}: {getattr(error, 'problem', None) or error}"
            self._mistake(node, path, what, "Write it as plain text, in quotes if need be.")
            return None

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        own_keys = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.value != "<<")
        self.loader.flatten_mapping(node)
        twice = {key for key, count in own_keys.items() if count > 1}
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.value(key_node, (*path, "?"))
            self.document.lines.pop((*path, "?"), None)
            if not isinstance(key, (str, int, float, bool)):
                self._mistake(key_node, path, "a key must be a word", "Write it as `key: value`.")
                continue
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else str(key)
            here = (*path, key)
            if key in result and key in twice:
                first = self.document.lines[here]
                self._mistake(key_node, here, f"the key is there twice (first on line {first})", "Keep one of them.")
                continue
            self.document.lines[here] = key_node.start_mark.line + 1
            result[key] = self.value(value_node, here)
        return result

    def _mistake(self, node: yaml.Node, path: KeyPath, what: str, next_step: str) -> None:
        line = node.start_mark.line + 1
        error = InputError(what, next_step, file=self.file, line=line, key=dotted(path) or None)
        self.document.mistakes.append(error)
