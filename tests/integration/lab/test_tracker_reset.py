"""What is asked of the tracker while it is reset: done, or told to come again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any


def test_requests_beside_a_reset_are_done_or_told_to_come_again(api: Any) -> None:
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
    assert set(told) <= {200, 503} and told.count(200) > 20
    api.post("/api/admin/reset")
    assert api.post("/api/issues", {"summary": "Made afterwards"})["idReadable"] == "DEMO-301"
