"""Kernels on a few integers in a graph function with named dimensions: scalar code without a call.

Most kernels that compute shapes are of this kind; scalar code saves the compilation of a function and the call. Values
that only such kernels and `relay.extents` read are not stored in memory. Every element of a result is computed
separately. Values that are known at compile time are computed here, above all constants and positions of elements, so
that no code is left of concatenating and slicing short lists. Everything else becomes ops of `arith`:

```
%t = func.call @k(%s) : (tensor<2xi64>) -> tensor<2xi64>      →    %0 = memref.load %s[%c0] : memref<2xi64>
%v = relay.extents(%t) {relay.binds = …}                           %1 = arith.maxsi %0, %c1 : i64
                                                                   %p = arith.index_cast %1 : i64 to index
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Final

import numpy as np
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, Signedness, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr

from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.relay.structure.call import AnyCall
from xrelay.dialects.relay.structure.constant import ConstantOp, elements_of_constant
from xrelay.dialects.relay.structure.extents import ExtentsOp
from xrelay.dialects.shared.attribute_names import POSITIVE_DIVISOR
from xrelay.dialects.topi import CheckedIndexOp, ComputeOp, GuardOp, InBoundsOp, IndexOp, ReadOp, YieldOp
from xrelay.dialects.topi.index_map import IndexMap, dim_of
from xrelay.dialects.topi.shapes import shape_of, tensor_type
from xrelay.dialects.upstream.arith_extras import IndexCastUIOp, SelectOp
from xrelay.index_algebra.affine_bounds import linear_form, substitute
from xrelay.index_algebra.dims import Dim, Shape, is_nonnegative, is_positive
from xrelay.interpreters.scalar import compile_scalar, numpy_dtype
from xrelay.lowering.host.code import HostCode, Number

MAX_POINTS: Final = 64
"""The maximum total number of points of a kernel's index spaces."""
MAX_OPS: Final = 256
"""The maximum number of ops in the code."""

TOTAL = (
    arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp,
    arith.AndIOp, arith.OrIOp, arith.XOrIOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp,
    arith.CmpiOp, arith.SelectOp, arith.IndexCastOp, IndexCastUIOp,
)  # fmt: skip
"""The ops that have a defined result for all operands."""


class NoScalarCodeError(Exception):
    """A kernel cannot be lowered to scalar code.

    It has ops other than computes on integers of static extents, or more than a few of them; elements at dynamic
    positions; or divisors that may be 0 and checked indices that may fail, which kernels report.
    """


def is_small(kernel: FuncOp) -> bool:
    """Whether a kernel computes only a few integers, so that it may become scalar code."""
    *ops, last = kernel.body.block.ops
    computes = [op for op in ops if isinstance(op, ComputeOp)]
    if not isinstance(last, ReturnOp) or len(computes) < len(ops):
        return False
    known = all(isinstance(extent, int) for op in computes for extent in (*op.spatial, *op.reduction))
    integers = all(_is_integer(tensor_type(value).element_type) for op in computes for value in op.results)
    return known and integers and sum(map(_points, computes)) <= MAX_POINTS


def _points(op: ComputeOp) -> int:
    return prod(map(len, _ranges((*op.spatial, *op.reduction))))


def _ranges(extents: Shape) -> list[range]:
    """Returns the values of variables with static extents."""
    return [range(extent) for extent in extents if isinstance(extent, int)]


def _is_integer(type: Attribute) -> bool:
    if isinstance(type, IntegerType):
        return type.signedness.data == Signedness.SIGNLESS
    return isinstance(type, IndexType)


class ScalarCode:
    """The code of one call of a kernel.

    `element` returns an element of an argument, by the argument's number and the element's row-major position; `size`
    returns the value of an expression over named dimensions.
    """

    def __init__(self, element: Callable[[int, int], Number], size: Callable[[Dim], Number], ops: Block):
        """Appends ops to `ops`. If a kernel is refused, some ops may have been appended."""
        self._element, self._size, self._ops, self._count = element, size, ops, 0
        self._tensors: dict[SSAValue, Sequence[Number]] = {}
        self._arguments: Mapping[SSAValue, int] = {}

    def run(self, kernel: FuncOp) -> list[Sequence[Number]]:
        """Returns the elements of each result of `kernel`; raises `NoScalarCodeError` if that is not possible."""
        block = kernel.body.block
        self._arguments = {argument: number for number, argument in enumerate(block.args)}
        returned: list[Sequence[Number]] = []
        for op in block.ops:
            if isinstance(op, ComputeOp):
                self._compute(op)
            elif isinstance(op, ReturnOp):
                returned = [self._tensors.get(value, ()) for value in op.operands]
                if any(value not in self._tensors for value in op.operands):
                    raise NoScalarCodeError
        return returned

    def _compute(self, op: ComputeOp) -> None:
        results: list[list[Number]] = [[] for _ in op.results]
        spatial, reduction = (
            [range(e) for e in extents if isinstance(e, int)] for extents in (op.spatial, op.reduction)
        )
        for point in product(*spatial):
            values: Sequence[Number] = [int(each.value.data) for each in op.init if isinstance(each, IntegerAttr)]
            for inner in product(*reduction):
                scalars: dict[SSAValue, Number] = dict(zip(op.body.block.args, (*point, *inner, *values), strict=True))
                values = self._body(op.body.block, scalars)
            for elements, value in zip(results, values, strict=True):
                elements.append(value)
        self._tensors.update(zip(op.results, results, strict=True))

    def _body(self, block: Block, scalars: dict[SSAValue, Number]) -> Sequence[Number]:
        """Returns the values that a body yields."""
        for op in block.ops:
            if isinstance(op, YieldOp):
                return [scalars[value] for value in op.values]
            scalars[op.results[0]] = self._scalar(op, scalars)
        raise NoScalarCodeError

    def _scalar(self, op: Operation, scalars: dict[SSAValue, Number]) -> Number:
        match op:
            case ReadOp():
                return self._read(op, scalars)
            case IndexOp():
                index = _place(op.index, 0, scalars)
                return index if isinstance(index, int) else self._size(index)
            case InBoundsOp():
                places = [_place(op.index, axis, scalars) for axis in range(len(op.limits))]
                return int(all(_is_below(place, limit) for place, limit in zip(places, op.limits, strict=True)))
            case GuardOp():
                return self._guard(op, scalars)
            case CheckedIndexOp():
                return _checked(op, scalars[op.index])
            case _:
                return self._computed(op, [scalars[operand] for operand in op.operands])

    def _read(self, op: ReadOp, scalars: Mapping[SSAValue, Number]) -> Number:
        shape, flat = shape_of(op.tensor), 0
        for axis, extent in enumerate(shape):
            place = _place(op.index, axis, scalars)
            if not isinstance(place, int) or not isinstance(extent, int) or not 0 <= place < extent:
                raise NoScalarCodeError
            flat = flat * extent + place
        if op.tensor in self._tensors:
            return self._tensors[op.tensor][flat]
        if op.tensor not in self._arguments or not _is_integer(tensor_type(op.tensor).element_type):
            raise NoScalarCodeError
        return self._element(self._arguments[op.tensor], flat)

    def _guard(self, op: GuardOp, scalars: dict[SSAValue, Number]) -> Number:
        condition = scalars[op.condition]
        if isinstance(condition, int):
            (value,) = self._body((op.then_region if condition else op.else_region).block, dict(scalars))
            return value
        # Both branches are computed: neither reads out of bounds, since all positions are known.
        (yes,), (no,) = (self._body(region.block, dict(scalars)) for region in (op.then_region, op.else_region))
        return self._select(condition, yes, no, op.value.type)

    def _computed(self, op: Operation, operands: Sequence[Number]) -> Number:
        divides = isinstance(op, arith.DivSIOp) and _may_divide(operands[1])
        if not isinstance(op, (arith.ConstantOp, *TOTAL)) and not divides:
            raise NoScalarCodeError
        known = [number for number in operands if isinstance(number, int)]
        if len(known) == len(operands):
            values = [
                numpy_dtype(operand.type).type(number) for operand, number in zip(op.operands, known, strict=True)
            ]
            return int(compile_scalar(op)(*values))
        if isinstance(op, arith.SelectOp):
            condition, yes, no = operands
            return self._select(condition, yes, no, op.results[0].type)
        values = [self.value(number, old.type) for number, old in zip(operands, op.operands, strict=True)]
        new = op.clone(dict(zip(op.operands, values, strict=True)))
        if divides:
            new.attributes[POSITIVE_DIVISOR] = UnitAttr()
        return self._add(new)

    def _select(self, condition: Number, yes: Number, no: Number, type: Attribute) -> Number:
        if isinstance(condition, int):
            return yes if condition else no
        if yes is no or (isinstance(yes, int) and yes == no):
            return yes
        return self._add(SelectOp(condition, self.value(yes, type), self.value(no, type)))

    def value(self, number: Number, type: Attribute) -> SSAValue:
        """Returns a number as a value of an integer type."""
        return number if isinstance(number, SSAValue) else self._add(constant_of(number, type))

    def _add(self, op: Operation) -> SSAValue:
        self._ops.add_op(op)
        self._count += 1
        if self._count > MAX_OPS:
            raise NoScalarCodeError
        return op.results[0]


def constant_of(number: int, type: Attribute) -> arith.ConstantOp:
    """Returns a number as a constant of an integer type."""
    if not isinstance(type, IntegerType | IndexType):
        raise NoScalarCodeError
    return arith.ConstantOp(IntegerAttr(number, type))


def _place(index: IndexMap, axis: int, scalars: Mapping[SSAValue, Number]) -> Dim:
    """Returns the index expression of an axis, in which all variables but named dimensions are replaced by numbers."""
    known: dict[int, AffineConstantExpr] = {}
    for position, operand in enumerate(index.operands):
        number = scalars[operand] if isinstance(operand, SSAValue) else None
        if isinstance(number, int):
            known[position] = AffineConstantExpr(number)
    found = dim_of(linear_form(substitute(index.exprs[axis], dict(known))).expr(), index.operands)
    if found is None:
        raise NoScalarCodeError
    return found


def _is_below(place: Dim, limit: Dim) -> bool:
    """Whether `0 <= place < limit`; raises `NoScalarCodeError` if that is known only at run time."""
    if is_nonnegative(place) and is_positive(limit - place):
        return True
    if is_positive(-place) or is_nonnegative(place - limit):
        return False
    raise NoScalarCodeError


def _checked(op: CheckedIndexOp, index: Number) -> Number:
    """Returns a checked index if it is known to be in range; raises `NoScalarCodeError` otherwise."""
    if isinstance(index, int) and isinstance(op.extent, int):
        counted = index + op.extent if op.from_end and index < 0 else index
        if 0 <= counted < op.extent:
            return counted
    raise NoScalarCodeError


def _may_divide(divisor: Number) -> bool:
    """Whether a divisor is known to be positive: a constant, or a maximum with a positive constant."""
    if isinstance(divisor, int):
        return divisor > 0
    if not isinstance(divisor.owner, arith.MaxSIOp):
        return False
    constants = [each.owner for each in divisor.owner.operands if isinstance(each.owner, arith.ConstantOp)]
    return any(isinstance(each.value, IntegerAttr) and each.value.value.data > 0 for each in constants)


def inline_call(op: AnyCall, code: HostCode) -> bool:
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
    except NoScalarCodeError:
        ops.erase()
        return False
    for new in list(ops.ops):
        new.detach()
        code.add(new)
    code.inlined.add(name)
    for value, numbers in zip(op.results, results, strict=True):
        code.numbers[value] = numbers
        if _is_read(value, code):
            code.buffers[value] = _stored(value, code)
    return True


def argument_of_call(op: AnyCall, number: int, code: HostCode) -> SSAValue:
    """Returns the buffer of an operand of a kernel call. An operand that the kernel does not read is not stored."""
    value = op.operands[number]
    if value in code.buffers:
        return code.buffers[value]
    if _reads(op, number, code):
        return _stored(value, code)
    return code.allocate(value.type, value.name_hint)


def _reads(op: AnyCall, number: int, code: HostCode) -> bool:
    """Whether the callee reads an operand."""
    kernel = code.module.kernels.get(op.callee.string_value())
    return kernel is None or kernel.is_declaration or kernel.body.block.args[number].first_use is not None


def known_element(value: SSAValue, place: int, code: HostCode) -> Number | None:
    """Returns an element of a constant or of a value that scalar code computed; None if it is only in memory."""
    if value in code.numbers:
        return code.numbers[value][place]
    known = elements_of_constant(value.owner) if isinstance(value.owner, ConstantOp) else None
    return number if known is not None and isinstance(number := known[place], int) else None


def _element(value: SSAValue, place: int, ops: Block, code: HostCode) -> Number:
    """Returns an element of an argument; adds a load to `ops` if the element is not known."""
    known = known_element(value, place, code)
    if known is not None:
        return known
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
    shape = memref_type(buffer).get_shape()
    return [int(index) for index in np.unravel_index(place, shape)]
