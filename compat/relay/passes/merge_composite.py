"""`relay-merge-composite`: outlines matches of patterns as composite functions.

For each row of a table of patterns, in order, every match becomes a call of a new `relay.fn` with the name of the row
as Composite and the names of its operators as PartitionedFromPattern, as in Relay. Such a function corresponds to one
operation of a library or an accelerator. If it is compiled here, `relay-inline` inlines it again, with equal results.
The rows are those of a registered table (`relay.op.contrib.register_pattern_table`), or chains of operators
(`compat/relay/passes/chains.py`). Exact.

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

Matches nearest to the function's result come first, and each op is in at most one match. Parameters are in the order of
the pattern's leaves. A constant that matches a wildcard becomes a parameter; a constant that matches a constant pattern
is copied into the function.

Not outlined: matches with an inner value that is used outside, unless the use leads back into the match; ops in
composite functions; kernels and functions for external compilers. Matches that introduce a named extent are refused
with a remark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from xrelay.dialects.shared.attribute_names import COMPILER, COMPOSITE, PRIMITIVE, SKIP_OPTIMIZATION
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.patterns.composites import TableRow, partition_function, table
from xrelay.relay.passes.chains import chain_row

_CLOSED = (PRIMITIVE, COMPILER, SKIP_OPTIMIZATION)
"""Attributes of functions that are skipped."""


@dataclass(frozen=True)
class RelayMergeCompositePass(XRelayPass):
    """Outlines matches of patterns as composite functions; see the module's docstring."""

    name = "relay-merge-composite"
    numerics = EXACT
    per_function = True

    table: str = field(default="", metadata={"help": "the name of a registered table of patterns"})
    chains: tuple[str, ...] = field(
        default=(),
        metadata={"help": 'composites as chains of operators, e.g. "acme.conv:nn.conv2d:nn.bias_add?:nn.relu"'},
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place; raises `PassError` for an unknown table or an invalid chain."""
        rows = list(table(self.table)) if self.table else []
        merge_composites(op, [*rows, *map(chain_row, self.chains)])


def merge_composites(module: ModuleOp, rows: Sequence[TableRow]) -> int:
    """Outlines the matches of each row, one row after the other; returns the number of new functions."""
    remarks, made = Remarks(RelayMergeCompositePass.name), 0
    functions = [op for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration]
    for row in rows:
        attributes = {COMPOSITE: StringAttr(row.name)}
        for function in functions:
            if not any(mark in function.attributes for mark in _CLOSED):
                made += partition_function(function, row.pattern, attributes, row.check, remarks)
    report(remarks.all)
    return made
