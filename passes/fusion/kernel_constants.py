"""Constants in groups: which a kernel holds, and which are passed to it as arguments."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.fused import FusedOp


def is_kernel_constant(op: ConstantOp) -> bool:
    """Whether a kernel can hold a constant: it has one element, stored in the attribute."""
    return isinstance(op.value, DenseIntOrFPElementsAttr) and op.array.size == 1


def with_constants_outside(group: FusedOp) -> FusedOp:
    """Moves the constants that a kernel cannot hold before `group`, and passes them as arguments.

    relay.fused(%p = %x) { %k = relay.constant …; f(%p, %k) }   →   %k = relay.constant …; relay.fused(%p = %x, %q = %k)
    """
    body: Block = group.body.block
    held = [op for op in body.ops if isinstance(op, ConstantOp) and not is_kernel_constant(op)]
    for op in held:
        parameter = body.insert_arg(op.result.type, len(body.args))
        parameter.name_hint = op.result.name_hint
        op.result.replace_all_uses_with(parameter)
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(group))
    if held:
        group.operands = [*group.operands, *(op.result for op in held)]
    return group
