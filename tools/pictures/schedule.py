"""The picture of a schedule: the nest of a kernel before and after, with the primitives in between."""

from __future__ import annotations

from typing import Final

from xdsl.dialects.func import FuncOp

from xrelay.dialects.loop import BlockOp, ForOp, LoopKind
from xrelay.dialects.loop.schedule import ComputeAt, Reorder, Tile, Unroll, Vectorize, primitive_text
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.passes.loop.schedule import apply_schedule
from xrelay.tools.pictures.program import PRODUCT, program, run_passes
from xrelay.tools.pictures.svg import LINE, PAD, PLAIN, Picture, width_of

_LOOPS: Final = (
    "relay-infer-type,relay-fuse-ops,relay-outline-fused,convert-relay-to-topi,topi-expand-named,convert-topi-to-loop"
)
_SCHEDULE: Final = (
    Tile("nn_relu_i0", "nn_relu_i1", 8, 16),
    ComputeAt("batch_matmul", "nn_relu_i1_o"),
    Reorder(("batch_matmul_k", "batch_matmul_i", "batch_matmul_j")),
    Vectorize("batch_matmul_j"),
    Unroll("batch_matmul_i"),
    Vectorize("nn_relu_i1_i"),
    Unroll("nn_relu_i0_i"),
)
"""The schedule of the guide on schedules."""
_KINDS: Final = (LoopKind.SERIAL, LoopKind.UNROLLED, LoopKind.VECTORIZED)
"""The kinds of loops, in the order of the colours."""
_BLOCK: Final = 3
"""The colour of blocks."""


def schedule_picture() -> str:
    """Returns the file."""
    module = program(PRODUCT)
    run_passes(module, _LOOPS)
    (kernel,) = kernels_of(module)
    picture = Picture("A kernel as nested loops before and after its schedule, with the primitives of the schedule.")
    picture.text(PAD, PAD, "before", strong=True)
    _draw_body(picture, kernel, PAD, 2 * PAD + LINE)
    x = picture.width + 3 * PAD
    picture.text(x, PAD, "schedule", strong=True)
    for number, step in enumerate(_SCHEDULE):
        picture.text(x, 2 * PAD + (number + 1) * LINE, primitive_text(step))
    apply_schedule(kernel, _SCHEDULE)
    x = picture.width + 3 * PAD
    picture.text(x, PAD, "after", strong=True)
    _draw_body(picture, kernel, x, 2 * PAD + LINE)
    _draw_legend(picture)
    return picture.render()


def _draw_legend(picture: Picture) -> None:
    x, y = float(PAD), picture.height + 2 * PAD
    for color, name in enumerate((*map(str, _KINDS), "block")):
        picture.label(x, y, width_of(name), name, color)
        x += width_of(name) + PAD


def _draw_body(picture: Picture, parent: FuncOp | ForOp, x: float, y: float) -> float:
    """Draws the nests in a function or loop below each other; returns the bottom."""
    for op in _statements(parent):
        y = _draw(picture, op, x, y) + PAD
    return y


def _statements(parent: FuncOp | ForOp) -> list[ForOp | BlockOp]:
    return [op for op in parent.body.block.ops if isinstance(op, ForOp | BlockOp)]


def _draw(picture: Picture, op: ForOp | BlockOp, x: float, y: float) -> float:
    """Draws a loop around its body, or a block; returns the bottom."""
    width, height = _size(op)
    picture.box(x, y, width, height, _color(op))
    picture.text(x + PAD, y + PAD / 2, _title(op))
    if isinstance(op, ForOp):
        _draw_body(picture, op, x + PAD, y + LINE + PAD)
    return y + height


def _size(op: ForOp | BlockOp) -> tuple[float, float]:
    """Returns width and height of the box of a loop or a block."""
    inner = [_size(each) for each in _statements(op)] if isinstance(op, ForOp) else []
    widths = [width_of(_title(op)), *(width + 2 * PAD for width, _ in inner)]
    return max(widths), LINE + PAD + sum(height + PAD for _, height in inner)


def _title(op: ForOp | BlockOp) -> str:
    return f"{op.loop_name}: {op.extent}" if isinstance(op, ForOp) else op.block_name


def _color(op: ForOp | BlockOp) -> int:
    if isinstance(op, BlockOp):
        return _BLOCK
    return _KINDS.index(op.kind) if op.kind in _KINDS else PLAIN
