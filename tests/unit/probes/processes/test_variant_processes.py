"""Which processes are the target's while a variant runs that answers at a URL of its own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from plimsoll.probes.processes.variant_processes import Watched, watched_of_variants
from plimsoll.study.models import ProcessSelector

A, B, FAR = "http://127.0.0.1:8710", "http://localhost:8711", "http://192.0.2.7:8710"
SHOP, DB = ProcessSelector(label="shop", port=8710), ProcessSelector(label="db", port=5432)
BY_NAME, BY_PID = ProcessSelector(label="shop", name="shopd"), ProcessSelector(label="shop", pid=41)


class Known:
    """`ports`: of each process of each entry by name or pid, those that it listens on."""

    def __init__(self, **ports: list[set[int]]) -> None:
        self.ports = ports

    def means(self, entry: ProcessSelector, port: int) -> bool:
        return entry.port == port or any(port in one for one in self.ports.get(entry.label, []))

    def are_apart(self, entry: ProcessSelector, port: int, others: Sequence[int]) -> bool:
        each = self.ports.get(entry.label, [])
        return all(one & {port, *others} for one in each) and any(port not in one for one in each)


def watched(entries: Sequence[ProcessSelector], known: Known | None = None, **urls: str) -> dict[str, Watched]:
    addresses = {name: {"BASE_URL": url, "N": "1"} for name, url in urls.items()}
    return watched_of_variants(entries, addresses, [A, None], known or Known())


def test_an_entry_with_the_port_of_one_variant_follows_to_the_port_of_the_other() -> None:
    found = watched([SHOP, DB], a=A, b=B)
    assert found["a"] == Watched((SHOP, DB))
    assert found["b"] == Watched((ProcessSelector(label="shop", port=8711), DB), {}, {"shop": 8711})


def test_the_url_of_the_study_tells_what_an_entry_means_where_only_another_variant_runs() -> None:
    assert watched([SHOP, DB], b=B)["b"].followed == {"shop": 8711}


def test_of_a_variant_on_another_host_nothing_is_read_that_is_another_s_and_it_says_why() -> None:
    far = watched([SHOP, DB], a=A, far=FAR)["far"]
    assert far.selectors == (DB,) and far.followed == {}
    assert far.unseen == {"shop": "shop: 192.0.2.7:8710 is not on this host, so its process is not read."}


@pytest.mark.parametrize("entries", [[SHOP, ProcessSelector(label="other", port=8711)], [DB]])
def test_entries_that_name_each_variant_s_process_or_none_stay_as_they_are(entries: list[ProcessSelector]) -> None:
    assert [one.selectors for one in watched(entries, a=A, b=B).values()] == [tuple(entries)] * 2


def test_variants_at_one_address_change_nothing_nor_do_variables_that_are_no_urls() -> None:
    assert watched([SHOP, DB], a=A, b="http://localhost:8710/")["b"] == Watched((SHOP, DB))


@pytest.mark.parametrize("entry", [BY_NAME, BY_PID])
def test_an_entry_by_name_or_pid_that_listens_for_a_variant_follows_too(entry: ProcessSelector) -> None:
    found = watched([entry], Known(shop=[{8710}]), a=A, b=B)
    assert found["a"].selectors == (entry,)
    assert found["b"].selectors == (ProcessSelector(label="shop", port=8711),)


def test_a_name_that_both_variants_have_means_the_one_that_runs_and_its_other_processes_stay() -> None:
    found = watched([BY_NAME], Known(shop=[{8710}, {8711}]), a=A, b=B)
    assert [one.selectors[0].port for one in found.values()] == [8710, 8711]
    for ports in ([{8710, 8711}], [{8710}, {8711}, set()]):  # one server of both; workers that listen nowhere
        assert [one.selectors for one in watched([BY_NAME], Known(shop=ports), a=A, b=B).values()] == [(BY_NAME,)] * 2


def test_without_entries_it_is_who_listens_where_each_variant_answers_under_one_label() -> None:
    found = watched([], a=A, b=B, far=FAR)
    assert [[(one.label, one.port) for one in found[name].selectors] for name in found] == [
        [("target", 8710)], [("target", 8711)], []
    ]  # fmt: skip
    assert list(found["far"].unseen) == ["target"]
    assert watched([], far=FAR) == {"far": Watched()}


def test_of_several_addresses_those_that_differ_are_called_by_their_variable() -> None:
    auth = "http://127.0.0.1:9000"
    found = watched_of_variants([], {"a": {"API": A, "AUTH": auth}, "b": {"API": B, "AUTH": auth}})
    assert [[(one.label, one.port) for one in of.selectors] for of in found.values()] == [
        [("API", 8710), ("port 9000", 9000)], [("API", 8711), ("port 9000", 9000)]
    ]  # fmt: skip
