"""Pattern tables of other packages: the composites that a library or an accelerator implements.

    from xrelay.extend.patterns import TableRow, is_constant, is_op, register_table, wildcard

    conv = is_op("nn.conv2d")(wildcard(), is_constant())
    register_table("acme", lambda: [TableRow("acme.conv_relu", is_op("nn.relu")(conv))])

`relay-merge-composite{table=acme}` then outlines each match into a function. A row may have a check, which is called
with the root value of each match. `relay.op.contrib.register_pattern_table` registers tables in Relay's form, whose
checks receive expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xrelay.passes.patterns.composites import TableRow, add_table, partition_function, remove_table
from xrelay.passes.patterns.language import (
    dominates,
    has_attr,
    has_dtype,
    has_shape,
    has_type,
    is_constant,
    is_expr,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    match,
    wildcard,
)
from xrelay.passes.patterns.nodes import DFPattern, FunctionPattern
from xrelay.registrations import note_registration

__all__ = [
    "DFPattern",
    "FunctionPattern",
    "TableRow",
    "dominates",
    "has_attr",
    "has_dtype",
    "has_shape",
    "has_type",
    "is_constant",
    "is_expr",
    "is_if",
    "is_let",
    "is_op",
    "is_tuple",
    "is_tuple_get_item",
    "is_var",
    "match",
    "partition_function",
    "register_table",
    "unregister_table",
    "wildcard",
]


def register_table(name: str, rows: Callable[[], Sequence[TableRow]]) -> None:
    """Registers a table by name, replacing a table of the same name. `rows` is called on first use."""
    note_registration(rows)
    add_table(name, rows)


def unregister_table(name: str) -> None:
    """Removes a table, if it is registered."""
    remove_table(name)
