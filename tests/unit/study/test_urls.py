"""URLs that cannot be are mistakes of their line, before anything is started or asked."""

from __future__ import annotations

import pytest

from plimsoll.errors import InputError, InputErrors
from plimsoll.probes.http.json_place import JsonPlace
from plimsoll.study import parse_study
from plimsoll.study.forms import mistake_of_form
from plimsoll.study.urls import mistake_of_url

WORKLOAD = "workload: {script: script.js, operations: [{name: a, per_user_hour: 1}]}\n"
IMPOSSIBLE = [
    ("http://127.0.0.1:99999999", "the URL has the port 99999999, which cannot be"),
    ("http://127.0.0.1:65536/x", "the URL has the port 65536, which cannot be"),
    ("http://127.0.0.1:0/", "the URL has the port 0, which cannot be"),
    ("http://user:secret@[::1]:70000/", "the URL has the port 70000, which cannot be"),
    ("http://127.0.0.1:-1/", "the port of the URL is no number"),
    ("https://127.0.0.1:abc/", "the port of the URL is no number"),
    ("http://:80/", "the URL has no host"),
    ("http:///path", "the URL has no host"),
    ("http://user@:80/", "the URL has no host"),
    ("http://[::1/", "the URL cannot be read"),
]
PLACES = {
    "target.url": "target: {url: 'URL'}",
    "target.ready": "target: {ready: 'URL'}",
    "target.data_volume": "target: {data_volume: 'URL#a.b'}",
    "target.variants.old.url": "target: {variants: {old: {url: 'URL'}}}",
    "probes.prometheus[0].url": "probes: {prometheus: [{label: p, url: 'URL'}]}",
    "probes.telemetry[0].url": "probes: {telemetry: [{url: 'URL'}]}",
    "probes.jvm[0].url": "probes: {jvm: [{url: 'URL'}]}",
    "probes.profile[0].url": "probes: {profile: [{url: 'URL'}]}",
    "experiments[0].compare.b": "experiments: [{compare: {a: 'http://h/', b: 'URL'}}]",
}


@pytest.mark.parametrize(("url", "words"), IMPOSSIBLE)
def test_a_url_that_cannot_be_is_told_without_what_may_be_secret(url: str, words: str) -> None:
    mistake = mistake_of_url(url)
    assert mistake is not None and words in mistake[0] and "secret" not in mistake[0]
    assert mistake[1].startswith("Write ")


@pytest.mark.parametrize(
    "url",
    ["http://h", "http://me:pw@h", "http://h:/", "http://u:p@h:1/x?y=z:0", "https://[::1]:65535/", "http://h/a:0", "http://h?x=:99999999",
     "HTTP://h:080"],
)  # fmt: skip
def test_other_urls_are_none(url: str) -> None:
    assert mistake_of_url(url) is None


@pytest.mark.parametrize("key", PLACES)
def test_each_place_of_a_study_refuses_an_impossible_port_with_its_line(key: str) -> None:
    text = WORKLOAD + PLACES[key].replace("URL", "http://127.0.0.1:99999999")
    with pytest.raises(InputErrors) as told:
        parse_study(text)
    shown = "http://127.0.0.1:99999999: " if "compare" in key else ""
    assert f"study.yaml:2: {key}: {shown}the URL has the port 99999999, which cannot be. Write" in str(told.value)


def test_forms_and_places_are_told_without_their_passwords() -> None:
    mistake = mistake_of_form("http://user:s3cr3t@h:0/", [], exec_allowed=False)
    assert mistake is not None and mistake[0] == "http://***@h:0/: the URL has the port 0, which cannot be"
    with pytest.raises(InputError, match=r"^http://\*\*\*@h:0/a: the URL has the port 0, which cannot be"):
        JsonPlace("http://user:s3cr3t@h:0/a#b")


def test_commands_and_paths_are_no_urls() -> None:
    study = parse_study(WORKLOAD + "target: {url: 'http://h', ready: 'curl http://h:1', data_volume: '/status#a'}")
    assert study.target.ready == "curl http://h:1"
