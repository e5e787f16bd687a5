"""Specializes a kernel for dynamic extents to given extents."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr

from xrelay.dialects.loop.access_ops import LoadOp, StoreOp
from xrelay.dialects.loop.base import IterKind
from xrelay.dialects.loop.block_op import BlockOp, Extent
from xrelay.dialects.loop.extents import expression_of, index_arguments
from xrelay.dialects.loop.for_op import ForOp
from xrelay.index_algebra.value_map import ValueMap


def specialized(kernel: FuncOp, extents: Sequence[int]) -> FuncOp:
    """Returns a copy of `kernel` for these values of its `index` arguments, which it still takes.

    Extents of loops and blocks that depend on them become numbers. These may be 0, which the verifier of blocks
    rejects; such a block never runs. Types of buffers stay.
    """
    copy = kernel.clone()
    arguments = index_arguments(copy)
    numbers = [arith.ConstantOp(IntegerAttr.from_index_int_value(extent)) for extent in extents]
    for argument, number, extent in zip(arguments, numbers, extents, strict=True):
        _replace_argument(argument, number.result, extent)
    if numbers and (first := copy.body.block.first_op) is not None:
        copy.body.block.insert_ops_before(numbers, first)
    for op in copy.body.walk():
        if isinstance(op, ForOp) and op.dynamic_extent is not None:
            _make_static(op, op.dynamic_extent)
    for block in [op for op in copy.body.walk() if isinstance(op, BlockOp) and op.extent_operands]:
        block.set_extents([_number(extent) for extent in block.extents])
        if block.has_init and any(not extent for extent in block.extents):
            _keep_init(block)
    return copy


def _keep_init(block: BlockOp) -> None:
    """Replaces a block with an empty reduction by its init; loops that only the reduction uses run once."""
    spatial = [variable for variable in block.iter_vars() if variable.kind is IterKind.SPATIAL]
    used = set(block.bindings.select(block.spatial).operands)
    body = block.init.detach_block(0)
    init = BlockOp(block.block_name, spatial, (), block.writes, Region(body))
    loop = block.parent_op()
    assert block.parent is not None, "the block is in the copied kernel"
    block.parent.insert_op_before(init, block)
    block.detach()
    block.erase()
    while isinstance(loop, ForOp):
        if loop.extent == 0 and loop.index not in used:
            loop.extent_attr = IntegerAttr.from_index_int_value(1)
        loop = loop.parent_op()


def _replace_argument(argument: SSAValue, number: SSAValue, extent: int) -> None:
    """Replaces every use of `argument`: by the number in expressions, by the constant elsewhere."""
    for use in list(argument.uses):
        user = use.operation
        if isinstance(user, BlockOp) and use.index < len(user.binding_operands):
            user.bindings = user.bindings.substitute({argument: ValueMap.constant(extent)})
        elif isinstance(user, LoadOp | StoreOp):
            user.index = user.index.substitute({argument: ValueMap.constant(extent)})
        else:
            user.operands[use.index] = number


def _make_static(loop: ForOp, extent: SSAValue) -> None:
    number = _number(extent)
    if isinstance(number, int):
        loop.operands = ()
        loop.extent_attr = IntegerAttr.from_index_int_value(number)


def _number(extent: Extent) -> Extent:
    """The extent as a number, if it is constant."""
    if isinstance(extent, int):
        return extent
    expr = expression_of(extent).exprs[0]
    return expr.value if isinstance(expr, AffineConstantExpr) else extent
