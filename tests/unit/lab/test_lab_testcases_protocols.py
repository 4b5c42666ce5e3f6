"""JSON-RPC and XML-RPC of the lab testcases: what a body may be, and what is told otherwise."""

from __future__ import annotations

import json
import xmlrpc.client
from typing import Any

import pytest

from plimsoll_lab.json_input import ascii_json
from plimsoll_lab.testcases.protocols import (
    DEEPEST,
    MOST_CALLS,
    RpcCall,
    json_batch,
    json_error,
    xml_answer,
    xml_call,
    xml_error,
)
from plimsoll_lab.testcases.values import INVALID_REQUEST, PARSE_ERROR, CallError

CALL = {"jsonrpc": "2.0", "id": 7, "method": "Product.filter", "params": [{"name": "x"}]}


def only(body: Any) -> RpcCall | CallError:
    [call] = json_batch(json.dumps(body).encode()).calls
    return call


def test_a_call_a_list_of_calls_and_a_notification_are_told_apart() -> None:
    assert only(CALL) == RpcCall("Product.filter", [{"name": "x"}], 7)
    batch = json_batch(json.dumps([CALL, {"method": "x"}]).encode())
    assert batch.listed and batch.calls[1] == RpcCall("x", [], None, answered=False)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"9" * 5000, b'{"id": \xed\xa0\x80}', b"nul"])
def test_what_is_no_json_is_a_parse_error(body: bytes) -> None:
    with pytest.raises(CallError) as told:
        json_batch(body)
    assert told.value.code == PARSE_ERROR


@pytest.mark.parametrize(
    "change",
    [{"method": 1}, {"method": None}, {"params": "x"}, {"params": 1}, {"id": {}}, {"id": 1.5}, {"id": True}],
)
def test_a_call_of_wrong_parts_is_an_invalid_request(change: dict[str, Any]) -> None:
    told = only({**CALL, **change})
    assert isinstance(told, CallError) and told.code == INVALID_REQUEST


def test_too_many_calls_too_deep_arguments_and_infinite_numbers_are_refused() -> None:
    for size in (0, MOST_CALLS + 1):
        with pytest.raises(CallError, match="1 to"):
            json_batch(json.dumps([CALL] * size).encode())
    deep: Any = []
    for _ in range(DEEPEST + 1):
        deep = [deep]
    assert isinstance(only({**CALL, "params": deep}), CallError)
    for params in ([float("inf")], [float("nan")]):
        with pytest.raises(CallError, match="not JSON"):
            only({**CALL, "params": params})


def test_a_whole_number_may_be_written_with_a_point() -> None:
    [call] = json_batch(b'{"method": "x", "params": [7.0, 7.5, 1e3]}').calls
    assert isinstance(call, RpcCall) and [repr(one) for one in call.arguments] == ["7", "7.5", "1000"]


def test_an_id_that_utf8_cannot_write_is_given_back_as_it_came() -> None:
    [call] = json_batch(b'{"method": "x", "id": "\\ud800"}').calls
    assert isinstance(call, RpcCall)
    assert json.loads(ascii_json(json_error(call.key, CallError(1, "no")))) == {
        "id": "\ud800",
        "jsonrpc": "2.0",
        "error": {"code": 1, "message": "no"},
    }


def test_an_xml_call_is_read_and_answered() -> None:
    body = xmlrpc.client.dumps((7, {"summary": "käse 漢字 🐞"}), "TestCase.create").encode()
    assert xml_call(body) == RpcCall("TestCase.create", [7, {"summary": "käse 漢字 🐞"}])
    assert xmlrpc.client.loads(xml_answer([{"a": None}]))[0] == ([{"a": None}],)
    with pytest.raises(xmlrpc.client.Fault, match="no such <thing>") as told:
        xmlrpc.client.loads(xml_error(CallError(-32004, "no such <thing>")))
    assert told.value.faultCode == -32004


BOMB = """<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<methodCall><methodName>&b;</methodName></methodCall>"""
OUTSIDE = """<!DOCTYPE r [<!ENTITY f SYSTEM "file:///etc/passwd">]>
<methodCall><methodName>x</methodName><params><param><value>&f;</value></param></params></methodCall>"""


@pytest.mark.parametrize("document", [BOMB, OUTSIDE, "<!DOCTYPE x><methodCall/>"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_with_entities_is_refused_whatever_its_encoding(document: str, encoding: str) -> None:
    with pytest.raises(CallError, match="entity is not accepted"):
        xml_call(document.encode(encoding))


def value_of(text: str) -> bytes:
    return f"<methodCall><methodName>x</methodName><params><param>{text}</param></params></methodCall>".encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<a>",
        b"\x00\x01",
        b"<methodCall></methodCall>",
        b"<methodResponse><params/></methodResponse>",
        value_of("<value><int>one</int></value>"),
        value_of("<value><int>" + "9" * 5000 + "</int></value>"),
        value_of("<value><dateTime.iso8601>never</dateTime.iso8601></value>"),
        value_of("<value><base64>a</base64></value>"),
        value_of("<value><double>nan</double></value>"),
        value_of("<value><struct><member><value>1</value></member></struct></value>"),
        value_of("<value><array><data>" * 200 + "</data></array></value>" * 200),
    ],
)
def test_what_is_no_xml_call_is_told_as_an_error_of_the_call(body: bytes) -> None:
    with pytest.raises(CallError) as told:
        xml_call(body)
    assert told.value.code in (PARSE_ERROR, INVALID_REQUEST)
