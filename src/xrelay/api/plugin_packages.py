"""The packages that extend the compiler: their versions, their requirements and their files.

A stamp of the compiling code covers them. This module is imported only if a package announces an extension.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from xrelay.api.code_files import CODE, files_below
from xrelay.installed_packages import FOUNDATIONS, OURS

GROUPS: Final = re.compile(r"xrelay\..*|xdsl\.universe")
"""The groups of entry points through which packages extend the compiler."""
_EDITABLE: Final = re.compile(r'"editable"\s*:\s*true')
_REQUIREMENT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class PluginPackages(NamedTuple):
    """The packages with extensions, and their requirements."""

    versions: list[str]
    """Their names and versions."""
    files: list[str]
    """All files of packages with extensions and of editable packages."""


def plugin_packages() -> PluginPackages:
    """Returns the packages on the import path that extend the compiler."""
    plugins = _announcing()
    packages = _with_requirements(plugins)
    watched = {id(package): package for package in (*plugins, *filter(_is_editable, packages))}
    files = {path for package in watched.values() for path in _package_files(package)}
    return PluginPackages([f"{each.name} {each.version}" for each in packages], sorted(files))


def _announcing() -> list[Distribution]:
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
                yield from files_below(folder, CODE)
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
        yield from files_below(Path(folder))
    if spec.origin is not None:
        yield spec.origin


def _is_editable(package: Distribution) -> bool:
    """Whether a package is installed in editable mode."""
    return _EDITABLE.search(package.read_text("direct_url.json") or "") is not None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
