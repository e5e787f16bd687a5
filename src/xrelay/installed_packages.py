"""Finds the versions of installed packages, and whether any of them announces an extension.

This reads the folders of the import path as `importlib.metadata` does. Importing that module takes as long as opening a
cached model, so it is imported only if a package announces an extension, if one of them is missing, or if
the path has other entries than folders.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from typing import Final, NamedTuple

OURS: Final = "xrelay"
FOUNDATIONS: Final = ("xdsl", "llvmlite", "numpy", "ml_dtypes", "onnx")
"""The packages that take part in a compilation."""
_GROUPS: Final = (b"[xrelay.", b"[xdsl.universe]")
"""The beginnings of lines that announce extensions, in files of entry points."""
_SUFFIXES: Final = (".dist-info", ".egg-info")


class InstalledPackages(NamedTuple):
    """The packages on the import path."""

    versions: dict[str, str]
    """Maps the packages of `FOUNDATIONS` to their versions; `absent` for those that are not installed."""
    announce: bool
    """Whether a package besides `FOUNDATIONS` and xrelay may announce an extension."""


def installed_packages() -> InstalledPackages:
    """Returns the packages that are on the path now."""
    versions: dict[str, str] = {}
    announce = any(finder is not PathFinder and hasattr(finder, "find_distributions") for finder in sys.meta_path)
    folders = [str(folder) for folder in sys.path]  # programs also add paths of other types
    for folder in folders:
        try:
            for place, name, version in _packages_in(folder):
                if name in FOUNDATIONS and version:
                    versions.setdefault(name, version)
                announce = announce or (name not in (*FOUNDATIONS, OURS) and _announces(place))
        except FileNotFoundError:
            continue
        except OSError:  # an archive, or a folder that cannot be read
            announce = True
    for name in FOUNDATIONS:
        if name not in versions:
            versions[name] = _version(name)
    return InstalledPackages(versions, announce or any(folder.endswith(".egg") for folder in folders))


def _packages_in(folder: str) -> Iterator[tuple[str, str, str]]:
    """Yields the description, the name and the version of each package in a folder."""
    for entry in os.listdir(folder or "."):
        stem, suffix = os.path.splitext(entry)
        if suffix in _SUFFIXES:
            name, _, rest = stem.partition("-")
            yield os.path.join(folder, entry), name.lower(), rest if suffix == _SUFFIXES[0] else ""


def _version(name: str) -> str:
    """Returns the version of a package whose folder does not name it, or `absent`."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def _announces(place: str) -> bool:
    """Whether the description of a package announces an extension."""
    try:
        with open(os.path.join(place, "entry_points.txt"), "rb") as file:
            text = file.read()
    except OSError:
        return False  # it has no entry points
    return any(group in text for group in _GROUPS)
