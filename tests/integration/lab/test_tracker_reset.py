"""What is asked of the tracker while it is reset waits, and is done."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any


def test_requests_beside_a_reset_wait_and_are_done(api: Any) -> None:
    token = {"Authorization": f"Bearer {api.users[0]['token']}"}

    def ask(place: int) -> int:
        if place % 10 == 5:
            return int(api.client.post("/api/admin/reset", headers=token).status_code)
        if place % 2:
            return int(api.client.get("/api/sortedIssues?query=crash", headers=token).status_code)
        body = {"summary": f"Made beside a reset {place}"}
        return int(api.client.post("/api/issues", json=body, headers=token).status_code)

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(ask, range(120)))
    assert set(told) == {200}
    api.post("/api/admin/reset")
    assert api.post("/api/issues", {"summary": "Made afterwards"})["idReadable"] == "DEMO-301"
