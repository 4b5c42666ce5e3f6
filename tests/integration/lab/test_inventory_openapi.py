"""What the OpenAPI document says is what the inventory does: schemathesis sends what it allows and what it forbids."""

from __future__ import annotations

from pathlib import Path

from inventory_client import serving
from openapi_run import assert_schemathesis_finds_nothing

# Queries are CQL, and what is replaced must have the id of the path.
LANGUAGES = ("find_instances", "search_storage", "export_ids", "replace_instance")


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, instances=20) as inventory:
        token = {"X-Okapi-Token": inventory.client.headers["X-Okapi-Token"]}
        assert_schemathesis_finds_nothing(inventory.ready["url"], tmp_path, token, languages=LANGUAGES)
        assert "Traceback" not in inventory.errors()
        assert inventory.telemetry()["storage.restarts"] == 0
