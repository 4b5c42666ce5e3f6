"""The OpenAPI document of the testcases: the calls of /json-rpc/ and /xml-rpc/ as bodies, from what METHODS take. Pure.

A wrong call is answered as both protocols ask for, with HTTP 200 and an error; 400 is what is no call at all.
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll_lab.json_input import VISIBLE_LETTER
from plimsoll_lab.openapi import JSON_TYPE, Json, listed, operation, parameter, record, ref
from plimsoll_lab.testcases.entities import MOST_IN_A_LIST, Entity
from plimsoll_lab.testcases.methods import METHODS, Argument
from plimsoll_lab.testcases.protocols import MOST_CALLS
from plimsoll_lab.testcases.values import LARGEST_ID, LONGEST_TEXT, Field
from plimsoll_lab.testcases.variants import MOST_CASES

COOKIE = "sessionid"

# Control characters but for tab and ends of lines, and the two that XML knows as no characters.
_NO_LETTERS = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff"
_LETTERS = f"[^{_NO_LETTERS}]*"
_VISIBLE = rf"{VISIBLE_LETTER[:-1]}\ufffe\uffff]"
_TEXT: Json = {"type": "string"}
_COUNT: Json = {"type": "integer", "minimum": 0}
_NULL: Json = {"type": "null"}
_XML_TYPE = "text/xml"


def document() -> Json:
    """OpenAPI 3.1, as /openapi.json serves it."""
    volume = record({"cases": _COUNT, "runs": _COUNT, "executions": _COUNT})
    calls = record({"calls": {"type": "integer", "minimum": 1}})
    size = parameter("size", {"type": "integer", "minimum": 1, "maximum": MOST_CASES}, required=True)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Plimsoll's test case management, a reference target",
            "version": "1",
            "description": "Auth.login gives the cookie sessionid, without which most calls are answered with an error "
            "of their protocol.",
        },
        "paths": {
            "/json-rpc/": {"post": _json_rpc()},
            "/xml-rpc/": {"post": _xml_rpc()},
            "/orm/work": {"post": operation("ormWork", 200, calls, (400, 403, 503), [size])},
            "/admin/reset": {"post": operation("reset", 200, volume, (403, 503))},
            "/healthz": {"get": operation("health", 200, record({"status": _TEXT}), (), free=True)},
            "/volume": {"get": operation("volume", 200, volume, (), free=True)},
        },
        "security": [{"session": []}],
        "components": {
            "securitySchemes": {"session": {"type": "apiKey", "in": "cookie", "name": COOKIE}},
            "schemas": _schemas(),
        },
    }


def _json_rpc() -> Json:
    body = {"oneOf": [ref("Call"), listed(ref("Call"), 1, MOST_CALLS)]}
    answer = {"oneOf": [ref("Answer"), listed(ref("Answer"), 1, MOST_CALLS)]}
    found = operation("jsonRpc", 200, answer, (413,), body=body)
    found["responses"] |= {
        "204": {"description": "Done; nothing but notifications, which have no id and want no answer."},
        "400": {"description": "The body is no JSON.", "content": {JSON_TYPE: {"schema": ref("Answer")}}},
    }
    return {**found, "security": [{}, {"session": []}]}


def _xml_rpc() -> Json:
    told = {_XML_TYPE: {"schema": {"type": "object"}}}
    error = {JSON_TYPE: {"schema": ref("Error")}}
    return {
        "operationId": "xmlRpc",
        "description": "The same methods. Arguments are positional, objects are structs.",
        "security": [{}, {"session": []}],
        "requestBody": {"required": True, "content": {_XML_TYPE: {"schema": ref("methodCall")}}},
        "responses": {
            "200": {"description": "A methodResponse: the result, or a fault.", "content": told},
            "400": {"description": "The body is no methodCall.", "content": told},
            "413": {"description": "The body is too large.", "content": error},
        },
    }


# --- calls ---------------------------------------------------------------------------------------------------------


def _schemas() -> Json:
    entities = {name: rule for method in METHODS.values() for name, rule in _entities(method.takes)}
    failure = record({"code": {"type": "integer"}, "message": {"type": "string", "minLength": 1}})
    answered = {"id": {"type": ["string", "integer", "null"]}, "jsonrpc": {"const": "2.0"}}
    return {
        "Call": {"oneOf": [_call(name, method.takes) for name, method in METHODS.items()]},
        "Answer": {"oneOf": [record({**answered, "result": {}}), record({**answered, "error": failure})]},
        "methodCall": _xml_call(),
        "Error": record({"error": {"type": "string", "minLength": 1}}),
        "Id": _id(),
        "Number": _number(),
        "Text": _text(LONGEST_TEXT, blank=True),
        **entities,
    }


def _entities(takes: Mapping[str, Argument]) -> list[tuple[str, Json]]:
    return [(_lookups_name(rule), _lookups(rule)) for rule in takes.values() if isinstance(rule, Entity)]


def _call(name: str, takes: Mapping[str, Argument]) -> Json:
    """The call of one method; its arguments are a list in the order of the names, or an object."""
    arguments = {key: _argument(rule) for key, rule in takes.items()}
    needed = [key for key, rule in takes.items() if not isinstance(rule, Entity)]
    in_order: Json = {"type": "array", "minItems": len(needed), "maxItems": len(arguments)}
    if arguments:
        in_order["prefixItems"] = list(arguments.values())
    call = {
        "jsonrpc": {"default": "2.0"},
        "id": {"type": ["string", "integer", "null"]},
        "method": {"const": name},
        "params": {"oneOf": [in_order, record(arguments, needed, closed=True)]},
    }
    return record(call, ["method", "params"] if needed else ["method"])


def _argument(rule: Argument) -> Json:
    match rule:
        case Field():
            return _value(rule)
        case Entity():
            return {"anyOf": [ref(_lookups_name(rule)), _NULL]}
        case _:
            fields = {name: _field(one) for name, one in rule.items()}
            return record(fields, [name for name, one in rule.items() if one.required], closed=True)


def _field(rule: Field) -> Json:
    return _value(rule) if rule.required else {"anyOf": [_value(rule), _NULL]}


def _value(rule: Field) -> Json:
    match rule.kind:
        case "id":
            return ref("Id")
        case "number":
            return ref("Number")
        case "flag":
            return {"type": "boolean"}
        case _:
            return {"enum": list(rule.among)} if rule.among else _text(rule.most, rule.blank)


def _lookups_name(entity: Entity) -> str:
    """After the one method that takes them, as entities have no name."""
    [name] = [name for name, method in METHODS.items() if entity in method.takes.values()]
    return f"LookupsOf{name.partition('.')[0]}"


def _lookups(entity: Entity) -> Json:
    found: Json = {}
    for key, comparison, kind in entity.lookups():
        value = ref("Text") if kind.kind == "text" else _value(kind)
        match comparison:
            case "exact":
                found[key] = {"anyOf": [value, _NULL]}
            case "in":
                found[key] = listed(value, most=MOST_IN_A_LIST)
            case "isnull":
                found[key] = {"type": "boolean"}
            case _:
                found[key] = value
    return record(found, (), closed=True)


def _id() -> Json:
    return {"type": "integer", "minimum": 1, "maximum": LARGEST_ID}


def _number() -> Json:
    return {"type": "integer", "minimum": -LARGEST_ID, "maximum": LARGEST_ID}


def _text(most: int, blank: bool) -> Json:
    if blank:
        return {"type": "string", "maxLength": most, "pattern": f"^{_LETTERS}$"}
    return {"type": "string", "minLength": 1, "maxLength": most, "pattern": f"^{_LETTERS}{_VISIBLE}{_LETTERS}$"}


def _xml_call() -> Json:
    """The frame of a call; a value is one of the simple types here, though structs and arrays may stand there too."""
    text = {"type": "string", "pattern": "^[a-zA-Z0-9 ]*$", "maxLength": 100}
    types = {"string": text, "int": ref("Number"), "boolean": {"enum": [0, 1]}}
    value = {"oneOf": [record({name: schema}, closed=True) for name, schema in types.items()]}
    params = record({"param": listed(record({"value": value}, closed=True))}, closed=True)
    call = record({"methodName": {"enum": list(METHODS)}, "params": params}, ["methodName"], closed=True)
    return {**call, "xml": {"name": "methodCall"}}
