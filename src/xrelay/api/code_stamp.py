"""A stamp of the compiler's code: with equal stamps, the same source compiles to the same model.

It covers Python, xrelay's own files, the versions of the packages it depends on, and, for each package with plugins,
all its files and the versions of its requirements. Files count by size and modification time, since reading them takes
too long. The stamp is computed once per process.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, entry_points, version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from xrelay import version as own_version
from xrelay.registrations import BEGAN_NANOSECONDS, in_registration_scope, registering_modules
from xrelay.runtime.digests import content_key
from xrelay.version import __version__

OURS = "xrelay"
FOUNDATIONS = ("xdsl", "llvmlite", "numpy", "ml_dtypes", "onnx")
"""The packages that take part in a compilation."""
GROUPS = re.compile(r"xrelay\..*|xdsl\.universe")
"""The groups of entry points through which packages extend the compiler."""
_CODE = (".py", ".ll")
_EDITABLE = re.compile(r'"editable"\s*:\s*true')
_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class CodeStamp:
    """Text that changes with the code, and the plugin files that it covers."""

    text: str
    plugin_files: frozenset[str]
    is_settled: bool
    """Whether no plugin file changed after this process began; otherwise loaded code may be older than its file."""

    def covers_all(self) -> bool:
        """Whether the stamp covers all code in this process: no file changed and nothing else is registered."""
        if in_registration_scope():
            return False
        return self.is_settled and all(_real_file(name) in self.plugin_files for name in registering_modules())


@cache
def code_stamp() -> CodeStamp:
    """Returns the stamp of this process."""
    own = _files_below(Path(own_version.__file__).parent, _CODE)
    plugins = _plugin_packages()
    packages = _with_requirements(plugins)
    watched = {id(package): package for package in (*plugins, *filter(_is_editable, packages))}
    files = {path: None for package in watched.values() for path in _package_files(package)}
    parts = [
        sys.version,
        __version__,
        *(f"{name} {_version(name)}" for name in FOUNDATIONS),
        *(f"{each.name} {each.version}" for each in packages),
        *(_state(path).text for path in own),
    ]
    states = [_state(path) for path in sorted(files)]
    settled = all(state.changed < BEGAN_NANOSECONDS for state in states)
    parts += (state.text for state in states)
    return CodeStamp(content_key(parts), frozenset(map(os.path.realpath, files)), settled)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def _plugin_packages() -> list[Distribution]:
    """Returns the packages that announce an extension, by name, without xrelay and its dependencies."""
    found: dict[str, Distribution] = {}
    known = entry_points()
    for group in filter(GROUPS.fullmatch, known.groups):
        for entry in known.select(group=group):
            if entry.dist is not None:
                found.setdefault(_normal(entry.dist.name), entry.dist)
    return [found[name] for name in sorted(found.keys() - {OURS, *map(_normal, FOUNDATIONS)})]


def _with_requirements(packages: Iterable[Distribution]) -> list[Distribution]:
    """Returns packages and their installed direct and indirect requirements, by name."""
    found: dict[str, Distribution] = {}
    pending = list(packages)
    while pending:
        package = pending.pop()
        name = _normal(package.name)
        if name in found or name == OURS:
            continue
        found[name] = package
        for requirement in package.requires or ():
            match = _REQUIREMENT.match(requirement)
            try:
                pending += [distribution(match[0])] if match else []
            except PackageNotFoundError:
                continue  # required by an extra that is not installed
    return [found[name] for name in sorted(found)]


def _package_files(package: Distribution) -> Iterator[str]:
    """Yields all files of a package: those it lists, those below its modules, and the folders of an editable package.

    An editable package lists either a `.pth` file with folders of the import path, or a finder for its modules.
    """
    modules = set((package.read_text("top_level.txt") or "").split())
    modules |= {entry.module.partition(".")[0] for entry in package.entry_points if GROUPS.fullmatch(entry.group)}
    for listed in package.files or ():
        path = Path(str(package.locate_file(listed)))
        if path.suffix != ".pyc":
            yield str(path)
        if path.suffix == ".pth" and path.is_file():
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            for folder in (Path(line) for line in lines if line and not line.startswith(("import ", "import\t", "#"))):
                yield from _files_below(folder, _CODE)
    for module in sorted(modules):
        yield from _module_files(module)


def _module_files(name: str) -> Iterator[str]:
    """Yields the file of a module, or all files of a package, without importing it."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return  # loading the plugin reports the fault
    if spec is None:
        return
    for folder in spec.submodule_search_locations or ():
        yield from _files_below(Path(folder))
    if spec.origin is not None:
        yield spec.origin


def _files_below(folder: Path, suffixes: tuple[str, ...] = ("",)) -> list[str]:
    """Returns the sorted files below a folder, following links, without hidden folders, bytecode and environments."""
    found: list[str] = []
    seen: set[tuple[int, int]] = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        status = os.stat(place)
        if (status.st_dev, status.st_ino) in seen or "pyvenv.cfg" in files:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
        found += (os.path.join(place, name) for name in files if name.endswith(suffixes))
    return sorted(found)


class _State(NamedTuple):
    """The directory entry of a file: its stamp text and modification time."""

    text: str
    changed: int


def _state(path: str) -> _State:
    """Returns the path of a file with its size and modification time."""
    try:
        status = os.stat(path)
    except OSError:
        return _State(f"{path} absent", 0)
    return _State(f"{path} {status.st_size} {status.st_mtime_ns}", status.st_mtime_ns)


def _is_editable(package: Distribution) -> bool:
    """Whether a package is installed in editable mode."""
    return _EDITABLE.search(package.read_text("direct_url.json") or "") is not None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _real_file(module: str) -> str:
    """Returns the file that a module was loaded from; empty if it has none, as in an interactive session."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return os.path.realpath(file) if isinstance(file, str) else ""
