"""What lets somebody in is never kept as a value."""

from __future__ import annotations

import pytest

from plimsoll.drafts.queries import has_secret, is_secret_parameter, without_secrets


@pytest.mark.parametrize(
    "name",
    [
        "token",
        "access_token",
        "api_key",
        "apikey",
        "key",
        "X-Amz-Signature",
        "sig",
        "signature",
        "password",
        "passwd",
        "pwd",
        "auth",
        "sid",
        "jsessionid",
        "code",
        "client_secret",
        "jwt",
        "X-API-Key",
        "user%5Bpassword%5D",
        "session",
    ],
)
def test_parameters_that_may_hold_a_secret(name: str) -> None:
    assert is_secret_parameter(name)


@pytest.mark.parametrize(
    "name",
    [
        "q",
        "page",
        "sort",
        "status",
        "state",
        "filter[name]",
        "keyword",
        "country_code",
        "zip_code",
        "monkey",
        "id",
        "from",
    ],
)
def test_parameters_that_hold_none(name: str) -> None:
    assert not is_secret_parameter(name)


def test_a_query_loses_its_secrets_and_keeps_the_rest_in_its_order() -> None:
    assert without_secrets("b=2&token=abc&a=1&flag") == ("b=2&a=1&flag", ["token"])
    assert without_secrets("t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x") == ("", ["t"])
    assert without_secrets("") == ("", [])


@pytest.mark.parametrize(
    "path", ["/reset/6f1c2b3a4d5e6f7081", "/invite/AbC123dEf456GhI789", "/d/eyJhbGciOiJI.eyJzdWIi/x"]
)
def test_a_path_may_hold_a_secret(path: str) -> None:
    assert has_secret(path)


@pytest.mark.parametrize("path", ["/issues/6f1c2b3a4d5e6f7081", "/reset/form", "/tokens/12", "/"])
def test_most_paths_hold_none(path: str) -> None:
    assert not has_secret(path)
