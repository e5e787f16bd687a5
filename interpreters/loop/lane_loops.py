"""Chooses the loops of a kernel whose iterations run at once, in lanes of numpy arrays.

    for i to 100 { local buffer t; for k to 9 { t += x[i + k] }; y[i] = t }   // i in lanes, k one by one

A loop can run in lanes if no two of its iterations access the same element of a buffer that it writes. Each iteration
has its own copy of buffers that are allocated in the loop. Reductions are not such loops; they run in their order, so
each element receives the same operations in the same order as in sequential execution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.dialects import memref, scf
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.loop import BlockOp, ForOp, IterKind, LoadOp, StoreOp, ValueMap
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.extents import binding_of, in_loop_indices
from xrelay.index_algebra.affine_bounds import Interval, bounds, linear_form
from xrelay.index_algebra.linear_form import LinearForm
from xrelay.interpreters.loop.frame import Array, Frame, Slots, compile_index
from xrelay.interpreters.scalar import is_scalar_op

MAX_LANES = 1 << 16
"""The number of iterations run at once: large enough to amortise Python's overhead, small enough for cached arrays."""


def lane_loops(block: Block, same: Mapping[SSAValue, SSAValue]) -> dict[ForOp, int]:
    """Returns the loops in `block` that run in lanes, each with the number of iterations that run at once.

    Inner loops are preferred. Nested ones have at most `MAX_LANES` iterations together, so a long loop runs in pieces.
    `same` maps a buffer to the one with the same memory.
    """
    choice = _Choice(same)
    choice.add(block)
    return choice.loops


class _Choice:
    """The chosen loops; inner loops are added first."""

    def __init__(self, same: Mapping[SSAValue, SSAValue]):
        self.loops: dict[ForOp, int] = {}
        self._same = same
        self._serial: set[SSAValue] = set()
        """The indices of loops that a condition around loops in lanes depends on; they run one by one."""

    def add(self, block: Block) -> int:
        """Adds the loops of `block`; returns the elements that one iteration of the block computes at once."""
        width = 1
        for op in block.ops:
            match op:
                case memref.AllocOp():
                    width = max(width, prod(memref_type(op.memref).get_shape()))
                case ForOp():
                    width = max(width, self._add_loop(op))
                case scf.IfOp():
                    width = max(width, self._add_branches(op))
                case _:
                    pass
        return width

    def _add_loop(self, loop: ForOp) -> int:
        width = self.add(loop.body.block)
        count = min(loop.extent or 1, MAX_LANES // width)
        if count <= 1 or loop.index in self._serial or not _is_independent(loop, self._same):
            return width
        self.loops[loop] = count
        return width * count

    def _add_branches(self, op: scf.IfOp) -> int:
        before = len(self.loops)
        width = max((self.add(block) for region in op.regions for block in region.blocks), default=1)
        if len(self.loops) > before:
            self._serial |= indices_of(op.cond)
        return width


def indices_of(value: SSAValue) -> set[SSAValue]:
    """Returns the block arguments on which a value depends; all arguments around it if it depends on a load."""
    found: set[SSAValue] = set()
    pending, seen = [value], {value}
    while pending:
        value = pending.pop()
        if isinstance(value, BlockArgument):
            found.add(value)
        for operand in _operands(value):
            if operand not in seen:
                seen.add(operand)
                pending.append(operand)
    return found


def _operands(value: SSAValue) -> Iterable[SSAValue]:
    """Returns the values from which a value is computed."""
    if isinstance(value.owner, Operation):
        return value.owner.operands if is_scalar_op(value.owner) else _arguments_around(value.owner)
    binding = binding_of(value)
    return () if binding is None else binding.operands


def _arguments_around(op: Operation) -> Iterator[SSAValue]:
    block = op.parent_block()
    while block is not None:
        yield from block.args
        parent = block.parent_op()
        block = None if parent is None else parent.parent_block()


@dataclass(frozen=True)
class _Moves:
    """The values of one index of an access: those of `base`, plus anything in `inner`."""

    base: ValueMap
    """Over the loop's index and values from outside of the loop."""
    inner: Interval


def _is_independent(loop: ForOp, same: Mapping[SSAValue, SSAValue]) -> bool:
    """Returns whether the iterations of a loop can run in lanes."""
    inside = set[SSAValue](loop.body.block.args)
    accesses: dict[SSAValue, list[ValueMap]] = {}
    written: dict[SSAValue, None] = {}
    for op in loop.body.walk():
        inside.update(op.results)
        inside.update(argument for region in op.regions for block in region.blocks for argument in block.args)
        if isinstance(op, LoadOp | StoreOp):
            buffer = same.get(op.memref, op.memref)
            accesses.setdefault(buffer, []).append(in_loop_indices(op.index))
            if isinstance(op, StoreOp):
                written[buffer] = None
        elif not _runs_in_lanes(op, loop):
            return False
    return all(_is_disjoint(loop, accesses[buffer], inside) for buffer in written if buffer not in inside)


def _runs_in_lanes(op: Operation, loop: ForOp) -> bool:
    """Returns whether an op in `loop` can run in lanes; a reduction's variable must be the same in all of them."""
    match op:
        case ForOp():
            return op.extent is not None
        case BlockOp():
            reductions = [op.bindings[k] for k, kind in enumerate(op.kinds) if kind is not IterKind.SPATIAL]
            operands = [value for binding in reductions for value in in_loop_indices(binding).operands]
            return all(value is not loop.index and _is_loop_index(value) for value in operands)
        case memref.AllocOp():
            return not op.dynamic_sizes
        case memref.DeallocOp() | scf.IfOp() | scf.YieldOp():
            return True
        case _:
            return is_scalar_op(op)


def _is_loop_index(value: SSAValue) -> bool:
    return isinstance(value.owner, Block) and isinstance(value.owner.parent_op(), ForOp | FuncOp)


def _is_disjoint(loop: ForOp, accesses: list[ValueMap], inside: set[SSAValue]) -> bool:
    """Returns whether distinct iterations of the loop access distinct elements of a buffer."""
    columns = [
        column
        for dimension in range(len(accesses[0].exprs))
        if (column := _column(loop, [access[dimension] for access in accesses], inside)) is not None
    ]
    extent = loop.extent or 0
    return bool(columns) and len(np.unique(np.stack(columns, axis=1), axis=0)) == extent


def _column(loop: ForOp, indices: list[ValueMap], inside: set[SSAValue]) -> Array | None:
    """Returns the values of an index for each iteration; None if the values of two iterations may overlap."""
    moves = [_moves(loop, index, inside) for index in indices]
    first = moves[0]
    if first is None or any(each is None or each.base != first.base for each in moves):
        return None
    inner = [each.inner for each in moves if each is not None]
    width = max(high for _, high in inner) - min(low for low, _ in inner)
    slots, extent = Slots(), loop.extent or 0
    for value in first.base.operands:
        slots.define(value)
    frame: Frame = [np.arange(extent) if value is loop.index else 0 for value in first.base.operands]
    values = np.broadcast_to(compile_index(first.base, slots)(frame)[0], (extent,))
    return values if np.diff(np.unique(values)).min(initial=width + 1) > width else None


def _moves(loop: ForOp, index: ValueMap, inside: set[SSAValue]) -> _Moves | None:
    """Splits an index; None if its terms mix the loop's index with other values, or an inner value has no range."""
    base: list[tuple[AffineExpr, int]] = []
    inner: list[tuple[AffineExpr, int]] = []
    form = linear_form(index.exprs[0])
    for atom, coefficient in form.terms:
        used = {index.operands[number] for number in atom.used_dims()}
        if used == {loop.index} or used.isdisjoint(inside):
            base.append((atom, coefficient))
        elif used <= inside and loop.index not in used:
            inner.append((atom, coefficient))
        else:
            return None
    box = [_range(value) for value in index.operands]
    interval = bounds(LinearForm(tuple(inner), form.constant).expr(), box)
    if interval is None:
        return None
    return _Moves(ValueMap.make((LinearForm(tuple(base)).expr(),), index.operands), interval)


def _range(value: SSAValue) -> Interval | None:
    loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
    return (0, loop.extent - 1) if isinstance(loop, ForOp) and loop.extent else None
