"""Construction of the nest of a scan: loops in the order of the axes, and accumulators for one run along its axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.loop import LOCAL, BlockOp, ForOp, IterKind, IterVar, LoadOp, StoreOp, ValueMap
from xrelay.dialects.topi import ScanOp
from xrelay.index_algebra.value_map import Space
from xrelay.lowering.topi_to_loop.body import BodyLowering
from xrelay.lowering.topi_to_loop.build_nest import NestNames, loaded_buffers, nested, source_of, store_initial
from xrelay.lowering.topi_to_loop.kernel_extents import KernelExtents


def build_scan(
    op: ScanOp,
    buffers: Mapping[SSAValue, SSAValue],
    results: Sequence[SSAValue | None],
    names: NestNames,
    sizes: KernelExtents,
) -> list[Operation]:
    """Returns the ops that compute a scan into the memrefs `results`, which has None for each unused result.

    ```
    topi.scan "s" [%i : 4, %k : 8, %j : 3] along %k …   →   loop.for "i" %i to 4 {
                                                             %acc = memref.alloc() : memref<3xf32, "local">
                                                             loop.for "k" %k to 8 {
                                                               loop.for "j" %j to 3 {
                                                                 loop.block "s" (…, %vk : ordered 8 = %k, …) …
    ```

    The accumulators have the axes after the scan axis, so all accesses are in memory order. Returns nothing for an
    empty index space. Loops of one iteration are omitted.
    """
    if 0 in op.spatial:
        return []
    block_name = names.block(op)
    loop_names = names.loops(op, block_name)
    loops: list[tuple[int, ForOp]] = []
    variables: list[IterVar] = []
    for axis, (name, extent) in enumerate(zip(loop_names, op.spatial, strict=True)):
        binding = ValueMap.constant(0)
        size = sizes.value(extent)
        if size != 1:
            loops.append((axis, ForOp(name, size)))
            binding = ValueMap.identity([loops[-1][1].index])
        kind = IterKind.ORDERED if axis == op.along else IterKind.SPATIAL
        argument = op.body.block.args[axis].name_hint
        variables.append(IterVar(kind, size, binding, f"v{argument}" if argument else None))
    carried = [_accumulator(op, position, sizes) for position in range(len(op.init))]
    block = _build_block(op, block_name, variables, buffers, results, [a.memref for a in carried], sizes)
    inner = nested([loop for axis, loop in loops if axis >= op.along], block)
    outer = [loop for axis, loop in loops if axis < op.along]
    if not outer:
        return [*carried, inner]
    outer[-1].body.block.add_ops([*carried, inner])
    outer[-1].location = op.location
    return [nested(outer[:-1], outer[-1])]


def _accumulator(op: ScanOp, position: int, sizes: KernelExtents) -> memref.AllocOp:
    shape = op.spatial[op.along + 1 :]
    known = all(isinstance(extent, int) for extent in shape)
    alloc = sizes.alloc(op.element_types[position], shape, local=LOCAL if known else None)
    alloc.memref.name_hint = op.accumulators[position].name_hint
    alloc.location = op.location
    return alloc


def _build_block(
    op: ScanOp,
    name: str,
    variables: Sequence[IterVar],
    buffers: Mapping[SSAValue, SSAValue],
    results: Sequence[SSAValue | None],
    carried: Sequence[SSAValue],
    sizes: KernelExtents,
) -> BlockOp:
    body = Block(arg_types=[IndexType()] * len(variables))
    place, inner = _place(op, body, sizes), ValueMap.identity(body.args[op.along + 1 :])
    values: dict[SSAValue, SSAValue] = dict(zip(op.spatial_vars, body.args, strict=True))
    before: list[SSAValue] = []
    for accumulator, buffer in zip(op.accumulators, carried, strict=True):
        load = LoadOp(buffer, inner)
        load.result.name_hint = accumulator.name_hint
        body.add_op(load)
        before.append(load.result)
    values.update(zip(op.accumulators, before, strict=True))
    after = BodyLowering(values, buffers, sizes, {op.scan_var: place[op.along]}).copy(op.body.block, body)
    body.add_ops([StoreOp(value, buffer, inner) for value, buffer in zip(after, carried, strict=True)])
    for value, result in zip(before if op.exclusive is not None else after, results, strict=True):
        if result is not None:
            body.add_op(StoreOp(value, result, place))
    first = Block(arg_types=[IndexType()] * (len(variables) - 1))
    store_initial(op, first, carried, ValueMap.identity(first.args[op.along :]))
    writes = [*carried, *(result for result in results if result is not None)]
    block = BlockOp(name, variables, loaded_buffers(body, writes), writes, Region(body), Region(first))
    block.attributes |= source_of(op)
    block.location = op.location
    return block


def _place(op: ScanOp, body: Block, sizes: KernelExtents) -> ValueMap:
    """Returns the point of the index space that the block computes; a reverse scan begins at the end of its axis."""
    place = ValueMap.identity(body.args)
    if op.reverse is None:
        return place
    space = Space(place.operands)
    exprs = list(place.exprs)
    exprs[op.along] = exprs[op.along] * -1 + sizes.expr(op.spatial[op.along] - 1, space)
    return ValueMap.make(exprs, space.values)
