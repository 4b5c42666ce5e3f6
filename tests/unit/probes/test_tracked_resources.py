"""Change logs and bases of a small tracked resource set that grows while it is read."""

from __future__ import annotations

import http.server
import json
import socket
import threading
from collections.abc import Iterator

import pytest
from asked_consumer import asked

from plimsoll.errors import InputError
from plimsoll.probes.consumer.probe import ConsumerProbe
from plimsoll.probes.consumer.reading import reading
from plimsoll.probes.probe import ProbeUnavailable

PREFIX = "@prefix trs: <http://open-services.net/ns/core/trs#> .\n@prefix ldp: <http://www.w3.org/ns/ldp#> .\n"


class TrackedSet:
    """A set with three events a page, those up to `cut_off` gone; `url` is where it is served."""

    def __init__(self) -> None:
        self.events = self.cut_off = 0
        self.kind = "text/turtle"
        self.url = ""
        self.asked: list[tuple[str, str | None]] = []  # paths, and who asked

    def answer(self, path: str) -> str:
        """The document at that path."""
        if self.kind == "application/ld+json":
            return json.dumps({"@context": [{"x": "urn:x"}, f"{self.url}/context"], "x:y": 1})
        if path.startswith("/base"):
            page = int(path.partition("?")[2] or 1)
            members = ", ".join(f"<r{page}{n}>" for n in range(4))
            following = f"</base?{page + 1}>" if page < 3 else "<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>"
            return f"{PREFIX}</base> ldp:contains {members} .\n</base?{page}> a ldp:Page ; ldp:nextPage {following} ."
        last = int(path.partition("?")[2] or self.events)
        shown = range(last, max(self.cut_off, last - 3), -1)
        changes = [f"<urn:e{n}> a trs:Modification ; trs:changed <r{n}> ; trs:order {10 * n} ." for n in shown]
        log = "<#log> a trs:ChangeLog" + "".join(f" ; trs:change <urn:e{n}>" for n in shown)
        if last - 3 > self.cut_off:
            log += f" ; trs:previous </trs?{last - 3}>"
        head = "</trs> a trs:TrackedResourceSet ; trs:base </base> ; trs:changeLog <#log> ." if "?" not in path else ""
        return "\n".join([PREFIX, head, f"{log} .", *changes])


@pytest.fixture
def tracked() -> Iterator[TrackedSet]:
    served = TrackedSet()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append((self.path, self.headers["Authorization"]))
            self.send_response(200)
            self.send_header("Content-Type", served.kind)
            self.end_headers()
            self.wfile.write(served.answer(self.path).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}"
    yield served
    server.shutdown()
    server.server_close()
    thread.join()


def test_events_are_counted_over_pages_from_the_first_look_on(tracked: TrackedSet) -> None:
    tracked.events = 5
    count = reading("trs:/trs", url=tracked.url)
    assert count() == 0 and count() == 0
    tracked.events = 7
    assert count() == 2
    tracked.events = 20  # five pages on
    assert count() == 15 and count() == 15


def test_an_empty_log_begins_with_its_first_event(tracked: TrackedSet) -> None:
    count = reading(f"trs:{tracked.url}/trs")
    assert count() == 0
    tracked.events = 2
    assert count() == 2


def test_a_log_that_begins_anew_is_noted_once_and_counted_on_from_there(tracked: TrackedSet) -> None:
    tracked.events = 20
    probe = ConsumerProbe({"taken_out": reading(f"trs:{tracked.url}/trs")})
    assert asked(probe) == {"taken_out": 0}
    tracked.events = 22
    assert asked(probe) == {"taken_out": 2} and probe.take_notes() == []
    tracked.events = 4  # another log at the same address
    assert asked(probe) == {"taken_out": 2}
    [note] = probe.take_notes()
    assert note.startswith(f"taken_out: the change log of {tracked.url}/trs began anew or went back: ")
    assert "fell from 220 to 40" in note
    assert asked(probe) == {"taken_out": 2}
    tracked.events = 30
    assert asked(probe) == {"taken_out": 28} and probe.take_notes() == []


def test_a_log_whose_last_seen_event_was_cut_off_is_noted_and_its_events_count(tracked: TrackedSet) -> None:
    tracked.events = 5
    probe = ConsumerProbe({"put_in": reading(f"trs:{tracked.url}/trs")})
    asked(probe)
    tracked.events, tracked.cut_off = 12, 4  # the last seen is still there
    assert asked(probe) == {"put_in": 7} and probe.take_notes() == []
    tracked.events, tracked.cut_off = 20, 14
    assert asked(probe) == {"put_in": 13}
    [note] = probe.take_notes()
    assert "was cut off: its oldest event, of trs:order 150, is newer than the last one seen, 120" in note
    assert asked(probe) == {"put_in": 13} and probe.take_notes() == []


def test_members_of_the_base_are_counted_over_its_pages(tracked: TrackedSet) -> None:
    assert reading(f"trs-base:{tracked.url}/trs")() == 12


def test_what_is_no_tracked_resource_set_is_data_and_says_so(tracked: TrackedSet) -> None:
    with pytest.raises(ProbeUnavailable, match="no change log"):
        reading(f"trs:{tracked.url}/base")()
    with pytest.raises(ProbeUnavailable, match="names no trs:base"):
        reading(f"trs-base:{tracked.url}/base")()
    tracked.kind = "application/rdf+xml"
    with pytest.raises(ProbeUnavailable, match=r"is no application/rdf\+xml that can be read"):
        reading(f"trs:{tracked.url}/trs")()
    tracked.kind = "text/html"
    with pytest.raises(ProbeUnavailable, match="is text/html, not RDF"):
        reading(f"trs:{tracked.url}/trs")()
    with pytest.raises(ProbeUnavailable, match="cannot be read"):
        reading("trs:http://127.0.0.1:9/trs")()
    with pytest.raises(InputError, match="is no URL"):
        reading("trs:somewhere")


def test_more_pages_than_can_be_followed_are_told(tracked: TrackedSet) -> None:
    count = reading(f"trs:{tracked.url}/trs")
    count()
    tracked.events = 1000
    with pytest.raises(ProbeUnavailable, match="the older ones are not counted"):
        count()
    tracked.events = 1002
    assert count() == 50 * 3 + 2


def test_a_context_elsewhere_is_refused_and_not_fetched(tracked: TrackedSet) -> None:
    tracked.kind = "application/ld+json"
    with pytest.raises(ProbeUnavailable, match="its @context is at another address, which is not fetched"):
        reading(f"trs:{tracked.url}/trs")()
    assert tracked.asked == [("/trs", None)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # rdflib's own, in its JSON-LD
def test_a_context_in_the_document_is_taken(tracked: TrackedSet, monkeypatch: pytest.MonkeyPatch) -> None:
    namespace = "http://open-services.net/ns/core/trs#"
    document = {"@context": {"@vocab": namespace}, "@id": "", "changeLog": {"@id": "#log", "change": {"order": 3}}}
    monkeypatch.setattr(tracked, "answer", lambda path: json.dumps(document))
    tracked.kind = "application/ld+json"
    assert reading(f"trs:{tracked.url}/trs")() == 0


@pytest.mark.parametrize(
    "answer",
    [
        b"no HTTP at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/turtle\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf",
        b"HTTP/1.1 200 OK\r\nContent-Type: application/ld+json\r\n\r\n" + b"[" * 200_000,
    ],
)
def test_an_answer_that_breaks_off_is_data(answer: bytes) -> None:
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    with listening, pytest.raises(ProbeUnavailable, match=r"can.* be read"):
        reading(f"trs:http://127.0.0.1:{listening.getsockname()[1]}/trs")()
    thread.join()


def test_user_and_password_are_sent_with_each_page_and_never_told(tracked: TrackedSet) -> None:
    count = reading(f"trs:{tracked.url.replace('//', '//app:hunter2x@')}/trs")
    count()
    tracked.events = 4
    assert count() == 4
    assert {who for _, who in tracked.asked} == {"Basic YXBwOmh1bnRlcjJ4"} and len(tracked.asked) == 3
    for path in ("/trs", "/base"):
        tracked.kind = "text/html" if path == "/trs" else "text/turtle"
        with pytest.raises(ProbeUnavailable) as caught:
            reading(f"trs:{tracked.url.replace('//', '//app:hunter2x@')}{path}")()
        assert "hunter2x" not in str(caught.value)
    with pytest.raises(InputError) as refused:
        reading("trs:ftp://app:hunter2x@host/trs")
    assert "hunter2x" not in str(refused.value)


@pytest.mark.parametrize("url", ["http://[x/trs", "http://host:99999/trs", "http://host:x/trs", "http:///trs"])
def test_an_address_that_cannot_be_asked_is_wrong_input(url: str) -> None:
    with pytest.raises(InputError, match="is no URL"):
        reading(f"trs:{url}")
