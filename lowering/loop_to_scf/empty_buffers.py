"""Skips loops that have no effect because each of their stores depends on a buffer without elements.

    loop.for "i" %i to %n {                     %elements = arith.muli %n, %m
      loop.for "j" %j to %m {                   %empty = arith.cmpi eq, %m, %c0
        … loop.store %v, %y[%i, %j]         →   %bound = arith.select %empty, %c0, %n
                                                scf.for %i = %c0 to %bound …

An array of shape (2^45, 0) takes no memory, but a loop over its rows takes days.
"""

from __future__ import annotations

from typing import Final

from xdsl.dialects import arith, memref, scf
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.loop import ForOp, LoadOp, StoreOp
from xrelay.dialects.loop.extents import expression_of, extents_of, is_index_argument
from xrelay.dialects.shared.levels import level_of_class
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.parallel_nests import product
from xrelay.lowering.loop_to_scf.values import Values
from xrelay.passes.loop.nest_queries import enclosing_loops

_LARGE: Final = 1 << 24
"""The minimum static extent for which a loop without effect takes noticeable time."""


def is_long(loop: ForOp) -> bool:
    """Whether the extent of a loop is dynamic or large."""
    return loop.extent is None or loop.extent >= _LARGE


def bounded(loop: ForOp, extent: SSAValue, values: Values, emitter: Emitter) -> SSAValue:
    """Returns the trip count of a loop, or of the nest that it is in: `extent`, or 0 if the loop stores nothing."""
    deciding = _deciding_extents(loop)
    if not deciding:
        return extent
    elements, zero = emitter.affine(product(map(values.index, deciding))), emitter.index(0)
    is_empty = emitter.add(arith.CmpiOp(elements, zero, "eq")).result
    bound = emitter.add(SelectOp(is_empty, zero, extent)).result
    bound.name_hint = extent.name_hint
    return bound


def _deciding_extents(loop: ForOp) -> list[SSAValue]:
    """Returns extents, other than those in the loop's bound, that must be nonzero for the loop to store anything.

    Only outermost long loops have such extents, and only if their only effects are stores.
    """
    if not is_long(loop) or any(map(is_long, enclosing_loops(loop))):
        return []
    known = set(expression_of(loop.bound).operands)
    found = [extent for buffer in _common_buffers(loop) for extent in extents_of(buffer)]
    dynamic = [extent for extent in found if isinstance(extent, SSAValue) and is_index_argument(extent)]
    return [extent for extent in dict.fromkeys(dynamic) if extent not in known]


def _common_buffers(loop: ForOp) -> list[SSAValue]:
    """Returns the buffers that an iteration accesses whenever it stores to a buffer defined outside the loop."""
    accessed: dict[Block, dict[SSAValue, None]] = {}
    stores: list[StoreOp] = []
    for op in loop.body.walk():
        if isinstance(op, StoreOp):
            stores.append(op)
        elif not _is_harmless(op):
            return []
        if isinstance(op, LoadOp | StoreOp) and op.parent is not None:
            accessed.setdefault(op.parent, {})[op.memref] = None
    common: list[SSAValue] | None = None
    for block in dict.fromkeys(op.parent for op in stores if not loop.is_ancestor(op.memref.owner)):
        buffers = _around(block, loop, accessed)
        common = list(buffers) if common is None else [buffer for buffer in common if buffer in buffers]
    return [] if common is None else common


def _around(block: Block | None, loop: ForOp, accessed: dict[Block, dict[SSAValue, None]]) -> dict[SSAValue, None]:
    """Returns the buffers accessed in a block of the loop and in the blocks around it."""
    found: dict[SSAValue, None] = {}
    while block is not None:
        found |= accessed.get(block, {})
        parent = block.parent_op()
        block = None if parent is None or parent is loop else parent.parent
    return found


def _is_harmless(op: Operation) -> bool:
    """Whether an op, without its regions, stores nothing and cannot fail."""
    kinds = (LoadOp, ForOp, scf.IfOp, scf.YieldOp, memref.AllocOp, memref.DeallocOp)
    return isinstance(op, kinds) or level_of_class(type(op)) in ("arith", "math")
