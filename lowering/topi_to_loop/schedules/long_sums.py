"""Partial sums for reductions of very many floats, so that rounding errors do not grow with the number of terms."""

from __future__ import annotations

from math import prod
from typing import Final

from xdsl.dialects.builtin import AnyFloat

from xrelay.dialects.loop import BlockOp, ForOp, IterKind, SchedulePrimitive
from xrelay.dialects.loop.schedule import PartialSums, Split
from xrelay.dialects.topi.shapes import bit_width
from xrelay.lowering.topi_to_loop.schedules.kernel_view import memref_type
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.passes.loop.nest_queries import enclosing_loops, reduces_over

LONG_SUM: Final = 1 << 16
"""Sums with more terms are split into partial sums."""

PART: Final = 1 << 12
"""The maximum number of terms in a partial sum."""


def split_long_sums(draft: ScheduleDraft) -> None:
    """Splits the reduction loops of long sums of floats that a family has scheduled.

    ```
    acc[4, 8] = 0                    →    acc[4, 8] = 0
    for k in 1000000:                     for k_parts in 250:
      for i in 4: for j in 8 lanes:         part[4, 8] = 0
        acc[i, j] += A[i, k] * B[k, j]      for k in 4000: for i in 4: for j in 8 lanes: part[i, j] += …
                                            for i in 4: for j in 8 lanes: acc[i, j] += part[i, j]
    ```

    One f32 accumulator for a million positive terms has a relative error of about 1e-4. The tile of accumulators stays
    in registers in the innermost loop. A sum with a dynamic number of terms keeps one accumulator.
    """
    for block in filter(_is_long_sum, draft.blocks()):
        steps = _steps(block)
        trial = ScheduleDraft(draft.kernel, draft.target)
        refused = [reason for step in steps if (reason := trial.attempt(step)) is not None]
        if refused:
            draft.because(f"{block.block_name} has one accumulator: {refused[0]}")
        elif steps:
            draft.do(*steps)
            draft.because(f"{block.block_name} adds up parts")


def _is_long_sum(block: BlockOp) -> bool:
    """Whether a block reduces more than `LONG_SUM` terms to floats of at most 32 bits."""
    terms = [extent for extent, kind in zip(block.extents, block.kinds, strict=True) if kind is IterKind.REDUCE]
    results = [memref_type(buffer).element_type for buffer in block.writes]
    return prod(extent for extent in terms if isinstance(extent, int)) > LONG_SUM and all(
        isinstance(element, AnyFloat) and bit_width(element) <= 32 for element in results
    )


def _steps(block: BlockOp) -> list[SchedulePrimitive]:
    """Returns the steps that split a sum into partial sums of at most `PART` terms."""
    terms = 1
    for loop in reversed([loop for loop in enclosing_loops(block) if reduces_over(block, loop)]):
        if loop.extent is None:
            return []
        if terms * loop.extent > PART:
            return _steps_at(block.block_name, loop, loop.extent, PART // terms)
        terms *= loop.extent
    return []


def _steps_at(name: str, loop: ForOp, extent: int, most: int) -> list[SchedulePrimitive]:
    """Returns the steps that give every `most` iterations of a loop, or somewhat fewer, a partial sum."""
    if most == 1:
        return [PartialSums(name, loop.loop_name)]
    divisors = (factor for factor in range(most, most // 4, -1) if extent % factor == 0)
    factor = next(divisors, -(-extent // -(-extent // most)))
    parts = f"{loop.loop_name}_parts"
    return [Split(loop.loop_name, factor, names=(parts, loop.loop_name)), PartialSums(name, parts)]
