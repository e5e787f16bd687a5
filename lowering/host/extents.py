"""Values that become extents: `relay.extents` and `relay.cut`.

```
%v = relay.extents(%s)                          →    %0 = memref.load %s[%c0] : memref<2xi64>
    {relay.binds = #relay.bounds<p, q>}              %p = arith.index_cast %0 : i64 to index
    : (tensor<2xi64>) -> tensor<2xi64>               …
                                                     cf.assert %1, "shape mismatch: [relay.extents C3] …{lhs}"
```

A failed assertion prints the value for `{lhs}`. From there on, `p` and `q` are sizes like those of the inputs' names. A
cut along the first axis, or one after axes of extent 1, is a prefix of the buffer; any other cut is copied by a kernel.
"""

from __future__ import annotations

from typing import Final

from xdsl.dialects import func
from xdsl.ir import SSAValue

from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.relay.structure.extents import CutOp, ExtentsOp
from xrelay.dialects.shared.types import dims_in, shape_of
from xrelay.index_algebra.dims import MAX_EXTENT, symbol
from xrelay.index_algebra.requirement import LHS, AtLeast
from xrelay.lowering.host.code import HostCode, lowers
from xrelay.lowering.host.signature import memref_of

LARGEST_EXTENT: Final = MAX_EXTENT - 1
"""The largest extent that a value may become."""


@lowers(ExtentsOp)
def lower_extents(op: ExtentsOp, code: HostCode) -> None:
    """`relay.extents` → loads of the elements and assertions that they are extents; the result is the operand."""
    sizes: dict[str, SSAValue] = {}
    for number, name in enumerate(op.names):
        sizes[name] = _extent(op.data, number, code)
        _check_extent(op, number, sizes[name], code)
    if code.block.last_op is not None and sizes:
        code.bind(code.block.last_op, sizes)
    if op.data in code.buffers:
        code.buffers[op.results[0]] = code.buffers[op.data]
    if op.data in code.numbers:
        code.numbers[op.results[0]] = code.numbers[op.data]


@lowers(CutOp)
def lower_cut(op: CutOp, code: HostCode) -> None:
    """`relay.cut` → a prefix of the buffer, or a kernel that copies."""
    data, (name,) = code.buffers[op.data], op.names
    shape, axis = shape_of(op.data.type), op.axis_number
    count = code.to_index(code.load(code.buffers[op.count]))
    (most,) = code.extents([shape[axis]])
    _check_at_least(AtLeast(symbol(name), 0, constraint="C4"), count, code.constant(0), code)
    _check_at_least(AtLeast(shape[axis], symbol(name), constraint="C4"), most, count, code)
    assert code.block.last_op is not None, "assertions precede"
    code.bind(code.block.last_op, {name: count})
    result = op.results[0]
    if all(extent == 1 for extent in shape[:axis]):
        prefix = code.prefix(data, shape_of(result.type), memref_of(result.type, op))
        prefix.name_hint = result.name_hint
        code.buffers[result] = code.with_dims(prefix, list(dims_in(result.type)))
        return
    target, source = code.buffer(result), memref_type(data)
    kernel = code.module.copy_kernel(memref_type(target), source)
    extents = code.extents([*dims_in(op.data.type), *dims_in(result.type)])
    code.add(func.CallOp(kernel.sym_name.data, [data, target, *extents], []))


def _extent(data: SSAValue, place: int, code: HostCode) -> SSAValue:
    """Returns an element of a list, or the element of a tensor of rank 0, as an index."""
    if data in code.numbers:
        number = code.numbers[data][place]
        return code.constant(number) if isinstance(number, int) else code.to_index(number)
    buffer = code.buffers[data]
    rank = memref_type(buffer).get_num_dims()
    return code.to_index(code.load(buffer, *([code.constant(place)] if rank else [])))


def _check_extent(op: ExtentsOp, number: int, value: SSAValue, code: HostCode) -> None:
    """Asserts that a value is a possible extent of a tensor."""
    failure = op.description(number).failure.replace("{value}", LHS)
    holds = code.compare("sge", value, code.constant(0))
    code.check_that(holds, f"shape mismatch: [{op.name} C3] {failure}")
    largest = AtLeast(LARGEST_EXTENT, symbol(op.names[number]), constraint="C3")
    _check_at_least(largest, code.constant(LARGEST_EXTENT), value, code)


def _check_at_least(requirement: AtLeast, lhs: SSAValue, rhs: SSAValue, code: HostCode) -> None:
    """Asserts that `lhs >= rhs`, which is the value of `requirement`."""
    code.check(code.compare("sge", lhs, rhs), requirement)
