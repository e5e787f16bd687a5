"""Buffers and nests that copy them element by element, for primitives that add a copy next to a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.builder import ImplicitBuilder
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xrelay.dialects.loop import BlockOp, ForOp, IterKind, IterVar, LoadOp, StoreOp, ValueMap
from xrelay.dialects.loop.block_op import Extent
from xrelay.dialects.loop.extents import extents_of
from xrelay.dialects.upstream.buffer_types import buffer_type


def alloc_like(type: MemRefType, shape: Sequence[Extent]) -> memref.AllocOp:
    """Allocates a contiguous buffer of these extents, which may be values, in the memory space of `type`."""
    sizes = [DYNAMIC_INDEX if isinstance(extent, SSAValue) else extent for extent in shape]
    values = [extent for extent in shape if isinstance(extent, SSAValue)]
    return memref.AllocOp(values, [], buffer_type(type.element_type, sizes, space=type.memory_space))


def known_extents(buffer: SSAValue) -> list[Extent] | None:
    """The extents of a buffer as numbers and values; None if an extent is unknown."""
    extents = [extent for extent in extents_of(buffer) if extent is not None]
    return extents if len(extents) == SSAValue.get(buffer, type=MemRefType).type.get_num_dims() else None


def copy_nest(
    name: str,
    loops: Sequence[str],
    shape: Sequence[Extent],
    copies: Mapping[SSAValue, SSAValue],
    order: Sequence[int] | None = None,
) -> Operation:
    """Builds loops over `shape` around a block that copies one element of each source in `copies` to its target.

    `shape` is the shape of the targets. With `order`, dimension k of a target is dimension `order[k]` of its source.
    """
    nest = [ForOp(loop, extent) for loop, extent in zip(loops, shape, strict=True)]
    variables = [
        IterVar(IterKind.SPATIAL, extent, ValueMap.make([AffineDimExpr(0)], (loop.index,)), f"v{dimension}")
        for dimension, (loop, extent) in enumerate(zip(nest, shape, strict=True))
    ]
    block = BlockOp(name, variables, list(copies), list(copies.values()))
    with ImplicitBuilder(block.body):
        index = ValueMap.identity(block.variables)
        read = index if order is None else index.select([order.index(dimension) for dimension in range(len(order))])
        for source, target in copies.items():
            value = LoadOp(source, read)
            StoreOp(value.result, target, index)
    inner: Operation = block
    for loop in reversed(nest):
        loop.body.block.add_op(inner)
        inner = loop
    return inner
