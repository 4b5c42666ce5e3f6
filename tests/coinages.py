"""Words that only we would use, and what to write instead: in pages, in `--help` and in findings."""

from __future__ import annotations

COINAGES = {
    r"\bpiles? up\b": "the target is saturated",
    r"\busers who (wait|come)\b": "a closed load, an open load",
    r"\b(is|are) left over\b": "the backlog grows by so many a second",
    r"\bunder way\b": "in flight",
    r"\bchance alone\b": "not significant",
    r"\bthrash": "collapses",
    r"\b(is|are|was|were) told\b": "says, reports",
    r"\bthat which\b": "what",
    r"\bwaiting line\b": "backlog",
    r"\bspoil": "invalid",
    r"\barms?\b": "A and B, baseline and variant",
    r"\bheld up\b": "delayed",
    r"\b(Found|Known|Missing) (was|were)\b": "subject, verb, object",
}
