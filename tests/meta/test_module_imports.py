"""At run time, too, a module imports only rooms below its own, and names in strings do not lead above it.

import-linter reads import statements; a call of `import_module`, or a table of module names, evades it.
"""

from __future__ import annotations

import ast
import gc
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
from support.examples import FACTOR, chance

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "src" / "xrelay"

LOADERS: Final[dict[str, str]] = {
    "dialects/__init__.py": "the table of dialects",
    "passes/catalogue/registry.py": "the tables of passes",
    "src/xrelay/registrations.py": "modules that register their definitions",
    "src/xrelay/plugins.py": "modules that other packages announce",
    "src/xrelay/__init__.py": "public names, imported on first use",
    "compat/relay": "public names, imported on first use",
    "src/xrelay/torch_backend.py": "torch, which is optional",
    "tools/comparison": "other engines, which are optional",
    "tools/reference": "modules whose definitions the pages list",
    "runtime/llvm.py": "llvmlite, in processes that compile",
    "runtime/object_code/llvm_compiler.py": "llvmlite, in processes that compile",
    "runtime/metadata.py": "ml_dtypes, for models with such types",
}
"""File or folder → the modules that it imports by name."""

REGISTRIES: Final[dict[str, str]] = {
    "dialects/relay/core/registry.py": "the first search for an operator imports the package that registers operators",
}
"""File → why it names modules above it."""

SAMPLE: Final = 1 if FACTOR > 1 else 12
"""One in so many modules is imported alone; all of them in `make test-all`."""


MODULE: Final = re.compile(r"xrelay(\.\w+)+(:\w+)?")
"""A module, or a member of a module, in a string."""

ENVIRONMENT: Final = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
"""A process with threads cannot be forked safely."""


@cache
def levels() -> list[tuple[str, ...]]:
    """Returns the rooms of each level from the bottom up, from the contracts of import-linter."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts: list[dict[str, Any]] = project["tool"]["importlinter"]["contracts"]
    inner = {each["containers"][0]: each["layers"] for each in contracts if "containers" in each}
    (outer,) = (each["layers"] for each in contracts if each["type"] == "layers" and "containers" not in each)
    return [level for layer in reversed(outer) for level in _levels_of(_rooms(layer, ""), inner)]


def _rooms(layer: str, prefix: str) -> tuple[str, ...]:
    return tuple(prefix + room.strip() for room in layer.split("|"))


def _levels_of(rooms: tuple[str, ...], inner: dict[str, list[str]]) -> Iterator[tuple[str, ...]]:
    """Yields the levels inside of rooms, and the rooms themselves for their other modules."""
    for room in rooms:
        for layer in reversed(inner.get(room, [])):
            yield from _levels_of(_rooms(layer, f"{room}."), inner)
    yield rooms


def files_of(room: str) -> dict[str, Path]:
    """Returns the modules of a room, with their files."""
    place = SOURCE.joinpath(*room.split(".")[1:])
    if not place.is_dir():
        return {room: place.with_suffix(".py").resolve()}
    folder = place.resolve()
    files = {path: path.relative_to(folder).with_suffix("").parts for path in sorted(folder.rglob("*.py"))}
    return {".".join([room, *parts]).removesuffix(".__init__"): path for path, parts in files.items()}


def all_files() -> set[Path]:
    """Returns all source files, also of folders outside of the layers."""
    entries = [entry.resolve() for entry in SOURCE.iterdir()]
    return {path for entry in entries for path in (entry.rglob("*.py") if entry.is_dir() else [entry])}


@cache
def room_of(module: str) -> tuple[int, str] | None:
    """Returns level and name of the innermost room of a module, or None for modules outside of the layers."""
    for number, rooms in enumerate(levels()):
        for room in rooms:
            if module == room or module.startswith(f"{room}."):
                return number, room
    return None


def above(module: str, others: Iterable[str]) -> list[str]:
    """Returns the modules among `others` in rooms above that of `module` or beside it, except its own packages."""
    number, room = room_of(module) or (len(levels()), "")
    found = ((each, room_of(each)) for each in others if not module.startswith(f"{each}."))
    return [each for each, other in found if other is not None and other[0] >= number and other[1] != room]


def import_alone(module: str) -> str:
    """Imports a module in a forked process; returns the error, or the modules above that it imports, or ""."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            import_module(module)
            found = ", ".join(above(module, list(sys.modules)))
            report = f"{module} imports {found}" if found else ""
        except BaseException as error:
            report = f"{module} cannot be imported alone: {error!r}"
        os.write(writing, report.encode()[:4096])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        report = stream.read()
    os.waitpid(child, 0)
    return report


def run_time_imports() -> Iterator[str]:
    """Yields the errors of modules that are imported alone, one level after the other.

    Only the levels below are already imported, which saves time: a forked process imports no more than its own room.
    """
    reported: set[str] = set()
    for number, rooms in enumerate(levels()):
        own = [name for room in rooms for name in files_of(room) if room_of(name) == (number, room)]
        names = [name for name in own if not name.endswith("__main__")]
        for name in names:
            if chance(name) % SAMPLE == 0:
                yield from filter(None, [import_alone(name)])
        for name in names:
            import_module(name)
        found = [each for each in list(sys.modules) if (room_of(each) or (0, ""))[0] > number]
        # The packages that contain a room are imported with it.
        packages = {name[:end] for name in names for end in range(len(name)) if name[end] == "."}
        if wrong := sorted(set(found) - packages - reported):
            reported.update(wrong)
            yield f"importing {', '.join(rooms)} imports {', '.join(wrong)}"


def test_modules_import_only_rooms_below() -> None:
    command = [sys.executable, "-m", "meta.test_module_imports"]
    run = subprocess.run(command, cwd=ROOT / "tests", capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert run.returncode == 0, run.stdout + run.stderr


def module_strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yields line and value of the strings in a file that look like a module or a member of one."""
    text = path.read_text(encoding="utf-8")
    if '"xrelay.' not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and MODULE.fullmatch(node.value):
            yield node.lineno, node.value


@pytest.mark.parametrize("room", sorted({room.split(".")[1] for rooms in levels() for room in rooms}))
def test_strings_name_no_module_above(room: str) -> None:
    found = [
        f"{path}:{line}: {text!r} is above {module}"
        for module, path in files_of(f"xrelay.{room}").items()
        for line, text in module_strings(path)
        if path.relative_to(ROOT).as_posix() not in REGISTRIES and above(module, [text.partition(":")[0]])
    ]
    assert not found, "\n".join(found)


def test_only_loaders_import_by_name() -> None:
    found: set[str] = set()
    for path in all_files():
        name = path.relative_to(ROOT).as_posix()
        if re.search(r"\bimport_module\(|__import__\(", path.read_text(encoding="utf-8")):
            found.add(name)
    places = {name: next((place for place in LOADERS if f"{name}/".startswith(f"{place}/")), None) for name in found}
    assert not [name for name, place in places.items() if place is None], "register the module from above instead"
    assert set(LOADERS) == set(places.values()), "remove places that import nothing by name"


if __name__ == "__main__":
    gc.disable()  # a collection in a fork would copy all memory that it shares with this process
    errors = list(run_time_imports())
    sys.stdout.write("\n".join(errors))
    sys.exit(bool(errors))
