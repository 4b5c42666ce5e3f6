"""TCP connections as the kernel tells them by netlink: queues, and when each last sent and last received.

A connection that sent more recently than it received waits for an answer; one that received more recently than it sent
has a request that is being worked on. No count of connections tells that. The times are in ms, of a clock that ticks
every 1 to 10 ms: where both are in one tick, the order is not known. Any user may ask of the own network namespace, and
of another one who may enter it (sock_diag(7), setns(2), `struct inet_diag_msg` and `struct tcp_info` of
linux/inet_diag.h and linux/tcp.h).
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from threading import Thread

from plimsoll.probes.probe import Clock

_NETWORK_NAMESPACE = 0x40000000  # CLONE_NEWNET
_SOCK_DIAG, _BY_FAMILY, _DUMP_REQUEST = 4, 20, 0x301
_DONE, _ERROR = 3, 2
ESTABLISHED, LISTENING = 1, 10
_INFO, _INFO_BIT = 2, 1 << 1
HEADER = struct.Struct("=LHHLL")
_REQUEST = struct.Struct("=BBBBI48x")
# Family, state, timer, retransmissions; ports and addresses (own, the other side's) in the network's order, interface,
# cookie; expiry, queues of receiving and sending, user, inode.
_MESSAGE = struct.Struct("!BBxx HH 16s 16s 12x")
_REST = struct.Struct("=4xIIII")
_WORD = struct.Struct("=I")
_INODE_AT = 68
# Of tcp_info: eight bytes of states, then words of 32 bits; the last data sent and received, in ms, are these.
_SENT_AT, _RECEIVED_AT = 8 + 4 * 9, 8 + 4 * 11
_WAIT_S = 0.2
KEPT_S = 0.3


@dataclass(frozen=True)
class Connection:
    """One socket. Of a listening one `received` counts the connections that wait to be accepted; else the queues are
    in bytes. `sent_ms` and `received_ms`: since its last data, None where that is not known. `is_loopback`: both ends
    are on this host, so that no network lies between."""

    inode: str
    state: int
    port: int
    remote: str
    received: int
    unsent: int
    sent_ms: int | None = None
    received_ms: int | None = None
    is_loopback: bool = False

    @property
    def has_sent_last(self) -> bool:
        """It sent, and nothing came since."""
        return self.sent_ms is not None and self.received_ms is not None and self.sent_ms < self.received_ms

    @property
    def has_received_last(self) -> bool:
        """It received, and sent nothing since."""
        return self.sent_ms is not None and self.received_ms is not None and self.received_ms < self.sent_ms


class SocketTable:
    """The established and listening TCP sockets of a network namespace. The kernel tells all of one at once, so that
    several processes that are looked at within KEPT_S of each other cost one question."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._told: dict[str, tuple[float, dict[int, bytes] | None]] = {}  # by namespace: when, what

    def connections(self, inodes: Iterable[str], namespace: Path | None = None) -> list[Connection] | None:
        """Those that have one of these inodes; None where the kernel does not tell. `namespace`: the network's, as
        /proc/PID/ns/net; the own one if left out."""
        try:
            name = "" if namespace is None else os.readlink(namespace)
        except OSError:
            return None
        now = self._clock()
        asked_s, messages = self._told.get(name, (-KEPT_S, None))
        if now - asked_s >= KEPT_S:
            messages = asked(map(request, (socket.AF_INET, socket.AF_INET6)), _INODE_AT, namespace)
            self._told[name] = now, messages
        if messages is None:
            return None
        told = (messages.get(int(inode)) for inode in inodes)
        return [connection_of(body) for body in told if body is not None]


def connections(inodes: Iterable[str], namespace: Path | None = None) -> list[Connection] | None:
    """The connections that have one of these inodes, asked for now; None where the kernel does not tell."""
    return SocketTable().connections(inodes, namespace)


def asked(questions: Iterable[bytes], inode_at: int, namespace: Path | None = None) -> dict[int, bytes] | None:
    """What the kernel answers of each socket, by its inode, which stands at that byte; None where it does not."""
    if not sys.platform.startswith("linux"):
        return None
    found: dict[int, bytes] = {}
    try:
        with _netlink() if namespace is None else _netlink_within(namespace) as kernel:
            kernel.settimeout(_WAIT_S)
            for one in questions:
                kernel.send(one)
                while read_answer(kernel.recv(1 << 17), found, inode_at):
                    pass
    except OSError:
        return None
    return found


def _netlink() -> socket.socket:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG)


def _netlink_within(namespace: Path) -> socket.socket:
    """A socket that belongs to that network namespace, made by a thread that enters it and ends. OSError where one may
    not."""
    made: list[socket.socket] = []

    def enter() -> None:
        kernel = ctypes.CDLL(None)
        try:
            with namespace.open("rb") as file:
                if kernel.setns(file.fileno(), _NETWORK_NAMESPACE) == 0:
                    made.append(_netlink())
        except OSError:
            return

    thread = Thread(target=enter, name="network namespace")
    thread.start()
    thread.join()
    if not made:
        raise OSError(f"{namespace} may not be entered")
    return made[0]


def listening() -> dict[int, list[tuple[str, int]]] | None:
    """The listening sockets of this process's network namespace, by port: (inode, user id) of each; None where the
    kernel does not tell."""
    questions = [request(family, 1 << LISTENING) for family in (socket.AF_INET, socket.AF_INET6)]
    bodies = asked(questions, _INODE_AT)
    if bodies is None:
        return None
    found: dict[int, list[tuple[str, int]]] = {}
    for body in bodies.values():
        port = _MESSAGE.unpack_from(body)[2]
        _, _, user, inode = _REST.unpack_from(body, _MESSAGE.size)
        found.setdefault(port, []).append((str(inode), user))
    return found


def request(family: int, states: int = 1 << ESTABLISHED | 1 << LISTENING) -> bytes:
    """The question for all sockets of an address family in these states, with their tcp_info."""
    return question(_REQUEST.pack(family, socket.IPPROTO_TCP, _INFO_BIT, 0, states))


def question(body: bytes) -> bytes:
    """A question for all sockets of a family, as the kernel reads it."""
    return HEADER.pack(HEADER.size + len(body), _BY_FAMILY, _DUMP_REQUEST, 1, 0) + body


def read_answer(answer: bytes, found: dict[int, bytes], inode_at: int = _INODE_AT) -> bool:
    """Adds what a part of the answer tells of each socket, by its inode; whether more parts come. OSError where the
    kernel refuses."""
    at = 0
    while at + HEADER.size <= len(answer):
        size, kind, *_ = HEADER.unpack_from(answer, at)
        if kind == _ERROR:
            raise OSError("the kernel tells no sockets")
        if kind == _DONE or size < HEADER.size:
            return False
        if size >= HEADER.size + inode_at + 4:
            inode = _WORD.unpack_from(answer, at + HEADER.size + inode_at)[0]
            found[inode] = answer[at + HEADER.size : at + size]
        at += (size + 3) & ~3
    return True


def connection_of(body: bytes) -> Connection:
    """A socket, of what the kernel told."""
    family, state, port, remote_port, own, remote = _MESSAGE.unpack_from(body)
    received, unsent, _, inode = _REST.unpack_from(body, _MESSAGE.size)
    sent_ms = received_ms = None
    at = _MESSAGE.size + _REST.size
    while at + 4 <= len(body):
        size, kind = struct.unpack_from("=HH", body, at)
        if size < 4:
            break
        if kind == _INFO and size >= 4 + _RECEIVED_AT + 4:
            sent_ms, received_ms = (
                struct.unpack_from("=I", body, at + 4 + place)[0] for place in (_SENT_AT, _RECEIVED_AT)
            )
        at += (size + 3) & ~3
    size = 4 if family == socket.AF_INET else 16
    address = "" if state == LISTENING else address_words(remote[:size])
    return Connection(
        str(inode),
        state,
        port,
        f"{address}:{remote_port}" if address else "",
        received,
        unsent,
        sent_ms,
        received_ms,
        bool(address) and is_loopback(address_words(own[:size]), address),
    )


def is_loopback(own: str, remote: str) -> bool:
    """Whether a connection between these addresses, as people write them, goes by loopback: to one of its own, or from
    an address to itself."""
    return remote.startswith(("127.", "[::1]")) or own == remote


def address_words(packed: bytes) -> str:
    """An address of 4 or 16 bytes as people write it; an IPv4 address in IPv6 as IPv4."""
    ip = ip_address(packed)
    mapped = getattr(ip, "ipv4_mapped", None)
    return str(mapped) if mapped else f"[{ip}]" if ip.version == 6 else str(ip)
