"""Lists files of code below a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

CODE: Final = (".py", ".ll")
"""The suffixes of the compiler's own code."""


def files_below(folder: Path, suffixes: tuple[str, ...] = ("",)) -> list[str]:
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
