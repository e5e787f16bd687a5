"""Construction of the nest of a compute: one perfect nest of named loops around one `loop.block`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.loop import BlockOp, ForOp, IterKind, IterVar, LoadOp, StoreOp, ValueMap
from xrelay.dialects.shared.attribute_names import BLOCK_SOURCE, EXPANDED_FROM
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.topi import BodyOp, ComputeOp, IndexSpaceOp
from xrelay.dialects.topi.folds import combinations
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
