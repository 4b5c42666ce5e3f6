"""Programs of our own, started as processes of their own: the guard, the drawing of charts, the targets of the lab.

`python -m` looks for modules in the current folder first, and PYTHONPATH may put any folder before those of Python. So
a `types.py` in a folder of results would be run by whatever is started there. Programs of ours are started isolated
instead (`python -I`), with this file as the program: it takes the package `plimsoll` from the folder in which it lies
itself, whatever else is installed or named so, and then runs the module.

    subprocess.Popen(own_programs.command("plimsoll.experiments.target.guard"))

It imports nothing of the package, and all parts of it may import it, as does the lab.
"""

from __future__ import annotations

import os
import site
import sys

PACKAGE = os.path.dirname(os.path.abspath(__file__))
HOME = os.path.dirname(PACKAGE)  # where `plimsoll` is found: site-packages, or `python` of a checkout
_ALSO = "--also"


def command(module: str, *arguments: object) -> list[str]:
    """The command that runs a module of this very package, or of the lab, as a program, isolated."""
    also = [word for folder in _lost_by_isolation() for word in (_ALSO, folder)]
    return [sys.executable, "-I", os.path.join(PACKAGE, "own_programs.py"), *also, module, *map(str, arguments)]


def code_command(text: str, *arguments: object) -> list[str]:
    """The command that runs a few lines of code which need Python's own library alone, isolated."""
    return [sys.executable, "-I", "-S", "-c", text, *map(str, arguments)]


def beside_python(name: str) -> str:
    """Where a program lies that was installed with this Python."""
    return os.path.join(os.path.dirname(sys.executable), name)


def forget_current_folder() -> None:
    """Look for no modules in the current folder from now on; for the command line, not for a library."""
    kept = {os.path.dirname(os.__file__), *site.getsitepackages()}
    sys.path[:] = [folder for folder in sys.path if folder and (folder in kept or not _is_current(folder))]


def _lost_by_isolation() -> list[str]:
    """Folders in which this process finds modules and an isolated one would not, as those of PYTHONPATH: what we depend
    on may be installed there. The other process looks there last of all, and in the current folder never."""
    given = {os.path.abspath(folder) for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder}
    if site.ENABLE_USER_SITE:
        given.add(site.getusersitepackages())
    return [folder for folder in sys.path if folder in given and folder != HOME and not _is_current(folder)]


def _is_current(folder: str) -> bool:
    try:
        return os.path.samefile(folder, os.curdir)
    except OSError:  # one of them is gone
        return False


def _take_package() -> None:
    """Make `plimsoll` the package around this file, without a look at where modules are found."""
    from importlib.util import module_from_spec, spec_from_file_location

    file = os.path.join(PACKAGE, "__init__.py")
    spec = spec_from_file_location("plimsoll", file, submodule_search_locations=[PACKAGE])
    assert spec is not None and spec.loader is not None
    sys.modules["plimsoll"] = package = module_from_spec(spec)
    spec.loader.exec_module(package)


def main() -> None:
    """`python -I own_programs.py [--also FOLDER]… MODULE [ARGUMENT]…`"""
    import runpy

    words = sys.argv[1:]
    sys.path.append(HOME)
    while words[0] == _ALSO:
        sys.path.append(words[1])
        del words[:2]
    _take_package()
    sys.argv[1:] = words[1:]
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
