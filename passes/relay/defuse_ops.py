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
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.fused import FusedOp
from xrelay.dialects.relay.scope import YieldOp
from xrelay.passes.infra.verify import walk_ops


@dataclass(frozen=True)
class RelayDefuseOpsPass(ModulePass):
    """Put the ops of every `relay.fused` group back where the group stands. It never refuses."""

    name = "relay-defuse-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Defuse the module in place."""
        for group in [inner for inner in walk_ops(op) if isinstance(inner, FusedOp)]:
            defuse(group)


def defuse(group: FusedOp) -> None:
    """Replace `group` by its ops."""
    body = group.body.block
    end = body.last_op
    for parameter, argument in zip(body.args, group.arguments, strict=True):
        parameter.replace_all_uses_with(argument)
    for op in list(body.ops):
        if op is not end:
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(group))
    if isinstance(end, YieldOp):
        result = end.value
        Rewriter.erase_op(end)
        Rewriter.replace_op(group, [], [result])
