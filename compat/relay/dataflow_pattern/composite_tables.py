"""Tables of composite patterns in Relay's form, with checks on expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xrelay.errors import InputError
from xrelay.passes.patterns.composites import TableRow
from xrelay.passes.patterns.nodes import DFPattern
from xrelay.relay.expr import Expr, view
from xrelay.relay.passes.merge_composite import merge_composites

PatternTable: TypeAlias = "Sequence[tuple[str, DFPattern] | tuple[str, DFPattern, Callable[[Expr], object]]]"
"""Rows of a name, a pattern, and an optional predicate on the root of a match."""


def merge_composites_of(module: ModuleOp, *, table: PatternTable) -> int:
    """Outlines the matches of the table as `transform.MergeComposite(pattern_table)`; returns their number."""
    return merge_composites(module, rows_of(table))


def rows_of(table: PatternTable) -> list[TableRow]:
    """Returns the rows of a table in Relay's form. Raises `InputError` if it is invalid."""
    return [_row(entry) for entry in table]


def _row(entry: object) -> TableRow:
    fields: Sequence[object] = cast("Sequence[object]", entry) if isinstance(entry, list | tuple) else []
    if len(fields) not in (2, 3) or not isinstance(fields[0], str) or not isinstance(fields[1], DFPattern):
        raise InputError(
            f"{entry!r} is not a row of a table of patterns", help="pass (name, pattern) or (name, pattern, check)"
        )
    if len(fields) == 2:
        return TableRow(fields[0], fields[1])
    check = fields[2]
    if not callable(check):
        raise InputError(
            f"the check of {fields[0]!r} is {check!r}, not a function", help="pass a predicate on the root of a match"
        )
    predicate = cast("Callable[[Expr], object]", check)

    def check_value(value: SSAValue) -> object:
        return predicate(view(value))

    return TableRow(fields[0], fields[1], check_value)
