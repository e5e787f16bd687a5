"""`relay.op.contrib.register`: pattern tables in Relay's form, with checks on expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from xrelay.passes.patterns.composites import add_table
from xrelay.registrations import note_registration
from xrelay.relay.dataflow_pattern.composite_tables import PatternTable, rows_of

TableMaker: TypeAlias = Callable[[], PatternTable]
MakerT = TypeVar("MakerT", bound=TableMaker)

_TABLES: dict[str, PatternTable | TableMaker] = {}


def register_pattern_table(compiler: str, table: PatternTable | TableMaker | None = None) -> Callable[[MakerT], MakerT]:
    """Registers the pattern table of `compiler`: a table, or a function that returns it. May be used as a decorator.

    `relay-merge-composite{table=…}` finds it by this name.
    """

    def register(maker: PatternTable | TableMaker) -> None:
        _TABLES[compiler] = maker
        note_registration(maker)
        add_table(compiler, lambda: rows_of(_table_of(maker)))

    def decorate(maker: MakerT) -> MakerT:
        register(maker)
        return maker

    if table is not None:
        register(table)
    return decorate


def get_pattern_table(compiler: str) -> PatternTable | None:
    """Returns the table registered for `compiler`, or None."""
    found = _TABLES.get(compiler)
    return None if found is None else _table_of(found)


def _table_of(found: PatternTable | TableMaker) -> PatternTable:
    return found() if callable(found) else found
