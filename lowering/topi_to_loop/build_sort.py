"""Construction of the nest of a `topi.sort`: loops over the rows around one `loop.block` that sorts a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.loop import BlockOp, ForOp, IterKind, IterVar, ValueMap
from xrelay.dialects.loop import SortOp as LoopSortOp
from xrelay.dialects.loop.sort_op import scratch_shape
from xrelay.dialects.topi import SortOp
from xrelay.dialects.topi.build import is_unsigned
from xrelay.dialects.topi.shapes import shape_of, tensor_type
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.topi_to_loop.build_nest import NestNames, nested
from xrelay.lowering.topi_to_loop.kernel_extents import KernelExtents


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
