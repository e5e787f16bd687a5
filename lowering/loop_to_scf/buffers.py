"""Buffers whose type changes: flat buffers in place of dynamic strides, and layouts of local buffers on the stack.

**Flat buffers.** A buffer with dynamic strides is accessed as a one-dimensional buffer at linearised indices:

    func.func @k(%x: memref<?x?xf32>, %n: index, %m: index)
    →   %total = arith.muli %n, %m
        %flat = memref.reinterpret_cast %x to offset: [0], sizes: [%total], strides: [1]
            : memref<?x?xf32> to memref<?xf32>
        memref.load %flat[%i * %m + %j]

Below this level a buffer's type specifies all its strides, so no strides need to be passed along with the buffer.

**Local buffers** have layouts from which LLVM promotes their elements to registers. A buffer whose accesses all belong
to the lanes of a vector becomes an array of vectors: each element of the array is one register. All accesses must have
the same one of two patterns:

- lanes along the innermost dimension: `%acc[%i, %v * 16 + %lane]` → `memref<6x4xvector<16xf32>>` at `[%i, %v]`;
- one element per lane, in one vectorised loop: `%acc[%i]` → `memref<6xvector<16xf32>>` at `[%i]`.

Any other buffer stays an array of scalars. `passes/loop/nest_queries.py` selects the local buffers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from functools import reduce

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefLayoutAttr, MemRefType, VectorType, i64
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from xrelay.dialects.loop import ForOp, LoadOp, LoopKind, RowOp, StoreOp
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.extents import MAX_EXTENT, extents_of
from xrelay.dialects.upstream.buffer_types import buffer_type
from xrelay.index_algebra.affine_bounds import LinearForm, linear_form
from xrelay.index_algebra.linear_form import times
from xrelay.index_algebra.value_map import Space, ValueMap
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.values import Values

ACCESSES = (LoadOp, StoreOp, RowOp)
"""The ops that access elements of their buffer operands."""


def element_strides(type: MemRefType) -> list[int | None]:
    """Returns the strides of a buffer in elements; None for strides that are known only at run time."""
    if isinstance(type.layout, MemRefLayoutAttr):
        known = type.layout.get_strides()
        return [None] * type.get_num_dims() if known is None else list(known)
    strides: list[int | None] = []
    step: int | None = 1
    for size in reversed(type.get_shape()):
        strides.append(step)
        step = None if step is None or size == DYNAMIC_INDEX else step * size
    return strides[::-1]


class FlatBuffers:
    """The flat buffers of one function, by the buffer of the loop level that each replaces."""

    def __init__(self, emitter: Emitter, values: Values):
        self._emitter, self._values = emitter, values
        self._strides = dict[SSAValue, tuple[ValueMap, ...]]()
        self._rows = dict[SSAValue, SSAValue]()

    def add_argument(self, buffer: SSAValue) -> None:
        """Creates the flat buffer of a function's argument with dynamic strides, if the argument is accessed.

        Callees get the original argument.
        """
        if not any(isinstance(use.operation, ACCESSES) for use in buffer.uses):
            return
        total = self._measure(buffer)
        if total is None:
            return
        whole = self._values.get(buffer)
        flat = memref.ReinterpretCastOp.from_dynamic(whole, [0], [total], [1], _row_of(buffer))
        self._emitter.add(flat).result.name_hint = buffer.name_hint
        self._rows[buffer] = flat.result

    def accessed(self, value: SSAValue) -> SSAValue:
        """Returns the value to access for `value`: the flat buffer if there is one."""
        return self._rows[value] if value in self._rows else self._values.get(value)

    def allocate(self, op: memref.AllocOp) -> bool:
        """Allocates a flat buffer for `op`; returns False if its type has static strides, so that none is needed."""
        total = self._measure(op.memref)
        if total is None:
            return False
        new = self._emitter.add(memref.AllocOp([total], [], _row_of(op.memref)))
        new.memref.name_hint = op.memref.name_hint
        self._values.set(op.memref, new.memref)
        return True

    def index_of(self, buffer: SSAValue, index: ValueMap) -> ValueMap:
        """Returns the index of an access at this level: a single linearised index for a flat buffer."""
        strides = self._strides.get(buffer)
        if strides is None:
            return index
        space = Space(index.operands)
        terms = [times(expr, space.lift(stride)[0]) for expr, stride in zip(index.exprs, strides, strict=True)]
        return ValueMap.make([reduce(lambda a, b: a + b, terms)], space.values).simplified()

    def _measure(self, buffer: SSAValue) -> SSAValue | None:
        """Records dynamic strides and returns the number of elements; None for static strides or an unknown extent."""
        extents = extents_of(buffer)
        if None not in element_strides(memref_type(buffer)) or None in extents:
            return None
        step, strides = ValueMap.constant(1), list[ValueMap]()
        for extent in reversed([extent for extent in extents if extent is not None]):
            strides.append(step)
            step = self._product(step, extent)
        self._strides[buffer] = tuple(reversed(strides))
        return self._emitter.affine(step)

    def _product(self, step: ValueMap, extent: int | SSAValue) -> ValueMap:
        """Multiplies a stride by an extent; emits the product unless it is a constant or a single value."""
        factor = ValueMap.constant(extent) if isinstance(extent, int) else self._values.index(extent)
        space = Space(step.operands)
        (other,) = space.lift(factor)
        product = ValueMap.make([times(step.exprs[0], other)], space.values).simplified()
        if not product.operands or product == ValueMap.identity(product.operands):
            return product
        value = self._emitter.affine(product)
        self._emitter.ranges[value] = (0, MAX_EXTENT)
        return ValueMap.identity([value])


def _row_of(buffer: SSAValue) -> MemRefType:
    return MemRefType(memref_type(buffer).element_type, [DYNAMIC_INDEX])


# --- local buffers

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
