"""Captured values: values defined outside of an op that its regions use, for loops and closures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue

Captures: TypeAlias = Mapping[Operation, Sequence[SSAValue]]
"""The captured values of ops with regions, in order of first use."""


def captures_in(top: Operation) -> Captures:
    """Returns the captured values of `top` and of each op with regions in it; visits each op once, inner ops first."""
    holders = [top]
    for op in holders:
        blocks = (block for region in op.regions for block in region.blocks)
        holders += [inner for block in blocks for inner in block.ops if inner.regions]
    found: dict[Operation, Sequence[SSAValue]] = {}
    for op in reversed(holders):
        own = {block: None for region in op.regions for block in region.blocks}
        inside = (inner for block in own for inner in block.ops)
        used = (value for inner in inside for value in (*inner.operands, *found.get(inner, ())))
        found[op] = [value for value in dict.fromkeys(used) if block_of(value) not in own]
    return found


def block_of(value: SSAValue) -> Block | None:
    """Returns the block in which `value` is defined."""
    owner = value.owner
    return owner.parent if isinstance(owner, Operation) else owner
