"""Runs many iterations of a perfect loop nest around one block at once, if this is provably equivalent.

The spatial loops of such a nest become lanes of numpy arrays. Its reductions stay loops in their order, so each element
receives the same operations in the same order as in sequential execution. This is legal if the block accesses each
buffer that it writes at a single element, and no two lanes access the same element.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.loop import DYNAMIC, BlockOp, ForOp, IterKind, LoadOp, StoreOp, ValueMap
from xrelay.dialects.loop.extents import in_loop_indices
from xrelay.index_algebra.affine_bounds import linear_form
from xrelay.interpreters.loop.frame import Array, Frame, IndexFunction, Slots, Step, compile_index, is_lanes
from xrelay.interpreters.scalar import Value, is_scalar_op

MAX_LANES = 1 << 16
"""The number of iterations run at once: large enough to amortise Python's overhead, small enough for cached arrays."""


@dataclass(frozen=True)
class LaneNest:
    """A loop nest that can run in lanes."""

    loops: tuple[ForOp, ...]
    serial: tuple[ForOp, ...]
    """The loops that run sequentially: outer spatial ones, then reductions in their order."""

    lanes: tuple[ForOp, ...]
    block: BlockOp

    def compile(
        self,
        slots: Slots,
        bindings: IndexFunction,
        variables: Sequence[int],
        init: Step | None,
        body: Step,
    ) -> Step:
        """Compiles the nest to one step; `bindings`, `variables`, `init` and `body` are those of its block."""
        extents = [extent for extent in self.block.extents if isinstance(extent, int)]
        reduce = [k for k, kind in enumerate(self.block.kinds) if kind is not IterKind.SPATIAL]
        lane_slots = [slots.use(loop.index) for loop in self.lanes]
        lane_values = _grid([loop.extent or 0 for loop in self.lanes])
        serial_slots = [slots.use(loop.index) for loop in self.serial]
        serial_ranges = [range(loop.extent or 0) for loop in self.serial]
        parts = list(zip(variables, extents, strict=True))

        def run(frame: Frame) -> None:
            for point in product(*serial_ranges):
                for slot, value in zip(serial_slots, point, strict=True):
                    frame[slot] = value
                for slot, values in zip(lane_slots, lane_values, strict=True):
                    frame[slot] = values
                if not _bind(frame, bindings(frame), parts, lane_slots):
                    continue
                if init is not None and not any(frame[variables[k]] for k in reduce):
                    init(frame)
                body(frame)

        return run


def _grid(extents: Sequence[int]) -> list[Array]:
    """Returns the indices of all lanes for each lane loop, the last loop fastest."""
    if not extents:
        return []
    return [values.reshape(-1) for values in np.indices(extents, dtype=np.int64)]


def _bind(frame: Frame, values: Sequence[Value], parts: Sequence[tuple[int, int]], lane_slots: Sequence[int]) -> bool:
    """Sets the block's variables and removes lanes outside of its domain; returns whether any lanes are left."""
    inside: Value = True
    for value, (_, extent) in zip(values, parts, strict=True):
        if extent != DYNAMIC:
            inside = inside & (value >= 0) & (value < extent)
    if not np.any(inside):
        return False
    for value, (variable, _) in zip(values, parts, strict=True):
        frame[variable] = value
    if np.all(inside):
        return True
    for slot in [*lane_slots, *(variable for variable, _ in parts)]:
        if is_lanes(frame[slot]):
            frame[slot] = frame[slot][inside]
    return True


def lane_nest(loop: ForOp) -> LaneNest | None:
    """Returns the perfect nest of `loop` around one block, or None if it cannot run in lanes."""
    loops: list[ForOp] = []
    op = loop
    while isinstance(op, ForOp):
        loops.append(op)
        body = op.body.block
        if body.first_op is None or body.first_op is not body.last_op:
            return None
        op = body.first_op
    if not isinstance(op, BlockOp) or any(inner.extent is None for inner in loops) or not _is_local(op):
        return None
    if op.extent_operands:
        return None
    spatial: list[ForOp] = []
    other: list[ForOp] = []
    for inner in loops:
        kinds = {op.kinds[k] for k in range(len(op.kinds)) if inner.index in op.bindings[k].operands}
        if len(kinds) > 1:
            return None
        (spatial if kinds == {IterKind.SPATIAL} else other).append(inner)
    outer, lanes = _fitting(spatial)
    if not lanes or not _are_distinct(op, lanes):
        return None
    return LaneNest(tuple(loops), (*outer, *other), tuple(lanes), op)


def _fitting(spatial: Sequence[ForOp]) -> tuple[list[ForOp], list[ForOp]]:
    """Splits spatial loops into outer ones, and innermost ones that together fit in `MAX_LANES`."""
    count, first = 1, len(spatial)
    while first > 0 and count * (spatial[first - 1].extent or 0) <= MAX_LANES:
        first -= 1
        count *= spatial[first].extent or 1
    return list(spatial[:first]), list(spatial[first:])


def _is_local(block: BlockOp) -> bool:
    """Returns whether the block consists of accesses and scalar ops and accesses each written buffer at one element."""
    written = set(block.writes)
    elements: dict[SSAValue, ValueMap] = {}
    renamed = _init_arguments(block)
    for op in _inner_ops(block):
        if isinstance(op, LoadOp | StoreOp):
            index = op.index.substitute(renamed)
            if op.memref in written and elements.setdefault(op.memref, index) != index:
                return False
        elif not isinstance(op, scf.IfOp | scf.YieldOp) and not is_scalar_op(op):
            return False
    return True


def _inner_ops(block: BlockOp) -> Iterator[Operation]:
    return (op for op in block.walk() if op is not block)


def _init_arguments(block: BlockOp) -> dict[SSAValue, ValueMap]:
    """Returns the init's arguments in terms of the body's."""
    if not block.has_init:
        return {}
    return {
        argument: ValueMap.identity((block.variables[k],))
        for argument, k in zip(block.init.block.args, block.spatial, strict=True)
    }


def _are_distinct(block: BlockOp, lanes: Sequence[ForOp]) -> bool:
    """Returns whether distinct lanes write distinct elements of every written buffer."""
    grid = dict(zip([loop.index for loop in lanes], _grid([loop.extent or 0 for loop in lanes]), strict=True))
    return all(_is_injective(in_loop_indices(op.index), grid) for op in block.body.walk() if isinstance(op, StoreOp))


def _is_injective(index: ValueMap, grid: dict[SSAValue, Array]) -> bool:
    """Returns whether the lane-dependent part of `index` is distinct for all lanes; false if it cannot be separated."""
    moving = {d for d, value in enumerate(index.operands) if value in grid}
    slots = Slots()
    for value in index.operands:
        slots.define(value)
    frame: Frame = [grid.get(value, 0) for value in index.operands]
    columns: list[Array] = []
    for expr in index.exprs:
        atoms = [atom for atom, _ in linear_form(expr).terms]
        used = [atom.used_dims() for atom in atoms]
        if any(dims & moving and not dims <= moving for dims in used):
            return False
        if any(dims & moving for dims in used):
            columns.append(np.asarray(compile_index(ValueMap((expr,), index.operands), slots)(frame)[0]))
    count = next(iter(grid.values())).size
    if not columns:
        return count <= 1
    return len(np.unique(np.stack(columns, axis=1), axis=0)) == count
