"""JSON-RPC 2.0 and XML-RPC: bytes to calls, and answers to bytes. Pure.

Neither parser follows what comes from outside the body: an XML document with a DOCTYPE is refused before anything in it
is expanded, which rules out entity bombs and files of the server.
"""

from __future__ import annotations

import math
import xmlrpc.client
from dataclasses import dataclass
from typing import Any
from xml.parsers import expat

from plimsoll_lab.json_input import strict_json
from plimsoll_lab.testcases.values import INVALID_REQUEST, PARSE_ERROR, CallError

MOST_CALLS = 100
DEEPEST = 50


@dataclass(frozen=True)
class RpcCall:
    """One call of a body. `key`: JSON-RPC's id; `answered`: false for a notification."""

    method: str
    arguments: list[Any] | dict[str, Any]
    key: str | int | None = None
    answered: bool = True


@dataclass(frozen=True)
class Batch:
    """The calls of a JSON-RPC body, or in their place what is wrong with them; `listed`: they came as a list."""

    calls: tuple[RpcCall | CallError, ...]
    listed: bool


# --- JSON-RPC ------------------------------------------------------------------------------------------------------


def json_batch(body: bytes) -> Batch:
    """The calls of a body. Raises CallError if it is no JSON."""
    try:
        value = strict_json(body)
    except ValueError:  # so are UnicodeDecodeError and numbers of too many digits
        raise CallError(PARSE_ERROR, "The body is not JSON that can be read. Send one JSON-RPC 2.0 object.") from None
    if not isinstance(value, list):
        return Batch((_json_call(value),), listed=False)
    if not 1 <= len(value) <= MOST_CALLS:
        raise CallError(INVALID_REQUEST, f"A list of calls must hold 1 to {MOST_CALLS}.")
    return Batch(tuple(_json_call(one) for one in value), listed=True)


def _json_call(value: Any) -> RpcCall | CallError:
    if not isinstance(value, dict) or not isinstance(value.get("method"), str):
        return CallError(INVALID_REQUEST, 'A call is {"jsonrpc": "2.0", "id": 1, "method": NAME, "params": […]}.')
    key = value.get("id")
    if isinstance(key, bool) or not isinstance(key, str | int | None):
        return CallError(INVALID_REQUEST, "'id' must be text, a whole number or null.")
    arguments = value.get("params", [])
    if not isinstance(arguments, list | dict):
        return CallError(INVALID_REQUEST, "'params' must be a list or an object.")
    if not is_shallow(arguments):
        return CallError(INVALID_REQUEST, f"'params' must be nested at most {DEEPEST} deep and hold finite numbers.")
    return RpcCall(value["method"], arguments, key, "id" in value)


def json_answer(key: str | int | None, result: Any) -> dict[str, Any]:
    """The answer of one call."""
    return {"id": key, "jsonrpc": "2.0", "result": result}


def json_error(key: str | int | None, error: CallError) -> dict[str, Any]:
    """The error of one call."""
    return {"id": key, "jsonrpc": "2.0", "error": {"code": error.code, "message": error.text}}


def is_shallow(value: Any) -> bool:
    """Whether it is nested at most DEEPEST deep and every number is finite."""
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        if any(isinstance(one, float) and not math.isfinite(one) for one in level):
            return False
        inside = [one for one in level if isinstance(one, dict | list)]
        if not inside:
            return True
        level = [part for one in inside for part in (one.values() if isinstance(one, dict) else one)]
    return False


# --- XML-RPC -------------------------------------------------------------------------------------------------------


class _Refused(Exception):
    """The document holds what no call needs."""


def xml_call(body: bytes) -> RpcCall:
    """The call of a body. Raises CallError."""
    parser, reader = expat.ParserCreate(), xmlrpc.client.Unmarshaller(use_builtin_types=True)

    def refuse(*_: Any) -> None:
        raise _Refused

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    try:
        reader.xml(None, None)  # type: ignore[arg-type]  # expat decodes
        parser.Parse(body, True)
        arguments, method = list(reader.close()), reader.getmethodname()  # type: ignore[no-untyped-call]
    except _Refused:
        raise CallError(
            PARSE_ERROR, "A document type or an entity is not accepted. Send the methodCall alone."
        ) from None
    except Exception as error:  # the standard library's reader raises what its types' constructors raise
        raise CallError(PARSE_ERROR, f"The body is no XML-RPC call ({type(error).__name__}).") from None
    if not method:
        raise CallError(INVALID_REQUEST, "The call names no method. Send <methodCall><methodName>NAME</methodName>….")
    if not is_shallow(arguments):
        raise CallError(INVALID_REQUEST, f"Arguments must be nested at most {DEEPEST} deep and hold finite numbers.")
    return RpcCall(str(method), arguments)


def xml_answer(result: Any) -> bytes:
    """The methodResponse of a result."""
    return xmlrpc.client.dumps((result,), methodresponse=True, allow_none=True).encode()


def xml_error(error: CallError) -> bytes:
    """The methodResponse of a fault."""
    fault = xmlrpc.client.Fault(error.code, error.text)
    return xmlrpc.client.dumps(fault, methodresponse=True).encode()
