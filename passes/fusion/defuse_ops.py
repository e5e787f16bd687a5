"""`relay-defuse-ops`: the inverse of `relay-fuse-ops`.

Moves the ops of every `relay.fused` group out of its region to the position of the group, and replaces the group's
parameters by its operands. Passes that change layouts or constants can then see the ops of groups; fusing again makes
the groups anew.

Before:

    %y = relay.fused @fused_nn_relu(%p0 = %x : T) -> T {
      %r = relay.nn.relu(%p0) : (T) -> T
      relay.yield %r : T
    }

After:

    %y = relay.nn.relu(%x) : (T) -> T

A group whose parameters differ in type from its operands, or whose result differs in type from the yielded value, is
left unchanged. Such groups exist before `relay-infer-type`; their users would get operands of other types.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.passes.graph.replacements import Replacements
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass


@dataclass(frozen=True)
class RelayDefuseOpsPass(XRelayPass):
    """Replaces every typed `relay.fused` group by its ops; see the module's docstring."""

    name = "relay-defuse-ops"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Defuses the module in place."""
        defuse(*[inner for inner in walk_ops(op) if isinstance(inner, FusedOp) and _is_typed(inner)])


def _is_typed(group: FusedOp) -> bool:
    """Whether the parameters and the result of a group have the types of the values that replace them."""
    body = group.body.block
    end = body.last_op
    yielded = end.value.type if isinstance(end, YieldOp) else None
    return yielded == group.result.type and tuple(body.arg_types) == tuple(group.arguments.types)


def defuse(*groups: FusedOp) -> None:
    """Replaces `groups` by their ops."""
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
    """Copies the name of `named` to `value` unless `value` has a name."""
    if value.name_hint is None:
        value.name_hint = named.name_hint
