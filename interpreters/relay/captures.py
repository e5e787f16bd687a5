"""The values from around an op that its regions use: what a loop or a closure captures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue

Captures: TypeAlias = Mapping[Operation, Sequence[SSAValue]]
"""For ops with regions: the values that they capture, in the order of their first uses."""


def captures_in(top: Operation) -> Captures:
    """What `top` and each op with regions inside of it captures; each op is looked at once, inner ones first."""
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
    """The block in which `value` is defined."""
    owner = value.owner
    return owner.parent if isinstance(owner, Operation) else owner
