"""Loops that change their form: collapsed parallel nests, loops without effect, and loops that may end early.

**Loops without effect** are skipped: those in which each store depends on a buffer without elements. An array of shape
(2^45, 0) takes no memory, but a loop over its rows takes days.

    loop.for "i" %i to %n {                     %elements = arith.muli %n, %m
      loop.for "j" %j to %m {                   %empty = arith.cmpi eq, %m, %c0
        … loop.store %v, %y[%i, %j]         →   %bound = arith.select %empty, %c0, %n
                                                scf.for %i = %c0 to %bound …

**Early-exit loops** are `scf.while` loops that end after an iteration that changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, MemRefType, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.dialects.loop import ForOp, LoadOp, LoopKind, StoreOp
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.extents import expression_of, extents_of, is_index_argument
from xrelay.dialects.shared.levels import level_of_class
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.shared.op_making import make
from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.index_algebra.linear_form import floor_div, modulo, times
from xrelay.index_algebra.value_map import Space, ValueMap
from xrelay.lowering.loop_to_scf.accesses import AccessTarget, load, store
from xrelay.lowering.loop_to_scf.buffers import on_stack
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.values import Values
from xrelay.passes.loop.nest_queries import enclosing_loops, structure_of

# --- nests


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


# --- loops without effect

_SLOW_EXTENT: Final = 1 << 24
"""The minimum static extent for which a loop without effect takes noticeable time."""


def is_long(loop: ForOp) -> bool:
    """Whether the extent of a loop is dynamic or large."""
    return loop.extent is None or loop.extent >= _SLOW_EXTENT


def bound_trip_count(loop: ForOp, extent: SSAValue, values: Values, emitter: Emitter) -> SSAValue:
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
        buffers = _accessed_around(block, loop, accessed)
        common = list(buffers) if common is None else [buffer for buffer in common if buffer in buffers]
    return [] if common is None else common


def _accessed_around(
    block: Block | None, loop: ForOp, accessed: dict[Block, dict[SSAValue, None]]
) -> dict[SSAValue, None]:
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


# --- early-exit loops


def can_exit_early(loop: ForOp) -> bool:
    """Whether changes can be detected: all stores are of integers, and inner loops are serial or unrolled."""
    kinds = {inner.kind for inner in ops_of(loop.body, ForOp)}
    types = [memref_type(op.memref) for op in ops_of(loop, StoreOp)]
    is_plain = kinds <= {LoopKind.SERIAL, LoopKind.UNROLLED}
    return is_plain and all(isinstance(type.element_type, IntegerType) for type in types)


class Changes:
    """The bits by which the stores of one iteration change elements, in a stack buffer of one integer."""

    def __init__(self, emitter: Emitter):
        self._emit = emitter
        buffer = emitter.on_stack(on_stack(MemRefType(i64, [1])))
        self._target = AccessTarget(buffer.memref, ValueMap.constant(0))

    def note(self, target: AccessTarget, value: SSAValue) -> None:
        """Adds the bits in which `value` differs from the element at `target`; call it before the store."""
        emit = self._emit
        bits = emit.add(arith.XOrIOp(load(emit, target, None), value)).result
        if bits.type != i64:
            bits = emit.add(arith.ExtUIOp(bits, i64)).result
        store(emit, self._target, emit.add(arith.OrIOp(load(emit, self._target, None), bits)).result, None)

    def loop(self, extent: SSAValue, body: Callable[[SSAValue], None]) -> None:
        """Writes the loop; `body` gets its index and notes the changes."""
        emit, zero = self._emit, self._emit.constant(IntegerAttr(0, i64))
        before, after = Block(arg_types=[IndexType()]), Block(arg_types=[IndexType()])
        with emit.inside(before):
            continues = emit.add(CmpiOp(before.args[0], extent, "slt")).result
            emit.add(scf.ConditionOp(continues, before.args[0]))
        with emit.inside(after):
            store(emit, self._target, zero, None)
            body(after.args[0])
            changed = emit.add(CmpiOp(load(emit, self._target, None), zero, "ne")).result
            following = emit.add(arith.AddiOp(after.args[0], emit.index(1))).result
            emit.add(make(scf.YieldOp, (emit.add(SelectOp(changed, following, extent)).result,)))
        emit.add(scf.WhileOp([emit.index(0)], [IndexType()], Region(before), Region(after)))
