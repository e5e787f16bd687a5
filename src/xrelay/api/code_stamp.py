"""A stamp of the code that compiles: equal stamps mean that the same source gives the same model.

It holds Python, xrelay's own files, the versions of the packages it stands on, and for every package with plugins all
of its files and the versions of what it requires. Files count by size and time, as reading them would take too long;
it is made once in a process.
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
    """Text that changes with the code, and the files of plugins that it covers."""

    text: str
    plugin_files: frozenset[str]
    is_settled: bool
    """Whether no plugin changed after this process began: what is loaded may else be older than its file."""

    def covers_all(self) -> bool:
        """Whether the code in this process is that of the files: nothing was changed or registered apart from them."""
        if in_registration_scope():
            return False
        return self.is_settled and all(_real_file(name) in self.plugin_files for name in registering_modules())


@cache
def code_stamp() -> CodeStamp:
    """The stamp of this process."""
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
    """The packages that announce an extension, by name; those that xrelay itself stands on count by their versions."""
    found: dict[str, Distribution] = {}
    known = entry_points()
    for group in filter(GROUPS.fullmatch, known.groups):
        for entry in known.select(group=group):
            if entry.dist is not None:
                found.setdefault(_normal(entry.dist.name), entry.dist)
    return [found[name] for name in sorted(found.keys() - {OURS, *map(_normal, FOUNDATIONS)})]


def _with_requirements(packages: Iterable[Distribution]) -> list[Distribution]:
    """Some packages and all that they require, directly or not, as far as it is installed; by name."""
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
                continue  # of an extra that is not installed
    return [found[name] for name in sorted(found)]


def _package_files(package: Distribution) -> Iterator[str]:
    """All files of a package: those it lists, those below its modules, and those below the folders of an editable one.

    An editable package lists a `.pth` file with the folders that Python looks in, or a finder for its modules.
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
    """The file of a module, or all files of a package, which is not imported for that."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return  # loading the plugin says what is wrong
    if spec is None:
        return
    for folder in spec.submodule_search_locations or ():
        yield from _files_below(Path(folder))
    if spec.origin is not None:
        yield spec.origin


def _files_below(folder: Path, suffixes: tuple[str, ...] = ("",)) -> list[str]:
    """The files of a folder, links followed, in order; hidden folders, compiled Python and environments left out."""
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
    """A file as its directory entry tells."""

    text: str
    changed: int


def _state(path: str) -> _State:
    """The path of a file with its size and time."""
    try:
        status = os.stat(path)
    except OSError:
        return _State(f"{path} absent", 0)
    return _State(f"{path} {status.st_size} {status.st_mtime_ns}", status.st_mtime_ns)


def _is_editable(package: Distribution) -> bool:
    """Whether a package is installed as a folder of sources that somebody works on."""
    return _EDITABLE.search(package.read_text("direct_url.json") or "") is not None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _real_file(module: str) -> str:
    """The file that a module was loaded from; empty for one that has none, such as what is typed in."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return os.path.realpath(file) if isinstance(file, str) else ""
