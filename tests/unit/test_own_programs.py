"""Programs of our own run our own code, whatever lies in the current folder or is asked for by the environment."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_folder import ended, hostile_folder, ran_in
from our_sources import of_our_packages

from plimsoll import own_programs
from plimsoll.own_programs import HOME, PACKAGE, code_command, command, forget_current_folder


def origin(module: str, cwd: Path, python: str = sys.executable, **environment: str) -> str:
    """Where a program of ours finds a module."""
    done = ended([python, *command("inspect", "--details", module)[1:]], cwd, **environment)
    assert done.returncode == 0, done.stderr
    return next(line.partition(": ")[2] for line in done.stdout.splitlines() if line.startswith("Origin: "))


@pytest.mark.parametrize("variable", [None, "PYTHONPATH", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONHOME"])
def test_nothing_of_the_current_folder_or_the_environment_is_run(tmp_path: Path, variable: str | None) -> None:
    folder = hostile_folder(tmp_path / "hostile")
    value = str(folder / "types.py" if variable == "PYTHONSTARTUP" else folder)
    environment = {variable: value} if variable else {}
    assert origin("plimsoll", folder, **environment) == f"{PACKAGE}/__init__.py"
    for module in ("psutil", "random"):
        assert not origin(module, folder, **environment).startswith(str(tmp_path))
    assert ran_in(folder) == []


def test_no_pth_file_of_a_users_own_packages_is_run(tmp_path: Path) -> None:
    """Of the Python behind this virtual environment: in one, users' own packages are left out anyway."""
    python = str(getattr(sys, "_base_executable", sys.executable))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = tmp_path / "base" / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    (packages / "evil.pth").write_text(f"import os; open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    environment = {"PYTHONUSERBASE": str(tmp_path / "base")}
    ended([python, "-c", "pass"], tmp_path, **environment)
    assert (tmp_path / "ran").exists(), "a program that is not isolated runs it"
    (tmp_path / "ran").unlink()
    assert origin("plimsoll", tmp_path, python, **environment) == f"{PACKAGE}/__init__.py"
    assert not (tmp_path / "ran").exists()


def test_another_plimsoll_that_is_installed_is_not_taken(tmp_path: Path) -> None:
    """As in a checkout beside an installed release: PYTHONPATH is what makes this one the one that runs."""
    for environment in ({}, {"PYTHONPATH": HOME}):
        assert origin("plimsoll", tmp_path, **environment) == f"{PACKAGE}/__init__.py"


def test_what_pythonpath_alone_holds_is_found_but_shadows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dependencies = hostile_folder(tmp_path / "dependencies")
    (dependencies / "only_there.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(dependencies))
    monkeypatch.setattr(sys, "path", [*sys.path, str(dependencies)])
    assert origin("only_there", tmp_path) == str(dependencies / "only_there.py")
    assert not origin("psutil", tmp_path).startswith(str(tmp_path)) and ran_in(dependencies) == []


def test_arguments_and_exit_codes_are_those_of_the_module(tmp_path: Path) -> None:
    done = ended(command("plimsoll_lab", "tracker", "--port", 70_000), tmp_path)
    assert done.returncode == 2 and "70000 is no port" in done.stderr


def test_code_is_run_isolated_too(tmp_path: Path) -> None:
    folder = hostile_folder(tmp_path / "hostile")
    done = ended(code_command("import sys, json, types; print(sys.argv[1:])", 7), folder, PYTHONPATH=str(folder))
    assert (done.stdout, ran_in(folder)) == ("['7']\n", [])


def test_the_command_line_forgets_the_current_folder_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), str(tmp_path / "link"), str(tmp_path / "other"), *before])
    forget_current_folder()
    assert sys.path == [str(tmp_path / "other"), *before]
    monkeypatch.chdir(Path(os.__file__).parent)
    forget_current_folder()
    assert sys.path == [str(tmp_path / "other"), *before], "Python's own library stays, wherever we are"


def test_there_is_one_way_to_start_a_program_of_ours() -> None:
    """Whoever names this Python anywhere else starts something that looks for modules in the current folder."""
    found = []
    for file, name in of_our_packages():
        for node in ast.walk(ast.parse(file.read_text())):
            is_python = isinstance(node, ast.Attribute) and node.attr in ("executable", "_base_executable")
            is_flag = isinstance(node, ast.List | ast.Tuple) and any(
                isinstance(part, ast.Constant) and part.value == "-m" for part in node.elts
            )
            is_other = isinstance(node, ast.Import | ast.ImportFrom) and any(
                name.startswith("multiprocessing") or name == "ProcessPoolExecutor"
                for name in [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            )
            if is_python or is_flag or is_other:
                found.append(name)
    assert set(found) == {Path(own_programs.__file__).name}


def test_a_program_that_reads_its_input_gets_it(tmp_path: Path) -> None:
    process = subprocess.Popen(command("plimsoll.experiments.target.guard"), cwd=tmp_path, stdin=subprocess.PIPE)
    process.communicate(b"{}\n", timeout=60)
    assert process.returncode == 0
