"""What the OpenAPI documents say is what the services do: schemathesis sends what they allow and what they forbid."""

from __future__ import annotations

from pathlib import Path

import pytest
from configurations_client import Answering, configurations
from openapi_run import assert_schemathesis_finds_nothing

# A schema cannot say that exactly one of the parameters context and configuration is wanted, or what contributes.
ARTIFACTS = ("listArtifacts", "createArtifact", "showArtifact", "changeArtifact", "deleteArtifact")
LANGUAGES = {
    "gc": ("createConfiguration", "setContribution"),
    "rm": ARTIFACTS,
    "qm": ARTIFACTS,
    "cm": ARTIFACTS,
    "jts": (),
    "whole": (),
}


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> object:
    with configurations(tmp_path_factory.mktemp("configurations"), artifacts=22) as whole:
        yield whole


@pytest.mark.parametrize("service", LANGUAGES)
def test_schemathesis_finds_nothing(ready: Answering, service: str, tmp_path: Path) -> None:
    token = {"Authorization": ready.client.headers["Authorization"]}
    url = {**ready.urls, "whole": ready.ready["url"]}[service]
    assert_schemathesis_finds_nothing(url, tmp_path, token, languages=LANGUAGES[service])
    assert "Traceback" not in ready.errors.read_text()
    assert not any(count for name, count in ready.telemetry().items() if name.endswith(".restarts"))
