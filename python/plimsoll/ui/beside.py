"""The process beside a verb with `--ui`: it serves the page, so that the load's process pays nothing for viewers.

    python -I own_programs.py … plimsoll.ui.beside FOLDER HOST PORT SOCKET PARENT

SOCKET is a descriptor that listens already. Standard input tells of runs, a line of JSON each: {"run": PATH}. Where it
ends, the verb has ended, by whatever: viewers get the last state, and this process ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.ui.controlling import Owner


def main() -> None:
    """Serve until standard input ends."""
    folder, host, port, handle, parent = sys.argv[1:6]
    from plimsoll.ui.server import LOWER, serve

    os.nice(LOWER)
    from plimsoll.ui.app import LivePage
    from plimsoll.ui.controlling import Owner

    owner = Owner(int(parent))
    page = LivePage(Path(folder), host, int(port), owner=owner)
    asyncio.run(serve(socket.socket(fileno=int(handle)), page, lambda: _until_ended(owner)))


async def _until_ended(owner: Owner) -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        owner.runs.append(Path(json.loads(line)["run"]))


if __name__ == "__main__":
    main()
