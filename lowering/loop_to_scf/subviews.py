"""Lowers `loop.subview` in graph functions to views of the underlying bytes, or to offset pointers.

```
%t = memref.view %arena[%c64][] : memref<4096xi8> to memref<6x4xf32>
%p = loop.subview %t[%c8][] : memref<6x4xf32> to memref<2x4xf32>
→
%at = arith.constant 96 : index
%p = memref.view %arena[%at][] : memref<4096xi8> to memref<2x4xf32>
```

A part whose elements are not contiguous becomes a strided `memref.reinterpret_cast` of the whole. So does a part of a
buffer outside the arena (an output of `@main`, a dynamic buffer). The cast's type has an offset that the argument types
of kernels do not have; since a lowered buffer is a pointer to its first element, an unrealized cast removes the offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    MemRefType,
    StridedLayoutAttr,
    UnrealizedConversionCastOp,
)
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.loop import SubviewOp
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.subview_op import strides_of
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.passes.loop.memory.buffer_size import element_bytes


def convert_subviews(function: func.FuncOp) -> None:
    """Replaces each `loop.subview` in a function."""
    for op in ops_of(function, SubviewOp):
        builder = Builder(InsertPoint.before(op))
        if strides := strides_of(memref_type(op.result)):
            view = _strided_part(op, strides, builder)
        else:
            view = _view(op, builder) if isinstance(op.source.owner, memref.ViewOp) else _contiguous_part(op, builder)
        view.name_hint = op.result.name_hint
        Rewriter.replace_op(op, [], [view])


def _view(op: SubviewOp, builder: Builder) -> SSAValue:
    """Returns a part of a view, as a view of the same bytes."""
    whole = op.source.owner
    assert isinstance(whole, memref.ViewOp), "the caller has checked that it is a view"
    size = element_bytes(op.result.type)
    assert size is not None, "the whole is a view, so its elements have a size"
    place = _sum(_amount(whole.byte_shift), _product(_amount(op.offset), size, builder), builder)
    return builder.insert(memref.ViewOp(whole.source, _value(place, builder), list(op.sizes), op.result.type)).result


def _contiguous_part(op: SubviewOp, builder: Builder) -> SSAValue:
    """Returns a contiguous part of any other buffer, with the part's type."""
    type = memref_type(op.result)
    known = prod(size for size in type.get_shape() if size != DYNAMIC_INDEX)
    count = reduce(lambda lhs, rhs: _product(lhs, rhs, builder), map(_amount, op.sizes), known)
    row = MemRefType(type.element_type, [DYNAMIC_INDEX], StridedLayoutAttr([1], None))
    cast = memref.ReinterpretCastOp.from_dynamic(op.source, [op.offset], [_value(count, builder)], [1], row)
    cut = builder.insert(cast).result
    return builder.insert(UnrealizedConversionCastOp.get([cut], [type])).results[0]


def _strided_part(op: SubviewOp, strides: Sequence[int], builder: Builder) -> SSAValue:
    """Returns a strided part, with the part's type."""
    type, rest = memref_type(op.result), iter(op.sizes)
    sizes = [next(rest) if extent == DYNAMIC_INDEX else extent for extent in type.get_shape()]
    moved = MemRefType(type.element_type, type.get_shape(), StridedLayoutAttr(strides, None))
    cast = memref.ReinterpretCastOp.from_dynamic(op.source, [op.offset], sizes, strides, moved)
    return builder.insert(UnrealizedConversionCastOp.get([builder.insert(cast).result], [type])).results[0]


_Amount = int | SSAValue


def _amount(value: SSAValue) -> _Amount:
    owner = value.owner
    number = owner.value if isinstance(owner, arith.ConstantOp) else None
    return number.value.data if isinstance(number, IntegerAttr) else value


def _value(amount: _Amount, builder: Builder) -> SSAValue:
    if isinstance(amount, SSAValue):
        return amount
    return builder.insert(arith.ConstantOp(IntegerAttr(amount, IndexType()))).result


def _product(lhs: _Amount, rhs: _Amount, builder: Builder) -> _Amount:
    if isinstance(lhs, int) and isinstance(rhs, int):
        return lhs * rhs
    if 1 in (lhs, rhs):
        return rhs if lhs == 1 else lhs
    return builder.insert(arith.MuliOp(_value(lhs, builder), _value(rhs, builder))).result


def _sum(lhs: _Amount, rhs: _Amount, builder: Builder) -> _Amount:
    if isinstance(lhs, int) and isinstance(rhs, int):
        return lhs + rhs
    if 0 in (lhs, rhs):
        return rhs if lhs == 0 else lhs
    return builder.insert(arith.AddiOp(_value(lhs, builder), _value(rhs, builder))).result
