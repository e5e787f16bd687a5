"""The picture of the levels: the ops of each kernel of a network, and its form at every level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.llvm import FuncOp as LLVMFuncOp
from xdsl.ir import Operation

from xrelay.dialects.loop import ForOp
from xrelay.dialects.topi.index_space import IndexSpaceOp
from xrelay.lowering.pipelines import Phase
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.nest_queries import blocks_of, enclosing_loops
from xrelay.tools.explore.fused_graph import KERNEL, fused_graph
from xrelay.tools.pictures.program import NETWORK, stages
from xrelay.tools.pictures.svg import LINE, PAD, Picture, width_of

_TITLES: Final = ("relay", "relay, fused", "topi", "loop", "loop, scheduled", "llvm")
_GAP: Final = 26


def levels_picture() -> str:
    """Returns the file."""
    modules = stages(NETWORK)
    nodes = fused_graph(modules[Phase.FUSED]).nodes
    rows = [_row(node.name, node.ops, modules) for node in nodes if node.kind == KERNEL]
    cells = zip([[title] for title in _TITLES], *rows, strict=True)
    widths = [max(width_of(line) for cell in column for line in cell) for column in cells]
    picture = Picture("The kernels of a network, one in each row, at every level of the compiler.")
    y = float(PAD)
    for title, x in zip(_TITLES, _lefts(widths), strict=True):
        picture.text(x, y, title, strong=True)
    y += LINE + PAD
    for color, row in enumerate(rows):
        y = _draw(picture, row, widths, y, color) + PAD
    return picture.render()


def _lefts(widths: list[float]) -> list[float]:
    return [PAD + sum(widths[:number]) + number * _GAP for number in range(len(widths))]


def _draw(picture: Picture, row: list[list[str]], widths: list[float], y: float, color: int) -> float:
    """Draws a kernel at each level, with arrows from one level to the next; returns the bottom."""
    height = max(map(len, row)) * LINE + PAD
    for cell, x, width in zip(row, _lefts(widths), widths, strict=True):
        if not cell:
            continue
        if x > PAD:
            picture.line(x - _GAP, y + height / 2, x, y + height / 2)
        picture.box(x, y, width, height, color)
        for number, line in enumerate(cell):
            top = y + (height - len(cell) * LINE) / 2 + number * LINE
            picture.text(x + PAD, top, line)
    return y + height


def _row(name: str, ops: tuple[str, ...], modules: Mapping[Phase, ModuleOp]) -> list[list[str]]:
    """Returns the lines about a kernel at each level; no lines at levels where it no longer exists."""
    topi, loop, scheduled, llvm = (
        _function(modules[phase], name) for phase in (Phase.TOPI, Phase.LOOP, Phase.SCHEDULED, Phase.LLVM)
    )
    return [
        list(ops),
        [f"@{name.removeprefix('fused_')}"],
        [] if topi is None else list(_computes(topi)),
        [] if loop is None else [f"{block}: {loops}" for block, loops in _nests(loop)],
        [] if scheduled is None else list(_loops(scheduled)),
        [] if llvm is None else [_vectors(llvm)],
    ]


def _function(module: ModuleOp, name: str) -> Operation | None:
    """Returns the function of a kernel."""
    for op in module.ops:
        if isinstance(op, FuncOp | LLVMFuncOp) and op.sym_name.data == name:
            return op
    return None


def _computes(function: Operation) -> Iterator[str]:
    """Yields the computes and named ops of a kernel."""
    for op in walk_ops(function):
        if isinstance(op, IndexSpaceOp):
            yield f"{op.name.removeprefix('topi.')} {op.label.data}"
        elif op.name.startswith("topi.") and op.results and op.parent_op() is function:
            yield op.name.removeprefix("topi.")


def _nests(function: Operation) -> Iterator[tuple[str, str]]:
    """Yields each block of a kernel with the extents of its loops."""
    assert isinstance(function, FuncOp)
    for name, block in blocks_of(function).items():
        yield name, " × ".join(str(loop.extent) for loop in enclosing_loops(block) if loop.extent != 1) or "1"


def _loops(function: Operation) -> Iterator[str]:
    """Yields the kinds of the loops."""
    yield from dict.fromkeys(f"{op.kind} loops" for op in walk_ops(function) if isinstance(op, ForOp))


def _vectors(function: Operation) -> str:
    """Returns the type of the longest vectors, or a word if the kernel has none."""
    types = [result.type for op in walk_ops(function) for result in op.results if isinstance(result.type, VectorType)]
    return str(max(types, key=lambda type: type.element_count())) if types else "scalars"
