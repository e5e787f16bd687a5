"""Clearer texts for messages of xDSL's verifiers: numbers of operands and results, and unknown symbols."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, OptionalDef, VariadicDef
from xdsl.traits import SymbolTable

from xrelay.errors import did_you_mean

_COUNT: Final = re.compile(r"Expected .*\b(operand|result)s?, but got (\d+)")
_SYMBOL: Final = re.compile(r"'@?([^']+)' could not be found in symbol table|the module has no function @(\S+)")


def reworded(op: Operation, message: str) -> str:
    """Returns the message about a wrong number of operands or results with their names and the types found.

    `Expected 2 operands, but got 1` → `relay.add has the operands lhs, rhs; found 1: tensor<4xf32>`. Other messages are
    returned unchanged.
    """
    match = _COUNT.fullmatch(message)
    if match is None or not isinstance(op, IRDLOperation):
        return message
    definition = op.get_irdl_definition()
    if match[1] == "operand":
        defined, types = definition.operands, op.operand_types
    else:
        defined, types = definition.results, op.result_types
    names = ", ".join(f"{name}{_suffix(each)}" for name, each in defined) or "none"
    found = f"{len(types)}: {', '.join(map(str, types))}" if types else "none"
    return f"{op.name} has the {match[1]}s {names}; found {found}"


def _suffix(definition: object) -> str:
    """Returns `?` for an optional operand, `…` for any number of operands."""
    if isinstance(definition, OptionalDef):
        return "?"
    return "…" if isinstance(definition, VariadicDef) else ""


def help_for(op: Operation, message: str) -> str | None:
    """Returns the closest known symbol for a message about an unknown one."""
    match = _SYMBOL.search(message)
    return None if match is None else did_you_mean(match[1] or match[2], _symbols_around(op), "") or None


def _symbols_around(op: Operation) -> Iterator[str]:
    """Yields the symbols of the tables that contain an op."""
    table = op.parent_op()
    while table is not None:
        if table.has_trait(SymbolTable, value_if_unregistered=False):
            for inner in (each for region in table.regions for block in region.blocks for each in block.ops):
                name = inner.get_attr_or_prop("sym_name")
                if isinstance(name, StringAttr):
                    yield name.data
        table = table.parent_op()
