"""Takes in OpenTelemetry metrics by OTLP/HTTP, on loopback or from whoever has the token, and tells each second what
came.

Bounded: a body of at most 8 MiB (unpacked too), 16 connections, exports that nobody fetched yet up to 2,000 rows. A
connection on which nothing came yet that was taken (without a token an export, else the token) has 10 s, and
makes room for the next one where all are in use, so that idle connections keep no exporter out.
"""

from __future__ import annotations

import errno
import hmac
import socket
import socketserver
import threading
import time
import zlib
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from plimsoll.errors import InputError
from plimsoll.probes.http.clock_offset import ClockOffset, is_plausible
from plimsoll.probes.otlp.decoding import NoProtobuf, Undecodable, decode, has_protobuf
from plimsoll.probes.otlp.points import Senders
from plimsoll.probes.otlp.unproven import UnprovenConnections
from plimsoll.probes.probe import Clock, Observation
from plimsoll.probes.rhythm import INTERVALS, USUAL_S, Rhythm
from plimsoll.probes.told_notes import ToldNotes
from plimsoll.study.probes.otlp import OtlpOptions, address_of
from plimsoll.words import time_words

PATH = "/v1/metrics"
MOST_BYTES = 8 << 20
MOST_CONNECTIONS = 16
MOST_ROWS = 2_000
IDLE_S = 75.0
UNPROVEN_S = 10.0
_MAKING_ROOM_S = 2.0
FIRST_AFTER_S = USUAL_S + 15.0
FEW_S = 10.0
UNREAD_BYTES, UNREAD_S = 2 * MOST_BYTES, 10.0  # of a refused body: read on, so that its sender comes to the answer
_PIECE_BYTES = 1 << 16
_NOTHING = "no export was taken"
_SEND = "Set OTEL_EXPORTER_OTLP_ENDPOINT={base} at the target, and OTEL_METRIC_EXPORT_INTERVAL=1000 (ms)."
_SEND_TOKEN = " Its token goes into OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20… there."
_NO_TOKEN = "it has no bearer token, or not the one that is asked for. Set OTEL_EXPORTER_OTLP_HEADERS of its sender."


class OtlpProbe(ToldNotes):
    """Observations of "otlp:<sender>", and of host, process and cgroup where the metrics are those. `open` listens and
    says where; `observe` gives what came since the last call and never waits.

    A sender from whom nothing came for three of its intervals, and its return, are noted, and that nobody sends at all.
    Of others than those that send `token`, if there is one, nothing is taken.
    """

    source = "otlp"

    def __init__(self, options: OtlpOptions, clock: Clock = time.monotonic, token: str | None = None) -> None:
        super().__init__()
        self._options, self._clock = options, clock
        self._token = token
        self._rhythms: dict[str, Rhythm] = {}
        self._opened_at = clock()
        self._senders = Senders(options.metrics)
        self._clocks: dict[str, ClockOffset] = {}
        self._lock = threading.Lock()
        self._rows: deque[Observation] = deque(maxlen=MOST_ROWS)
        self._server: _Server | None = None
        self.cpu_s = 0.0

    @property
    def url(self) -> str:
        """Where exporters send; empty while it is not open."""
        return "" if self._server is None else f"{self._server.address}{PATH}"

    def open(self) -> str:
        """Listen. InputError if the port is taken, or this machine has no such address."""
        listen = self._options.listen
        try:
            self._server = _Server((listen, self._options.port or 0), self)
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                what = f"this machine has no address {listen}"
                step = "Choose one that it has (ip address), or 0.0.0.0 for all."
                raise InputError(what, step, key="probes.otlp.listen") from None
            what = f"port {self._options.port} cannot be listened on ({error.strerror or error})"
            step = "Choose another port, or null for a free one; exporters send to it."
            raise InputError(what, step, key="probes.otlp.port") from None
        thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="plimsoll-otlp", daemon=True)
        thread.start()
        self._opened_at = self._clock()
        base = self.url.removesuffix(PATH)
        json_only = "" if has_protobuf() else "; JSON only, as opentelemetry-proto is not installed"
        words = f"OpenTelemetry metrics are received at {base}{PATH} (OTEL_EXPORTER_OTLP_ENDPOINT={base}{json_only})."
        words += _SEND_TOKEN if self._token else ""
        self._note(words)
        return words

    def close(self) -> None:
        """Stop listening. Whoever never sent, or too seldom for rates, is noted."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()
            with self._lock:
                self._note_end(self._clock() - self._opened_at, server.address)

    def take_notes(self) -> list[str]:
        """Senders that appear, bodies that cannot be read, clocks that are off."""
        with self._lock:
            return super().take_notes()

    def observe(self) -> Sequence[Observation]:
        """What came since the last call."""
        with self._lock:
            rows = list(self._rows)
            self._rows.clear()
            self._note_silence(self._clock())
        return rows

    def _note_silence(self, now: float) -> None:
        for label, rhythm in self._rhythms.items():
            if rhythm.fell_silent(now):
                waited_s, interval_s = now - (rhythm.last or now), rhythm.interval_s
                words = f"{label} has sent nothing for {time_words(waited_s)}; before, every {time_words(interval_s)}."
                self._tell_lost(f"sender:{label}", f"{words} It ended, or cannot reach this address any more.")
        waited_s = now - self._opened_at
        longest_s = INTERVALS * self._options.every_s if self._options.every_s else FIRST_AFTER_S
        if self._server is not None and not self._rhythms and waited_s > longest_s:
            self._tell_lost("anything", f"{_NOTHING} for {time_words(waited_s)}. {self._send(self._server.address)}")

    def _send(self, base: str) -> str:
        return _SEND.format(base=base) + (_SEND_TOKEN if self._token else "")

    @property
    def asks_for_token(self) -> bool:
        """Whether senders need one."""
        return self._token is not None

    def is_allowed(self, authorization: str) -> bool:
        """Whether an export with that header is taken."""
        if self._token is None:
            return True
        scheme, _, given = authorization.strip().partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token.encode())

    def _note_end(self, lasted_s: float, base: str) -> None:
        if not self._rhythms and "anything" not in self._away:
            self._tell_lost("anything", f"{_NOTHING} in the {time_words(lasted_s)} of the run. {self._send(base)}")
        for label, rhythm in self._rhythms.items():
            if rhythm.came_once and lasted_s > FEW_S:
                words = "It has no rates. Let it send more often (OTEL_METRIC_EXPORT_INTERVAL=1000, in ms)."
                self._notes.append(f"{label} sent only once in {time_words(lasted_s)}. {words}")

    def take(self, body: bytes, content_type: str, received_unix: float) -> None:
        """An export. Raises Undecodable."""
        decoded = decode(body, content_type)
        with self._lock:
            for resource in decoded:
                sender = self._senders.of(resource, self._notes)
                if sender is None or not resource.points:
                    continue
                self._note_arrival(sender.label)
                host = sender.where or sender.label
                clock = self._clocks.setdefault(host, ClockOffset(host))
                points = [one for one in resource.points if is_plausible(one.at_unix, received_unix)]
                if len(points) < len(resource.points):
                    words = "sends points without a time or more than a day from now; they are left out. Set its clock."
                    self._once(f"time of {sender.label}", f"{sender.label} {words}")
                for source, values, at in sender.take(points, self._notes):
                    clock.not_before(at, received_unix)
                    if len(self._rows) == MOST_ROWS:
                        self._once("rows", "more came than is kept for a second; the oldest were left out.")
                    self._rows.append(Observation(source, values, min(clock.local(at), received_unix)))
                note = clock.take_note()
                if note is not None:
                    self._notes.append(note)
                    self._rows.append(Observation(f"clock:{host}", {"offset_s": clock.applied}, received_unix))

    def _note_arrival(self, label: str) -> None:
        rhythm = self._rhythms.setdefault(label, Rhythm(self._options.every_s))
        self._tell_back("anything", "the first export has come.")
        if rhythm.came(self._clock()):
            self._tell_back(f"sender:{label}", f"{label} sends again.")

    def refuse(self, reason: str) -> None:
        """A request was not taken; noted once for each reason."""
        with self._lock:
            self._once(reason, f"an export was refused: {reason}")

    def note_once(self, words: str) -> None:
        """A note that is worth one time."""
        with self._lock:
            self._once(words, words)

    def spent(self, cpu_s: float) -> None:
        """CPU time of a request."""
        with self._lock:
            self.cpu_s += cpu_s

    def _note(self, words: str) -> None:
        with self._lock:
            self._notes.append(words)

    def _once(self, key: str, words: str) -> None:
        if len(self._told) < 100:
            self._tell_once(key, words)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], probe: OtlpProbe) -> None:
        self.probe = probe
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._unproven = UnprovenConnections()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """As HTTPServer, which also asks DNS for the host's name: that may take seconds, and nobody wants it."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    @property
    def address(self) -> str:
        """Where it listens, as exporters want it."""
        listens = address_of(str(self.server_address[0]))
        assert listens is not None
        host = socket.gethostname() if listens.is_unspecified else f"[{listens}]" if listens.version == 6 else listens
        return f"http://{host}:{self.server_address[1]}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Each connection in a thread, as long as there are not too many."""
        if not self._free.acquire(blocking=False) and not self._takes_the_place_of_another():
            self.probe.refuse(f"more than {MOST_CONNECTIONS} connections at once.")
            self.shutdown_request(request)
            return
        self._unproven.add(request)
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._unproven.remove(request)
            self._free.release()
            raise

    def _takes_the_place_of_another(self) -> bool:
        if not self._unproven.end_oldest():
            return False
        self.probe.note_once(
            f"{MOST_CONNECTIONS} connections were in use, so those that had sent nothing made room for the next."
        )
        return self._free.acquire(timeout=_MAKING_ROOM_S)

    def service_actions(self) -> None:
        """Several times a second."""
        self._unproven.end_older_than(UNPROVEN_S)

    def prove(self, connection: Any) -> None:
        """That connection is an exporter's."""
        self._unproven.remove(connection)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """In the connection's thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._unproven.remove(request)
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is the sender's affair."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_POST(self) -> None:
        """An export."""
        received_unix, began = time.time(), time.thread_time()
        kind = self.headers.get("Content-Type", "")
        status, reason = 200, ""
        try:
            if not self.server.probe.is_allowed(self.headers.get("Authorization", "")):
                raise _NotAllowed(_NO_TOKEN)
            if self.server.probe.asks_for_token:
                self.server.prove(self.connection)
            body = self._body()
            if self.path.partition("?")[0].rstrip("/") != PATH:
                status, reason = 404, f"only {PATH} is received here."
            else:
                self.server.probe.take(body, kind, received_unix)
                self.server.prove(self.connection)
        except NoProtobuf as error:
            status, reason = 415, str(error)
        except Undecodable as error:
            status, reason = 400, f"{error}."
        except _TooLarge as error:
            status, reason = 413, str(error)
            self.close_connection = True
        except _NotAllowed as error:
            status, reason = 401, str(error)
            self.close_connection = True
        if reason:
            self.server.probe.refuse(reason)
        self._answer(status, kind, reason)
        if status in (401, 413):
            self._read_on()
        self.server.probe.spent(time.thread_time() - began)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            packed = self._chunks()
        else:
            try:
                length = int(self.headers.get("Content-Length", "0"))
            except ValueError:
                raise _TooLarge("Content-Length is no number.") from None
            if not 0 <= length <= MOST_BYTES:
                raise _TooLarge(f"a body of {length:,} bytes; at most {MOST_BYTES >> 20} MiB are taken.")
            packed = self.rfile.read(length)
        if self.headers.get("Content-Encoding", "identity").lower() != "gzip":
            return packed
        unpack = zlib.decompressobj(wbits=31)
        try:
            body = unpack.decompress(packed, MOST_BYTES)
        except zlib.error:
            raise Undecodable("the body is no gzip that can be unpacked") from None
        if unpack.unconsumed_tail:
            raise _TooLarge(f"a body of more than {MOST_BYTES >> 20} MiB, unpacked.")
        return body

    def _chunks(self) -> bytes:
        body = b""
        while True:
            try:
                size = int(self.rfile.readline(100).partition(b";")[0], 16)
            except ValueError:
                raise _TooLarge("its chunks cannot be read.") from None
            if size < 0 or len(body) + size > MOST_BYTES:
                raise _TooLarge(f"more than {MOST_BYTES >> 20} MiB; fewer metrics at once.")
            if size == 0:
                while self.rfile.readline(1000).strip():
                    pass
                return body
            body += self.rfile.read(size)
            self.rfile.readline(100)

    def _answer(self, status: int, kind: str, reason: str) -> None:
        if kind.startswith("application/json") or status == 415:
            content, body = "application/json", (b"{}" if status == 200 else _reason_json(reason))
        else:
            content, body = "application/x-protobuf", b""
        self.send_response(status)
        self.send_header("Content-Type", content)
        self.send_header("Content-Length", str(len(body)))
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _read_on(self) -> None:
        """Take what a refused sender still writes, within bounds: closing on it would reset the connection, and the
        sender would see that in place of the answer, which it reads last."""
        until, left = time.monotonic() + UNREAD_S, UNREAD_BYTES
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while left > 0 and (wait_s := until - time.monotonic()) > 0:
                self.connection.settimeout(wait_s)
                piece = self.rfile.read1(min(left, _PIECE_BYTES))  # type: ignore[attr-defined]
                if not piece:
                    return
                left -= len(piece)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing on stderr."""


class _TooLarge(Exception):
    """More than is taken."""


class _NotAllowed(Exception):
    """Of somebody without the token."""


def _reason_json(reason: str) -> bytes:
    import json

    return json.dumps({"message": reason}).encode()
