"""Tables of patterns of other packages: what the composites of a library or an accelerator are made of.

    from xrelay.extend.patterns import TableRow, is_constant, is_op, register_table, wildcard

    conv = is_op("nn.conv2d")(wildcard(), is_constant())
    register_table("acme", lambda: [TableRow("acme.conv_relu", is_op("nn.relu")(conv))])

From then on `relay-merge-composite{table=acme}` makes functions of what they match. A row may have a check, which is
asked of the value at the root of each match. `relay.op.contrib.register_pattern_table` is the door for tables as
Relay's users write them, whose checks see expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xrelay.passes.patterns.composites import partition_function
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
from xrelay.passes.patterns.tables import TableRow, add_table, remove_table
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
    """Let passes find a table by its name; one of the same name is replaced. `rows` is called when it is needed."""
    note_registration(rows)
    add_table(name, rows)


def unregister_table(name: str) -> None:
    """Take a table away again, if it is there."""
    remove_table(name)
