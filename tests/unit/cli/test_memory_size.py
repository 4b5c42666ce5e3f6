"""Sizes of memory on the command line."""

from __future__ import annotations

import pytest

from plimsoll.engine import EngineConfig
from plimsoll.errors import InputError
from plimsoll.memory_size import disk_size, memory_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("256MB", 256_000_000),
        ("1.5 GiB", 1_610_612_736),
        ("64kib", 65_536),
        (" 2GB ", 2_000_000_000),
        ("2TiB", 2**41),
    ],
)
def test_a_size_is_a_number_and_its_unit(text: str, size: int) -> None:
    assert memory_size(text, "--vu-memory") == size


@pytest.mark.parametrize("text", ["", "much", "0", "-1MB", "1PB", "999TB", "MB", "1,5GB", "9" * 40, "9" * 400])
def test_what_is_no_size_names_the_flag_and_what_to_write(text: str) -> None:
    with pytest.raises(InputError, match=r"--vu-memory .*not a size of memory"):
        memory_size(text, "--vu-memory")


def test_a_size_of_a_disk_has_terabytes_and_is_none_of_memory() -> None:
    assert disk_size("2TB", "--keep-size") == 2 * 10**12
    for text in ("much", "1PB", "0"):
        with pytest.raises(InputError, match=rf"--keep-size {text}: not a size(?! of memory).*TB|TiB"):
            disk_size(text, "--keep-size")


def test_limits_of_memory_come_from_the_environment_for_every_verb(monkeypatch: pytest.MonkeyPatch) -> None:
    assert EngineConfig(None).max_body_bytes == 32 * 2**20 and EngineConfig(None).vu_memory_bytes == 512 * 2**20
    monkeypatch.setenv("PLIMSOLL_MAX_BODY", "1GB")
    monkeypatch.setenv("PLIMSOLL_VU_MEMORY", "2GiB")
    assert EngineConfig(None).max_body_bytes == 10**9 and EngineConfig(None).vu_memory_bytes == 2**31
    monkeypatch.setenv("PLIMSOLL_MAX_BODY", "much")
    with pytest.raises(InputError, match=r"PLIMSOLL_MAX_BODY much: not a size of memory"):
        EngineConfig(None)
