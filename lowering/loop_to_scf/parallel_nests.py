"""Queries of the loops of a function for the scf level: parallel nests and unrolled loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects import memref
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.dialects.loop import ForOp, LoopKind
from xrelay.index_algebra.linear_form import floor_div, modulo, times
from xrelay.index_algebra.value_map import Space, ValueMap
from xrelay.passes.loop.nest_queries import structure_of


def holds_unrolled(loop: ForOp) -> bool:
    """Whether `loop` contains an unrolled loop."""
    return any(isinstance(op, ForOp) and op.kind is LoopKind.UNROLLED for op in structure_of(loop))


def parallel_nest(loop: ForOp) -> list[ForOp]:
    """Returns the perfect nest of parallel loops that begins with `loop`."""
    nest = [loop]
    while True:
        inner = loop.body.block.first_op
        if not isinstance(inner, ForOp) or inner is not loop.body.block.last_op:
            break
        if inner.kind is not LoopKind.PARALLEL or inner.extent == 0:
            break
        nest.append(inner)
        loop = inner
    return nest


def product(extents: Iterable[ValueMap]) -> ValueMap:
    """Returns the product of expressions."""
    space, result = Space(), AffineConstantExpr(1)
    for extent in extents:
        result = times(result, space.lift(extent)[0])
    return ValueMap.make([result], space.values).simplified()


def delinearize(index: SSAValue, extents: Sequence[ValueMap]) -> list[ValueMap]:
    """Returns the indices of the loops of a nest with these extents, at iteration `index` of the collapsed loop."""
    space, inside = Space([index]), AffineConstantExpr(1)
    found: list[AffineExpr] = []
    for position in reversed(range(len(extents))):
        extent = space.lift(extents[position])[0]
        expr = floor_div(AffineDimExpr(0), inside)
        # The outermost index is below its extent without a remainder; for a static extent, the range proves it.
        dynamic = not isinstance(extent, AffineConstantExpr)
        found.append(expr if position == 0 and dynamic else modulo(expr, extent))
        inside = times(inside, extent)
    return [ValueMap.make([expr], space.values) for expr in reversed(found)]


def only_parallel_loop(op: memref.AllocOp) -> ForOp | None:
    """Returns the outermost parallel loop that contains every use of a buffer, or None."""
    found: ForOp | None = None
    for use in op.memref.uses:
        outermost: ForOp | None = None
        parent = use.operation.parent_op()
        while parent is not None and not parent.is_ancestor(op):
            if isinstance(parent, ForOp) and parent.kind is LoopKind.PARALLEL:
                outermost = parent
            parent = parent.parent_op()
        if outermost is None or (found is not None and outermost is not found):
            return None
        found = outermost
    return found
