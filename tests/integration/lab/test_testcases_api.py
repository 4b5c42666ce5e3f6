"""The RPC methods of the lab testcases, each on SQLite and on PostgreSQL."""

from __future__ import annotations

import contextlib
import json
import xmlrpc.client
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from asgi_client import TestClient
from postgresql_server import own_database
from sqlalchemy import func, select

from plimsoll.errors import InputError
from plimsoll_lab.database import Database
from plimsoll_lab.seeded_data import Wanted
from plimsoll_lab.testcases import schema as s
from plimsoll_lab.testcases.app import LARGEST_BODY_BYTES, create_app
from plimsoll_lab.testcases.data import open_data
from plimsoll_lab.testcases.entities import MOST_IN_A_PATTERN
from plimsoll_lab.testcases.methods import METHODS, Store
from plimsoll_lab.testcases.queries import Fixed
from plimsoll_lab.testcases.sessions import Sessions
from plimsoll_lab.testcases.values import INVALID_PARAMS, LARGEST_ID
from plimsoll_lab.testcases.variants import STATIC_ANSWERS

CASES = 120


@dataclass
class Lab:
    """A client of the lab, logged in, and the database behind it."""

    client: TestClient
    users: list[dict[str, Any]]
    database: Database

    def log_in(self, username: str = "tester1") -> None:
        self.client.cookies.clear()
        password = next(user["password"] for user in self.users if user["username"] == username)
        self("Auth.login", username, password)

    def send(self, body: Any) -> Any:
        content = body if isinstance(body, bytes) else json.dumps(body)
        return self.client.post("/json-rpc/", content=content, headers={"Content-Type": "application/json"})

    def __call__(self, method: str, *params: Any) -> Any:
        answer = self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        assert answer.status_code == 200, answer.text
        assert "error" not in answer.json(), answer.text
        return answer.json()["result"]

    def error(self, method: str, *params: Any) -> dict[str, Any]:
        answer = self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        assert answer.status_code == 200, answer.text
        error = answer.json()["error"]
        assert error["message"], "an error has words"
        return dict(error)

    def count(self, table: Any) -> int:
        with self.database.engine.connect() as connection:
            return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


@contextlib.contextmanager
def serving(directory: Path, dsn: str | None = None, recount: bool = False) -> Iterator[Lab]:
    wanted = Wanted(CASES, seed=1, reset=True)
    with contextlib.closing(open_data(directory, wanted, dsn, say=lambda _: None)) as data:
        with data.database.engine.begin() as connection:
            fixed = Fixed.load(connection)
        with TestClient(create_app(Store(data.database, Sessions(), fixed, recount), data.restore)) as client:
            lab = Lab(client, json.loads((directory / "users.json").read_text()), data.database)
            lab.log_in()
            yield lab


@pytest.fixture(scope="module")
def testcases_dsn(postgresql_dsn: str) -> str:
    """A database of its own on the tests' server: the tracker has tables of the same names."""
    return own_database(postgresql_dsn, "testcases")


@pytest.fixture(params=["sqlite", "postgresql"])
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lab]:
    dsn = request.getfixturevalue("testcases_dsn") if request.param == "postgresql" else None
    with serving(tmp_path, dsn) as ready:
        yield ready


def made(lab: Lab, size: int) -> dict[str, Any]:
    """What the report's script makes, with as many cases and runs; returns the numbers of its parts."""
    product = lab("Product.create", {"name": f"Product {lab.count(s.products)}", "classification": 1})["id"]
    version = lab("Version.create", {"product": product, "value": "ver"})["id"]
    values = {"name": "TP", "text": "", "type": 7, "product": product, "product_version": version, "is_active": True}
    plan = lab("TestPlan.create", values)["id"]
    category = lab("Category.filter", {"product": product})[0]["id"]
    confirmed = lab("TestCaseStatus.filter", {"is_confirmed": True})[0]["id"]
    shared = {"product": product, "category": category, "priority": 1, "case_status": confirmed}
    cases = [lab("TestCase.create", {"summary": f"Case {n}", **shared})["id"] for n in range(size)]
    for case in cases:
        lab("TestPlan.add_case", plan, case)
    build = lab("Build.create", {"name": "b", "description": "d", "version": version})["id"]
    run_values = {"summary": "TR", "manager": 1, "plan": plan, "build": build}
    runs = [lab("TestRun.create", run_values)["id"] for _ in range(size)]
    return {
        "product": product,
        "version": version,
        "plan": plan,
        "cases": cases,
        "build": build,
        "runs": runs,
        **shared,
    }


def test_sort_keys_end_at_the_largest_number_that_both_protocols_hold(lab: Lab) -> None:
    parts = made(lab, 2)
    run, (first, second) = parts["runs"][0], parts["cases"]
    [execution] = lab("TestRun.add_case", run, first)
    lab("TestExecution.update", execution["id"], {"sortkey": LARGEST_ID})
    [added] = lab("TestRun.add_case", run, second)
    assert added["sortkey"] == LARGEST_ID
    call = xmlrpc.client.dumps(({"run": run},), "TestExecution.filter")
    answer = lab.client.post("/xml-rpc/", content=call, headers={"Content-Type": "text/xml"})
    assert answer.status_code == 200
    (found,), _ = xmlrpc.client.loads(answer.text)
    assert isinstance(found, list) and [one["sortkey"] for one in found] == [LARGEST_ID] * 2


@pytest.mark.parametrize("comparison", ["icontains", "startswith"])
def test_a_part_of_a_text_that_is_too_long_to_be_searched_is_told_so(lab: Lab, comparison: str) -> None:
    key = f"summary__{comparison}"
    assert lab("TestCase.filter", {key: "%_" * (MOST_IN_A_PATTERN // 2)}) == []
    assert lab("TestCase.filter", {key: "🐌" * MOST_IN_A_PATTERN}) == []
    error = lab.error("TestCase.filter", {key: "x" * (MOST_IN_A_PATTERN + 1)})
    assert error["code"] == INVALID_PARAMS and str(MOST_IN_A_PATTERN) in error["message"].replace(",", "")


def test_the_reports_script_leaves_r_squared_results(lab: Lab) -> None:
    before = lab.count(s.executions)
    parts = made(lab, 3)
    passed = lab("TestExecutionStatus.filter", {"weight__gt": 0})[0]["id"]
    for run in parts["runs"]:
        for place, case in enumerate(parts["cases"], start=1):
            [execution] = lab("TestRun.add_case", run, case)
            assert (execution["status"], execution["sortkey"]) == (1, 10 * place)
            updated = lab("TestExecution.update", execution["id"], {"status": passed})
            assert (updated["status"], updated["tested_by"]) == (passed, 1) and updated["stop_date"]
    assert lab.count(s.executions) == before + 9
    found = lab("TestExecution.filter", {"run__in": parts["runs"]})
    assert len(found) == 9 and {row["status__name"] for row in found} == {"PASSED"}
    assert all(run["stop_date"] for run in lab("TestRun.filter", {"plan": parts["plan"]})), "complete runs have ended"
    [entry] = lab("TestExecution.history", found[0]["id"])
    assert entry["history_user__username"] == "tester1"


def test_the_orm_variant_does_the_same_without_rpc(lab: Lab) -> None:
    before = {table: lab.count(table) for table in (s.cases, s.plan_cases, s.runs, s.executions, s.execution_history)}
    assert lab.client.post("/orm/work?size=4").json() == {"calls": 10 + 3 * 4 + 2 * 16}
    added = {table.name: lab.count(table) - number for table, number in before.items()}
    assert added == {"cases": 4, "plan_cases": 4, "runs": 4, "executions": 16, "execution_history": 16}
    for size in ("", "0", "101", "-1", "x", "9" * 30, "²"):
        assert lab.client.post(f"/orm/work?size={size}").status_code == 400
    lab.client.cookies.clear()
    assert lab.client.post("/orm/work?size=1").status_code == 403


def test_the_static_variant_has_answers_of_the_size_of_the_real_ones(lab: Lab) -> None:
    parts = made(lab, 1)
    [execution] = lab("TestRun.add_case", parts["runs"][0], parts["cases"][0])
    real = {
        "TestRun.add_case": [execution],
        "TestExecution.update": lab("TestExecution.update", execution["id"], {"status": 4}),
        "TestPlan.add_case": lab("TestPlan.add_case", parts["plan"], parts["cases"][0]),
        "Category.filter": lab("Category.filter", {"product": parts["product"]}),
    }
    rows = lab.count(s.executions)
    for method in STATIC_ANSWERS:
        assert lab("Static.answer", method)
    for method, answer in real.items():
        assert len(json.dumps(lab("Static.answer", method))) == pytest.approx(len(json.dumps(answer)), rel=0.25)
    assert lab.count(s.executions) == rows
    assert lab.error("Static.answer", "Auth.login")["code"] == -32602


def test_adding_a_case_again_changes_nothing(lab: Lab) -> None:
    parts = made(lab, 1)
    run, case = parts["runs"][0], parts["cases"][0]
    assert lab("TestRun.add_case", run, case) == lab("TestRun.add_case", run, case)
    assert lab("TestPlan.add_case", parts["plan"], case)["sortkey"] == 10
    assert lab("TestRun.remove_case", run, case) == 1 and lab("TestRun.remove_case", run, case) == 0


def test_a_run_is_open_again_when_a_result_is_taken_back(lab: Lab) -> None:
    parts = made(lab, 1)
    [execution] = lab("TestRun.add_case", parts["runs"][0], parts["cases"][0])
    stops = []
    for status in (4, 1, 5):
        lab("TestExecution.update", execution["id"], {"status": status})
        stops.append(lab("TestRun.filter", {"pk": parts["runs"][0]})[0]["stop_date"])
    assert stops[0] and stops[1] is None and stops[2]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_recounting_gives_the_same_results(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    dsn = request.getfixturevalue("testcases_dsn") if kind == "postgresql" else None
    with serving(tmp_path, dsn, recount=True) as lab:
        test_a_run_is_open_again_when_a_result_is_taken_back(lab)


def test_searches_know_lookups_lists_and_relations(lab: Lab) -> None:
    assert [row["id"] for row in lab("TestCase.filter", {"pk__in": [3, 1]})] == [1, 3]
    assert len(lab("TestCase.filter", {})) == CASES == len(lab("TestRun.filter"))
    first = lab("TestCase.filter", {"pk": 1})[0]
    assert first["create_date"].startswith("2025-01-01T00:01")
    word = first["summary"][:5]
    assert 1 in [row["id"] for row in lab("TestCase.filter", {"summary__icontains": word.upper()})]
    assert lab("TestCase.filter", {"summary__startswith": "%"}) == []
    assert len(lab("TestExecution.filter", {"tested_by__isnull": True})) == len(
        lab("TestExecution.filter", {"status": 1})
    )
    assert lab("TestCase.filter", {"category__product": 999}) == []


def test_without_a_session_nothing_but_login_is_answered(lab: Lab) -> None:
    lab.client.cookies.clear()
    for method in METHODS:
        if method in ("Auth.login", "Auth.logout", "system.listMethods"):
            continue
        assert lab.error(method, {})["code"] == -32001
    lab.client.cookies.set("sessionid", "made up")
    assert lab.error("TestCase.filter", {})["code"] == -32001
    assert lab.error("Auth.login", "tester1", "wrong")["code"] == -32003
    assert lab.error("Auth.login", "nobody", "' OR 1=1 --")["code"] == -32003
    assert lab.client.post("/admin/reset").status_code == 403


def test_a_guest_reads_and_changes_nothing(lab: Lab) -> None:
    lab.log_in("guest")
    assert lab("Product.filter", {})
    for method in ("Product.create", "TestRun.add_case", "TestExecution.update", "TestCase.remove"):
        assert lab.error(method, {})["code"] == -32003
    lab("Auth.logout")
    assert lab.error("Product.filter", {})["code"] == -32001


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("Product.create", [], -32602),
        ("Product.create", [1, 2, 3], -32602),
        ("Product.create", ["x"], -32602),
        ("Product.create", [{}], -32602),
        ("Product.create", [{"name": "x" * 65, "classification": 1}], -32602),
        ("Product.create", [{"name": " ", "classification": 1}], -32602),
        ("Product.create", [{"name": "a\0b", "classification": 1}], -32602),
        ("Product.create", [{"name": "half \ud800", "classification": 1}], -32602),
        ("Product.create", [{"name": "x", "classification": "1"}], -32602),
        ("Product.create", [{"name": "x", "classification": True}], -32602),
        ("Product.create", [{"name": "x", "classification": 2**40}], -32602),
        ("Product.create", [{"name": "x", "classification": 99}], -32004),
        ("Product.create", [{"name": "Seeded product", "classification": 1}], -32009),
        ("Product.create", [{"name": "x", "classification": 1, "id; DROP TABLE products": 1}], -32602),
        ("Version.create", [{"value": "x", "product": 99}], -32004),
        ("Build.create", [{"name": "x", "version": 1, "is_active": "yes"}], -32602),
        ("TestPlan.create", [{"name": "x", "type": 99, "product": 1, "product_version": 1}], -32004),
        ("TestPlan.create", [{"name": "x", "type": 1, "product": 2, "product_version": 1}], -32602),
        ("TestCase.create", [{"summary": "x", "category": 99, "priority": 1, "case_status": 1}], -32004),
        ("TestRun.create", [{"summary": "x", "manager": 99, "plan": 1, "build": 1}], -32004),
        ("TestRun.add_case", [1, 99_999], -32004),
        ("TestRun.add_case", [[1], {}], -32602),
        ("TestRun.add_case", [-1, 1.5], -32602),
        ("TestExecution.update", [99_999, {"status": 4}], -32004),
        ("TestExecution.update", [1, {"status": 99}], -32004),
        ("TestExecution.update", [1, {"sortkey": 2**60}], -32602),
        ("TestExecution.history", [99_999], -32004),
        ("TestCase.remove", [{}], -32602),
        ("TestCase.remove", [{"pk": None}], -32602),
        ("TestCase.filter", [[]], -32602),
        ("TestCase.filter", [{"password": "x"}], -32602),
        ("TestCase.filter", [{"summary' OR '1'='1": "x"}], -32602),
        ("TestCase.filter", [{"pk": "1 OR 1=1"}], -32602),
        ("TestCase.filter", [{"pk__in": list(range(2000))}], -32602),
        ("TestCase.filter", [{"pk__in": 1}], -32602),
        ("TestCase.filter", [{"pk__icontains": "1"}], -32602),
        ("TestCase.filter", [{"is_automated__gt": True}], -32602),
        ("TestCase.filter", [{"summary__isnull": 1}], -32602),
        ("User.filter", [{"password__startswith": "a"}], -32602),
        ("No.such", [], -32601),
        ("__class__", [], -32601),
    ],
)
def test_a_wrong_call_is_answered_with_what_is_wrong(lab: Lab, method: str, params: list[Any], code: int) -> None:
    tables = (s.products, s.cases, s.runs, s.executions)
    before = [lab.count(table) for table in tables]
    assert lab.error(method, *params)["code"] == code
    assert [lab.count(table) for table in tables] == before
    with contextlib.suppress(TypeError, UnicodeEncodeError, OverflowError):  # what XML-RPC cannot write is no call
        content = xmlrpc.client.dumps(tuple(params), method, allow_none=True).encode()
        answer = lab.client.post("/xml-rpc/", content=content)
        assert answer.status_code in (200, 400)
        with pytest.raises(xmlrpc.client.Fault):
            xmlrpc.client.loads(answer.text)


def test_all_mistakes_of_a_call_are_told_at_once(lab: Lab) -> None:
    told = lab.error("TestPlan.create", {"nme": "x", "type": "7", "product": 1})["message"]
    assert all(word in told for word in ("'nme' is no field", "'name' is missing", "'type'", "'product_version'"))


@pytest.mark.parametrize("text", ["'; DROP TABLE cases; --", "käse 漢字 🐞", "<script>&amp;", "%_\\", "$1 :name ?"])
def test_any_text_is_kept_as_it_came(lab: Lab, text: str) -> None:
    values = {"summary": text, "text": text, "category": 1, "priority": 1, "case_status": 2}
    case = lab("TestCase.create", values)["id"]
    [found] = lab("TestCase.filter", {"summary": text})
    assert (found["id"], found["text"]) == (case, text)
    assert [row["id"] for row in lab("TestCase.filter", {"summary__icontains": text})] == [case]
    content = xmlrpc.client.dumps(({"pk": case},), "TestCase.filter").encode()
    [[by_xml]], _ = xmlrpc.client.loads(lab.client.post("/xml-rpc/", content=content).text)
    assert by_xml == found  # type: ignore[comparison-overlap]


def test_bodies_that_are_no_calls_are_refused_with_4xx(lab: Lab) -> None:
    for body in (b"", b"{", b"\xff", b"[]"):
        assert lab.send(body).status_code == 400
        assert lab.client.post("/xml-rpc/", content=body).status_code == 400
    assert lab.send({"method": 5}).json()["error"]["code"] == -32600
    for path in ("/json-rpc/", "/xml-rpc/"):
        assert lab.client.post(path, content=b" " * (LARGEST_BODY_BYTES + 1)).status_code == 413
        assert lab.client.get(path).status_code == 405
    assert lab.client.get("/nothing").status_code == 404


def test_a_list_of_calls_is_answered_in_order_and_a_notification_not(lab: Lab) -> None:
    first = {"method": "Priority.filter", "id": "a"}
    answers = lab.send([first, {"method": "KiwiTCMS.version"}, {"method": "x", "id": 2}, 7]).json()
    assert [answer["id"] for answer in answers] == ["a", 2, None]
    assert lab.send({"method": "KiwiTCMS.version"}).status_code == 204
    named = {"method": "TestRun.add_case", "id": 1, "params": {"case_id": 2, "run_id": 1}}
    assert lab.send(named).json()["result"][0]["case"] == 2
    private = {"method": "TestRun.add_case", "id": 1, "params": {"caller": 2, "run_id": 1}}
    assert lab.send(private).json()["error"]["code"] == -32602


def at_once(lab: Lab, calls: list[tuple[Any, ...]]) -> list[Any]:
    """The answers of calls that are sent at the same time."""

    def one(call: tuple[Any, ...]) -> Any:
        answer = lab.send({"id": 1, "method": call[0], "params": call[1:]})
        assert answer.status_code == 200, answer.text
        return answer.json()

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(one, calls))


def test_what_is_removed_while_others_use_it_is_told_and_nothing_else_is_lost(lab: Lab) -> None:
    parts = made(lab, 6)
    others = lab.count(s.executions)
    calls: list[tuple[Any, ...]] = []
    for case in parts["cases"]:
        for run in parts["runs"]:
            calls += [("TestRun.add_case", run, case)]
        calls += [("TestCase.remove", {"pk": case}), ("TestCase.remove", {"pk": case})]
    answers = at_once(lab, calls)
    codes = {answer["error"]["code"] for answer in answers if "error" in answer}
    assert codes <= {-32004, -32009}
    removed = [answer["result"] for call, answer in zip(calls, answers, strict=True) if call[0] == "TestCase.remove"]
    assert sum(removed) == len(parts["cases"]), "each case goes once"
    assert lab("TestExecution.filter", {"run__in": parts["runs"]}) == []
    assert lab.count(s.executions) == others


def test_the_same_case_added_by_many_at_once_is_in_the_run_once(lab: Lab) -> None:
    parts = made(lab, 1)
    answers = at_once(lab, [("TestRun.add_case", parts["runs"][0], parts["cases"][0])] * 16)
    assert len({answer["result"][0]["id"] for answer in answers}) == 1


def test_the_last_results_of_a_run_end_it_even_if_they_come_at_once(lab: Lab) -> None:
    parts = made(lab, 8)
    run = parts["runs"][0]
    executions = [lab("TestRun.add_case", run, case)[0]["id"] for case in parts["cases"]]
    answers = at_once(lab, [("TestExecution.update", number, {"status": 4}) for number in executions])
    assert all("result" in answer for answer in answers)
    assert lab("TestRun.filter", {"pk": run})[0]["stop_date"]


def test_reset_takes_the_data_back_to_the_seeded_state(lab: Lab) -> None:
    seeded = lab.client.get("/volume").json()
    made(lab, 2)
    assert lab.client.get("/volume").json() != seeded
    assert lab.client.post("/admin/reset").json() == seeded == {"cases": CASES, "runs": CASES, "executions": CASES}
    assert made(lab, 1)["cases"] == [CASES + 1]


def test_data_is_kept_until_reset_and_other_data_is_refused(tmp_path: Path) -> None:
    def opened(wanted: Wanted) -> None:
        open_data(tmp_path, wanted, say=lambda _: None).close()

    opened(Wanted(20, 1))
    opened(Wanted())
    with pytest.raises(InputError, match="20 seeded cases, not 30"):
        opened(Wanted(30))
    opened(Wanted(30, reset=True))
    opened(Wanted(30, 1))
    assert (tmp_path / "users.json").stat().st_mode & 0o777 == 0o600
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "testcases.db").write_text("no database " * 100)
    with pytest.raises(InputError, match="is no database of the lab"):
        open_data(tmp_path / "other", Wanted(), say=lambda _: None)
    with pytest.raises(InputError, match="Check --dsn") as told:
        open_data(tmp_path, Wanted(5), "postgresql://someone:hunter2@127.0.0.1:1/none", say=lambda _: None)
    assert "hunter2" not in str(told.value)
