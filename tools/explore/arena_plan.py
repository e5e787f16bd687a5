"""The buffers of a program in its arena, with the calls between which they are in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.memref import ViewOp
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.loop.signature import dim_arguments, dim_names
from xrelay.interpreters.scalar import compile_scalar, is_scalar_op
from xrelay.passes.loop.memory.buffer_size import element_size
from xrelay.tools.explore.linked_text import nodes_of_op


@dataclass(frozen=True)
class PlannedBuffer:
    """A buffer at a known offset of the arena."""

    name: str
    type: str
    offset: int
    """In bytes."""
    size: int
    """In bytes."""
    first: int
    """The position of the first call that uses the buffer."""
    last: int


@dataclass(frozen=True)
class ArenaPlan:
    """The calls of `@main` in order, and the buffers in its arena."""

    calls: tuple[tuple[str, ...], ...] = ()
    """The nodes of the model that each call computes, and the kernel as `@name`."""
    buffers: tuple[PlannedBuffer, ...] = ()
    dynamic: int = 0
    """The number of buffers of unknown size or offset, which `buffers` does not contain."""
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """The sizes of the named dimensions."""


def arena_plan(main: FuncOp, sizes: Mapping[str, int]) -> ArenaPlan:
    """Returns the plan of the scheduled `@main` for these sizes; it is empty if the program has no arena."""
    calls: dict[Operation, int] = {}
    views: list[ViewOp] = []
    for op in main.body.block.ops:
        if isinstance(op, CallOp):
            calls[op] = len(calls)
        elif isinstance(op, ViewOp):
            views.append(op)
    numbers = _index_values(main, sizes)
    planned = [_planned(view, calls, numbers) for view in views]
    buffers = tuple(buffer for buffer in planned if buffer is not None)
    return ArenaPlan(tuple(tuple(nodes_of_op(op)) for op in calls), buffers, len(planned) - len(buffers), sizes)


def _index_values(main: FuncOp, sizes: Mapping[str, int]) -> dict[SSAValue, int]:
    """Returns the `index` values of a function that follow from the sizes of its named dimensions."""
    arguments = zip(dim_names(main), dim_arguments(main), strict=False)
    known = {argument: sizes[name] for name, argument in arguments if name in sizes}
    for op in main.body.block.ops:
        if isinstance(op, ConstantOp) and isinstance(op.value, IntegerAttr):
            known[op.result] = op.value.value.data
        elif _is_on_indices(op) and all(operand in known for operand in op.operands):
            known[op.results[0]] = int(compile_scalar(op)(*[known[operand] for operand in op.operands]))
    return known


def _is_on_indices(op: Operation) -> bool:
    types = (*op.operand_types, *op.result_types)
    return is_scalar_op(op) and all(isinstance(type, IndexType) for type in types)


def _planned(view: ViewOp, calls: Mapping[Operation, int], known: Mapping[SSAValue, int]) -> PlannedBuffer | None:
    offset, size = known.get(view.byte_shift), _size(view, known)
    used = [calls[use.operation] for use in view.result.uses if use.operation in calls]
    if size is None or offset is None or not used:
        return None
    name = view.result.name_hint or ""
    return PlannedBuffer(name, str(view.result.type), offset, size, min(used), max(used))


def _size(view: ViewOp, known: Mapping[SSAValue, int]) -> int | None:
    """Returns the number of bytes of a contiguous buffer; None if an extent is unknown."""
    size, dynamic = element_size(view.result.type.element_type), iter(view.sizes)
    for extent in view.result.type.get_shape():
        number = known.get(next(dynamic)) if extent == DYNAMIC_INDEX else extent
        if number is None or size is None:
            return None
        size *= number
    return size
