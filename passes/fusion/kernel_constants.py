"""Constants that groups hold: what a kernel computes with, and what it is handed."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.fused import FusedOp


def is_kernel_constant(op: ConstantOp) -> bool:
    """Whether a kernel can hold a constant: one element, written out."""
    return isinstance(op.value, DenseIntOrFPElementsAttr) and op.array.size == 1


def with_constants_outside(group: FusedOp) -> FusedOp:
    """`group`, of which the constants that no kernel can hold stand in front of it, and come in as arguments.

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
