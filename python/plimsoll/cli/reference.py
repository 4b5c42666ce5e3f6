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
WHILE_IT_RUNS = """## While a load runs

On a terminal of at least 60 columns and 16 lines, standard error shows a live view, at most four times a second:

```
── bracketing ─────────────────────────────────── 72 s of load, 3 min 48 s left
 Level      168 users, measured for 6 s
 Why        just above the estimated capacity of 162 users, to prove that it is
              not carried
 Answers    1,672 of 1,680/s done   p95 14 ms   23 unfinished   none failed

 Bracket    ━━━━━━━━━━━━━━━━━━┄┄┄┄┄╳╳  ━ carried  ┄ not decided  ╳ not carried
                              ↑        ↑ 168 now
            0                160  204  users

 users  done/s                         p95
    80     799 █████████              6 ms █████▏               ✓ carried
   160   1,604 ██████████████████    11 ms █████████▌           ✓ carried again
   168   1,672 ██████████████████▊   14 ms ████████████▏        held now
   204   1,690 ███████████████████   4.2 s ██████████████████»  ✗ not carried

 Target     api: busiest thread 98% of a core, 1.2 cores, 143 MiB
            host: 61% of 4 cores
 Generator  ✓ 12% of its core, lag p99 0.3 ms
```

- The time left is that of the load time, as `--for` gives it; a search stops sooner where its goal is met.
- A search has a row for each level, `compare`, `decompose` and `sweep` one for each load and variant, all others a
  chart over time. A bar that ends in `»` is cut.
- *Target* is what the probes said last, *Generator* what it did in the last five seconds. `!` means that it is late or
  full; the answer judges that more closely.
- What a script logs, and notes, stand above the view. When the load has ended, the view goes and the last levels that
  were judged stay as lines.
- Nothing is coloured where `NO_COLOR` is set. On a pipe, and with `TERM=dumb`, there is a line every 5 s; those of a
  wait in which nothing changes are folded into one. A smaller terminal has one line that changes, until it is made
  larger: then the view begins. A job in the background has that line too. `-q` shows nothing.
- Answers are as wide as the terminal, from 40 to 100 columns; on a pipe and in a file they have 100.
- The view takes about a quarter of a percent of a core. Where it fails it says so once, and lines go on.
"""
KINDS: dict[type, str] = {Path: "path", int: "whole number", float: "number", str: "text"}
COLUMNS = "| flag | value | default | what it does |\n|---|---|---|---|"


def reference() -> str:
    """The whole page as Markdown, ending with a line break."""
    from plimsoll.cli.app import app

    parts = [HEAD, WHILE_IT_RUNS]
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
