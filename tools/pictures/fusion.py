"""The picture of fusion: the ops of a function as a graph, coloured by the kernel that they belong to."""

from __future__ import annotations

from itertools import chain
from typing import Final, TypeAlias

from xrelay.passes.fusion.explain import ExplainedBlock, explain_fusion
from xrelay.passes.fusion.partition import FusionOptions
from xrelay.tools.pictures.program import BRANCHES, program, run_passes
from xrelay.tools.pictures.svg import LINE, PAD, PLAIN, Picture, width_of

_ROW: Final = 58
_GAP: Final = 40
_MIDDLE: Final = 190
"""The middle of all rows."""
Place: TypeAlias = tuple[float, float, float, float]
"""Left, top, width and height of a node."""


def fusion_picture() -> str:
    """Returns the file."""
    module = program(BRANCHES)
    run_passes(module, "relay-infer-type")
    (block,) = explain_fusion(module, FusionOptions())
    picture = Picture("The ops of a function, coloured by kernel; edges have the patterns of the accesses.")
    places = _places(block)
    for edge in chain.from_iterable(block.graph.outputs):
        is_shown = edge.producer in block.ops
        _draw_edge(picture, places[edge.producer], places[edge.consumer], edge.pattern.relay_name if is_shown else "")
    colors = {id(group): number for number, group in enumerate(block.groups)}
    for node, (x, y, width, _) in places.items():
        group = block.group_of.get(node)
        picture.label(x, y, width, block.name(node), PLAIN if group is None else colors[id(group)])
    right = picture.width + 2 * _GAP
    picture.text(right, PAD, "kernels", strong=True)
    for number, group in enumerate(block.groups):
        y = PAD + (number + 1) * (LINE + 2 * PAD)
        picture.label(right, y, width_of(group.name), group.name, number)
    return picture.render()


def _draw_edge(picture: Picture, producer: Place, consumer: Place, label: str) -> None:
    """Draws an edge with its label on the outer side."""
    x1, x2 = producer[0] + producer[2] / 2, consumer[0] + consumer[2] / 2
    y1, y2 = producer[1] + producer[3], consumer[1]
    picture.line(x1, y1, x2, y2)
    is_left = min(x1, x2) < _MIDDLE - 1
    away = PAD if x1 == x2 else 3 * PAD
    x, y = (x1 + x2) / 2, (y1 + y2 - LINE) / 2
    picture.text(x - away if is_left else x + away, y, label, anchor="end" if is_left else "start")


def _places(block: ExplainedBlock) -> dict[int, Place]:
    """Returns the place of each node: it is in the row after the last of its operands."""
    rows: list[list[int]] = []
    row_of: dict[int, int] = {}
    for node, operands in enumerate(block.graph.operands):
        row_of[node] = max((row_of[operand] + 1 for operand in operands), default=0)
        rows += [[] for _ in range(len(rows), row_of[node] + 1)]
        rows[row_of[node]].append(node)
    widths = [sum(width_of(block.name(node)) + _GAP for node in row) - _GAP for row in rows]
    places: dict[int, Place] = {}
    for number, (row, width) in enumerate(zip(rows, widths, strict=True)):
        x = _MIDDLE - width / 2
        for node in row:
            places[node] = (x, PAD + number * _ROW, width_of(block.name(node)), LINE + PAD)
            x += width_of(block.name(node)) + _GAP
    return places
