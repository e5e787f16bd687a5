"""The constant extents of a kernel in the order of its text: of buffers, loops and variables of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, FunctionType, MemRefType, i64
from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.loop import DYNAMIC, BlockOp, ForOp
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.block_op import Extent
from xrelay.dialects.loop.extents import extents_of, index_arguments
from xrelay.dialects.shared.attribute_names import EXTENTS
from xrelay.dialects.shared.op_lists import ops_in
from xrelay.passes.loop.nest_edits import alloc_like
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs

Sized = SSAValue | ForOp | BlockOp
"""A buffer, a loop or a block: it has constant or other extents."""


def sized_parts(kernel: func.FuncOp) -> Iterator[Sized]:
    """Yields the parts of a kernel that have extents: arguments, then allocations, loops and blocks."""
    yield from (argument for argument in kernel.body.block.args if isinstance(argument.type, MemRefType))
    for op in ops_in(kernel.body):
        if type(op) is ForOp or type(op) is BlockOp:
            yield op
        elif type(op) is memref.AllocOp:
            yield op.memref


def static_sizes(part: Sized) -> list[int]:
    """Returns the constant extents of a part, in order."""
    if isinstance(part, ForOp):
        return [] if part.extent is None else [part.extent]
    if isinstance(part, BlockOp):
        return [extent for extent in part.extents if isinstance(extent, int) and extent != DYNAMIC]
    return [size for size in memref_type(part).get_shape() if size != DYNAMIC_INDEX]


def replace_sizes(kernel: func.FuncOp, sizes: Iterator[int | SSAValue]) -> None:
    """Replaces the constant extents of all parts of a kernel by `sizes`, in order; those of buffers by arguments."""
    for part in list(sized_parts(kernel)):
        own = list(islice(sizes, len(static_sizes(part))))
        if not any(isinstance(size, SSAValue) for size in own):
            continue
        rest = iter(own)
        if isinstance(part, ForOp):
            part.extent_attr, part.operands = None, tuple(each for each in own if isinstance(each, SSAValue))
        elif isinstance(part, BlockOp):
            part.set_extents([next(rest) if isinstance(e, int) and e != DYNAMIC else e for e in part.extents])
        else:
            shape = [next(rest) if isinstance(size, int) else size for size in extents_of(part)]
            _resize(kernel, part, [size for size in shape if size is not None])
    types = [argument.type for argument in kernel.body.block.args]
    kernel.function_type = FunctionType.from_lists(types, list(kernel.function_type.outputs))


def _resize(kernel: func.FuncOp, buffer: SSAValue, sizes: Sequence[Extent]) -> None:
    """Makes the extents of a buffer `sizes`."""
    type, owner = memref_type(buffer), buffer.owner
    if isinstance(owner, memref.AllocOp):
        Rewriter.replace_op(owner, alloc_like(type, sizes))
        return
    assert isinstance(buffer, BlockArgument)
    attributes, arguments = argument_attrs(kernel), index_arguments(kernel)
    numbers = [arguments.index(size) for size in sizes if isinstance(size, BlockArgument)]
    attributes[buffer.index][EXTENTS] = DenseArrayBase.from_list(i64, numbers)
    set_argument_attrs(kernel, attributes)
    shape = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
    Rewriter.replace_value_with_new_type(buffer, MemRefType(type.element_type, shape, type.layout, type.memory_space))
