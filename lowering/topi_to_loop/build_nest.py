"""Construction of the nest of a compute, scan or scatter: named loops around one `loop.block`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.loop import LOCAL, BlockOp, ForOp, IterKind, IterVar, LoadOp, StoreOp, ValueMap
from xrelay.dialects.shared.attribute_names import BLOCK_SOURCE, EXPANDED_FROM
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.topi import BodyOp, Combine, ComputeOp, IndexSpaceOp, ScanOp, ScatterOp
from xrelay.dialects.topi.build import combined
from xrelay.dialects.topi.compute import combinations
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.value_map import Space
from xrelay.lowering.topi_to_loop.body import BodyLowering
from xrelay.lowering.topi_to_loop.kernel_extents import KernelExtents
from xrelay.passes.infra.fresh_names import fresh_name


class NestNames:
    """Names of loops and blocks that are unique within a kernel.

    A block has the name of its compute. Loops have the names of the index variables (`n`, `c`, `h`) if the kernel has
    one compute, else with the block's name as prefix (`conv2d_h`), so that a schedule is readable.
    """

    def __init__(self, several: bool):
        self._several = several
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def block(self, op: BodyOp) -> str:
        """Returns a name for the block of a compute or scan."""
        return self.block_called(op.label.data)

    def block_called(self, label: str) -> str:
        """Returns a unique name for a block: `label` if possible."""
        return fresh_name(f"block {label}", self._taken, self._last).removeprefix("block ")

    def loops(self, op: BodyOp, block: str) -> list[str]:
        """Returns names for the loops of a compute, spatial and then reduction."""
        hints: list[str] = []
        for kind, variables in (("i", op.spatial_vars), ("k", op.reduce_vars)):
            hints += [variable.name_hint or f"{kind}{n}" for n, variable in enumerate(variables)]
        return self.loops_called(block, hints)

    def loops_called(self, block: str, hints: Sequence[str]) -> list[str]:
        """Returns names for the loops around a block, based on `hints`."""
        stems = [f"{block}_{hint}" if self._several else hint for hint in hints]
        return [fresh_name(stem, self._taken, self._last) for stem in stems]


def build_nest(
    op: ComputeOp,
    buffers: Mapping[SSAValue, SSAValue],
    results: Sequence[SSAValue],
    names: NestNames,
    sizes: KernelExtents,
) -> Operation | None:
    """Returns the nest that computes `op` into the memrefs `results`; None for an empty index space.

    `buffers` holds the memrefs of the tensors that the body reads, `sizes` the kernel's arguments for named dimensions.
    Loops of one iteration are omitted.
    """
    if 0 in op.spatial:
        return None
    block_name = names.block(op)
    loop_names = names.loops(op, block_name)
    # A fold over nothing is its initial value.
    reduction = () if 0 in op.reduction else op.reduction
    extents = op.spatial + reduction
    # Combinations may be done in any order; comparisons with earlier values, and all other folds, may not.
    folded = IterKind.ORDERED if reduction and combinations(op) is None else IterKind.REDUCE
    loops: list[ForOp] = []
    variables: list[IterVar] = []
    for axis, (name, extent) in enumerate(zip(loop_names, extents, strict=False)):
        kind = IterKind.SPATIAL if axis < len(op.spatial) else folded
        binding = ValueMap.constant(0)
        size = sizes.value(extent)
        if size != 1:
            loops.append(ForOp(name, size))
            binding = ValueMap.identity([loops[-1].index])
        argument = op.body.block.args[axis].name_hint
        variables.append(IterVar(kind, size, binding, f"v{argument}" if argument else None))
    block = _build_block(op, block_name, variables, buffers, results, sizes)
    return nested(loops, block)


def _build_block(
    op: ComputeOp,
    name: str,
    variables: Sequence[IterVar],
    buffers: Mapping[SSAValue, SSAValue],
    results: Sequence[SSAValue],
    sizes: KernelExtents,
) -> BlockOp:
    body = Block(arg_types=[IndexType()] * len(variables))
    spatial = ValueMap.identity(body.args[: len(op.spatial)])
    folds = len(variables) > len(op.spatial)
    if op.reduction and not folds:
        store_initial(op, body, results, spatial)
    else:
        values: dict[SSAValue, SSAValue] = dict(zip(op.spatial_vars + op.reduce_vars, body.args, strict=True))
        for accumulator, result in zip(op.accumulators, results, strict=False):
            load = LoadOp(result, spatial)
            load.result.name_hint = accumulator.name_hint
            body.add_op(load)
            values[accumulator] = load.result
        yielded = BodyLowering(values, buffers, sizes).copy(op.body.block, body)
        body.add_ops([StoreOp(value, result, spatial) for value, result in zip(yielded, results, strict=True)])
    init = None
    if folds:
        first = Block(arg_types=[IndexType()] * len(op.spatial))
        store_initial(op, first, results, ValueMap.identity(first.args))
        init = Region(first)
    block = BlockOp(name, variables, loaded_buffers(body, results), list(results), Region(body), init)
    block.attributes |= source_of(op)
    block.location = op.location
    return block


def store_initial(op: IndexSpaceOp, block: Block, results: Sequence[SSAValue], index: ValueMap) -> None:
    """Appends stores of the initial values of the accumulators, at `index`."""
    for value, result in zip(op.init, results, strict=True):
        constant = arith.ConstantOp(value)
        block.add_ops([constant, StoreOp(constant.result, result, index)])


def loaded_buffers(body: Block, results: Sequence[SSAValue]) -> list[SSAValue]:
    """Returns the buffers that a body loads from, except those in `results`."""
    loaded = dict.fromkeys(op.memref for op in ops_of(body, LoadOp))
    return [buffer for buffer in loaded if buffer not in results]


def source_of(op: BodyOp) -> dict[str, Attribute]:
    """Returns the attributes of the compute, with the names of the loop level."""
    kept = {key: value for key, value in op.attributes.items() if not key.startswith("topi.")}
    if (source := op.attributes.get(EXPANDED_FROM)) is not None:
        kept[BLOCK_SOURCE] = source
    return kept


def nested(loops: Sequence[ForOp], inner: Operation) -> Operation:
    """Nests `inner` inside `loops`, the outermost first; returns the outermost op."""
    for loop in reversed(loops):
        loop.body.block.add_op(inner)
        loop.location = inner.location
        inner = loop
    return inner


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
    block = _scan_block(op, block_name, variables, buffers, results, [a.memref for a in carried], sizes)
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


def _scan_block(
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


def build_scatter(
    op: ScatterOp, buffers: Mapping[SSAValue, SSAValue], result: SSAValue, names: NestNames, sizes: KernelExtents
) -> Operation | None:
    """Returns the nest that updates the memref `result`, which holds the initial tensor; None if there are no updates.

    ```
    topi.scatter "s" [%i : 4, %j : 8] add … {     →   loop.for "i" %i to 4 {
      …                                                 loop.for "j" %j to 8 {
      topi.yield %k, %j, %u                               loop.block "s" (%vi : ordered 4 = %i, %vj : spatial 8 = %j)
    }                                                         reads(…) writes(%r) {…}
    ```

    A variable that is itself an index is spatial, any other is ordered. Loops of one iteration are omitted.
    """
    if 0 in op.spatial or 0 in shape_of(op.into):
        return None
    block_name = names.block(op)
    apart = op.apart
    loops: list[ForOp] = []
    variables: list[IterVar] = []
    for variable, name, extent in zip(op.spatial_vars, names.loops(op, block_name), op.spatial, strict=True):
        kind = IterKind.SPATIAL if variable in apart else IterKind.ORDERED
        binding = ValueMap.constant(0)
        size = sizes.value(extent)
        if size != 1:
            loops.append(ForOp(name, size))
            binding = ValueMap.identity([loops[-1].index])
        hint = variable.name_hint
        variables.append(IterVar(kind, size, binding, f"v{hint}" if hint else None))
    body = _scatter_body(op, buffers, result, sizes)
    block = BlockOp(block_name, variables, loaded_buffers(body, [result]), [result], Region(body))
    block.attributes |= source_of(op)
    block.location = op.location
    return nested(loops, block)


def _scatter_body(op: ScatterOp, buffers: Mapping[SSAValue, SSAValue], result: SSAValue, sizes: KernelExtents) -> Block:
    body = Block(arg_types=[IndexType()] * len(op.spatial))
    values: dict[SSAValue, SSAValue] = dict(zip(op.spatial_vars, body.args, strict=True))
    *indices, value = BodyLowering(values, buffers, sizes).copy(op.body.block, body)
    place = ValueMap.identity(indices)
    if op.combine is not Combine.UPDATE:
        old = LoadOp(result, place)
        body.add_op(old)
        value = combined(op.combine, op.element_type, old.result, value, body)
    body.add_op(StoreOp(value, result, place))
    return body
