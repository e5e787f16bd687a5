"""The picture of the memory plan: the buffers of a program in its arena, over the calls of kernels."""

from __future__ import annotations

from typing import Final

from xrelay.api.interface import main_function
from xrelay.lowering.pipelines import Phase
from xrelay.tools.explore.arena_plan import PlannedBuffer, arena_plan
from xrelay.tools.pictures.program import NETWORK, stages
from xrelay.tools.pictures.svg import LINE, PAD, Picture

_HEIGHT: Final = 260
"""The height of the arena."""
_COLUMN: Final = 210
_SMALLEST: Final = 1024
"""Buffers of fewer bytes are left out: they would be lines."""
_LEFT: Final = 70


def memory_picture() -> str:
    """Returns the file."""
    plan = arena_plan(main_function(stages(NETWORK)[Phase.SCHEDULED]), {})
    buffers = [buffer for buffer in plan.buffers if buffer.size >= _SMALLEST]
    total = max(buffer.offset + buffer.size for buffer in buffers)
    picture = Picture("Buffers in the arena: the calls from left to right, the offset in bytes from top to bottom.")
    picture.text(PAD, PAD, "offset", strong=True)
    for number, call in enumerate(plan.calls[: 1 + max(buffer.last for buffer in buffers)]):
        picture.text(_LEFT + (number + 0.5) * _COLUMN, PAD, _short(call[-1]), strong=True, anchor="middle")
    for offset in sorted({0, total, *(buffer.offset for buffer in buffers)}):
        picture.text(PAD, _y(offset, total) - LINE / 2, f"{offset:,}")
    for color, buffer in enumerate(buffers):
        _draw(picture, buffer, total, color)
    return picture.render()


def _short(kernel: str) -> str:
    """Returns the name of a kernel without `@fused_`."""
    return kernel.removeprefix("@fused_")


def _y(offset: int, total: int) -> float:
    return 2 * PAD + LINE + offset / total * _HEIGHT


def _draw(picture: Picture, buffer: PlannedBuffer, total: int, color: int) -> None:
    x, y = _LEFT + buffer.first * _COLUMN, _y(buffer.offset, total)
    width, height = (buffer.last - buffer.first + 1) * _COLUMN - PAD, _y(buffer.offset + buffer.size, total) - y
    picture.box(x, y, width, height, color)
    picture.text(x + width / 2, y + height / 2 - LINE, f"%{buffer.name}" if buffer.name else "scratch", anchor="middle")
    picture.text(x + width / 2, y + height / 2, buffer.type.removeprefix("memref<").removesuffix(">"), anchor="middle")
