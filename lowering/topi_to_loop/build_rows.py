"""Construction of the nests of `topi.sort`, `topi.suppress` and `topi.positions`, which work on whole rows."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.dialects.loop import BlockOp, IterKind, LoadOp, StoreOp, ValueMap
from xrelay.dialects.loop import SortOp as LoopSortOp
from xrelay.dialects.loop import SuppressOp as LoopSuppressOp
from xrelay.dialects.loop.row_ops import capacity, key_type, room_shape, scratch_shape
from xrelay.dialects.topi import PositionsOp, SortOp, SuppressOp
from xrelay.dialects.topi.build import compute, is_unsigned
from xrelay.dialects.topi.shapes import certainly_greater, shape_of, tensor_type
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.linear_form import times
from xrelay.index_algebra.value_map import Space
from xrelay.lowering.topi_to_loop.build_nest import KernelNests, Loops, build_nest, nested
from xrelay.lowering.topi_to_loop.kernel_extents import KernelExtents
from xrelay.passes.loop.nest_edits import compute as compute_index

_SCALAR_INDEX = ValueMap((), ())
"""The index of a buffer of rank 0."""


def build_sort(op: SortOp, results: Sequence[SSAValue], kernel: KernelNests) -> list[Operation]:
    """Returns the scratch buffers and the nest that sorts rows into the memrefs `results`.

    Returns an empty list if no element is kept. There is a loop for each axis of the rows whose extent is not 1. The
    scratch buffers are for keys and original positions.
    """
    if 0 in shape_of(op.values):
        return []
    axis, source = op.axis.value.data, kernel.buffers[op.data]
    length, count = shape_of(op.data)[axis], shape_of(op.values)[axis]
    selects = length != count and not certainly_greater(capacity(count), length)
    shape = scratch_shape(shape_of(op.data), axis, count if selects else None)
    elements = {"keys": key_type(tensor_type(op.data).element_type), "order": i64}
    scratch = [_scratch(element, shape, name, op, kernel) for name, element in elements.items()]
    buffers = [alloc.memref for alloc in scratch]
    descending, unsigned = op.descending is not None, is_unsigned(tensor_type(op.data).element_type)
    loops, block = _rows_block("sort", op.rows, [source], [*results, *buffers], op, kernel)
    block.body.block.add_op(
        LoopSortOp(
            source, block.variables, results, buffers, axis, descending=descending, unsigned=unsigned, selects=selects
        )
    )
    return [*scratch, *nested(loops, [block])]


def build_suppress(op: SuppressOp, kept: SSAValue, kernel: KernelNests) -> list[Operation]:
    """Returns the scratch buffer and the nest that selects boxes into the memref `kept`."""
    shape, reads = shape_of(op.order), [kernel.buffers[operand] for operand in op.operands]
    if 0 in shape:
        return []
    room = _scratch(
        tensor_type(op.sides).element_type, room_shape(shape, shape_of(op.sides)[1]), "selected_sides", op, kernel
    )
    loops, block = _rows_block("suppress", shape[:2], list(dict.fromkeys(reads)), [kept, room.memref], op, kernel)
    block.body.block.add_op(LoopSuppressOp(block.variables, reads, kept, room.memref))
    return [room, *nested(loops, [block])]


def _rows_block(
    label: str,
    rows: Sequence[Dim],
    reads: Sequence[SSAValue],
    writes: Sequence[SSAValue],
    source: Operation,
    kernel: KernelNests,
) -> tuple[Loops, BlockOp]:
    """Returns loops over rows and a block without a body."""
    name = kernel.block_name(label)
    loops, variables = kernel.loops_over(name, rows, IterKind.SPATIAL)
    block = BlockOp(name, variables, reads, writes)
    block.location = source.location
    return loops, block


def _scratch(
    element: Attribute, shape: Sequence[Dim], name: str, source: Operation, kernel: KernelNests
) -> memref.AllocOp:
    """Allocates a buffer with elements of a type."""
    alloc = kernel.sizes.alloc(element, shape)
    alloc.memref.name_hint, alloc.location = name, source.location
    return alloc


def build_positions(op: PositionsOp, results: Sequence[SSAValue], kernel: KernelNests) -> list[Operation]:
    """Returns the nests that write the memrefs `results`: the first clears the list, the second fills it from the mask.

    For every element of the mask, its position if it is true, or else zero, is stored to the next free place of the
    list, which is never after the position of the element. So there is no data-dependent branch.
    """
    positions, count = results
    fill = compute("positions_none", {"i": shape_of(op.positions)[0]}, [i64], lambda b: [b.constant(0, i64)])
    cleared = build_nest(fill, [positions], kernel)
    fill.drop_all_references()
    # A mask without axes has one element, like a mask with one axis of extent one.
    mask, extents = kernel.buffers[op.mask], shape_of(op.mask) or (1,)
    name = kernel.block_name("positions")
    first = Block(arg_types=[])
    zero = arith.ConstantOp(IntegerAttr(0, i64))
    first.add_ops([zero, StoreOp(zero.result, count, _SCALAR_INDEX)])
    if 0 in extents:
        return [*cleared, BlockOp(name, [], [], [count], Region(first))]
    loops, variables = kernel.loops_over(name, extents, IterKind.ORDERED)
    body = Block(arg_types=[IndexType()] * len(variables))
    _append_if_true(body, mask, shape_of(op.mask), results, kernel.sizes)
    block = BlockOp(name, variables, [mask], [positions, count], Region(body), Region(first))
    block.location = op.location
    return [*cleared, *nested(loops, [block])]


def _append_if_true(
    body: Block, mask: SSAValue, extents: Sequence[Dim], results: Sequence[SSAValue], sizes: KernelExtents
) -> None:
    """Stores the element's position to the next place if the element is true, and counts it."""
    positions, count = results
    here = body.args[: len(extents)]
    linear: AffineExpr = AffineConstantExpr(0)
    space = Space[SSAValue](here)
    for axis, extent in enumerate(extents):
        linear = times(linear, sizes.expr(extent, space)) + AffineDimExpr(axis)
    ops: list[Operation] = [is_true := LoadOp(mask, ValueMap.identity(here)), known := LoadOp(count, _SCALAR_INDEX)]
    position = compute_index(ValueMap.make([linear], space.values), ops)
    ops += [
        number := arith.IndexCastOp(position, i64),
        zero := arith.ConstantOp(IntegerAttr(0, i64)),
        kept := SelectOp(is_true.result, number.result, zero.result),
        place := arith.IndexCastOp(known.result, IndexType()),
        StoreOp(kept.result, positions, ValueMap.identity([place.result])),
        one := arith.ExtUIOp(is_true.result, i64),
        following := arith.AddiOp(known.result, one.result),
        StoreOp(following.result, count, _SCALAR_INDEX),
    ]
    body.add_ops(ops)
