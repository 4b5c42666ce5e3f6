"""Whose program is at the other end of a loopback connection, as Linux tells it (sock_diag(7)).

Files of a run are their owner's alone, and a port on loopback is open to all who have an account on the machine. So a
page without a token answers its own user, and root, who may do all anyway. Where the kernel does not tell (another
system, another network namespace) nobody is turned away.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
import sys

_SOCK_DIAG, _BY_FAMILY, _REQUEST, _ERROR = 4, 20, 1, 2
_HEADER = struct.Struct("=LHHLL")
_NO_COOKIE = 0xFFFFFFFF
_ASKED = struct.Struct("=BBBBI")
_USER_AT = 16 + 64  # of the answer: behind its header, in struct inet_diag_msg
_WITHIN_S = 0.2

Address = tuple[str, int]


def is_turned_away(client: Address | None, server: Address | None) -> bool:
    """Whether the program at the other end is another user's."""
    user = None if client is None or server is None else user_of(client, server)
    return user is not None and user not in _own_users()


def _own_users() -> set[int]:
    """This process's user, root, and who became root by sudo: their browser is still their own."""
    behind = os.environ.get("SUDO_UID", "") if os.getuid() == 0 else ""
    return {os.getuid(), 0, *([int(behind)] if behind.isdecimal() else [])}


def user_of(client: Address, server: Address) -> int | None:
    """The user of the socket at `client` that is connected to `server`; None where that is not told."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        own, other = ipaddress.ip_address(client[0]), ipaddress.ip_address(server[0])
    except ValueError:
        return None
    family = socket.AF_INET if own.version == 4 else socket.AF_INET6
    question = _ASKED.pack(family, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF)
    question += struct.pack("!HH", client[1], server[1])
    question += own.packed.ljust(16, b"\0") + other.packed.ljust(16, b"\0")
    question += struct.pack("=III", 0, _NO_COOKIE, _NO_COOKIE)
    header = _HEADER.pack(_HEADER.size + len(question), _BY_FAMILY, _REQUEST, 1, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
            kernel.settimeout(_WITHIN_S)
            kernel.send(header + question)
            answer = kernel.recv(4096)
    except OSError:
        return None
    is_told = len(answer) >= _USER_AT + 4 and _HEADER.unpack_from(answer)[1] != _ERROR
    return int(struct.unpack_from("=I", answer, _USER_AT)[0]) if is_told else None
