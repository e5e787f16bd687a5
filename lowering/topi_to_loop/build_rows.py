"""Construction of the nests of `topi.sort`, `topi.suppress` and `topi.positions`, whose blocks work on whole rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.dialects.loop import BlockOp, ForOp, IterKind, IterVar, LoadOp, StoreOp, ValueMap
from xrelay.dialects.loop import SortOp as LoopSortOp
from xrelay.dialects.loop import SuppressOp as LoopSuppressOp
from xrelay.dialects.loop.sort_op import scratch_shape
from xrelay.dialects.loop.suppress_op import room_shape
from xrelay.dialects.topi import PositionsOp, SortOp, SuppressOp
from xrelay.dialects.topi.build import compute, is_unsigned
from xrelay.dialects.topi.shapes import shape_of, tensor_type
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.linear_form import times
from xrelay.index_algebra.value_map import Space
from xrelay.lowering.topi_to_loop.build_nest import NestNames, build_nest, nested
from xrelay.lowering.topi_to_loop.kernel_extents import KernelExtents
from xrelay.passes.loop.nest_edits import compute as compute_index


def build_sort(
    op: SortOp, source: SSAValue, results: Sequence[SSAValue], names: NestNames, sizes: KernelExtents
) -> list[Operation]:
    """Returns the scratch buffers and the nest that sorts the memref `source` into the memrefs `results`.

    Returns nothing if no element is kept. There is a loop for each axis that numbers rows, unless its extent is 1.
    """
    if 0 in shape_of(op.values):
        return []
    scratch = _scratch(op, results, sizes)
    buffers = [alloc.memref for alloc in scratch]
    descending, unsigned = op.descending is not None, is_unsigned(tensor_type(op.data).element_type)

    def fill(block: BlockOp) -> None:
        axis = op.axis.value.data
        block.body.block.add_op(
            LoopSortOp(source, block.variables, results, buffers, axis, descending=descending, unsigned=unsigned)
        )

    return [*scratch, rows_nest("sort", op.rows, [source], [*results, *buffers], fill, op, names, sizes)]


def rows_nest(
    label: str,
    rows: Sequence[Dim],
    reads: Sequence[SSAValue],
    writes: Sequence[SSAValue],
    fill: Callable[[BlockOp], None],
    source: Operation,
    names: NestNames,
    sizes: KernelExtents,
) -> Operation:
    """Returns loops over rows, without those of one iteration, around a block whose body `fill` writes."""
    block_name = names.block_called(label)
    loop_names = names.loops_called(block_name, [f"i{n}" for n in range(len(rows))])
    loops: list[ForOp] = []
    variables: list[IterVar] = []
    for name, extent in zip(loop_names, rows, strict=True):
        binding = ValueMap.constant(0)
        size = sizes.value(extent)
        if size != 1:
            loops.append(ForOp(name, size))
            binding = ValueMap.identity([loops[-1].index])
        variables.append(IterVar(IterKind.SPATIAL, size, binding, f"v{len(variables)}"))
    block = BlockOp(block_name, variables, reads, writes)
    block.location = source.location
    fill(block)
    return nested(loops, block)


def _scratch(op: SortOp, results: Sequence[SSAValue], sizes: KernelExtents) -> list[memref.AllocOp]:
    """Returns scratch buffers with rows twice as long as the data, one for the elements and one for their positions."""
    shape = scratch_shape(shape_of(op.data), op.axis.value.data)
    allocs: list[memref.AllocOp] = []
    for result, name in zip(results, ("sorted", "order"), strict=True):
        element = SSAValue.get(result, type=MemRefType).type.element_type
        alloc = sizes.alloc(element, shape)
        alloc.memref.name_hint = name
        alloc.location = op.location
        allocs.append(alloc)
    return allocs


def build_suppress(
    op: SuppressOp, reads: Sequence[SSAValue], kept: SSAValue, names: NestNames, sizes: KernelExtents
) -> list[Operation]:
    """Returns the scratch buffer and the nest that selects boxes from the memrefs `reads` into the memref `kept`."""
    shape = shape_of(op.order)
    if 0 in shape:
        return []
    room = sizes.alloc(
        SSAValue.get(reads[0], type=MemRefType).type.element_type, room_shape(shape, shape_of(op.sides)[1])
    )
    room.memref.name_hint, room.location = "selected_sides", op.location

    def fill(block: BlockOp) -> None:
        block.body.block.add_op(LoopSuppressOp(block.variables, reads, kept, room.memref))

    return [
        room,
        rows_nest("suppress", shape[:2], list(dict.fromkeys(reads)), [kept, room.memref], fill, op, names, sizes),
    ]


NOWHERE = ValueMap((), ())
"""The index of a buffer of rank 0."""


def build_positions(
    op: PositionsOp,
    buffers: Mapping[SSAValue, SSAValue],
    results: Sequence[SSAValue],
    names: NestNames,
    sizes: KernelExtents,
) -> list[Operation]:
    """Returns the nests that write the memrefs `results`.

    Every element of the mask stores its position if it is true, and zero if not, to the next free place, which is never
    after the element's own position. So there is no data-dependent branch.
    """
    positions, _ = results
    fill = compute("positions_none", {"i": shape_of(op.positions)[0]}, [i64], lambda b: [b.constant(0, i64)])
    cleared = build_nest(fill, buffers, [positions], names, sizes)
    fill.drop_all_references()
    return [*([cleared] if cleared is not None else []), _filling(op, buffers[op.mask], results, names, sizes)]


def _filling(
    op: PositionsOp, mask: SSAValue, results: Sequence[SSAValue], names: NestNames, sizes: KernelExtents
) -> Operation:
    positions, count = results
    # A mask without axes has one element, like a mask with one axis of extent one.
    extents = shape_of(op.mask) or (1,)
    block_name = names.block_called("positions")
    first = Block(arg_types=[])
    _store_zero(first, count)
    if 0 in extents:
        return BlockOp(block_name, [], [], [count], Region(first))
    loops: list[ForOp] = []
    variables: list[IterVar] = []
    for name, extent in zip(
        names.loops_called(block_name, [f"i{n}" for n in range(len(extents))]), extents, strict=True
    ):
        binding = ValueMap.constant(0)
        size = sizes.value(extent)
        if size != 1:
            loops.append(ForOp(name, size))
            binding = ValueMap.identity([loops[-1].index])
        variables.append(IterVar(IterKind.ORDERED, size, binding, f"v{len(variables)}"))
    body = Block(arg_types=[IndexType()] * len(variables))
    _append_if_true(body, mask, extents if shape_of(op.mask) else (), results, sizes)
    block = BlockOp(block_name, variables, [mask], [positions, count], Region(body), Region(first))
    block.location = op.location
    return nested(loops, block)


def _store_zero(block: Block, count: SSAValue) -> None:
    zero = arith.ConstantOp(IntegerAttr(0, i64))
    block.add_ops([zero, StoreOp(zero.result, count, NOWHERE)])


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
    ops: list[Operation] = [is_true := LoadOp(mask, ValueMap.identity(here)), known := LoadOp(count, NOWHERE)]
    position = compute_index(ValueMap.make([linear], space.values), ops)
    ops += [
        number := arith.IndexCastOp(position, i64),
        zero := arith.ConstantOp(IntegerAttr(0, i64)),
        kept := SelectOp(is_true.result, number.result, zero.result),
        place := arith.IndexCastOp(known.result, IndexType()),
        StoreOp(kept.result, positions, ValueMap.identity([place.result])),
        one := arith.ExtUIOp(is_true.result, i64),
        following := arith.AddiOp(known.result, one.result),
        StoreOp(following.result, count, NOWHERE),
    ]
    body.add_ops(ops)
