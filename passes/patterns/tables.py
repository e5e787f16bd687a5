"""Tables of patterns by name: what the composites of a library or an accelerator are made of."""

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
    """A composite: its name, the pattern of what it computes, and which matches it is to be made of."""

    name: str
    pattern: DFPattern
    check: Check = _every


_TABLES: dict[str, Callable[[], Sequence[TableRow]]] = {}


def add_table(name: str, rows: Callable[[], Sequence[TableRow]]) -> None:
    """Let passes find the table by its name; one of the same name is replaced. `rows` is called each time."""
    _TABLES[name] = rows


def remove_table(name: str) -> None:
    """Forget a table, if it is there."""
    _TABLES.pop(name, None)


def table(name: str) -> Sequence[TableRow]:
    """The rows of a table, in their order; `PassError` for a name that nobody registered.

    What installed packages announce as passes or targets is imported first.
    """
    if name not in _TABLES:
        load_plugins("targets")
        load_plugins("passes")
    if name not in _TABLES:
        known = did_you_mean(name, _TABLES, f"registered are {', '.join(_TABLES) or 'none'}")
        raise PassError(f"no table of patterns is called {name!r}", help=known)
    return _TABLES[name]()
