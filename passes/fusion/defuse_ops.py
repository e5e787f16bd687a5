"""`relay-defuse-ops`: the inverse of `relay-fuse-ops`.

What: the ops of every `relay.fused` group move back to where the group stands, its parameters replaced by its operands.
Why: a pass that changes layouts or constants sees through groups again; fusing afterwards gives the groups anew.

Before:

    %y = relay.fused @fused_nn_relu(%p0 = %x : T) -> T {
      %r = relay.nn.relu(%p0) : (T) -> T
      relay.yield %r : T
    }

After:

    %y = relay.nn.relu(%x) : (T) -> T

Left alone: groups that have other types than their operands and what they yield, as before `relay-infer-type`: what
reads their values would not fit.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.passes.graph.replacements import Replacements
from xrelay.passes.infra.verify import walk_ops


@dataclass(frozen=True)
class RelayDefuseOpsPass(ModulePass):
    """Put the ops of every typed `relay.fused` group back where the group stands; see the module's docstring."""

    name = "relay-defuse-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Defuse the module in place."""
        defuse(*[inner for inner in walk_ops(op) if isinstance(inner, FusedOp) and _is_typed(inner)])


def _is_typed(group: FusedOp) -> bool:
    """Whether the values of a group have the types of what replaces them."""
    body = group.body.block
    end = body.last_op
    yielded = end.value.type if isinstance(end, YieldOp) else None
    return yielded == group.result.type and tuple(body.arg_types) == tuple(group.arguments.types)


def defuse(*groups: FusedOp) -> None:
    """Replace `groups` by their ops."""
    values = Replacements()
    for group in groups:
        body = group.body.block
        for parameter, argument in zip(body.args, group.arguments, strict=True):
            values.add(parameter, argument)
        for op in list(body.ops):
            if isinstance(op, YieldOp):
                _name_like(op.value, group.result)
                values.add(group.result, op.value)
            else:
                op.detach()
                Rewriter.insert_op(op, InsertPoint.before(group))
    values.apply()
    for group in reversed(groups):
        Rewriter.erase_op(group)


def _name_like(value: SSAValue, named: SSAValue) -> None:
    """Give `value` the name of what it stands for, unless it has one."""
    if value.name_hint is None:
        value.name_hint = named.name_hint
