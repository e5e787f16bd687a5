"""Values that become extents in the graph function: `relay.extents` and `relay.cut`.

```
%v = relay.extents(%s)                          →    %0 = memref.load %s[%c0] : memref<2xi64>
    {relay.binds = #relay.bounds<p, q>}              %p = arith.index_cast %0 : i64 to index
    : (tensor<2xi64>) -> tensor<2xi64>               …
                                                     cf.assert %1, "shape mismatch: [relay.extents C3] …{lhs}"
```

Where an assertion fails, its message has the value for `{lhs}`. From there on `p` and `q` are sizes like those of the
names of inputs. Of a cut along the first axis, or one with nothing but 1s before it, the result is the beginning of the
buffer; else a kernel copies.
"""

from __future__ import annotations

from typing import Final

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.structure.extents import CutOp, ExtentsOp
from xrelay.dialects.shared.types import dims_in, shape_of
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.index_algebra.dims import MAX_EXTENT, symbol
from xrelay.index_algebra.requirement import LHS, AtLeast
from xrelay.lowering.topi_to_loop.function_lowering import memref_of
from xrelay.lowering.topi_to_loop.graph_loops import LoopLowering

MOST: Final = MAX_EXTENT - 1
"""The largest extent that a value may make."""


class ExtentLowering(LoopLowering):
    """Lowers the ops that bind names of extents to values."""

    def lower(self, op: Operation) -> None:
        """Adds what an op becomes."""
        match op:
            case ExtentsOp():
                self._extents(op)
            case CutOp():
                self._cut(op)
            case _:
                super().lower(op)

    def _extents(self, op: ExtentsOp) -> None:
        """Reads the extents; the result is the operand."""
        sizes: dict[str, SSAValue] = {}
        for number, name in enumerate(op.names):
            sizes[name] = self._extent(op.data, number, op)
            self._assert_extent(op, number, sizes[name])
        if self._new.last_op is not None and sizes:
            self._sizes.bind_behind(self._new.last_op, sizes)
        if op.data in self._buffers:
            self._buffers[op.results[0]] = self._buffers[op.data]
        if op.data in self._numbers:
            self._numbers[op.results[0]] = self._numbers[op.data]

    def _cut(self, op: CutOp) -> None:
        data, (name,) = self._buffers[op.data], op.names
        shape, axis = shape_of(op.data.type), op.axis_number
        count = self._index(self._load(self._buffers[op.count], (), op), op)
        (most,) = self._sizes.extents([shape[axis]], op)
        self._assert_least(AtLeast(symbol(name), 0, constraint="C4"), count, self._constant(0, op), op)
        self._assert_least(AtLeast(shape[axis], symbol(name), constraint="C4"), most, count, op)
        assert self._new.last_op is not None, "the assertion stands before"
        self._sizes.bind_behind(self._new.last_op, {name: count})
        result = op.results[0]
        if all(extent == 1 for extent in shape[:axis]):
            type = memref_of(result.type, op)
            buffer = self._noted(self._beginning(data, shape_of(result.type), type, op), list(dims_in(result.type)))
            buffer.name_hint = result.name_hint
            self._buffers[result] = buffer
            return
        target, source = self._buffer(result, op), SSAValue.get(data, type=MemRefType).type
        kernel = self._copy_kernel(SSAValue.get(target, type=MemRefType).type, source)
        extents = self._sizes.extents([*dims_in(op.data.type), *dims_in(result.type)], op)
        self._add(func.CallOp(kernel.sym_name.data, [data, target, *extents], []), op)

    def _assert_extent(self, op: ExtentsOp, number: int, value: SSAValue) -> None:
        """Asserts that an extent is one that a tensor may have."""
        told = op.words(number).failure.replace("{value}", LHS)
        holds = self._add(CmpiOp(value, self._constant(0, op), "sge"), op).results[0]
        self._assert_text(holds, f"[{op.name} C3] {told}", op)
        largest = AtLeast(MOST, symbol(op.names[number]), constraint="C3")
        self._assert_least(largest, self._constant(MOST, op), value, op)

    def _assert_least(self, requirement: AtLeast, lhs: SSAValue, rhs: SSAValue, op: Operation) -> None:
        """Asserts that an extent is another one or more."""
        self._assert(self._add(CmpiOp(lhs, rhs, "sge"), op).results[0], requirement, op)
