"""Test plans of JMeter: what is read, what becomes of it, what is left out and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from plans import arguments, assertion, body, defaults, element, headers, sampler, threads, variables, written

import plimsoll
from plimsoll.drafts.draft import Draft
from plimsoll.drafts.jmeter import plan_xml
from plimsoll.drafts.jmeter.answers import json_steps
from plimsoll.drafts.jmeter.conditions import condition_of
from plimsoll.drafts.jmeter.texts import Texts
from plimsoll.errors import InputError

HOST = defaults(domain="shop.example", protocol="https")


def draft_of(folder: Path, *parts: str) -> tuple[Draft, str]:
    draft = plimsoll.new(jmx=written(folder, *parts), output=folder / "load")
    return draft, (folder / "load" / "script.js").read_text()


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", "''"),
        ("a'b", "'a\\'b'"),
        ("${x}", "value(vars, 'x')"),
        ("a-${x}`", "`a-${value(vars, 'x')}\\``"),
        ("${__UUID}", "uuid()"),
        ("${__UUID()}", "uuid()"),
        ("${__Random(1,${most},n)}", "keep(vars, 'n', random('1', value(vars, 'most')))"),
        ("${__RandomString(5,ab\\,c)}", "randomText('5', 'ab,c')"),
        ("${__time(yyyy-MM-dd'T'HH:mm)}", "timeText('yyyy-MM-dd\\'T\\'HH:mm')"),
        ("${__P(a.b,7)}", "property('a.b', '7')"),
        ("${__P(a)}", "property('a', '1')"),
        ("${__property(a)}", "property('a', 'a')"),
        ("${__property(a,,9)}", "property('a', '9')"),
        ("${__V(part_${n})}", "value(vars, `part_${value(vars, 'n')}`)"),
        ("${__intSum(${n},1)}", "String(Number(value(vars, 'n')) + Number('1'))"),
        ("\\${x}", "'${x}'"),
        ("${broken", "'${broken'"),
    ],
)
def test_texts_become_javascript(text: str, script: str) -> None:
    assert Texts().script(text) == script


@pytest.mark.parametrize("text", ["${__groovy(1+1)}", "${__Random(1)}", "${__time(EEEE)}", "${__intSum(1,2,3,4)}"])
def test_a_function_that_is_not_known_stays_as_it_is_written_and_is_counted(text: str) -> None:
    texts = Texts()
    assert eval(texts.script(text)) == text and sum(texts.unknown.values()) == 1


def test_what_is_always_the_same_is_known_beforehand() -> None:
    texts = Texts({"host": "${__P(host,a.example)}", "loop": "${loop}"})
    assert texts.always("x.${host}") == "x.a.example"
    assert texts.always("${loop}") is None and texts.always("${__UUID}") is None


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ('${__jexl3("${a}" == "x",)}', "value(vars, 'a') == 'x'"),
        ("${__jexl3(${n} < 5 && (1 != 'y' || !true))}", "plain(value(vars, 'n')) < 5 && (1 != 'y' || !true)"),
        ('${__groovy(!"NONE".equals(vars.get("id"));)}', "!('NONE' == vars['id'])"),
        ('${__groovy(vars.get("n").toInteger() > 3 * 2 ;)}', "Number(vars['n']) > 3 * 2"),
        ("${__groovy(${a} eq ${b})}", "plain(value(vars, 'a')) == plain(value(vars, 'b'))"),
        ("${is_on}", "value(vars, 'is_on').toLowerCase() === 'true'"),
        ("true", "true"),
        ("", None),
        ('${__groovy(new File("/etc/passwd").text == "x")}', None),
        ('${__jexl3("a" "b")}', None),
        ("${__jexl3(1 == )}", None),
        ('${__jexl3("a" == process.exit)}', None),
    ],
)  # fmt: skip
def test_conditions_become_javascript_or_nothing(text: str, script: str | None) -> None:
    assert condition_of(text, Texts(), is_script=False) == script


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("$.a.b[0]", "[['key', \"a\"], ['key', \"b\"], ['index', 0]]"),
        ("$.a.[1]", "[['key', \"a\"], ['index', 1]]"),
        ("list[*].id", "[['key', \"list\"], ['all'], ['key', \"id\"]]"),
        ("$..id", "[['deep'], ['key', \"id\"]]"),
        ("$['a b']", "[['key', \"a b\"]]"),
        (
            "$.l[?(@.n == 'x')].id",
            "[['key', \"l\"], ['where', (one) => String(one?.[\"n\"]) === 'x'], ['key', \"id\"]]",
        ),
        ("$.a.length()", None),
        ("$.l[?(@.n > 3)]", None),
        ("$.a[0:2]", None),
    ],
)
def test_paths_of_json_become_steps_or_nothing(path: str, steps: str | None) -> None:
    assert json_steps(path, Texts()) == steps


def test_entities_and_document_types_are_refused(tmp_path: Path) -> None:
    plan = written(tmp_path, threads("a", sampler("GET", "/a")))
    secret = tmp_path / "secret"
    secret.write_text("s3cr3t")
    head, rest = plan.read_text().split("?>", 1)
    for entity in (f'<!ENTITY x SYSTEM "{secret}">', '<!ENTITY a "aaaa"><!ENTITY x "&a;&a;&a;">'):
        plan.write_text(f"{head}?><!DOCTYPE p [{entity}]>{rest.replace('/a', '/a&x;')}")
        with pytest.raises(InputError, match="document type") as caught:
            plimsoll.new(jmx=plan, output=tmp_path / "load")
        assert "s3cr3t" not in str(caught.value) and not (tmp_path / "load").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no test plan"),
        ("<jmeterTestPlan>", "no test plan of JMeter"),
        ("<html/>", "its root is html"),
        ("<jmeterTestPlan>" + "<hashTree>" * 500, "nested more than 400"),
        ("<jmeterTestPlan><hashTree/></jmeterTestPlan>", "no thread group has HTTP requests"),
        ('<?xml version="1.1"?><jmeterTestPlan><hashTree/></jmeterTestPlan>', "no thread group has HTTP requests"),
    ],
)
def test_what_is_no_plan_is_said(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.jmx").write_text(text)
    with pytest.raises(InputError, match=words):
        plimsoll.new(jmx=tmp_path / "a.jmx", output=tmp_path / "load")


def test_a_plan_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_xml, "LARGEST", 100)
    with pytest.raises(InputError, match="larger than"):
        plimsoll.new(jmx=written(tmp_path, threads("a", sampler("GET", "/a"))), output=tmp_path / "load")


def test_thread_groups_become_scenarios_and_groups_of_the_study(tmp_path: Path) -> None:
    timed = {"ThreadGroup__scheduler": True, "ThreadGroup__duration": "90", "ThreadGroup__delay": "5"}
    draft, script = draft_of(
        tmp_path,
        variables(many="7"),
        HOST,
        threads("READ", sampler("GET", "/a"), users="${many}", loops=-1, **{**timed, "ThreadGroup__ramp_time": "20"}),
        threads("2 Write", sampler("POST", "/b", given=body("x")), users="${__P(writers,3)}", loops=4),
        threads("Read", sampler("GET", "/c"), loops=-1),
    )
    assert (
        "read: { executor: 'ramping-vus', startVUs: 0, stages: [{ duration: '20s', target: 7 }, { duration: '90s'"
        in script
    )
    assert "startTime: '5s'" in script and "const LOAD_DURATION" in script
    assert "group2Write: { executor: 'per-vu-iterations', vus: 3, iterations: 4, exec: 'group2WriteUsers'" in script
    assert "read2: { executor: 'constant-vus', vus: 1, duration: LOAD_DURATION" in script
    study = (tmp_path / "load" / "study.yaml").read_text()
    assert "- {name: read, exec: readUsers, weight: 7} # 1 request" in study and "expected_users: 11" in study
    assert draft.url is None and any("https://shop.example" in note for note in draft.notes)
    assert "${many} is 7, ${__P(writers,3)} is 3" in " ".join(draft.notes)


@pytest.mark.parametrize(
    ("users", "taken"),
    [("-5", "1"), ("1e12", "100,000"), ("many", "1"), ("2.5", "2"), ("0", "1"), ("${unknown}", "1"), ("", "1")],
)
def test_a_number_of_threads_that_is_none_is_said_with_what_is_taken_instead(
    tmp_path: Path, users: str, taken: str
) -> None:
    """Seen: each of these became 1 without a word."""
    draft, script = draft_of(tmp_path, HOST, threads("Read", sampler("GET", "/a"), users=users, loops=2))
    told = f"'{users}'" if users else "not stated"
    words = f"thread group 'Read': its number of threads is {told}, {taken} is taken instead."
    assert [note for note in draft.notes if note.endswith(words)] and f"vus: {taken.replace(',', '')}," in script


def test_times_and_loops_that_are_no_numbers_are_said_and_plain_ones_are_not(tmp_path: Path) -> None:
    times = {"ThreadGroup__ramp_time": "-3", "ThreadGroup__scheduler": True, "ThreadGroup__duration": "long"}
    draft, _ = draft_of(tmp_path, HOST, threads("Read", sampler("GET", "/a"), users="3", loops="-7", **times))
    notes = " ".join(draft.notes)
    assert "its ramp-up time is '-3', 0 s is taken instead." in notes
    assert "its duration is 'long', 0 s is taken instead." in notes
    assert "its number of loops is '-7', 1 is taken instead." in notes and "number of threads" not in notes
    (tmp_path / "plain").mkdir()
    draft, _ = draft_of(tmp_path / "plain", HOST, threads("Read", sampler("GET", "/a"), users="3", loops=4))
    assert "taken instead" not in " ".join(draft.notes)


def test_everything_that_is_left_out_is_named_with_its_reason(tmp_path: Path) -> None:
    file = '<elementProp name="HTTPsampler.Files"><collectionProp name="HTTPFileArgs.files">' \
        '<elementProp name="f"><stringProp name="File.path">f.txt</stringProp></elementProp>' \
        "</collectionProp></elementProp>"  # fmt: skip
    draft, script = draft_of(
        tmp_path,
        HOST,
        threads(
            "a",
            sampler(
                "GET", "/a", below=element("XPathExtractor", "title") + element("JSR223PostProcessor", script="x()")
            )
            + sampler("GET", "/else", HTTPSampler__domain="other.example")
            + sampler("POST", "/up", given=file)
            + element("JDBCSampler", "query")
            + element("IfController", "odd", IfController__condition="${__groovy(x.y())}", below=sampler("GET", "/odd"))
            + element("HTTPSamplerProxy", "off", on=False, HTTPSampler__path="/off")
            + sampler("GET", "/t", given=arguments([("at", "${__timeShift(,,P1D,,)}")]))
            + sampler("GET", "/s", below=assertion("response_message", 2, "OK")),
        ),
        element("UltimateThreadGroup", "u"),
    )
    reasons = {one.request: one.reason for one in draft.left_out}
    assert "XPath" in reasons["XPathExtractor title"]
    assert "another language" in reasons["JSR223PostProcessor"]
    assert reasons["HTTPSamplerProxy GET /else"] == "it asks another address, https://other.example"
    assert reasons["HTTPSamplerProxy POST /up"] == "it uploads a file"
    assert reasons["JDBCSampler query"] == "it has no counterpart in a script"
    assert "condition" in reasons["IfController odd"] and "disabled" in reasons["1 element"]
    assert "not imported" in reasons["${__timeShift}"] and "plugin" in reasons["UltimateThreadGroup u"]
    assert "no script sees" in reasons["ResponseAssertion Response Assertion"]
    for path in ("/else", "/up", "/odd", "/off", "other.example"):
        assert path not in script
    assert all(reason in " ".join(str(draft).split()) for reason in ("it uploads a file", "it asks another address"))


def test_timers_in_scope_add_up_before_a_request(tmp_path: Path) -> None:
    outer = element("ConstantTimer", ConstantTimer__delay="${pause}")
    own = element("UniformRandomTimer", ConstantTimer__delay="10", RandomTimer__range="20.0")
    pace = element("ConstantThroughputTimer", throughput="60.0", calcMode=2)
    _, script = draft_of(tmp_path, HOST, threads("a", outer + sampler("GET", "/a", below=own + pace), users=3))
    waits = "pause(number(value(vars, 'pause')) + number('10') + Math.random() * number('20.0'));"
    assert script.index("pace(vars, 1, number('60.0'), 3);") < script.index(waits) < script.index("path: '/a'")


def test_a_file_of_rows_that_is_not_there_is_said(tmp_path: Path) -> None:
    rows = element("CSVDataSet", filename="gone.csv", variableNames="id", delimiter="\\t", shareMode="shareMode.all")
    draft, script = draft_of(tmp_path, HOST, threads("a", rows + sampler("GET", "/${id}")))
    assert any("gone.csv is not there" in note for note in draft.notes)
    assert "rows('../gone.csv', '\\t', [\"id\"], false, false)" in script


def test_a_file_of_rows_from_elsewhere_is_said_as_its_content_goes_to_the_target(tmp_path: Path) -> None:
    """Seen: a stranger's plan read `../../../../etc/passwd`, and the run sent its rows in paths without a word."""
    (tmp_path / "private.csv").write_text("a,b\n1,2\n")
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "own.csv").write_text("a,b\n1,2\n")
    parts = [
        element("CSVDataSet", filename=name, variableNames="id", delimiter=",", shareMode="shareMode.all")
        for name in ("../private.csv", "own.csv")
    ]
    draft, _ = draft_of(tmp_path / "plan", HOST, threads("a", "".join(parts) + sampler("GET", "/${id}")))
    said = [note for note in draft.notes if "which is not beside the plan" in note]
    assert len(said) == 1 and str(tmp_path / "private.csv") in said[0]


def test_names_of_others_end_no_comment_and_no_text(tmp_path: Path) -> None:
    name = "*/ `${evil()}` ' </script>\n"
    _, script = draft_of(tmp_path, HOST, threads(name, sampler("GET", "/`${x}'", name=name)))
    assert "evil()" not in script.replace("\\'", "").split("name: '")[0]
    assert "path: `/\\`${value(vars, 'x')}'`" in script


def test_passwords_and_tokens_of_a_plan_are_not_written(tmp_path: Path) -> None:
    draft, script = draft_of(
        tmp_path,
        variables(admin_password="s3cr3t-1", user="somebody", token="${__P(token,)}"),
        HOST,
        headers({"Authorization": "Bearer s3cr3t-2", "X-Tenant": "diku", "X-Token": "${token}"}),
        threads(
            "a",
            sampler("POST", "/login", given=body('{"user": "x", "password": "s3cr3t-3", "code": "A1"}'))
            + sampler("GET", "/a", given=arguments([("api_key", "s3cr3t-4"), ("q", "1")])),
        ),
    )
    written_all = script + (tmp_path / "load" / "study.yaml").read_text() + str(draft) + str(draft.to_json())
    assert "s3cr3t" not in written_all and '"code": "A1"' in script and "diku" in script
    names = {"ADMIN_PASSWORD", "AUTHORIZATION", "PASSWORD", "API_KEY"}
    assert {name for name, _ in draft.secrets} == {f"SECRET_{one}" for one in names}
    assert "property('SECRET_PASSWORD', '')" in script and "-e SECRET_PASSWORD=…" in str(draft)
