"""Why requests failed, in words: counted from the series `http_req_failed` by its tags `status` and `error_code`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from plimsoll.runs.snapshot import Series
from plimsoll.words import count_words

METRIC = "http_req_failed"
NO_ANSWER = "0"  # of the tag status
REFUSED = "connection refused"
BROKE = "an exception of the script"  # no request of that iteration had failed
INVALID_URL = "the URL is not valid"
MAKE_REQUESTS = "Check that the script makes HTTP requests."  # the next step where none was seen
_CODES = {
    "1000": "the connection broke",
    "1020": INVALID_URL,
    "1050": "no answer in time",
    "1100": "the name server did not answer",
    "1101": "the host name is not known",
    "1110": "an address that options forbid",
    "1111": "an address that options forbid",
    "1200": "no connection",
    "1201": "connection reset",
    "1210": "no connection",
    "1211": "no connection",
    "1212": REFUSED,
    "1220": "connection reset",
    "1300": "no TLS connection",
    "1310": "no TLS connection",
    "1311": "no TLS connection",
}
_STEPS = {
    BROKE: "See the script's exception, which was said when it came: a mistake of the script, or an answer that it did "
    "not expect.",
    INVALID_URL: "The target never saw them: correct the address in the script, of which a warning says the line; a "
    "whole one is, for example, http://localhost:8080/path.",
    "status 401": "Give the script a valid token or password: the target does not know who asks.",
    "status 403": "Give the script a user who may do this: the target refuses this one.",
    "status 404": "Check the URL in the script and -e or target.url: the target has nothing there.",
    "status 429": "Take the rate limit off for this test: the target refuses more than it allows.",
    REFUSED: "Start the target, or correct its URL: nothing listens there.",
    "no answer in time": "See what the target waits for, or raise the script's timeout.",
    "the name server did not answer": "The target never saw them: see to this machine's name server, or use hosts.",
    "the host name is not known": "Correct the host in the URL.",
    "an address that options forbid": "Take it out of the script, or out of blockHostnames and blacklistIPs.",
    "no open file left here": "The target never saw them: raise ulimit -n here, or use fewer VUs.",
    "no local port left here": "The target never saw them: keep connections open between requests.",
    "no connection": "Check the URL and the network between here and there.",
    "a body over the limit here": "The target answered: raise --max-body (PLIMSOLL_MAX_BODY for every verb), or do not "
    "keep bodies (discardResponseBodies).",
    "a request that cannot be sent": "The target never saw them: correct the header, cookie or method in the script; "
    "the error of a request says which.",
    "the proxy": "The target never saw them: see to the proxy that HTTP_PROXY or HTTPS_PROXY names, unset it, "
    "or put the target into NO_PROXY.",
    "no TLS connection": "The error of a request says why. A certificate that is not known here needs its authority in "
    "SSL_CERT_FILE, or insecureSkipTLSVerify in the script's options; a target that asks for one needs tlsAuth.",
}
# What the system says where the generator lacks something of its own (errno(3)).
_OWN = {"(os error 24)": "no open file left here", "(os error 99)": "no local port left here"}
# What the engine says of an address without `http://`, to which k6 gives the code of all that has none of its own.
_NO_SCHEME = "unsupported protocol scheme"
# How errors begin that are not the target's: limits of this generator, requests that it does not send, a proxy between.
_NOT_THE_TARGETS = {
    "the response's body is over": "a body over the limit here",
    "the bodies of": "a body over the limit here",
    "net/http: invalid": "a request that cannot be sent",
    "proxyconnect": "the proxy",
    "the proxy ": "the proxy",
}
_SHOWN = 3


@dataclass
class Failures:
    """Failed requests by cause, and how many requests were answered; grows with the number of causes only."""

    UNKNOWN_STEP: ClassVar[str] = "Look at the target's log of that time, or try one request by hand."

    causes: Counter[str] = field(default_factory=Counter)
    answered: int = 0

    def add(self, series: Series) -> None:
        """Add one second of a series; others than `http_req_failed` change nothing."""
        if series.metric != METRIC:
            return
        self.answered += 0 if is_unanswered(series) else int(series.total or 0)
        if series.passes:
            self.causes[_cause(series)] += int(series.passes)

    def add_broken(self, count: int) -> None:
        """Add iterations that the script broke off: each is one request that was not made, or made in vain."""
        if count:
            self.causes[BROKE] += count

    def words(self) -> str:
        """ "86 × connection refused, 3 × status 500"; empty without failures."""
        listed = [f"{count:,} × {cause}" for cause, count in self.causes.most_common(_SHOWN)]
        others = sum(self.causes.values()) - sum(count for _, count in self.causes.most_common(_SHOWN))
        return ", ".join([*listed, *([f"{others:,} × others"] if others else [])])

    def next_step(self) -> str:
        """What to do about the most frequent cause; empty without failures."""
        if not self.causes:
            return ""
        cause = self.causes.most_common(1)[0][0]
        if cause == REFUSED and self.answered:
            return "It answered other requests: its log says why it ended, or stopped listening."
        return _STEPS.get(cause, self.UNKNOWN_STEP)


def judged_noun(broke: float, judged: float) -> str:
    """What a share of failures is of: of what was `judged`, `broke` are iterations without a failed request."""
    return "requests" if not broke else "iterations" if broke >= judged else "iterations and requests"


def noun_of_step(step: Mapping[str, Any]) -> str:
    """The same for the failures of a step as its event holds it."""
    share, broke = float(step.get("error_share") or 0.0), (step.get("error_causes") or {}).get(BROKE, 0)
    return judged_noun(broke, sum((step.get("error_causes") or {}).values()) / share if share else 0.0)


def says_failing(reasons: Iterable[Any]) -> bool:
    """Whether one of a step's reasons is that more failed than at low load, in the words of `judged_noun`."""
    return any(f"{noun} failed" in str(reason) for reason in reasons for noun in ("requests", "iterations"))


def is_targets(cause: str) -> bool:
    """Whether a cause of failures may be the target's: neither a limit of this machine nor of what is between."""
    return cause not in {BROKE, INVALID_URL, *_OWN.values(), *_NOT_THE_TARGETS.values()}


def is_of_requests(metric: str) -> bool:
    """Whether each request adds to it, with the request's tags."""
    return metric.startswith(("http_req", "data_"))


def is_unanswered(series: Series) -> bool:
    """Whether these requests got no answer (refused, reset, timed out); other tools' series do not say."""
    return series.tags.get("status") == NO_ANSWER


def count_unanswered(series: Iterable[Series]) -> tuple[int, int]:
    """How many requests were made, and how many of them got no answer; other metrics change nothing."""
    made = unanswered = 0
    for one in series:
        if one.metric == METRIC:
            made += int(one.total or 0)
            unanswered += int(one.total or 0) if is_unanswered(one) else 0
    return made, unanswered


def nothing_measured_words(made: float, unanswered: float, broke: float = 0) -> list[str]:
    """Why nothing was measured, where no request got an answer: of those `made`, or as none was. `broke`: iterations
    that ended with an exception."""
    if made:
        return [f"No request was answered ({made_words(made)})."] if made <= unanswered else []
    why = f": {count_words(broke)} {'iteration' if broke == 1 else 'iterations'} ended with {BROKE}" if broke else ""
    return [f"The script made no request{why}."]


def requests_words(count: float) -> str:
    """ "1 request", "2,000 requests"."""
    return f"{count_words(count)} {'request' if count == 1 else 'requests'}"


def made_words(count: float) -> str:
    """ "1 was made", "2,000 were made"."""
    return f"{count_words(count)} {'was' if count == 1 else 'were'} made"


def _cause(series: Series) -> str:
    status, code = str(series.tags.get("status") or NO_ANSWER), str(series.tags.get("error_code") or "")
    if status != NO_ANSWER:
        return f"status {status}"
    error = str(series.tags.get("error") or "")
    own = next((cause for end, cause in _OWN.items() if error.endswith(end)), None)
    if own is not None:
        return own
    mine = next((cause for begin, cause in _NOT_THE_TARGETS.items() if error.startswith(begin)), None)
    if mine is not None:
        return mine
    if error.startswith(_NO_SCHEME):
        return INVALID_URL
    return _CODES.get(code, f"error {code}" if code else "no answer")
