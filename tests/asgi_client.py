"""Starlette's client, which asks an application without a socket."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # Starlette asks for another client than httpx
    warnings.simplefilter("ignore", UserWarning)
    from starlette.testclient import TestClient

__all__ = ["TestClient"]
