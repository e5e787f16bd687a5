"""`relay.op.contrib.register`: tables of patterns as Relay's users write them, with checks that see expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xrelay.errors import InputError
from xrelay.passes.patterns.nodes import DFPattern
from xrelay.passes.patterns.tables import TableRow, add_table
from xrelay.passes.relay.merge_composite import merge_composites
from xrelay.registrations import note_registration
from xrelay.relay.expr import Expr, view

PatternTable: TypeAlias = "Sequence[tuple[str, DFPattern] | tuple[str, DFPattern, Callable[[Expr], object]]]"
"""Rows of a name, a pattern, and what says of the root of a match whether it is to be taken."""

TableMaker: TypeAlias = Callable[[], PatternTable]
MakerT = TypeVar("MakerT", bound=TableMaker)

_TABLES: dict[str, PatternTable | TableMaker] = {}


def register_pattern_table(compiler: str, table: PatternTable | TableMaker | None = None) -> Callable[[MakerT], MakerT]:
    """Decorator of a function that gives the table of `compiler`, or called with the table or such a function.

    `relay-merge-composite{table=…}` finds it by that name.
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
    """The table that was registered for `compiler`; None for none."""
    found = _TABLES.get(compiler)
    return None if found is None else _table_of(found)


def merge_composites_of(module: ModuleOp, *, table: PatternTable) -> int:
    """Make functions of what the rows match, as `transform.MergeComposite(pattern_table)`; returns how many."""
    return merge_composites(module, rows_of(table))


def rows_of(table: PatternTable) -> list[TableRow]:
    """The rows of a table of Relay's kind; `InputError` for one that is none."""
    return [_row(entry) for entry in table]


def _table_of(found: PatternTable | TableMaker) -> PatternTable:
    return found() if callable(found) else found


def _row(entry: object) -> TableRow:
    parts: Sequence[object] = cast("Sequence[object]", entry) if isinstance(entry, list | tuple) else []
    if len(parts) not in (2, 3) or not isinstance(parts[0], str) or not isinstance(parts[1], DFPattern):
        raise InputError(f"{entry!r} is no row of a table of patterns", help="give (name, pattern) or one with a check")
    if len(parts) == 2:
        return TableRow(parts[0], parts[1])
    check = parts[2]
    if not callable(check):
        raise InputError(
            f"the check of {parts[0]!r} is {check!r}, no function", help="it is asked of each match's root"
        )
    asked = cast("Callable[[Expr], object]", check)

    def check_value(value: SSAValue) -> object:
        return asked(view(value))

    return TableRow(parts[0], parts[1], check_value)
