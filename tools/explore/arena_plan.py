"""The buffers of a program in its arena, with the calls between which they are in use."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.memref import ViewOp
from xdsl.ir import Operation

from xrelay.passes.loop.memory.buffer_size import element_size
from xrelay.tools.explore.linked_text import nodes_of_op


@dataclass(frozen=True)
class PlannedBuffer:
    """A buffer at a constant offset of the arena."""

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
    """The number of buffers of dynamic size or offset, which `buffers` does not contain."""


def arena_plan(module: ModuleOp) -> ArenaPlan:
    """Returns the plan of a scheduled module; it is empty if the program has no arena."""
    mains = [op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main" and op.body.blocks]
    calls: dict[Operation, int] = {}
    views: list[ViewOp] = []
    for op in (op for main in mains for op in main.body.block.ops):
        if isinstance(op, CallOp):
            calls[op] = len(calls)
        elif isinstance(op, ViewOp):
            views.append(op)
    planned = [_planned(view, calls) for view in views]
    buffers = tuple(buffer for buffer in planned if buffer is not None)
    return ArenaPlan(tuple(tuple(nodes_of_op(op)) for op in calls), buffers, len(planned) - len(buffers))


def _planned(view: ViewOp, calls: dict[Operation, int]) -> PlannedBuffer | None:
    type, shift = view.result.type, view.byte_shift.owner
    size = _size(type)
    used = [calls[use.operation] for use in view.result.uses if use.operation in calls]
    if size is None or not used or not isinstance(shift, ConstantOp) or not isinstance(shift.value, IntegerAttr):
        return None
    name = view.result.name_hint or ""
    return PlannedBuffer(name, str(type), shift.value.value.data, size, min(used), max(used))


def _size(type: MemRefType) -> int | None:
    """Returns the number of bytes of a contiguous buffer; None if an extent is dynamic."""
    size = element_size(type.element_type)
    for extent in type.get_shape():
        if extent < 0 or size is None:
            return None
        size *= extent
    return size
