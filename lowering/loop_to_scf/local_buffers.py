"""Layouts of local buffers on the stack, chosen so that LLVM promotes their elements to registers.

A buffer whose accesses all belong to the lanes of a vector becomes an array of vectors: each element of the array is
one register. All accesses must have the same one of two patterns:

- lanes along the innermost dimension: `%acc[%i, %v * 16 + %lane]` → `memref<6x4xvector<16xf32>>` at `[%i, %v]`;
- one element per lane, in one vectorised loop: `%acc[%i]` → `memref<6xvector<16xf32>>` at `[%i]`.

Any other buffer stays an array of scalars. `passes/loop/nest_queries.py` selects the local buffers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, VectorType, i64
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from xrelay.dialects.loop import ForOp, LoadOp, LoopKind, StoreOp, ValueMap
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.index_algebra.affine_bounds import LinearForm, linear_form

STACK_ALIGNMENT = 64


class Lanes(Enum):
    """The position of vector lanes in a local buffer."""

    NONE = auto()
    INNERMOST = auto()
    EACH = auto()


@dataclass(frozen=True)
class LocalLayout:
    """The layout of a local buffer: `width` lanes in each element, or scalars if `lanes` is NONE."""

    lanes: Lanes
    width: int = 1

    def type_of(self, buffer: MemRefType) -> MemRefType:
        """Returns the type on the stack of a buffer that has type `buffer` at the loop level."""
        shape, element = list(buffer.get_shape()), buffer.element_type
        if self.lanes is Lanes.NONE:
            return buffer_type(element, shape)
        if self.lanes is Lanes.INNERMOST:
            count = shape.pop() // self.width
            shape += [count] if count > 1 else []
        return buffer_type(VectorType(element, [self.width]), shape)

    def index_of(self, index: ValueMap, lane: SSAValue, rank: int) -> ValueMap:
        """Returns the index into the stack array, of rank `rank`, for an access at `index` by the lane `lane`."""
        if self.lanes is not Lanes.INNERMOST:
            return index
        *outer, last = index.substitute({lane: ValueMap.constant(0)}).exprs
        form = linear_form(last)
        whole = LinearForm(tuple((a, c // self.width) for a, c in form.terms), form.constant // self.width).expr()
        exprs = [*outer, whole] if rank == len(index) else outer
        return ValueMap.make(exprs, index.substitute({lane: ValueMap.constant(0)}).operands)


def vector_loop(op: LoadOp | StoreOp | memref.AllocOp) -> ForOp | None:
    """Returns the loop around `op` whose iterations become lanes: the outermost vectorised one."""
    found: ForOp | None = None
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp) and becomes_lanes(parent):
            found = parent
        parent = parent.parent_op()
    return found


def becomes_lanes(loop: ForOp) -> bool:
    """Whether the iterations of a loop become lanes: it is vectorised, with a static extent greater than one."""
    return loop.kind is LoopKind.VECTORIZED and loop.extent is not None and loop.extent > 1


def layout_of(alloc: memref.AllocOp) -> LocalLayout:
    """Selects the layout of a local buffer."""
    accesses = [use.operation for use in alloc.memref.uses]
    loops: list[ForOp] = []
    patterns: set[Lanes] = set()
    for access in accesses:
        loop = vector_loop(access) if isinstance(access, LoadOp | StoreOp) else None
        if loop is None or not isinstance(access, LoadOp | StoreOp):
            return LocalLayout(Lanes.NONE)
        loops.append(loop)
        patterns.add(_pattern(access, loop))
    widths = {loop.extent for loop in loops}
    if len(patterns) != 1 or len(widths) != 1 or Lanes.NONE in patterns:
        return LocalLayout(Lanes.NONE)
    if Lanes.EACH in patterns and any(loop is not loops[0] for loop in loops):
        return LocalLayout(Lanes.NONE)
    (lanes,), (width,) = patterns, widths
    return LocalLayout(lanes, width if width is not None else 1)


def _pattern(access: LoadOp | StoreOp, loop: ForOp) -> Lanes:
    """Returns the position of the lanes of `loop` in the buffer that `access` reads or writes."""
    index, shape = access.index, access.buffer_type.get_shape()
    if any(_may_vary(value, loop) for value in index.operands):
        return Lanes.NONE
    if loop.index not in index.operands:
        return Lanes.EACH
    lane = index.operands.index(loop.index)
    width = loop.extent
    if width is None or not shape or shape[-1] % width or any(lane in expr.used_dims() for expr in index.exprs[:-1]):
        return Lanes.NONE
    form = linear_form(index.exprs[-1])
    rest = [(atom, coefficient) for atom, coefficient in form.terms if atom != AffineDimExpr(lane)]
    along = sum(coefficient for atom, coefficient in form.terms if atom == AffineDimExpr(lane))
    aligned = form.constant % width == 0 and all(coefficient % width == 0 for _, coefficient in rest)
    return Lanes.INNERMOST if along == 1 and aligned and not _uses(rest, lane) else Lanes.NONE


def _uses(terms: list[tuple[AffineExpr, int]], dim: int) -> bool:
    return any(dim in atom.used_dims() for atom, _ in terms)


def _may_vary(value: SSAValue, loop: ForOp) -> bool:
    """Whether a value in an index, other than the index of `loop`, may differ between lanes: it is computed inside."""
    if isinstance(value, BlockArgument):
        return False
    owner = value.owner
    return not isinstance(owner, BlockArgument) and loop.is_ancestor(owner)


def on_stack(type: MemRefType) -> memref.AllocaOp:
    """Returns an allocation on the stack."""
    return memref.AllocaOp.build(
        operands=[[], []], result_types=[type], properties={"alignment": IntegerAttr(STACK_ALIGNMENT, i64)}
    )
