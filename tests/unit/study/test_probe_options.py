"""The probes of a study: what they may be, and every mistake with its line and what to do."""

from __future__ import annotations

import pytest

from plimsoll.errors import InputErrors
from plimsoll.study import parse_study, redact

WORKLOAD = """\
workload:
  script: s.js
  operations: [{name: a, per_user_hour: 1}]
probes:
"""


def probes_of(text: str):
    return parse_study(WORKLOAD + "".join(f"  {line}\n" for line in text.splitlines())).probes


def mistakes_of(text: str) -> list[str]:
    with pytest.raises(InputErrors) as raised:
        probes_of(text)
    return [str(error) for error in raised.value.errors]


def test_a_study_names_pages_servers_documents_receivers_and_files() -> None:
    probes = probes_of("""\
prometheus:
  - {label: db1, url: "http://10.0.0.7:9100/metrics", values: {x_per_s: 'a_total{b=~"c|d"}'}}
  - {label: prom, url: "http://10.0.0.9:9090", queries: {y: "sum(x)"}, step_s: 5}
  - {label: nodes, url: "http://10.0.0.9:9090", select: 'job="node"'}
telemetry: [{url: "http://x/t"}]
otlp: {port: null}
logs: [{files: ["a/*.log"], patterns: {deadlock: deadlock detected}}]
""")
    assert [one.is_server for one in probes.prometheus] == [False, True, True]
    assert probes.otlp.port is None
    assert (probes.cgroups, probes.logs[0].most_bytes_per_s) == (True, 1 << 20)


def test_without_any_only_what_is_on_this_host_is_read() -> None:
    probes = parse_study(WORKLOAD.replace("probes:\n", "")).probes
    assert (probes.prometheus, probes.telemetry, probes.otlp, probes.logs) == ([], [], None, [])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prometheus: [{label: a, url: 10.0.0.7}]", "prometheus[0].url: must be a URL, is '10.0.0.7'. Start it with"),
        ("prometheus: [{url: 'http://x'}]", "prometheus[0].label: this key is needed and missing"),
        ("prometheus: [{label: a, url: 'http://x', values: {v: 'a b'}}]", "v: 'a b' selects no metric. Write a metric"),
        ("prometheus: [{label: a, url: 'http://x', values: {v: 'a{b=~\"(\"}'}}]", "no regular expression"),
        ("prometheus: [{label: a, url: 'http://x', values: {v: m}, select: 'a=\"b\"'}]", "Make an entry of each"),
        ("prometheus: [{label: a, url: 'http://x', step_s: 5}]", "step_s is for `queries`, and there are none"),
        ("prometheus: [{label: a, url: 'http://x', select: '{}'}]", "`select` has no label"),
        ("prometheus: [{label: a, url: 'http://x', uls: 1}]", "unknown key. Did you mean url?"),
        ("prometheus: [{label: a, url: 'http://x'}, {label: a, url: 'http://y'}]", "[1].label: 'a' is there twice"),
        ("telemetry: [{url: 'http://x'}, {url: 'http://y'}]", "telemetry[1].label: 'target' is there twice"),
        ("telemetry: [{url: 'http://x', every_s: 0.1}]", "must be at least 1"),
        ("otlp: {port: 70000}", "otlp.port: must be at most 65535"),
        ("otlp: {listen: app1}", "otlp.listen: 'app1' is no IP address"),
        ("otlp: {listen: 0.0.0.0}", "otlp.listen: on 0.0.0.0 anyone could send to it"),
        ("files: [{path: a}, {path: b}]", "files[1].label: 'data' is there twice"),
        ("files: [{path: ''}]", "files[0].path: must not be empty"),
        ("jvm: [{}]", "jvm[0]: nothing says which it is. Add process, or url"),
        ("jvm: [{process: a, url: 'http://x'}]", "process and url are given together"),
        ("jvm: [{process: a, headers: {X: y}}]", "headers is for a url"),
        ("jvm: [{url: 'http://x', host: h}, {url: 'http://y', host: h}]", "'jvm@h' is there twice"),
        ("jvm: [{url: 'x'}]", "must be a URL"),
        ("profile: [{}]", "profile[0]: nothing says what is profiled. Add process, or url"),
        ("profile: [{process: a, url: 'http://x'}]", "process and url are given together"),
        ("profile: [{url: 'http://x', kind: python}]", "url is for Go programs, not python"),
        ("profile: [{process: a, kind: go}]", "Go programs are profiled by their url"),
        ("profile: [{process: a}, {process: a}]", "profile[1]: 'a' is there twice"),
        ("profile: [{process: a, samples_per_s: 5}]", "must be at least 10"),
        ("logs: [{files: []}]", "logs[0].files: must not be empty"),
        ("logs: [{files: [a], patterns: {x: '('}}]", "no regular expression"),
        ("logs: [{files: [a], patterns: {X-y: 'a'}}]", "'X-y' is no name. Use small letters"),
        ("logs: [{files: [a], patterns: {x: 'a*'}}]", "matches every line"),
    ],
)
def test_each_mistake_says_where_and_what_to_do(text: str, words: str) -> None:
    [mistake] = mistakes_of(text)
    assert mistake.startswith("study.yaml:5: ")
    assert words in mistake


@pytest.mark.parametrize("given", ["s3cret", "20261124", "'pre${OTLP_TOKEN}'", "$OTLP_TOKEN", "''", "[s3cret]"])
def test_a_token_that_stands_in_the_study_is_a_mistake_that_does_not_repeat_it(given: str) -> None:
    assert mistakes_of(f"otlp: {{token: {given}}}") == [
        "study.yaml:5: probes.otlp.token: it names no environment variable. "
        'Write "${NAME}" of an environment variable that holds the token.'
    ]


def test_a_header_that_is_no_text_is_not_repeated() -> None:
    [told] = mistakes_of("telemetry: [{url: 'http://x', headers: {X-Token: 20261124}}]")
    assert "must be text, is a number" in told and "20261124" not in told


def test_all_mistakes_come_at_once() -> None:
    assert len(mistakes_of("prometheus: [{label: a, url: x}]\ntelemetry: [{url: y}]\nlogs: [{files: []}]")) == 3


def test_headers_and_passwords_of_urls_are_hidden_in_what_a_run_keeps() -> None:
    kept = redact({"prometheus": [{"url": "http://u:pw@h/m?token=abc", "headers": {"X-Anything": "secret-value"}}]})
    assert kept == {"prometheus": [{"url": "http://***@h/m?token=***", "headers": {"X-Anything": "***"}}]}


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        (
            'prometheus: [{label: a, url: "https://h/metrics", ca_file: a.pem, insecure: true}]',
            "study.yaml:5: probes.prometheus[0].insecure: it and ca_file are given together. Keep one of them.",
        ),
        (
            'telemetry: [{url: "http://h/t", insecure: true}]',
            "study.yaml:5: probes.telemetry[0].insecure: it is for a url that begins with https://. "
            "Leave it out, or write https:// in the url.",
        ),
        (
            "jvm: [{process: app, ca_file: a.pem}]",
            "study.yaml:5: probes.jvm[0].ca_file: ca_file is for a url. Leave it out.",
        ),
    ],
)
def test_keys_of_certificates_are_for_one_another_and_for_https_alone(text: str, mistake: str) -> None:
    assert mistakes_of(text) == [mistake]
