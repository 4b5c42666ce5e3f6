"""The command line of `plimsoll run`: k6's flags from their table, written as k6 takes them, and Plimsoll's own."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from plimsoll.cli.flags.page_beside import UI_HELP
from plimsoll.cli.run.k6_options import OPTIONS, K6Option, Shape
from plimsoll.errors import InputError
from plimsoll.nearest_word import NamingParser
from plimsoll.study.bounds import MOST_PER_S, MOST_SEED, MOST_THREADS
from plimsoll.words import count_words

EXIT_FLAG = 255
DESCRIPTION = """Run a k6 script, or load one URL without a script (--url). Prints k6's summary. What counts, from the
weakest: defaults, --config, the script, K6_… variables, flags.

Exit codes are those of k6: 99 a threshold failed, 100 setup took too long, 101 teardown did, 103 stopped by plimsoll
control. 104 is wrong options, 105 interrupted, 107 an error in the script, 108 test.abort(), 110 test.fail(), 255 a
wrong flag. Plimsoll adds 3: no request was answered.
"""


class FlagError(InputError):
    """A flag or variable that cannot be read; k6 ends with 255."""

    exit_code = EXIT_FLAG


class _Parser(NamingParser):
    def error(self, message: str) -> NoReturn:
        raise FlagError(message.removeprefix("argument "), "plimsoll run --help lists the flags.")


def parser() -> argparse.ArgumentParser:
    """The flags that were given are attributes of the result, by their option's key; the others are absent."""
    top = _Parser(
        prog="plimsoll run",
        usage="plimsoll run [flags] SCRIPT\n       plimsoll run [flags] --url URL",
        description=DESCRIPTION,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    of_script = "a k6 script; - is standard input"
    top.add_argument("script", nargs="?", type=Path, default=None, metavar="SCRIPT", help=of_script)
    theirs = top.add_argument_group("flags of k6")
    for option in OPTIONS:
        if option.flag:
            theirs.add_argument(*_spellings(option), **_how(option))
    _add_own(top.add_argument_group("flags of Plimsoll"))
    _add_url(top.add_argument_group("one URL without a script"))
    return top


def parse(argv: Sequence[str]) -> dict[str, Any]:
    """The flags that were given, by their option's key. Raises FlagError."""
    given = vars(parser().parse_args(_with_values(argv)))
    for option in OPTIONS:
        if option.shape is Shape.REPEATED and option.key in given:
            given[option.key] = option.join(given[option.key])
    return given


def _spellings(option: K6Option) -> list[str]:
    return [f"-{option.short}"] * bool(option.short) + [f"--{option.flag}"]


def _how(option: K6Option) -> dict[str, Any]:
    how: dict[str, Any] = {"dest": option.key, "type": _reader(option.read), "help": option.help}
    if option.shape is Shape.REPEATED:
        how |= {"action": "append"}
    return how | {"metavar": "" if option.shape is Shape.SWITCH else option.metavar}


def _reader(read: Callable[[str], Any]) -> Callable[[str], Any]:
    def checked(text: str) -> Any:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return checked


def _with_values(argv: Sequence[str]) -> list[str]:
    """`argv` with the value of every flag that may stand without one, so that it does not take the next word."""
    bare = {spelling: option for option in OPTIONS if option.bare for spelling in _spellings(option) if option.flag}
    words: list[str] = []
    for at, word in enumerate(argv):
        if word == "--":
            return [*words, *argv[at:]]
        letters = [f"-{letter}" for letter in word[1:]] if word[:1] == "-" and word[1:2] != "-" else []
        if letters and all(letter in bare for letter in letters):
            words += [f"--{bare[letter].flag}={bare[letter].bare}" for letter in letters]
        elif word in bare:
            words.append(f"{word}={bare[word].bare}")
        else:
            words.append(word)
    return words


def _add_own(group: argparse._ArgumentGroup) -> None:
    def between(least: int, most: int) -> Callable[[str], int]:
        def read(text: str) -> int:
            if not text.isdecimal() or len(text) > 20 or not least <= int(text) <= most:
                raise argparse.ArgumentTypeError(f"'{text[:40]}' is not a whole number from {least} to {most:,}")
            return int(text)

        return read

    group.add_argument("--threads", type=between(1, MOST_THREADS), default=1, metavar="N", help="threads of the engine")
    late = ("wait", "drop")
    group.add_argument("--late-arrivals", choices=late, default=None, help="what happens to arrivals that find no VU")
    spacing = ("even", "poisson")
    group.add_argument(
        "--arrival-process", choices=spacing, default="even", help="how arrivals are spaced; even is k6's"
    )
    group.add_argument("--seed", type=between(0, MOST_SEED), default=1, metavar="N", help="for random arrivals")
    group.add_argument(
        "--vu-memory",
        default=None,
        metavar="SIZE",
        help="what a VU's JavaScript may allocate, as in 256MB; else PLIMSOLL_VU_MEMORY, else 512MiB",
    )
    group.add_argument(
        "--max-body",
        default=None,
        metavar="SIZE",
        help="the largest body of a response that is kept, as it came and decoded, as in 256MB; else "
        "PLIMSOLL_MAX_BODY, else 32MiB. A larger one fails its request. Bodies that are discarded have no limit.",
    )
    group.add_argument(
        "--import-map",
        type=Path,
        default=None,
        metavar="FILE",
        help="local files for remote modules; plimsoll.importmap.json beside the script if not given",
    )
    group.add_argument(
        "--offline", action="store_true", default=False, help="fetch no remote modules (every verb: PLIMSOLL_OFFLINE=1)"
    )
    group.add_argument("--ui", action="store_true", default=False, help=UI_HELP)
    group.add_argument("--strict", action="store_true", default=False, help="an undecided threshold fails the run")
    group.add_argument("--runs", type=Path, default=Path("runs"), metavar="FOLDER", help="folder of run directories")


def _add_url(group: argparse._ArgumentGroup) -> None:
    def header(text: str) -> tuple[str, str]:
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            raise argparse.ArgumentTypeError(f"'{text}' is not 'Name: value'")
        return name.strip(), value.strip()

    def rate(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = 0.0
        if not 0 < number <= MOST_PER_S:
            raise argparse.ArgumentTypeError(
                f"'{text[:40]}' is not a number above 0 and at most {count_words(MOST_PER_S)}"
            )
        return number

    group.add_argument(
        "--url", default=None, metavar="URL", help="request this address, without JavaScript; with -u, -d, -i or --rate"
    )
    group.add_argument("--method", default=None, metavar="VERB", help="GET, or POST where there is a body")
    group.add_argument(
        "--header", type=header, action="append", default=[], metavar="'NAME: VALUE'", help="a header; may be repeated"
    )
    group.add_argument("--body", default=None, metavar="TEXT", help="the body; @FILE reads a file")
    group.add_argument("--rate", type=rate, default=None, metavar="N", help="requests per second, sent by plan")
