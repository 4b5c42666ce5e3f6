"""JMeter's results (JTL) as XML: <httpSample t="ms" ts="start" lb="label" rc="code" s="true" na="threads"/>.

jmeter.apache.org/usermanual/listeners.html, "XML Log format 2.1". Parsed as it is read; an element is dropped once it
is counted. A <sample> that contains others is a transaction: an iteration here, its children are the requests.
Redirects within an <httpSample> are part of it.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO
from xml.etree import ElementTree

from plimsoll.runs.importers.clock import milliseconds
from plimsoll.runs.importers.jmeter.jtl_csv import _THREAD, TRANSACTION, check_one, tags_of
from plimsoll.runs.importers.jmeter.legal_xml import LegalXml, has_ascii
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.plain_numbers import real
from plimsoll.runs.importers.source import LOOP_UNKNOWN, NO_ARRIVAL_TIMES, NO_GENERATOR, BadRecord, Format
from plimsoll.runs.importers.spill import Spill

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

SAMPLES = ("httpSample", "sample")
MOST_DEPTH = 100  # JMeter nests a request in a transaction, in a controller or two


def looks_like(head: str) -> bool:
    """Whether it is XML with JMeter's root."""
    return head.lstrip().startswith("<") and "<testResults" in head[:2000]


def read(file: SourceFile, into: Spill) -> None:
    """All samples into `into`. A file without its end (JMeter was killed) is used up to there, with a note."""
    depth: list[Element] = []
    try:
        legal = has_ascii(file.head())
        with file.open() as stream:
            text = LegalXml(stream) if legal else None
            for event, element in ElementTree.iterparse(_source(text, stream), events=("start", "end")):
                _take(event, element, depth, into)
            file.note_fault(f"after {into.samples:,} samples")
            if text is not None and text.replaced:
                file.notes.append(f"{text.replaced:,} characters in it that XML does not have were replaced by “?”.")
        if into.level_sources > 1:
            file.notes.append(f"Threads of {into.level_sources} hosts are added up: na counts those of one host each.")
    except ElementTree.ParseError as error:
        if not into.samples or not _is_cut(error):
            raise file.error(BadRecord(f"this is no whole XML ({error})"), error.position[0]) from error
        file.notes.append(f"The file has no end (the test was stopped?); its {into.samples:,} whole samples are used.")
    except (LookupError, ValueError) as error:  # an encoding that Python does not know, or expat not
        raise file.error(BadRecord(f"this is no XML that can be read ({error})"), 1) from error
    except BadRecord as problem:
        raise file.error(problem) from problem


def _source(legal: LegalXml | None, stream: BinaryIO) -> BinaryIO:
    return stream if legal is None else io.BufferedReader(legal)


def _is_cut(error: ElementTree.ParseError) -> bool:
    """Whether the text ended before the XML did (expat: no element found, unclosed token)."""
    return any(words in str(error) for words in ("no element found", "unclosed token"))


def _take(event: str, element: Element, depth: list[Element], into: Spill) -> None:
    if event == "start":
        depth.append(element)
        if len(depth) > MOST_DEPTH:
            what = f"its samples are nested more than {MOST_DEPTH} deep, after {into.samples:,} whole ones"
            raise BadRecord(what, None, "JMeter writes no such file: save the results again.")
        return
    depth.pop()
    if element.tag in SAMPLES and not any(outer.tag == "httpSample" for outer in depth):
        _sample(element, into)
    if len(depth) == 1:
        depth[0].clear()


def _sample(element: Element, into: Spill) -> None:
    get = element.get
    label = get("lb") or "unnamed"
    start_s = milliseconds(get("ts", ""), f"{label}: ts")
    try:
        ms, size = real(get("t", "")), real(get("by") or "0")
    except ValueError:
        raise BadRecord(f"t={get('t')!r} by={get('by')!r} are no ms and bytes", label) from None
    has_children = any(child.tag in SAMPLES for child in element)
    if element.tag == "sample" and (has_children or (get("rm") or "").startswith(TRANSACTION)):
        into.iteration(start_s + ms / 1000, ms, (("scenario", label),))
        return
    check_one(get("sc") or "")
    group = _THREAD.sub("", get("tn") or "default")
    into.request(start_s, ms, tags_of(group, label, get("rc") or ""), get("s") != "true", size)
    if users := get("na"):
        try:
            into.level(start_s + ms / 1000, real(users), get("hn") or "")
        except ValueError:
            raise BadRecord(f"na={users[:40]!r} is no number of threads", label) from None


FORMAT = Format(
    name="jmeter-xml",
    title="JMeter, JTL as XML",
    shape="samples",
    loop="unknown",
    looks_like=looks_like,
    read=read,
    supports="counts, times and errors per label and second; levels from na (allThreads), if saved",
    cannot=(LOOP_UNKNOWN, NO_ARRIVAL_TIMES, NO_GENERATOR),
)
