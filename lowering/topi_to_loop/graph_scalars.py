"""Kernels on a few integers in a graph function with named dimensions: scalar code, and no call.

Where shapes are computed, most kernels are of that kind; each would be a function to compile, and a call. Values that
such kernels alone read, or that `relay.extents` makes sizes of, have no memory either.

```
%t = func.call @k(%s) : (tensor<2xi64>) -> tensor<2xi64>      →    %0 = memref.load %s[%c0] : memref<2xi64>
%v = relay.extents(%t) {relay.binds = …}                           %1 = arith.maxsi %0, %c1 : i64
                                                                   %p = arith.index_cast %1 : i64 to index
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Block, Operation, SSAValue

from xrelay.dialects.relay.structure.constant import ConstantOp, elements_of_constant
from xrelay.dialects.relay.structure.extents import ExtentsOp
from xrelay.dialects.topi.shapes import tensor_type
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.topi_to_loop.graph_buffers import BufferLowering, CopyKernel
from xrelay.lowering.topi_to_loop.scalar_code import NoScalarCode, Number, ScalarCode, constant_of


class ScalarLowering(BufferLowering):
    """Lowers calls of small kernels to the ops that they are."""

    def __init__(self, function: func.FuncOp, copy_kernel: CopyKernel):
        """Prepare the rewriting of `function`."""
        super().__init__(function, copy_kernel)
        self._kernels: Mapping[str, func.FuncOp] = {}
        """The kernels of the module, which are lowered already."""
        self._small_kernels: Mapping[str, func.FuncOp] = {}
        """Those of them that may become scalar code, at the topi level."""
        self.inlined: set[str] = set()
        """Those of them of which a call became scalar code."""
        self._numbers: dict[SSAValue, Sequence[Number]] = {}
        """The elements of values that scalar code computed."""

    def _inline(self, op: func.CallOp) -> bool:
        """Adds the code of a call in its place; whether it has some."""
        kernel = self._small_kernels.get(op.callee.string_value())
        if kernel is None:
            return False
        ops = Block()
        code = ScalarCode(lambda number, place: self._part(op.operands[number], place, ops), self._size_at(op), ops)
        try:
            results = code.run(kernel)
        except NoScalarCode:
            ops.erase()
            return False
        for new in list(ops.ops):
            new.detach()
            self._add(new, op)
        self.inlined.add(op.callee.string_value())
        for value, numbers in zip(op.results, results, strict=True):
            self._numbers[value] = numbers
            if self._is_read(value):
                self._buffers[value] = self._written(value, op)
        return True

    def _argument(self, number: int, op: func.CallOp) -> SSAValue:
        """The buffer of an operand of a call of a kernel; what it does not read need not be there."""
        value = op.operands[number]
        if value in self._buffers:
            return self._buffers[value]
        if self._takes(op, number):
            return self._written(value, op)
        return self._allocate(value.type, op, value.name_hint)

    def _takes(self, op: func.CallOp, number: int) -> bool:
        """Whether what is called reads an operand."""
        kernel = self._kernels.get(op.callee.string_value())
        return kernel is None or kernel.is_declaration or kernel.body.block.args[number].first_use is not None

    def _extent(self, data: SSAValue, place: int, op: Operation) -> SSAValue:
        """An element of a list, or the only one of a tensor of rank 0, as a size."""
        if data in self._numbers:
            number = self._numbers[data][place]
            return self._constant(number, op) if isinstance(number, int) else self._index(number, op)
        buffer = self._buffers[data]
        rank = SSAValue.get(buffer, type=MemRefType).type.get_num_dims()
        return self._index(self._load(buffer, [self._constant(place, op)] if rank else [], op), op)

    def _part(self, value: SSAValue, place: int, ops: Block) -> Number:
        """An element of an argument, loaded where it is not known."""
        if value in self._numbers:
            return self._numbers[value][place]
        known = elements_of_constant(value.owner) if isinstance(value.owner, ConstantOp) else None
        if known is not None and isinstance(number := known[place], int):
            return number
        buffer = self._buffers[value]
        indices = [arith.ConstantOp.from_int_and_width(at, IndexType()) for at in _indices(buffer, place)]
        load = memref.LoadOp.get(buffer, indices)
        ops.add_ops([*indices, load])
        return load.res

    def _size_at(self, op: Operation) -> Callable[[Dim], Number]:
        return lambda dim: self._sizes.sizes([dim], op)[0]

    def _written(self, value: SSAValue, op: Operation) -> SSAValue:
        """A buffer with the elements of a value that scalar code computed."""
        buffer = self._buffers[value] if value in self._buffers else self._allocate(value.type, op, value.name_hint)
        element = tensor_type(value).element_type
        for place, number in enumerate(self._numbers[value]):
            indices = [self._constant(at, op) for at in _indices(buffer, place)]
            if isinstance(number, int):
                number = self._add(constant_of(number, element), op).results[0]
            self._store(number, buffer, indices, op)
        return buffer

    def _is_read(self, value: SSAValue) -> bool:
        """Whether something takes a value from memory: neither scalar code nor what makes sizes of it."""
        pending = [value]
        while pending:
            for use in pending.pop().uses:
                user = use.operation
                if isinstance(user, ExtentsOp):
                    pending.append(user.results[0])
                elif not isinstance(user, func.CallOp) or self._is_loaded(user, use.index):
                    return True
        return False

    def _is_loaded(self, call: func.CallOp, number: int) -> bool:
        """Whether a call takes an operand from memory."""
        return call.callee.string_value() not in self._small_kernels and self._takes(call, number)


def _indices(buffer: SSAValue, place: int) -> list[int]:
    """The indices of an element, given its place in row-major order."""
    shape = SSAValue.get(buffer, type=MemRefType).type.get_shape()
    return [int(index) for index in np.unravel_index(place, shape)]
