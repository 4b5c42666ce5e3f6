"""Unix sockets of this host as the kernel tells them by netlink: their names, and which is connected to which.

/proc/net/unix names sockets and not their other ends. sock_diag(7); `struct unix_diag_msg` of linux/unix_diag.h.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from plimsoll.probes.probe import Clock
from plimsoll.probes.processes.tcp_info import ESTABLISHED, KEPT_S, LISTENING, asked, question

_ANY_STATE, _SHOW_NAME, _SHOW_PEER = 0xFFFFFFFF, 0x01, 0x04
# Family, protocol, states, inode (0: each), what to show, cookie.
_REQUEST = struct.Struct("=BBHIIIII")
# Family, type, state, inode, cookie.
_MESSAGE = struct.Struct("=BBBxIII")
_INODE_AT = 4
_NAME, _PEER = 0, 2  # UNIX_DIAG_NAME, UNIX_DIAG_PEER


@dataclass(frozen=True)
class UnixSocket:
    """A socket with its name (a path, or "@name"; empty for clients) and the inode of its other end (0: none)."""

    inode: int
    state: int
    name: str
    peer: int


class UnixTable:
    """The unix sockets of this process's network namespace; the answer of the kernel is kept for KEPT_S."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._asked_s = -KEPT_S
        self._told: dict[int, UnixSocket] = {}

    def now(self) -> Mapping[int, UnixSocket]:
        """By inode; empty where the kernel does not tell."""
        now = self._clock()
        if now - self._asked_s >= KEPT_S:
            request = _REQUEST.pack(socket.AF_UNIX, 0, 0, _ANY_STATE, 0, _SHOW_NAME | _SHOW_PEER, 0, 0)
            bodies = asked([question(request)], _INODE_AT) or {}
            self._told = {inode: _socket_of(body) for inode, body in bodies.items()}
            self._asked_s = now
        return self._told

    def listeners_of(self, inodes: Iterable[str]) -> dict[str, str]:
        """The listening sockets, by name, to which these sockets are connected as clients: their inodes."""
        told = self.now()
        mine = {int(inode) for inode in inodes}
        ends = (told.get(told[inode].peer) for inode in mine & told.keys() if told[inode].state == ESTABLISHED)
        names = {end.name for end in ends if end is not None and end.name and end.inode not in mine}
        return {
            one.name: str(one.inode)
            for one in told.values()
            if names and one.state == LISTENING and one.name in names and one.inode not in mine
        }

    def clients_of(self, inodes: Iterable[str]) -> set[str]:
        """The inodes of all sockets that are connected to these, which were accepted by a listening one."""
        told = self.now()
        mine = [told[inode] for inode in map(int, inodes) if inode in told]
        return {str(one.peer) for one in mine if one.name and one.peer and one.state == ESTABLISHED}


def _socket_of(body: bytes) -> UnixSocket:
    _, _, state, inode, _, _ = _MESSAGE.unpack_from(body)
    name, peer, at = b"", 0, _MESSAGE.size
    while at + 4 <= len(body):
        size, kind = struct.unpack_from("=HH", body, at)
        if size < 4:
            break
        if kind == _NAME:
            name = body[at + 4 : at + size]
        elif kind == _PEER:
            peer = struct.unpack_from("=I", body, at + 4)[0]
        at += (size + 3) & ~3
    words = name.lstrip(b"\0").rstrip(b"\0").decode("utf-8", "replace")
    return UnixSocket(inode, state, f"@{words}" if name.startswith(b"\0") else words, peer)
