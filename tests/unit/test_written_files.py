"""Files are written whole, through links and into devices as they are, and a pipe without a reader ends at a signal."""

from __future__ import annotations

import ast
import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from null_device import null_device
from our_sources import of_our_packages

from plimsoll.written_files import is_own_descriptor, new_private, own_file, ready_for_others, write_named, write_own


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_of_ours_is_its_owners_alone_whatever_was_there(tmp_path: Path) -> None:
    write_own(tmp_path / "a", b"\0", sync=True)
    assert ((tmp_path / "a").read_bytes(), mode_of(tmp_path / "a")) == (b"\0", 0o600)
    (tmp_path / "a").chmod(0o666)
    write_own(tmp_path / "a", "ä\n")
    assert ((tmp_path / "a").read_text(), mode_of(tmp_path / "a")) == ("ä\n", 0o600)
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_a_link_in_a_folder_of_ours_is_replaced_and_what_it_leads_to_is_not_touched(tmp_path: Path) -> None:
    """As in results of somebody else, whose findings are judged again."""
    (tmp_path / "victim").write_text("kept")
    (tmp_path / "findings.json").symlink_to("victim")
    write_own(tmp_path / "findings.json", "ours")
    assert (tmp_path / "victim").read_text() == "kept" and not (tmp_path / "findings.json").is_symlink()


def test_a_file_that_the_user_named_has_what_the_umask_leaves_and_keeps_its_mode(tmp_path: Path) -> None:
    write_named(tmp_path / "a", "ä\n")
    assert ((tmp_path / "a").read_text(), mode_of(tmp_path / "a")) == ("ä\n", 0o640)
    (tmp_path / "a").chmod(0o604)
    write_named(tmp_path / "a", "new")
    assert ((tmp_path / "a").read_text(), mode_of(tmp_path / "a")) == ("new", 0o604)
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_text_that_is_no_unicode_is_written_all_the_same(tmp_path: Path) -> None:
    write_own(tmp_path / "a", "name \udce9\n")
    assert (tmp_path / "a").read_text() == "name \\udce9\n"


def test_a_reader_sees_the_old_file_until_the_new_one_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    with own_file(file) as writing:
        writing.write(b"new")
        writing.flush()
        assert file.read_text() == "old"
    assert file.read_text() == "new"
    with pytest.raises(KeyboardInterrupt), own_file(file) as writing:
        writing.write(b"half of")
        raise KeyboardInterrupt
    assert file.read_text() == "new" and list(tmp_path.iterdir()) == [file]


def test_a_link_stays_one_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "link").symlink_to("../second")
    (tmp_path / "second").symlink_to(tmp_path / "file")
    for text in ("made through a link that led to nothing", "again"):
        write_named(tmp_path / "below" / "link", text)
        assert (tmp_path / "below" / "link").is_symlink() and (tmp_path / "second").is_symlink()
        assert not (tmp_path / "file").is_symlink() and (tmp_path / "file").read_text() == text
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(OSError) as error:
        write_named(tmp_path / "circle", "")
    assert error.value.errno == errno.ELOOP


def test_a_device_stays_one(tmp_path: Path) -> None:
    device = null_device(tmp_path / "null")
    (tmp_path / "link").symlink_to(device)
    for path in (device, tmp_path / "link"):
        write_named(path, "x" * 10_000)
    assert stat.S_ISCHR(device.stat().st_mode) and (tmp_path / "link").is_symlink()
    with pytest.raises(IsADirectoryError):
        write_named(tmp_path, "")


def test_a_pipe_with_a_reader_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    said: list[str] = []
    threading.Timer(0.3, reader.start).start()
    write_named(pipe, b"x" * 300_000, say=said.append)
    reader.join(30)
    assert read == [b"x" * 300_000] and stat.S_ISFIFO(pipe.stat().st_mode)
    assert len(said) == 1 and "nobody reads yet" in said[0]


STUCK = """
import sys
from pathlib import Path
from plimsoll.written_files import ready_for_others, write_named
path = Path(sys.argv[1])
try:
    if sys.argv[2] == "write":
        write_named(path, "text")
    else:
        with ready_for_others([path]):
            sys.exit("it went on")
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("how", ["write", "ready"])
def test_a_pipe_that_nobody_reads_is_said_and_left_at_ctrl_c(tmp_path: Path, how: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-c", STUCK, str(tmp_path / "pipe"), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiting:
        try:
            assert waiting.stderr is not None
            assert "Waiting for its reader; Ctrl-C ends this." in waiting.stderr.readline()
            waiting.send_signal(signal.SIGINT)
            assert waiting.communicate(timeout=30)[0] == "interrupted\n"
        finally:
            waiting.kill()


OWN = """
import sys
from pathlib import Path
from plimsoll.written_files import write_named
print("before")
write_named(Path(sys.argv[1]), "text\\n")
print("after")
"""


@pytest.mark.parametrize("path", ["/dev/fd/1", "/proc/self/fd/1", "link"])  # a mistake would replace /dev/stdout itself
def test_standard_output_is_written_to_whatever_it_is(tmp_path: Path, path: str) -> None:
    (tmp_path / "link").symlink_to("/proc/self/fd/1")
    command = [sys.executable, "-c", OWN, path]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "before\ntext\nafter\n"
    with (tmp_path / "out").open("w") as out:
        subprocess.run(command, cwd=tmp_path, stdout=out, check=True, timeout=60)
    assert (tmp_path / "out").read_text() == "before\ntext\nafter\n" and (tmp_path / "link").is_symlink()
    assert is_own_descriptor(tmp_path / "link") and is_own_descriptor(Path("/dev/stdout"))
    assert not is_own_descriptor(tmp_path / "out")


def test_where_the_folder_takes_no_new_file_one_that_is_there_is_written_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").write_text("something longer")
    open_ = os.open

    def refuse(path: object, flags: int, *more: int, **options: int) -> int:
        if flags & os.O_EXCL:
            raise PermissionError(errno.EACCES, "refused", str(path))
        return open_(path, flags, *more, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    write_named(tmp_path / "there", "new")
    assert (tmp_path / "there").read_text() == "new"
    with pytest.raises(PermissionError):
        write_named(tmp_path / "new", "")


def test_a_file_that_cannot_be_replaced_as_one_that_is_mounted_is_written_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").write_text("something longer")

    def refuse(path: Path, target: Path) -> Path:
        raise OSError(errno.EBUSY, "busy", str(path))

    monkeypatch.setattr(Path, "replace", refuse)
    write_named(tmp_path / "there", "new")
    assert (tmp_path / "there").read_text() == "new" and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(OSError, match="busy"):
        write_named(tmp_path / "new", "")
    assert len(list(tmp_path.iterdir())) == 1


def test_a_growing_file_is_its_owners_and_follows_no_link(tmp_path: Path) -> None:
    for _ in range(2):
        with new_private(tmp_path / "log", append=True) as file:
            file.write(b"line\n")
    assert (tmp_path / "log").read_bytes() == b"line\nline\n" and mode_of(tmp_path / "log") == 0o600
    with new_private(tmp_path / "log") as file:
        file.write(b"new\n")
    assert (tmp_path / "log").read_bytes() == b"new\n"
    (tmp_path / "link").symlink_to(tmp_path / "log")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(OSError):
            new_private(tmp_path / name, append=True)


def test_files_that_others_open_are_private_and_leave_nothing_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("old")
    (tmp_path / "there").chmod(0o640)
    paths = [tmp_path / name for name in ("there", "new", "used", "none/there")]
    with pytest.raises(ValueError), ready_for_others(paths):
        assert mode_of(tmp_path / "new") == 0o600
        (tmp_path / "used").write_text("begun")
        raise ValueError
    assert sorted(path.name for path in tmp_path.iterdir()) == ["there", "used"]
    assert (tmp_path / "there").read_text() == "old" and mode_of(tmp_path / "there") == 0o640
    with ready_for_others(paths):
        pass
    assert (tmp_path / "new").exists()


def test_a_pipe_stays_open_until_others_have_opened_it(tmp_path: Path) -> None:
    """Else its reader would see an end, leave, and the other's opening would wait for the next one."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with ready_for_others([pipe], say=lambda words: None):
        time.sleep(0.2)
        assert reader.is_alive()
        with pipe.open("wb") as other:
            other.write(b"text")
    reader.join(30)
    assert read == [b"text"]


# What writes by itself, and why that is right.
ELSEWHERE = {
    "written_files.py": "this is it",
    "plimsoll_lab/folder.py": "a lock in the folder of a target, which holds a process id",
    "plimsoll_lab/seeded_data.py": "a database that SQLite writes, renamed",
    "probes/jvm/attach.py": "the file whose being there asks a Java machine to listen",
    "probes/profiling/tools.py": "a log in a temporary folder",
    "report/written/pdf.py": "a page in a temporary folder, for the browser that prints it",
    "runs/importers/spill.py": "parts in a temporary folder",
    "runs/kept/archive.py": "files of a run that is brought in, new in a new folder",
}


def test_there_is_one_way_to_write_files() -> None:
    found = set()
    for file, name in of_our_packages():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and _writes(node):
                found.add(name)
    assert found == set(ELSEWHERE)


def _writes(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    owner = call.func.value.id if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) else ""
    if isinstance(call.func, ast.Attribute) and name in (
        "write_text",
        "write_bytes",
        "touch",
        "copyfile",
        "copy2",
        "mkstemp",
        "mkfifo",
    ):
        return True
    if (owner, name) in (("os", "replace"), ("os", "rename"), ("pq", "write_table")):
        return True
    if name == "open" and owner != "os":
        modes = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        modes += [key.value.value for key in call.keywords if key.arg == "mode" and isinstance(key.value, ast.Constant)]
        return any(set(mode) & set("wax") and set(mode) <= set("rwaxbt+") for mode in modes)
    return False
