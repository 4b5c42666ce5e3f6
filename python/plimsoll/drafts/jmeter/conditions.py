"""Conditions of If and While controllers as JavaScript: comparisons of texts, numbers and variables, with && || and !.

Of `${__jexl3(…)}`, `${__groovy(…)}` and `${__javaScript(…)}` the part that these three have in common with JavaScript.
"""

from __future__ import annotations

import re

from plimsoll.drafts.jmeter.texts import Call, Text, Texts, Variable, parsed
from plimsoll.drafts.script_text import string_of

_LANGUAGES = ("jexl3", "jexl2", "groovy", "javaScript")
_PLACE = "\ue000"  # stands for a variable, with its number
_TOKEN = re.compile(
    rf"""\s*(?:(?P<string>"[^"\\]*"|'[^'\\]*')|(?P<place>{_PLACE}\d+{_PLACE})|(?P<number>-?\d+(?:\.\d+)?)|"""
    r"""vars\.get\(\s*["'](?P<variable>[^"']+)["']\s*\)(?P<whole>\.to(?:Integer|Int|Long|Double)\(\))?|"""
    r"""(?P<sign>==|!=|<=|>=|&&|\|\||[<>!()+*/-])|"""
    r"""(?P<word>true|false|null|and|or|not|eq|ne|lt|gt|le|ge)\b)"""
)
_ATOM = rf"""(?:"[^"\\]*"|'[^'\\]*'|vars\.get\(\s*["'][^"']+["']\s*\)|{_PLACE}\d+{_PLACE})"""
_EQUALS = re.compile(rf"({_ATOM})\s*\.equals\(\s*({_ATOM})\s*\)")
_SIGNS = ("==", "!=", "<", ">", "<=", ">=", "&&", "||", "+", "-", "*", "/")
_WORDS = {
    "and": "&&", "or": "||", "not": "!", "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">=",
}  # fmt: skip


def condition_of(text: str, texts: Texts, *, is_script: bool) -> str | None:
    """A JavaScript expression that is true or false; None for what is not understood. `is_script`: the text is one of
    JavaScript, else it comes out as "true" or "false"."""
    parts = parsed(text.strip())
    if len(parts) == 1 and isinstance(parts[0], Call) and parts[0].name in _LANGUAGES:
        arguments = parts[0].arguments
        if not arguments or len(arguments) > 2:
            return None
        return _compared(arguments[0], texts)
    if is_script:
        return _compared(parts, texts)
    plain = texts.always(parts)
    if plain is not None and plain.strip().lower() in ("true", "false"):
        return plain.strip().lower()
    if len(parts) == 1 and isinstance(parts[0], Variable):
        return f"{texts.script_of(parts)}.toLowerCase() === 'true'"
    return _compared(parts, texts)


def _compared(parts: Text, texts: Texts) -> str | None:
    held: list[str] = []
    whole = ""
    for part in parts:
        if isinstance(part, str):
            whole += part.replace(_PLACE, "")
        else:
            held.append(texts.script_of((part,)))
            whole += f"{_PLACE}{len(held) - 1}{_PLACE}"
    found, at = [], 0
    whole = _EQUALS.sub(r"(\1 == \2)", whole.strip().rstrip("; \n\t"))
    while at < len(whole):
        token = _TOKEN.match(whole, at)
        if token is None or token.end() == at:
            return None
        found.append(_written(token, held))
        at = token.end()
    return " ".join(found).replace("( ", "(").replace(" )", ")").replace("! ", "!") if _is_balanced(found) else None


def _written(token: re.Match[str], held: list[str]) -> str:
    if token["string"] is not None:
        pieces = re.split(f"{_PLACE}(\\d+){_PLACE}", token["string"][1:-1])
        texts = [string_of(one) if at % 2 == 0 else held[int(one)] for at, one in enumerate(pieces)]
        texts = [one for one in texts if one != "''"] or ["''"]
        return texts[0] if len(texts) == 1 else f"({' + '.join(texts)})"
    if token["place"] is not None:
        return f"plain({held[int(token['place'].strip(_PLACE))]})"
    if token["variable"] is not None:
        value = f"vars[{string_of(token['variable'])}]"
        return f"Number({value})" if token["whole"] else value
    if token["word"] is not None:
        return _WORDS.get(token["word"], token["word"])
    return token["number"] or token["sign"]


def _is_balanced(tokens: list[str]) -> bool:
    """Whether brackets are closed and no two values stand side by side, so that JavaScript takes it."""
    depth, wants_value = 0, True
    for one in tokens:
        if one == "!":
            if not wants_value:
                return False
        elif one == "(":
            if not wants_value:
                return False
            depth += 1
        elif one == ")":
            depth -= 1
            if wants_value or depth < 0:
                return False
        elif one in _SIGNS:
            if wants_value:
                return False
            wants_value = True
        else:
            if not wants_value:
                return False
            wants_value = False
    return depth == 0 and not wants_value and bool(tokens)
