"""Execution of a step in some of the lanes: for branches, and for blocks with iterations outside of their domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, SSAValue
from xdsl.utils.hints import isa

from xrelay.interpreters.loop.frame import Array, Frame, Step, is_lanes

Branch: TypeAlias = tuple[Step, list[int], list[int]]
"""The step of a branch, the slots that it yields, and the slots of outer values that it uses."""


def run_filtered(frame: Frame, chosen: Array, slots: Sequence[int], step: Step) -> None:
    """Runs a step in the lanes for which `chosen` is true, which are one axis in it.

    `slots` are those of the outer values that the step uses. Raises the errors of the step.
    """
    shape = np.broadcast_shapes(chosen.shape, *(np.shape(frame[slot]) for slot in slots))
    lanes = np.broadcast_to(chosen, shape)
    saved = {slot: frame[slot] for slot in slots if is_lanes(frame[slot])}
    for slot, value in saved.items():
        frame[slot] = np.broadcast_to(value, shape)[lanes]
    step(frame)
    for slot, value in saved.items():
        frame[slot] = value


def run_both(
    frame: Frame, chosen: Array, branches: Sequence[Branch], dtypes: Sequence[np.dtype[Any]]
) -> Sequence[Array]:
    """Runs each of two branches in its own lanes; returns their results, merged."""
    used = list(dict.fromkeys(slot for _, _, slots in branches for slot in slots))
    shape = np.broadcast_shapes(chosen.shape, *(np.shape(frame[slot]) for slot in used))
    results = [np.empty(shape, dtype) for dtype in dtypes]
    for lanes, (step, yields, _) in zip((chosen, ~chosen), branches, strict=True):
        every = np.broadcast_to(lanes, shape)

        def run(frame: Frame, step: Step = step, yields: list[int] = yields, every: Array = every) -> None:
            step(frame)
            for result, slot in zip(results, yields, strict=True):
                result[every] = frame[slot]

        run_filtered(frame, every, used, run)
    return results


def outer_values(block: Block) -> list[SSAValue]:
    """Returns the values that are defined outside of `block` and used in it."""
    inside: set[SSAValue] = set(block.args)
    used: dict[SSAValue, None] = {}
    for op in block.walk():
        inside.update(op.results)
        for region in op.regions:
            for inner in region.blocks:
                inside.update(inner.args)
        used.update(dict.fromkeys(op.operands))
    return [value for value in used if value not in inside]


def is_buffer(value: SSAValue) -> bool:
    """Returns whether a value is a buffer."""
    return isa(value.type, MemRefType)
