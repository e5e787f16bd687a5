"""Addresses of memref elements, as `getelementptr inbounds` of a linear index, and their known alignment.

LLVM vectorises accesses through a `getelementptr` on a `noalias` argument, but not through pointer arithmetic on
integers. Constant indices are folded here, so that the IR of a kernel stays as short as its loop nest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from xdsl.dialects import arith, llvm, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, UnrealizedConversionCastOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.shared.attribute_names import ALIGN
from xrelay.lowering.to_llvm.ops import NO_WRAP, WRAPS, constant, element_pointer, overflowing
from xrelay.lowering.to_llvm.types import BUFFER_ALIGNMENT, byte_size, memory_type, scalar_alignment, static_strides
from xrelay.passes.infra.conversion import ConversionRewriter

_INDEX = IndexType()


@dataclass(frozen=True)
class Address:
    """A pointer, and its guaranteed alignment in bytes."""

    pointer: SSAValue
    alignment: int


def constant_index(value: SSAValue) -> int | None:
    """Returns the constant value of an index, or None."""
    owner = value.owner
    if type(owner) is UnrealizedConversionCastOp and len(owner.operands) == 1:
        owner = owner.operands[0].owner
    # Exact types: `isinstance` of an abstract class is ten times slower, and most values are no constants.
    if type(owner) is arith.ConstantOp or type(owner) is llvm.ConstantOp:
        number = owner.properties.get("value")
        return number.value.data if isinstance(number, IntegerAttr) else None
    return None


def element_address(
    base: SSAValue, indices: Sequence[SSAValue], rewriter: ConversionRewriter, *, in_bounds: bool = True
) -> Address | str:
    """Returns the address of `base[indices]`, or the reason why it cannot be computed.

    Without `in_bounds`, the address may lie outside the buffer (a masked access whose first lanes are off), and the
    arithmetic has no overflow flags.
    """
    type_ = memref_type(base)
    strides = static_strides(type_)
    if strides is None:
        return f"the strides of {type_} are dynamic"
    return offset_address(base, list(zip(indices, strides, strict=True)), 0, rewriter, in_bounds=in_bounds)


def offset_address(
    base: SSAValue,
    terms: Sequence[tuple[SSAValue, int]],
    offset: int,
    rewriter: ConversionRewriter,
    *,
    in_bounds: bool = True,
) -> Address:
    """Returns the address `offset + Σ index * stride` elements after the start of `base`."""
    type_ = memref_type(base)
    flags = NO_WRAP if in_bounds else WRAPS
    linear: SSAValue | None = None
    alignment, size = known_alignment(base, rewriter), byte_size(type_.element_type)
    for index, stride in terms:
        number = constant_index(index)
        if number is not None:
            offset += number * stride
            continue
        alignment = gcd(alignment, stride * size)
        scaled = rewriter.operand(index)
        if stride != 1:
            factor = rewriter.insert(constant(stride, _INDEX))
            scaled = rewriter.insert(overflowing(llvm.MulOp, scaled, factor.results[0], flags)).results[0]
        if linear is None:
            linear = scaled
        else:
            linear = rewriter.insert(overflowing(llvm.AddOp, linear, scaled, flags)).results[0]
    alignment = gcd(alignment, offset * size)
    pointer = rewriter.operand(base)
    if linear is not None and offset != 0:
        shift = rewriter.insert(constant(offset, _INDEX))
        linear = rewriter.insert(overflowing(llvm.AddOp, linear, shift.results[0], flags)).results[0]
    if linear is None and offset == 0:
        return Address(pointer, alignment)
    step: int | SSAValue = offset if linear is None else linear
    if isinstance(step, int) and abs(step) >= 2**31:
        step = rewriter.insert(constant(step, _INDEX)).results[0]
    element = memory_type(type_.element_type)
    gep = element_pointer(pointer, [step], element, inbounds=in_bounds)
    return Address(rewriter.insert(gep).results[0], alignment)


def known_alignment(value: SSAValue, rewriter: ConversionRewriter) -> int:
    """Returns the guaranteed alignment of a memref's pointer in bytes.

    The alignment of a stack buffer is that of its op, and the alignment of a function argument that in `llvm.align`. It
    is at least that of an element.
    """
    least, owner = scalar_alignment(memref_type(value).element_type), value.owner
    if type(owner) is UnrealizedConversionCastOp and len(owner.operands) == 1:
        value = owner.operands[0]
    if isinstance(value, BlockArgument):
        return max(least, _argument_alignment(value))
    allocated = rewriter.operand(value).owner
    if isinstance(allocated, llvm.AllocaOp) and allocated.alignment is not None:
        return max(least, allocated.alignment.value.data)
    return least


def buffer_alignment(op: memref.AllocaOp | memref.AllocOp) -> int:
    """Returns the alignment of a buffer in bytes: that of the op, and at least `BUFFER_ALIGNMENT`."""
    return max(BUFFER_ALIGNMENT, op.alignment.value.data) if op.alignment is not None else BUFFER_ALIGNMENT


def _argument_alignment(value: BlockArgument) -> int:
    """Returns the `llvm.align` attribute of a function's argument, or 1."""
    function = value.block.parent_op()
    if not isinstance(function, FuncOp | llvm.FuncOp) or function.arg_attrs is None:
        return 1
    if function.body.first_block is not value.block:
        return 1
    align = function.arg_attrs.data[value.index].data.get(ALIGN)
    return align.value.data if isinstance(align, IntegerAttr) else 1
