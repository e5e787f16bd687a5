"""`relay-merge-composite`: outlines matches of patterns as composite functions.

For each row of a table of patterns, in order, every match becomes a call of a new `relay.fn` with the name of the row
as Composite and the names of its operators as PartitionedFromPattern, as in Relay. Such a function corresponds to one
operation of a library or an accelerator. If it is compiled here, `relay-inline` inlines it again, with equal results.
The rows are those of a registered table (`relay.op.contrib.register_pattern_table`), or chains of operators. Exact.

    acme.conv:nn.conv2d:nn.bias_add?:nn.relu|tanh

is the composite `acme.conv` of a convolution, an optional bias, and one of two activations. The result of an operator
is the first operand of the next, also for `add` and `multiply`; the other operands are wildcards.

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
from functools import reduce

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.irdl import OperandDef, OptOperandDef, VarOperandDef

from xrelay.dialects.relay.core.registry import UnknownOpError, get_relay_op
from xrelay.dialects.shared.attribute_names import COMPILER, COMPOSITE, PRIMITIVE, SKIP_OPTIMIZATION
from xrelay.errors import PassError
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.patterns.composites import TableRow, partition_function, table
from xrelay.passes.patterns.language import is_op, wildcard
from xrelay.passes.patterns.nodes import DFPattern

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
        merge_composites(op, [*rows, *map(_chain_row, self.chains)])


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


def _chain_row(text: str) -> TableRow:
    """Returns the composite that a chain describes. Raises `PassError` for an invalid chain."""
    name, *links = text.split(":")
    if not name or not links or not all(link.strip("?|") for link in links):
        raise PassError(f"{text!r} is not a chain of operators", help="write name:nn.conv2d:nn.bias_add?:nn.relu")
    if links[0].endswith("?"):
        raise PassError(f"the first operator of the chain {text!r} is optional", help="remove the '?' after it")
    pattern: DFPattern | None = None
    for link in links:
        operators = link.removesuffix("?").split("|")
        calls = [_call(operator, pattern, text) for operator in operators]
        if pattern is not None and link.endswith("?"):
            calls.append(pattern)
        pattern = reduce(lambda one, other: one | other, calls)
    assert pattern is not None, "a chain has operators"
    return TableRow(name, pattern)


def _call(operator: str, data: DFPattern | None, text: str) -> DFPattern:
    """Returns the call pattern of an operator on `data`, or on wildcards only."""
    try:
        kind = get_relay_op(operator)
    except UnknownOpError as error:
        raise PassError(f"in the chain {text!r}: {error.message}", help=error.help) from error
    operands: list[OperandDef] = [definition for _, definition in kind.get_irdl_definition().operands]
    if not operands or any(isinstance(operand, VarOperandDef | OptOperandDef) for operand in operands):
        raise PassError(
            f"in the chain {text!r}: {operator} has a variable number of operands", help="register a table in Python"
        )
    others = [wildcard() for _ in operands[1:]]
    return is_op(operator)(wildcard() if data is None else data, *others)
