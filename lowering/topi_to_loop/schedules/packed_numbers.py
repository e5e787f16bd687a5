"""Weights of several numbers in a word: a loop over words, and inside an unrolled loop over the numbers of a word.

The word is loaded once, and each number is shifted by a constant. A weight that a tile of rows reads once is unpacked
in registers; otherwise the columns of a tile are unpacked into a panel, which stays in the cache for all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import AnyFloat, i32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr

from xrelay.dialects.loop import BlockOp, LoadOp
from xrelay.dialects.loop.schedule import ComputeAt, DisableUnroll, Reorder
from xrelay.lowering.topi_to_loop.schedules.common_steps import parallelize_outer
from xrelay.lowering.topi_to_loop.schedules.kernel_view import (
    KernelView,
    ProductView,
    Role,
    loads_of,
    loop_of_variable,
    points,
)
from xrelay.lowering.topi_to_loop.schedules.register_tile import unroll_tile
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft

DEPTH: int = 1
"""The position of the depth among the variables of a block that unpacks a weight: columns, depth, lane."""


MAX_NUMBERS: int = 16
"""The maximum number of numbers in a word, which have 2 bits."""


def numbers_in_word(block: BlockOp, variable: SSAValue) -> int:
    """Returns how many neighbouring values of a variable read the same word, an i32 in an operand; 1 without words.

    If this differs among the words, as between a weight and the zero points of its blocks, the least number counts.
    """
    words = [load for load in loads_of(block) if load.buffer_type.element_type == i32]
    return min((count for count in _sharing(words, variable) if count <= MAX_NUMBERS), default=1)


def terms_of_scale(block: BlockOp, variable: SSAValue) -> int:
    """Returns how many neighbouring values of a variable read the same float of an operand; 1 without such floats."""
    floats = [load for load in loads_of(block) if isinstance(load.buffer_type.element_type, AnyFloat)]
    return min(_sharing(floats, variable), default=1)


def _sharing(loads: Sequence[LoadOp], variable: SSAValue) -> Iterator[int]:
    """Yields the divisors of a variable in the indices of loads, in dimensions without other variables."""
    for load in loads:
        for dimension in range(len(load.index)):
            if load.index[dimension].operands == (variable,):
                parts = load.index[dimension].exprs[0].dfs()
                quotients = [part for part in parts if isinstance(part, AffineBinaryOpExpr)]
                for part in quotients:
                    if part.kind is AffineBinaryOpKind.FloorDiv and isinstance(part.rhs, AffineConstantExpr):
                        yield part.rhs.value


def unpacking_block(view: KernelView, product: ProductView) -> BlockOp | None:
    """Returns the block that unpacks the weight of a product in layout (N / b) × K × b; None without one."""
    factors = [load.memref for load in product.factors_along(Role.COLUMNS)]
    found = [block for block in view.blocks() if not block.is_reduction and block.writes[0] in factors]
    if len(found) != 1 or len(found[0].variables) != 3:
        return None
    return found[0] if numbers_in_word(found[0], found[0].variables[DEPTH]) > 1 else None


def split_words(draft: ScheduleDraft, loop: str, numbers: int) -> tuple[list[str], list[str]]:
    """Splits a loop over numbers into words; returns the loops outside and the loop to unroll, if there is one."""
    if numbers == 1 or draft.is_dynamic(loop) or draft.extent(loop) % numbers:
        return [loop], []
    if not draft.is_longer(loop, numbers):
        return [], [loop]
    outer, inner = draft.split(loop, numbers, outer="word", inner="number")
    return [outer], [inner]


def split_blocks(draft: ScheduleDraft, words: Sequence[str], count: int) -> tuple[list[str], list[str]]:
    """Splits the loop over words into blocks of `count` words with one scale; returns the loops over blocks and words.

    There is no loop over blocks without words, for a single block, or if blocks are not whole.
    """
    if len(words) != 1 or count < 1 or not draft.is_longer(words[0], count) or draft.extent(words[0]) % count:
        return [], list(words)
    if count == 1:
        return list(words), []
    outer, inner = draft.split(words[0], count, outer="block", inner="word")
    return [outer], [inner]


def unpack_in_registers(draft: ScheduleDraft, unpack: str, loop: str) -> None:
    """Unpacks the vectors of one number for each column of a tile, in the loop over numbers."""
    draft.do(ComputeAt(unpack, loop))
    block = draft.block(unpack)
    names = [name for k in block.spatial if (name := loop_of_variable(block, k)) is not None]
    inside = [name for name in names if draft.extent(name) > 1]
    unroll_tile(draft, unpack, inside, inside[-1] if inside else None)
    draft.mark_done(unpack)
    draft.record_reason("the weight is unpacked in registers")


def unpack_panel(draft: ScheduleDraft, unpack: str, around: Sequence[str]) -> None:
    """Unpacks the columns of a tile in the innermost of the loops `around` it, or the whole weight without loops."""
    work = points(draft.block(unpack))
    if around:
        draft.do(ComputeAt(unpack, around[-1]))
    block = draft.block(unpack)
    columns, depth, lane = (loop_of_variable(block, position) for position in block.spatial)
    outside = [] if columns is None else [columns]
    inside = [] if lane is None else [lane]
    if depth is not None:
        words, numbers = split_words(draft, depth, numbers_in_word(block, block.variables[DEPTH]))
        outside, inside = [*outside, *words], [*numbers, *inside]
        if len(outside) + len(inside) > 1:
            draft.do(Reorder((*outside, *inside)))
    unroll_tile(draft, unpack, inside, lane)
    if not around:
        parallelize_outer(draft, outside, work)
    elif outside:
        draft.do(DisableUnroll(outside[-1]))
    draft.mark_done(unpack)
    draft.record_reason("the columns of a tile are unpacked for all rows" if around else "the weight is unpacked")
