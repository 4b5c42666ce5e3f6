"""Scripts in the style of k6's documentation, over HTTP/1.1, HTTP/2 and TLS; `make compare-k6` runs them by k6 too."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from script_checks import checks_of, run_to_the_end

SCRIPTS = Path(__file__).parent / "k6_style"
SERVERS = {"HTTP/1.1": (), "HTTP/2": ("--tls",), "TLS": ("--tls", "--no-http2")}
EXIT_THRESHOLDS, EXIT_ABORTED = 99, 108


def stated_exit_code(script: Path) -> int:
    """What the first line of a script says that k6 ends with; 0 where it says nothing."""
    stated = re.match(r"// exit: (\d+)\n", script.read_text())
    return int(stated[1]) if stated else 0


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("script", sorted(path.name for path in SCRIPTS.iterdir() if path.suffix in (".js", ".ts")))
def test_a_script_passes_its_own_checks(
    tmp_path: Path, known_server: Callable[..., str], server: str, script: str
) -> None:
    options = [word for flag in SERVERS[server] for word in ([flag, tmp_path] if flag == "--tls" else [flag])]
    url = known_server("--site", *options)
    ended = run_to_the_end(SCRIPTS / script, env={"URL": url}, options={"insecureSkipTLSVerify": True})
    checks = checks_of(ended)
    assert checks and [path for path, (passes, fails) in checks.items() if fails or not passes] == []
    metrics = ended["summary"]["metrics"].values()
    kept = all(threshold["ok"] for metric in metrics for threshold in metric.get("thresholds", {}).values())
    expected = stated_exit_code(SCRIPTS / script)
    assert kept == (expected != EXIT_THRESHOLDS)
    assert (ended["aborted"] is not None) == (expected == EXIT_ABORTED)
