"""Construction of the nest of a compute, scan or scatter: named loops around one `loop.block`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.loop import BlockOp, CheckedIndexOp, ForOp, IterKind, IterVar, LoadOp, StoreOp, ValueMap
from xrelay.dialects.loop.extents import range_of
from xrelay.dialects.shared.attribute_names import BLOCK_SOURCE, EXPANDED_FROM
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.shared.op_making import copy
from xrelay.dialects.topi import (
    BodyOp,
    Combine,
    ComputeOp,
    GuardOp,
    InBoundsOp,
    IndexOp,
    IndexSpaceOp,
    ReadOp,
    ScanOp,
    ScatterOp,
    YieldOp,
)
from xrelay.dialects.topi import CheckedIndexOp as TopiCheckedIndexOp
from xrelay.dialects.topi.build import combined
from xrelay.dialects.topi.compute import combinations
from xrelay.dialects.topi.index_map import IndexMap, is_inside
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.errors import LoweringError
from xrelay.index_algebra.affine_bounds import Interval
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.value_map import Space
from xrelay.lowering.topi_to_loop.kernel_extents import KernelExtents
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.loop.nest_edits import compute
from xrelay.passes.loop.nest_queries import index_range

Loops = list[ForOp | None]
"""The loop of each variable of a block, the outermost first; None for a variable of extent 1."""


class KernelNests:
    """The memrefs of a kernel's tensors, the arguments for its extents, and unique names for its loops and blocks.

    A block has the name of its compute. Loops have the names of the index variables (`n`, `c`, `h`) if the kernel has
    one compute, else with the block's name as prefix (`conv2d_h`), so that a schedule is readable.
    """

    def __init__(self, buffers: Mapping[SSAValue, SSAValue], sizes: KernelExtents, *, several: bool):
        self.buffers, self.sizes = buffers, sizes
        self._several = several
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def block_name(self, label: str) -> str:
        """Returns a unique name for a block: `label` if possible."""
        return fresh_name(f"block {label}", self._taken, self._last).removeprefix("block ")

    def loops_of(
        self, op: BodyOp, block: str, extents: Sequence[Dim], kinds: Sequence[IterKind]
    ) -> tuple[Loops, list[IterVar]]:
        """Returns loops and variables over `extents` for a block; `extents` may omit the reduction of `op`."""
        names = [variable.name_hint for variable in (*op.spatial_vars, *op.reduce_vars)]
        stems = [*(f"i{n}" for n in range(len(op.spatial_vars))), *(f"k{n}" for n in range(len(op.reduce_vars)))]
        hints = [stem if name is None else name for name, stem in zip(names, stems, strict=True)]
        return self._loops(block, hints, extents, kinds, names)

    def loops_over(self, block: str, extents: Sequence[Dim], kind: IterKind) -> tuple[Loops, list[IterVar]]:
        """Returns loops and variables of one kind over `extents`, for a block without a compute."""
        numbers = [str(number) for number in range(len(extents))]
        return self._loops(block, [f"i{number}" for number in numbers], extents, [kind] * len(extents), numbers)

    def _loops(
        self,
        block: str,
        hints: Sequence[str],
        extents: Sequence[Dim],
        kinds: Sequence[IterKind],
        variable_names: Sequence[str | None],
    ) -> tuple[Loops, list[IterVar]]:
        stems = [f"{block}_{hint}" if self._several else hint for hint in hints]
        names = [fresh_name(stem, self._taken, self._last) for stem in stems]
        loops, variables = Loops(), list[IterVar]()
        for name, extent, kind, own in zip(names, extents, kinds, variable_names, strict=False):
            size = self.sizes.value(extent)
            loop = None if size == 1 else ForOp(name, size)
            binding = ValueMap.constant(0) if loop is None else ValueMap.identity([loop.index])
            loops.append(loop)
            variables.append(IterVar(kind, size, binding, f"v{own}" if own else None))
        return loops, variables


def build_nest(op: ComputeOp, results: Sequence[SSAValue], kernel: KernelNests) -> list[Operation]:
    """Returns the nest that computes `op` into the memrefs `results`; an empty list for an empty index space.

    Loops of one iteration are omitted, here and in other nests.
    """
    if 0 in op.spatial:
        return []
    # A fold over nothing is its initial value.
    reduction = () if 0 in op.reduction else op.reduction
    # A fold that only combines values, such as a sum, may run in any order; other folds run in order.
    folded = IterKind.ORDERED if reduction and combinations(op) is None else IterKind.REDUCE
    name = kernel.block_name(op.label.data)
    kinds = [IterKind.SPATIAL] * len(op.spatial) + [folded] * len(reduction)
    loops, variables = kernel.loops_of(op, name, op.spatial + reduction, kinds)
    body = Block(arg_types=[IndexType()] * len(variables))
    spatial = ValueMap.identity(body.args[: len(op.spatial)])
    if op.reduction and not reduction:
        _store_initial(op, body, results, spatial)
    else:
        values: dict[SSAValue, SSAValue] = dict(zip(op.spatial_vars + op.reduce_vars, body.args, strict=True))
        _load_accumulators(op, results, spatial, body, values)
        yielded = _BodyLowering(values, kernel, {}, _ranges(body, variables)).copy(op.body.block, body)
        body.add_ops([StoreOp(value, result, spatial) for value, result in zip(yielded, results, strict=True)])
    init = None
    if reduction:
        first = Block(arg_types=[IndexType()] * len(op.spatial))
        _store_initial(op, first, results, ValueMap.identity(first.args))
        init = Region(first)
    return nested(loops, [_block(op, name, variables, body, results, init)])


def build_scan(op: ScanOp, results: Sequence[SSAValue | None], kernel: KernelNests) -> list[Operation]:
    """Returns the ops that compute a scan into the memrefs `results`, which has None for each unused result.

    ```
    topi.scan "s" [%i : 4, %k : 8, %j : 3] along %k …   →   loop.for "i" %i to 4 {
                                                             %acc = memref.alloc() : memref<3xf32, "local">
                                                             loop.for "k" %k to 8 {
                                                               loop.for "j" %j to 3 {
                                                                 loop.block "s" (…, %vk : ordered 8 = %k, …) …
    ```

    The accumulators have the axes after the scan axis, so all accesses are in memory order. Returns an empty list for
    an empty index space.
    """
    if 0 in op.spatial:
        return []
    name, along = kernel.block_name(op.label.data), op.along
    kinds = [IterKind.ORDERED if axis == along else IterKind.SPATIAL for axis in range(len(op.spatial))]
    loops, variables = kernel.loops_of(op, name, op.spatial, kinds)
    allocs = [_accumulator(op, position, kernel.sizes) for position in range(len(op.init))]
    carried = [alloc.memref for alloc in allocs]
    body = Block(arg_types=[IndexType()] * len(variables))
    place, inner = _point(op, body, kernel.sizes), ValueMap.identity(body.args[along + 1 :])
    values: dict[SSAValue, SSAValue] = dict(zip(op.spatial_vars, body.args, strict=True))
    before = _load_accumulators(op, carried, inner, body, values)
    lowering = _BodyLowering(values, kernel, {op.scan_var: place[along]}, _ranges(body, variables))
    after = lowering.copy(op.body.block, body)
    body.add_ops([StoreOp(value, buffer, inner) for value, buffer in zip(after, carried, strict=True)])
    for value, result in zip(before if op.exclusive is not None else after, results, strict=True):
        if result is not None:
            body.add_op(StoreOp(value, result, place))
    first = Block(arg_types=[IndexType()] * (len(variables) - 1))
    _store_initial(op, first, carried, ValueMap.identity(first.args[along:]))
    writes = [*carried, *(result for result in results if result is not None)]
    block = _block(op, name, variables, body, writes, Region(first))
    return nested(loops[:along], [*allocs, *nested(loops[along:], [block])])


def build_scatter(op: ScatterOp, result: SSAValue, kernel: KernelNests) -> list[Operation]:
    """Returns the nest that updates the memref `result`, which holds the initial tensor; nothing without updates.

    ```
    topi.scatter "s" [%i : 4, %j : 8] add … {     →   loop.for "i" %i to 4 {
      …                                                 loop.for "j" %j to 8 {
      topi.yield %k, %j, %u                               loop.block "s" (%vi : ordered 4 = %i, %vj : spatial 8 = %j)
    }                                                         reads(…) writes(%r) {…}
    ```

    Updates are in order. A variable that is itself an index is spatial, since its values update different elements; any
    other variable is ordered.
    """
    if 0 in op.spatial or 0 in shape_of(op.into):
        return []
    name, parallel = kernel.block_name(op.label.data), op.parallel_vars
    kinds = [IterKind.SPATIAL if variable in parallel else IterKind.ORDERED for variable in op.spatial_vars]
    loops, variables = kernel.loops_of(op, name, op.spatial, kinds)
    body = Block(arg_types=[IndexType()] * len(op.spatial))
    values: dict[SSAValue, SSAValue] = dict(zip(op.spatial_vars, body.args, strict=True))
    *indices, value = _BodyLowering(values, kernel, {}, _ranges(body, variables)).copy(op.body.block, body)
    place = ValueMap.identity(indices)
    if op.combine is not Combine.UPDATE:
        body.add_op(old := LoadOp(result, place))
        value = combined(op.combine, op.element_type, old.result, value, body)
    body.add_op(StoreOp(value, result, place))
    return nested(loops, [_block(op, name, variables, body, [result], None)])


def nested(loops: Sequence[ForOp | None], ops: Sequence[Operation]) -> list[Operation]:
    """Nests `ops` inside `loops`, the outermost first; returns the outermost ops."""
    inner: list[Operation] = list(ops)
    for loop in reversed(loops):
        if loop is not None:
            loop.body.block.add_ops(inner)
            loop.location = inner[-1].location
            inner = [loop]
    return inner


def _block(
    op: BodyOp, name: str, variables: Sequence[IterVar], body: Block, writes: Sequence[SSAValue], init: Region | None
) -> BlockOp:
    """Builds the block of an op, with its attributes under the names of the loop level."""
    loaded = dict.fromkeys(load.memref for load in ops_of(body, LoadOp))
    reads = [buffer for buffer in loaded if buffer not in writes]
    block = BlockOp(name, variables, reads, list(writes), Region(body), init)
    kept: dict[str, Attribute] = {k: value for k, value in op.attributes.items() if not k.startswith("topi.")}
    if (source := op.attributes.get(EXPANDED_FROM)) is not None:
        kept[BLOCK_SOURCE] = source
    block.attributes |= kept
    block.location = op.location
    return block


def _load_accumulators(
    op: IndexSpaceOp, buffers: Sequence[SSAValue], index: ValueMap, body: Block, values: dict[SSAValue, SSAValue]
) -> list[SSAValue]:
    """Appends loads of the accumulators, which are added to `values`; returns the loaded values."""
    loads = [LoadOp(buffer, index) for _, buffer in zip(op.accumulators, buffers, strict=False)]
    for accumulator, load in zip(op.accumulators, loads, strict=True):
        load.result.name_hint = accumulator.name_hint
        values[accumulator] = load.result
    body.add_ops(loads)
    return [load.result for load in loads]


def _store_initial(op: IndexSpaceOp, block: Block, results: Sequence[SSAValue], index: ValueMap) -> None:
    """Appends stores of the initial values of the accumulators, at `index`."""
    for value, result in zip(op.init, results, strict=True):
        constant = arith.ConstantOp(value)
        block.add_ops([constant, StoreOp(constant.result, result, index)])


def _accumulator(op: ScanOp, position: int, sizes: KernelExtents) -> memref.AllocOp:
    shape = op.spatial[op.along + 1 :]
    known = all(isinstance(extent, int) for extent in shape)
    alloc = sizes.alloc(op.element_types[position], shape, local=known)
    alloc.memref.name_hint = op.accumulators[position].name_hint
    alloc.location = op.location
    return alloc


def _point(op: ScanOp, body: Block, sizes: KernelExtents) -> ValueMap:
    """Returns the point of the index space that the block computes; a reverse scan begins at the end of its axis."""
    place = ValueMap.identity(body.args)
    if op.reverse is None:
        return place
    space = Space(place.operands)
    exprs = list(place.exprs)
    exprs[op.along] = exprs[op.along] * -1 + sizes.expr(op.spatial[op.along] - 1, space)
    return ValueMap.make(exprs, space.values)


# --- bodies


def _ranges(body: Block, variables: Sequence[IterVar]) -> dict[SSAValue, Interval | None]:
    """Returns the intervals of the variables of a block."""
    return {arg: range_of(variable.binding) for arg, variable in zip(body.args, variables, strict=True)}


class _BodyLowering:
    """Copies scalar ops into blocks of the loop level: loads for reads.

    `values` maps values of the body to values of the block, initially its variables and accumulators; `moved` maps
    variables of the body to expressions over the block's variables, and `ranges` the latter to their intervals.
    """

    def __init__(
        self,
        values: dict[SSAValue, SSAValue],
        kernel: KernelNests,
        moved: Mapping[SSAValue, ValueMap],
        ranges: Mapping[SSAValue, Interval | None],
    ):
        self._values, self._moved, self._ranges = values, moved, ranges
        self._buffers, self._sizes = kernel.buffers, kernel.sizes

    def value(self, old: SSAValue) -> SSAValue:
        """Returns the block's value for a scalar of the body."""
        return self._values.get(old, old)

    def copy(self, source: Block, target: Block) -> list[SSAValue]:
        """Appends the ops of `source` to `target`; returns the values that the source yields."""
        for op in source.ops:
            if isinstance(op, YieldOp):
                return [self.value(value) for value in op.values]
            result = self._lower(op, target)
            result.name_hint = op.results[0].name_hint
            if isinstance(result.owner, Operation):
                result.owner.location = op.location
            self._values[op.results[0]] = result
        parent = source.parent_op()
        raise LoweringError("a body does not end in topi.yield", location=describe_location(parent) if parent else None)

    def _lower(self, op: Operation, target: Block) -> SSAValue:
        match op:
            case ReadOp():
                buffer = self._buffers.get(op.tensor)
                if buffer is None:
                    raise LoweringError("topi.read of a tensor without a buffer", location=describe_location(op))
                return _add(target, LoadOp(buffer, self._index(op.index)))
            case IndexOp():
                return self._computed(self._index(op.index), target)
            case InBoundsOp():
                return self._in_bounds(op, target)
            case GuardOp():
                return self._guard(op, target)
            case TopiCheckedIndexOp():
                return _add(
                    target, CheckedIndexOp(self.value(op.index), self._sizes.value(op.extent), from_end=op.from_end)
                )
            case _ if op.regions or len(op.results) != 1:
                raise LoweringError(f"'{op.name}' has no meaning in a body", location=describe_location(op))
            case _:
                moved = {o: self._computed(self._moved[o], target) for o in op.operands if o in self._moved}
                return _add(target, copy(op, {**self._values, **moved} if moved else self._values))

    def _index(self, place: IndexMap) -> ValueMap:
        index = self._sizes.lowered(place)
        index = index.substitute(self._moved) if self._moved else index
        return ValueMap.make(index.exprs, [self.value(operand) for operand in index.operands])

    def _computed(self, index: ValueMap, target: Block) -> SSAValue:
        ops: list[Operation] = []
        value = compute(index, ops, self._range)
        target.add_ops(ops)
        return value

    def _range(self, value: SSAValue) -> Interval | None:
        """Returns the interval of an index; the block of a variable is not built yet."""
        return self._ranges[value] if value in self._ranges else index_range(value)

    def _in_bounds(self, op: InBoundsOp, target: Block) -> SSAValue:
        """Emits an unsigned comparison for each index that may be out of range: negative numbers compare as large."""
        inside: SSAValue | None = None
        place = op.index
        for number, size in enumerate(op.limits):
            if is_inside(place[number], size):
                continue
            index = self._computed(self._index(place[number]), target)
            limit = self._sizes.value(size)
            if isinstance(limit, int):
                limit = _add(target, arith.ConstantOp(IntegerAttr.from_index_int_value(limit)))
            holds = _add(target, CmpiOp(index, limit, "ult"))
            inside = holds if inside is None else _add(target, arith.AndIOp(inside, holds))
        return inside if inside is not None else _add(target, arith.ConstantOp(IntegerAttr(1, i1)))

    def _guard(self, op: GuardOp, target: Block) -> SSAValue:
        then_region, else_region = self._region(op.then_region), self._region(op.else_region)
        return _add(target, scf.IfOp(self.value(op.condition), [op.value.type], then_region, else_region))

    def _region(self, source: Region) -> Region:
        block = Block()
        yielded = self.copy(source.block, block)
        block.add_op(scf.YieldOp(*yielded))
        return Region(block)


def _add(block: Block, op: Operation) -> SSAValue:
    block.add_op(op)
    return op.results[0]
