"""The bytes of buffers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

INDEX_BYTES: Final = 8
EXPECTED_EXTENT: Final = 256
"""What an extent that only a run tells counts as."""


def element_bytes(type: Attribute) -> int | None:
    """Bytes of an element of a buffer; None for a buffer that a view of an arena cannot make."""
    if not isa(type, MemRefType):
        return None
    if not isinstance(type.layout, NoneAttr) or not isinstance(type.memory_space, NoneAttr):
        return None
    return element_size(type.element_type)


def element_size(element: Attribute) -> int | None:
    """Bytes of an element of a buffer, wherever it lies; None for a type whose size is not fixed."""
    if isinstance(element, IndexType):
        return INDEX_BYTES
    return element.size if isinstance(element, FixedBitwidthType) else None


def known_bytes(alloc: memref.AllocOp) -> int | None:
    """Bytes of a buffer; None where only a run tells, or a view of an arena cannot make it."""
    if element_bytes(alloc.memref.type) is None:
        return None
    size, factors = bytes_and_factors(alloc)
    return None if factors else size


def bytes_and_factors(alloc: memref.AllocOp) -> tuple[int, Sequence[SSAValue]]:
    """The bytes of a buffer as a number times values, none of which is a product or a constant.

    The buffer is one of which `element_size` knows the element.
    """
    bytes_, rest, pending = (
        element_size(alloc.memref.type.element_type) or 0,
        list[SSAValue](),
        list(alloc.dynamic_sizes),
    )
    bytes_ *= prod(extent for extent in alloc.memref.type.get_shape() if extent != DYNAMIC_INDEX)
    while pending:
        value = pending.pop()
        if isinstance(value.owner, arith.MuliOp):
            pending += value.owner.operands
        elif isinstance(value.owner, arith.ConstantOp) and isinstance(value.owner.value, IntegerAttr):
            bytes_ *= value.owner.value.value.data
        else:
            rest.append(value)
    return bytes_, rest


def expected_bytes(buffer: SSAValue) -> int:
    """About how many bytes a buffer has; 0 for one that an arena cannot hold."""
    type = SSAValue.get(buffer, type=MemRefType).type
    shape = (EXPECTED_EXTENT if extent == DYNAMIC_INDEX else extent for extent in type.get_shape())
    return prod(shape) * (element_bytes(type) or 0)
