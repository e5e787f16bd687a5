"""Buffers with dynamic strides, accessed as one-dimensional buffers at linearised indices.

    func.func @k(%x: memref<?x?xf32>, %n: index, %m: index)
    →   %total = arith.muli %n, %m
        %flat = memref.reinterpret_cast %x to offset: [0], sizes: [%total], strides: [1]
            : memref<?x?xf32> to memref<?xf32>
        memref.load %flat[%i * %m + %j]

Below this level a buffer's type specifies all its strides, so no strides need to be passed along with the buffer.
"""

from __future__ import annotations

from functools import reduce

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import SSAValue

from xrelay.dialects.loop import LoadOp, RowOp, StoreOp
from xrelay.dialects.loop.extents import MAX_EXTENT, extents_of
from xrelay.index_algebra.linear_form import times
from xrelay.index_algebra.value_map import Space, ValueMap
from xrelay.lowering.loop_to_scf.accesses import element_strides
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.values import Values

ACCESSES = (LoadOp, StoreOp, RowOp)
"""The ops that access elements of their buffer operands."""


class FlatBuffers:
    """The flat buffers of one function, by the buffer of the loop level that each replaces."""

    _emitter: Emitter
    _values: Values
    _strides: dict[SSAValue, tuple[ValueMap, ...]]
    _rows: dict[SSAValue, SSAValue]

    def __init__(self, emitter: Emitter, values: Values):
        self._emitter, self._values, self._strides, self._rows = emitter, values, {}, {}

    def note_argument(self, buffer: SSAValue) -> None:
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
        if None not in element_strides(SSAValue.get(buffer, type=MemRefType).type) or None in extents:
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
    return MemRefType(SSAValue.get(buffer, type=MemRefType).type.element_type, [DYNAMIC_INDEX])
