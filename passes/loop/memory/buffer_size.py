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

from xrelay.dialects.loop.base import memref_type

INDEX_BYTES: Final = 8
EXPECTED_EXTENT: Final = 256
"""The extent that size estimates assume for a dynamic dimension."""


def element_bytes(type: Attribute) -> int | None:
    """The bytes of an element of a buffer; None if no view of an arena can have the buffer's type."""
    if not isa(type, MemRefType):
        return None
    if not isinstance(type.layout, NoneAttr) or not isinstance(type.memory_space, NoneAttr):
        return None
    return element_size(type.element_type)


def element_size(element: Attribute) -> int | None:
    """Bytes of an element type in memory; None for a type without a fixed size."""
    if isinstance(element, IndexType):
        return INDEX_BYTES
    return element.size if isinstance(element, FixedBitwidthType) else None


def known_bytes(alloc: memref.AllocOp) -> int | None:
    """The bytes of a buffer; None if they are known only at run time, or no view of an arena can have its type."""
    if element_bytes(alloc.memref.type) is None:
        return None
    size, factors = bytes_and_factors(alloc)
    return None if factors else size


def bytes_and_factors(alloc: memref.AllocOp) -> tuple[int, Sequence[SSAValue]]:
    """Returns the bytes of a buffer as a number and the values that multiply it; no value is a product or a constant.

    `element_size` must know the element type.
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
    """The estimated bytes of a buffer; 0 if an arena cannot hold it."""
    type = memref_type(buffer)
    shape = (EXPECTED_EXTENT if extent == DYNAMIC_INDEX else extent for extent in type.get_shape())
    return prod(shape) * (element_bytes(type) or 0)
