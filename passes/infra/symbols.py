"""Symbols that are defined twice, each with its place; xDSL reports the first of them, and the place of the module."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolTable

from xrelay.dialects.locations import location_of
from xrelay.errors import VerificationError


def redefined_symbols(table: Operation) -> Iterator[VerificationError]:
    """The errors of the symbols in a symbol table that have the name of one before, with a note where that is."""
    if not table.has_trait(SymbolTable, value_if_unregistered=False):
        return
    first: dict[str, Operation] = {}
    for op in (op for region in table.regions for block in region.blocks for op in block.ops):
        name = op.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr) and (known := first.setdefault(name.data, op)) is not op:
            error = VerificationError(f"the symbol @{name.data} is already defined", location=location_of(op))
            if (place := location_of(known)) is not None:
                error.add_place("the first definition", place)
            yield error
