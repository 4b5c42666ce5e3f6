"""The OpenAPI document of the accounts service, and the limits that it enforces. Pure."""

from __future__ import annotations

import re

from plimsoll_lab.openapi import Json, listed, operation, record

MOST_USERNAMES = 100
SIZES = {"full": 500, "large": 120, "medium": 50, "small": 30}
USERNAME = re.compile(r"[A-Za-z0-9_.@+-]{1,32}")
NAME_IN_WORDS = "each of 1 to 32 of the letters A to Z, a to z, 0 to 9 and _.@+-"
_TEXT: Json = {"type": "string"}


def document() -> Json:
    """OpenAPI 3.1, as /openapi.json serves it."""
    names = listed({"type": "string", "pattern": f"^{USERNAME.pattern}$"}, 1, MOST_USERNAMES)
    username = {"name": "username", "in": "query", "required": True, "style": "form", "explode": False, "schema": names}
    told = record({"service": _TEXT, "requests": {"type": "integer", "minimum": 0}})
    image = record({"has_image": {"type": "boolean"}, **{f"image_url_{size}": _TEXT for size in SIZES}})
    profiles = listed(record({"username": _TEXT, "profile_image": image}), most=MOST_USERNAMES)
    return {
        "openapi": "3.1.0",
        "info": {"title": "The accounts of Plimsoll's discussions", "version": "1"},
        "paths": {
            "/api/user/v1/accounts": {"get": operation("listAccounts", 200, profiles, (400, 401, 503), [username])},
            "/status": {"get": operation("status", 200, told, (), free=True)},
            "/healthz": {"get": operation("health", 200, told, (), free=True)},
        },
        "security": [{"key": []}],
        "components": {
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-API-Key"}},
            "schemas": {"Error": record({"detail": {"type": "string", "minLength": 1}})},
        },
    }
