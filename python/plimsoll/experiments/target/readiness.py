"""Whether a URL answers: one plain GET, no proxy, no redirect followed beyond what the standard library does."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request

_ONE_TRY_S = 2.0


def answers(url: str, *, below: int, limit_s: float) -> str:
    """Empty if a GET answers with a status below that number, else the reason. Never raises."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=min(_ONE_TRY_S, limit_s)) as response:
            status = response.status
    except urllib.error.HTTPError as error:
        status = error.code
        error.close()
    except urllib.error.URLError as error:
        return f"{url} does not answer ({error.reason})"
    except (OSError, http.client.HTTPException, ValueError) as error:
        return f"{url} does not answer ({error or type(error).__name__})"
    return "" if status < below else f"{url} answers with status {status}"
