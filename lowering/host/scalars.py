"""Kernels on a few integers in a graph function with named dimensions: scalar code without a call.

Most kernels that compute shapes are of this kind. Each would be a function to compile, and a call. Values that only
such kernels and `relay.extents` read are not in memory either.

```
%t = func.call @k(%s) : (tensor<2xi64>) -> tensor<2xi64>      →    %0 = memref.load %s[%c0] : memref<2xi64>
%v = relay.extents(%t) {relay.binds = …}                           %1 = arith.maxsi %0, %c1 : i64
                                                                   %p = arith.index_cast %1 : i64 to index
```
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Block, SSAValue

from xrelay.dialects.relay.structure.constant import ConstantOp, elements_of_constant
from xrelay.dialects.relay.structure.extents import ExtentsOp
from xrelay.dialects.topi.shapes import tensor_type
from xrelay.lowering.host.code import HostCode
from xrelay.lowering.host.scalar_code import NoScalarCode, Number, ScalarCode, constant_of


def inline_call(op: func.CallOp, code: HostCode) -> bool:
    """Replaces the call of a small kernel by scalar code, and returns whether that is possible."""
    name = op.callee.string_value()
    kernel = code.module.small_kernels.get(name)
    if kernel is None:
        return False
    ops = Block()
    scalars = ScalarCode(
        lambda number, place: _element(op.operands[number], place, ops, code),
        lambda dim: code.sizes.sizes([dim], op)[0],
        ops,
    )
    try:
        results = scalars.run(kernel)
    except NoScalarCode:
        ops.erase()
        return False
    for new in list(ops.ops):
        new.detach()
        code.add(new)
    code.module.inlined.add(name)
    for value, numbers in zip(op.results, results, strict=True):
        code.numbers[value] = numbers
        if _is_read(value, code):
            code.buffers[value] = _stored(value, code)
    return True


def argument_of_call(op: func.CallOp, number: int, code: HostCode) -> SSAValue:
    """Returns the buffer of an operand of a kernel call. An operand that the kernel does not read is not stored."""
    value = op.operands[number]
    if value in code.buffers:
        return code.buffers[value]
    if _reads(op, number, code):
        return _stored(value, code)
    return code.allocate(value.type, value.name_hint)


def _reads(op: func.CallOp, number: int, code: HostCode) -> bool:
    """Whether the callee reads an operand."""
    kernel = code.module.kernels.get(op.callee.string_value())
    return kernel is None or kernel.is_declaration or kernel.body.block.args[number].first_use is not None


def _element(value: SSAValue, place: int, ops: Block, code: HostCode) -> Number:
    """Returns an element of an argument; adds a load to `ops` if the element is not known."""
    if value in code.numbers:
        return code.numbers[value][place]
    known = elements_of_constant(value.owner) if isinstance(value.owner, ConstantOp) else None
    if known is not None and isinstance(number := known[place], int):
        return number
    buffer = code.buffers[value]
    indices = [arith.ConstantOp.from_int_and_width(at, IndexType()) for at in _indices(buffer, place)]
    load = memref.LoadOp.get(buffer, indices)
    ops.add_ops([*indices, load])
    return load.res


def _stored(value: SSAValue, code: HostCode) -> SSAValue:
    """Stores the elements of a value that scalar code computed; returns the buffer."""
    buffer = code.buffers[value] if value in code.buffers else code.allocate(value.type, value.name_hint)
    element = tensor_type(value).element_type
    for place, number in enumerate(code.numbers[value]):
        indices = [code.constant(at) for at in _indices(buffer, place)]
        if isinstance(number, int):
            number = code.value(constant_of(number, element))
        code.store(number, buffer, *indices)
    return buffer


def _is_read(value: SSAValue, code: HostCode) -> bool:
    """Whether an op reads a value from memory, other than scalar code and `relay.extents`."""
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if isinstance(user, ExtentsOp):
                pending.append(user.results[0])
            elif not isinstance(user, func.CallOp) or _loads(user, use.index, code):
                return True
    return False


def _loads(call: func.CallOp, number: int, code: HostCode) -> bool:
    """Whether a call reads an operand from memory."""
    return call.callee.string_value() not in code.module.small_kernels and _reads(call, number, code)


def _indices(buffer: SSAValue, place: int) -> list[int]:
    """Returns the indices of an element from its position in row-major order."""
    shape = SSAValue.get(buffer, type=MemRefType).type.get_shape()
    return [int(index) for index in np.unravel_index(place, shape)]
