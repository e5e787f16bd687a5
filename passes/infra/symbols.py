"""Errors of the symbols in a symbol table, each with its location: duplicates, and invalid visibilities.

xDSL reports only the first duplicate, at the location of the module, and accepts any visibility.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolTable

from xrelay.dialects.shared.locations import location_of
from xrelay.errors import VerificationError

VISIBILITIES = ("public", "private", "nested")
"""The valid visibilities of a symbol."""


def symbol_errors(table: Operation) -> Iterator[VerificationError]:
    """Yields errors of the symbols in a table: duplicates, with a note at the first definition, and visibilities."""
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
        visibility = op.get_attr_or_prop("sym_visibility")
        if isinstance(visibility, StringAttr) and visibility.data not in VISIBILITIES:
            text = f"the visibility of a symbol must be public, private or nested, found {visibility}"
            yield VerificationError(text, location=location_of(op))
