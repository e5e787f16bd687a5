"""Pattern tables by name: the composites of libraries and accelerators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from xrelay.errors import PassError, did_you_mean
from xrelay.passes.patterns.composites import Check
from xrelay.passes.patterns.nodes import DFPattern
from xrelay.plugins import load_plugins


def _every(value: SSAValue) -> bool:
    return True


@dataclass(frozen=True)
class TableRow:
    """A composite: its name, its pattern, and a predicate on its matches."""

    name: str
    pattern: DFPattern
    check: Check = _every


_TABLES: dict[str, Callable[[], Sequence[TableRow]]] = {}


def add_table(name: str, rows: Callable[[], Sequence[TableRow]]) -> None:
    """Registers a table under a name, replacing an existing one. `rows` is called for each use."""
    _TABLES[name] = rows


def remove_table(name: str) -> None:
    """Removes a table if it exists."""
    _TABLES.pop(name, None)


def table(name: str) -> Sequence[TableRow]:
    """Returns the rows of a table in order. Raises `PassError` for an unknown name.

    Loads the installed plugins for targets and passes first if the name is unknown.
    """
    if name not in _TABLES:
        load_plugins("targets")
        load_plugins("passes")
    if name not in _TABLES:
        known = did_you_mean(name, _TABLES, f"registered are {', '.join(_TABLES) or 'none'}")
        raise PassError(f"there is no table of patterns {name!r}", help=known)
    return _TABLES[name]()
