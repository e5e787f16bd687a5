"""`relay-merge-composite`: what patterns match becomes a function that is called in its place.

What: for each row of a table of patterns, in order, every match becomes a `relay.fn` with the name of the row as
Composite and the names of its operators as PartitionedFromPattern, as in Relay. Why: such a function stands for one
operation of a library or an accelerator, and is handed to it as a whole; whoever compiles it here inlines it again
(`relay-inline`), and the numbers are the same. The table is one that was registered under a name
(`relay.op.contrib.register_pattern_table`), or chains of operators (`passes/patterns/chains.py`). Exact.

Before, with `chains="acme.conv:nn.conv2d:nn.relu"`:

    %c = relay.nn.conv2d(%x, %w) : (T, U) -> V
    %r = relay.nn.relu(%c) : (V) -> V

After:

    %f = relay.fn(%p0 : T, %p1 : U) -> V
        attributes {Composite = "acme.conv", PartitionedFromPattern = "nn.conv2d_nn.relu_"} {
      %c = relay.nn.conv2d(%p0, %p1) : (T, U) -> V
      %r = relay.nn.relu(%c) : (V) -> V
      relay.yield %r : V
    }
    %r = relay.invoke %f(%x, %w) : (T, U) -> V

A match that starts nearest to the result comes first, and each op is in one at most. Parameters stand in the order of
the pattern's leaves; constants are parameters where anything may stand, and inside where the pattern asks for them.

Left alone: a match part of which is used outside of it, unless that use ends in the match again; what is inside of such
functions already; kernels, and functions of other compilers. With a remark: what makes a named extent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from xrelay.dialects.shared.attribute_names import COMPILER, COMPOSITE, PRIMITIVE, SKIP_OPTIMIZATION
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.patterns.chains import chain_row
from xrelay.passes.patterns.composites import partition_function
from xrelay.passes.patterns.tables import TableRow, table

_CLOSED = (PRIMITIVE, COMPILER, SKIP_OPTIMIZATION)
"""The marks of functions that are not looked into."""


@dataclass(frozen=True)
class RelayMergeCompositePass(ModulePass):
    """Make functions of what patterns match; see the module's docstring."""

    name = "relay-merge-composite"

    table: str = field(default="", metadata={"help": "the name of a registered table of patterns"})
    chains: tuple[str, ...] = field(
        default=(),
        metadata={"help": 'composites as chains of operators, e.g. "acme.conv:nn.conv2d:nn.bias_add?:nn.relu"'},
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place; `PassError` for a table that nobody registered, and for what is no chain."""
        rows = list(table(self.table)) if self.table else []
        merge_composites(op, [*rows, *map(chain_row, self.chains)])


def merge_composites(module: ModuleOp, rows: Sequence[TableRow]) -> int:
    """Make functions of what the rows of a table match, one row after the other; returns how many."""
    remarks, made = Remarks(RelayMergeCompositePass.name), 0
    functions = [op for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration]
    for row in rows:
        attributes = {COMPOSITE: StringAttr(row.name)}
        for function in functions:
            if not any(mark in function.attributes for mark in _CLOSED):
                made += partition_function(function, row.pattern, attributes, row.check, remarks)
    report(remarks.all)
    return made
