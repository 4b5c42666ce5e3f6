"""The reference of all commands and flags, as docs/cli.md has it: `python -m plimsoll.cli.reference` prints it.

Read from the commands themselves (Typer's, and the argument parser of the lab), so that it cannot say anything else.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import typer

from plimsoll.study.bounds import MOST_SEED

HEAD = """# Commands and flags

Made by `make docs` from the commands themselves; a test says when it is out of date. Every command has `--help`.
"""
KINDS: dict[type, str] = {Path: "path", int: "whole number", float: "number", str: "text"}
COLUMNS = "| flag | value | default | what it does |\n|---|---|---|---|"


def reference() -> str:
    """The whole page as Markdown, ending with a line break."""
    from plimsoll.cli.app import app

    parts = [HEAD]
    for command in app.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        own = {"lab": _lab, "run": _run}.get(name)
        parts.append("\n".join(own(name) if own is not None else _command([name], command.callback)))
    for group in app.registered_groups:
        assert group.typer_instance is not None
        for command in group.typer_instance.registered_commands:
            assert command.callback is not None
            names = [str(group.typer_instance.info.name), command.name or command.callback.__name__]
            parts.append("\n".join(_command(names, command.callback)))
    return "\n".join(parts)


def _command(names: list[str], callback: Callable[..., Any]) -> Iterator[str]:
    hints = get_type_hints(callback, include_extras=True)
    arguments, options = [], []
    for parameter in inspect.signature(callback).parameters.values():
        kind, info = get_args(hints[parameter.name])[:2]
        if isinstance(info, typer.models.ArgumentInfo):
            arguments.append((parameter, info))
        else:
            options.append((parameter, kind, info))
    needed = inspect.Parameter.empty
    words = [f"<{one.name}>" if one.default is needed else f"[{one.name}]" for one, _ in arguments]
    yield from _heading(["plimsoll", *names, *words], len(options), 1 + len(names))
    yield inspect.cleandoc(callback.__doc__ or "")
    yield ""
    for parameter, info in arguments:
        yield f"`{parameter.name}`: {info.help}"
        yield ""
    yield from _table(
        (_flag(parameter.name, info), _value(kind, info), _default(parameter.default), info.help or "")
        for parameter, kind, info in options
    )


def _flag(name: str, info: Any) -> str:
    """The flag's spellings; the first one given to typer.Option within Annotated lies in its field `default`."""
    given = [text for text in (info.default, *(info.param_decls or ())) if isinstance(text, str)]
    return ", ".join(given or [f"--{name.replace('_', '-')}"])


def _lab(name: str) -> Iterator[str]:
    """The targets of the lab, whose command line is an argparse one."""
    from plimsoll.cli.lab import installed_lab

    top = installed_lab().parser()
    [targets] = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    helps = {action.dest: action.help for action in targets._choices_actions}
    for target, its in targets.choices.items():
        yield from _heading(["plimsoll", name, target], len(its._actions), 3)
        yield f"Serve {helps[target]}."
        yield ""
        yield from _table(_row(action) for action in its._actions if action.option_strings)


def _run(name: str) -> Iterator[str]:
    """The flags of a run, which are those of k6 and come from a table of their own."""
    from plimsoll.cli.run.flags import DESCRIPTION, parser
    from plimsoll.cli.run.k6_options import OPTIONS

    top = parser()
    yield from _heading(["plimsoll", name, "[script]"], len(top._actions))
    yield DESCRIPTION
    yield ""
    for group in top._action_groups:
        shown = [action for action in group._group_actions if action.option_strings]
        if any(not isinstance(action, argparse._HelpAction) for action in shown):
            yield f"{(group.title or '').capitalize()}:"
            yield ""
            yield from _table(_row(action) for action in shown)
    yield "Options that have a variable:"
    yield ""
    yield "| option of scripts and `--config` | variable |"
    yield "|---|---|"
    yield from (f"| `{option.key}` | `{option.variable}` |" for option in OPTIONS if option.env != "-")
    yield ""


def _row(action: argparse.Action) -> tuple[str, str, str, str]:
    bare = action.nargs == 0
    default = "" if bare or action.default in (None, argparse.SUPPRESS, []) else str(action.default)
    choices = " or ".join(map(str, action.choices or ()))
    value = "" if bare or action.metavar == "" else choices or str(action.metavar or action.dest.upper())
    text = (action.help or "").replace(" (default %(default)s)", "").replace("%%", "%")
    return ", ".join(action.option_strings), value, default, text


def _heading(words: list[str], options: int, shown: int = 2) -> Iterator[str]:
    """`shown`: how many of the words are the command's name."""
    yield f"## {' '.join(words[:shown])}"
    yield ""
    yield "```"
    yield " ".join([*words, *(["[flags]"] if options else [])])
    yield "```"
    yield ""


def _table(rows: Iterable[tuple[str, str, str, str]]) -> Iterator[str]:
    lines = [
        f"| {_code(flag)} | {_cell(value)} | {_code(default)} | {_cell(text)} |" for flag, value, default, text in rows
    ]
    if lines:
        yield COLUMNS
        yield from lines
        yield ""


def _value(kind: Any, info: Any) -> str:
    """What follows the flag: its kind with the bounds, and whether the flag may be repeated; nothing for a switch."""
    parts = {kind, *get_args(kind), *(inner for part in get_args(kind) for inner in get_args(part))}
    words = next((words for part, words in KINDS.items() if part in parts), "")
    bounds = [f"from {_bound(info.min)}"] if info.min is not None else []
    bounds += [f"to {_bound(info.max)}"] if info.max is not None else []
    repeated = ", may be repeated" if any(get_origin(part) is list for part in parts) else ""
    return " ".join([words, *bounds]) + repeated


def _bound(value: float) -> str:
    return "2⁶³ − 1" if value == MOST_SEED else f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _default(default: Any) -> str:
    return "" if default is None or isinstance(default, bool) else str(default)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").strip()


if __name__ == "__main__":
    print(reference(), end="")
