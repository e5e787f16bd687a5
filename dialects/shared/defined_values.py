"""The values that an op defines: its results, and the arguments of the blocks in its regions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import BlockArgument, Operation, SSAValue


def region_arguments(op: Operation) -> list[BlockArgument]:
    """Returns the arguments of all blocks of `op`'s regions."""
    return [argument for region in op.regions for block in region.blocks for argument in block.args]


def defined_values(op: Operation) -> Sequence[SSAValue]:
    """Returns the results of `op`, then the arguments of all blocks of its regions."""
    return [*op.results, *region_arguments(op)] if op.regions else op.results
