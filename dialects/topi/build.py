"""Builds computes and scatters from Python.

Index variables are affine expressions, and a function appends the ops of a body:

    def relu(b: Body) -> list[SSAValue]:
        return [b.maximum(b.read(x, *b.spatial), b.constant(0.0, f32))]

    op = compute("relu", {"n": 1, "c": 64}, [f32], relu)

The op is not inserted; its results are `op.tensors`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    f32,
    i1,
    i64,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from xrelay.dialects.shared.op_lists import all_ops, defined_values
from xrelay.dialects.shared.types import tensor_type as typed
from xrelay.dialects.topi.compute import Combine, ComputeOp, ScanOp, ScatterOp
from xrelay.dialects.topi.index_map import Place, dim_expr, index_ranges
from xrelay.dialects.topi.index_space import GuardOp, IndexSpaceOp, YieldOp
from xrelay.dialects.topi.read import CheckedIndexOp, InBoundsOp, IndexOp, ReadOp
from xrelay.dialects.topi.shapes import bit_width, tensor_type
from xrelay.dialects.upstream.arith_extras import CmpfOp, CmpiOp, IndexCastOp, IndexCastUIOp, SIToFPOp
from xrelay.dialects.upstream.signless import make_scalars_signless, signless, signless_number
from xrelay.errors import LoweringError
from xrelay.index_algebra.affine_bounds import simplify
from xrelay.index_algebra.dims import Dim, maximum, minimum
from xrelay.index_algebra.linear_form import floor_div, modulo, times
from xrelay.index_algebra.value_map import Space

REGROUPED = arith.FastMathFlagsAttr([FastMathFlag.REASSOC])
ALLOW_CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])
REASSOC_CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.REASSOC, FastMathFlag.ALLOW_CONTRACT])
"""Allowed in sums of reductions: any order, and fused multiply-adds."""
UNSIGNED_ZEROS = arith.FastMathFlagsAttr([FastMathFlag.NO_SIGNED_ZEROS])
"""Allowed in maxima of reductions: any order of 0.0 and -0.0, which saves two instructions."""
NUMBERS = arith.FastMathFlagsAttr([FastMathFlag.NO_SIGNED_ZEROS, FastMathFlag.NO_NANS])
"""Allowed in maxima of reductions whose result does not matter if there is a NaN."""

IndexLike: TypeAlias = AffineExpr | Dim
Number: TypeAlias = float | int
Scalar: TypeAlias = IntegerType | IndexType | AnyFloat
ScalarLike: TypeAlias = SSAValue | Number
"""A scalar, or a number, which becomes a constant of the type of the other operand."""
IndexSpaceT = TypeVar("IndexSpaceT", bound=IndexSpaceOp)


def scalar_attr(value: Number, type: Attribute, *, wraps: bool = False) -> FloatAttr | IntegerAttr:
    """`value` as an attribute of the scalar type `type`; `wraps` truncates integers that do not fit.

    Raises `LoweringError` for a type that is not a scalar.
    """
    if isinstance(type, IntegerType | IndexType):
        return IntegerAttr(int(value), type, truncate_bits=wraps)
    if isinstance(type, AnyFloat):
        return FloatAttr(float(value), type)
    raise LoweringError(f"{type} is not the type of a scalar constant")


def is_unsigned(type: Attribute) -> bool:
    """Whether an integer type has no negative values: unsigned integers and booleans."""
    return isinstance(type, IntegerType) and (type.signedness.data == Signedness.UNSIGNED or type.width.data == 1)


def lowest(type: Attribute) -> Number:
    """The smallest value of a scalar type, which is the initial value of a maximum."""
    if isinstance(type, AnyFloat):
        return float("-inf")
    return 0 if is_unsigned(type) else -(1 << (bit_width(type) - 1))


class Body:
    """Appends scalar ops to the body of a compute.

    `spatial` and `reduction` are the variables as affine expressions for `read`, `index` and `in_bounds` (write `expr -
    1`, never `1 - expr`: xDSL's expressions get the latter wrong); `accumulators` are scalars, and `variables` are the
    variables as values. `expr` converts a dimension to an expression; `scaled`, `quotient` and `remainder` multiply or
    divide by a dimension.
    """

    spatial: tuple[AffineExpr, ...]
    reduction: tuple[AffineExpr, ...]
    accumulators: tuple[SSAValue, ...]
    variables: tuple[SSAValue, ...]

    def __init__(self, block: Block, num_spatial: int, num_reduction: int):
        count = num_spatial + num_reduction
        self._block = block
        self._space = Space[Place](block.args[:count])
        variables = tuple(AffineDimExpr(i) for i in range(count))
        self.spatial, self.reduction = variables[:num_spatial], variables[num_spatial:]
        self.accumulators = tuple(block.args[count:])
        self.variables = tuple(block.args[:count])

    def add(self, op: Operation) -> SSAValue:
        """Appends `op` and returns its first result."""
        self._block.add_op(op)
        return op.results[0]

    def as_index(self, value: SSAValue) -> AffineExpr:
        """A computed index or signed integer as an expression for use in accesses."""
        index = value if isinstance(value.type, IndexType) else self.add(IndexCastOp(value, IndexType()))
        return AffineDimExpr(self._space.position(index))

    def expr(self, dim: IndexLike) -> AffineExpr:
        """A dimension as an expression."""
        return dim if isinstance(dim, AffineExpr) else dim_expr(dim, self._space)

    def scaled(self, index: AffineExpr, by: Dim) -> AffineExpr:
        """`index * by`."""
        return times(index, self.expr(by))

    def quotient(self, index: AffineExpr, by: Dim) -> AffineExpr:
        """`index floordiv by`."""
        return floor_div(index, self._divisor(by))

    def remainder(self, index: AffineExpr, by: Dim) -> AffineExpr:
        """`index mod by`."""
        return modulo(index, self._divisor(by))

    def _divisor(self, by: Dim) -> AffineExpr:
        """`by`, or 1 if `by` is 0: no element of an empty extent is computed, but its index expression is emitted."""
        divisor = simplify(self.expr(by), index_ranges(self._space))
        return self.expr(1) if divisor == AffineConstantExpr(0) else divisor

    def broadcast(self, index: AffineExpr, extent: Dim, space: Dim) -> IndexLike:
        """The index at which an axis of `extent` that broadcasts to `space` is read: `index`, or 0 if the extent is 1.

        If the extent is unknown, the result is the index times 0 or 1.
        """
        if extent == 1:
            return 0
        if extent == space or isinstance(extent, int):
            return index
        return self.scaled(index, maximum(0, minimum(1, extent - 1)))

    def size(self, dim: Dim, type: Attribute) -> SSAValue:
        """A dimension as a number of a scalar type: truncated if it does not fit; as a boolean it is `dim != 0`."""
        if isinstance(dim, int):
            value = int(dim != 0) if type == i1 else dim
            return self.add(arith.ConstantOp(scalar_attr(value, type, wraps=True)))
        index = self.index(dim)
        if isinstance(type, IndexType):
            return index
        if isinstance(type, AnyFloat):
            return self.add(SIToFPOp(self.add(IndexCastOp(index, i64)), type))
        if type == i1:
            return self.compare(index, "ne", self.constant(0, index.type))
        return self.add(IndexCastOp(index, type))

    def read(self, tensor: SSAValue, *indices: IndexLike) -> SSAValue:
        """Reads the element of `tensor` at `indices`."""
        op = ReadOp(tensor, self._exprs(indices), self._space.values)
        # While the body is built its scalars have signs, which select the ops.
        element = tensor_type(tensor).element_type
        if op.element.type != element:
            Rewriter.replace_value_with_new_type(op.element, element)
        return self.add(op)

    def read_index(self, tensor: SSAValue, *indices: IndexLike) -> AffineExpr:
        """Reads an integer and converts it to an index expression."""
        return self.as_index(self.read(tensor, *indices))

    def index(self, expr: IndexLike) -> SSAValue:
        """The value of an index expression."""
        return self.add(IndexOp(self._exprs([expr]), self._space.values))

    def number(self, index: IndexLike, type: Attribute) -> SSAValue:
        """The value of an index expression as a number of a scalar type."""
        return self.convert(self.add(IndexCastOp(self.index(index), i64)), type)

    def choose(self, index: AffineExpr, values: Sequence[SSAValue]) -> SSAValue:
        """The value at position `index` of a list."""
        result, position = values[-1], self.index(index)
        for place, value in reversed(list(enumerate(values[:-1]))):
            result = self.select(self.compare(position, "eq", self.constant(place, IndexType())), value, result)
        return result

    def checked_index(self, value: SSAValue, size: Dim, *, from_end: bool = False) -> SSAValue:
        """An integer as an index below `size`, checked at run time; see `topi.checked_index`."""
        if isinstance(value.type, IndexType):
            return self.add(CheckedIndexOp(value, size, from_end=from_end))
        unsigned = is_unsigned(value.type)
        index = self.add((IndexCastUIOp if unsigned else IndexCastOp)(value, IndexType()))
        return self.add(CheckedIndexOp(index, size, from_end=from_end and not unsigned))

    def in_bounds(self, exprs: Sequence[IndexLike], sizes: Sequence[Dim]) -> SSAValue:
        """Whether `0 <= expr < size` for each expression."""
        return self.add(InBoundsOp(self._exprs(exprs), sizes, self._space.values))

    def guard(
        self,
        condition: SSAValue,
        type: Attribute,
        then: Callable[[], SSAValue],
        otherwise: Callable[[], SSAValue] | Number,
    ) -> SSAValue:
        """The value of `then` if the condition holds, else of `otherwise`, or this number.

        Each function appends to a region of its own.
        """
        fill = otherwise if callable(otherwise) else lambda: self.constant(otherwise, type)
        return self.add(GuardOp(condition, type, self._region(then), self._region(fill)))

    def constant(self, value: Number, type: Attribute) -> SSAValue:
        """A constant of a scalar type."""
        return self.add(arith.ConstantOp(scalar_attr(value, type)))

    def _scalars(self, a: ScalarLike, b: ScalarLike) -> tuple[SSAValue, SSAValue]:
        """Two operands of one type; numbers become constants."""
        if isinstance(a, SSAValue):
            return a, b if isinstance(b, SSAValue) else self.constant(b, a.type)
        if isinstance(b, SSAValue):
            return self.constant(a, b.type), b
        raise LoweringError(f"the operands {a} and {b} have no type")

    def plus(self, a: ScalarLike, b: ScalarLike) -> SSAValue:
        """Sum of floats or integers; raises `LoweringError` for booleans."""
        a, b = self._scalars(a, b)
        _refuse_booleans(a.type)
        return self.add((arith.AddfOp if isinstance(a.type, AnyFloat) else arith.AddiOp)(a, b))

    def times(self, a: ScalarLike, b: ScalarLike) -> SSAValue:
        """Product of floats or integers."""
        a, b = self._scalars(a, b)
        return self.add((arith.MulfOp if isinstance(a.type, AnyFloat) else arith.MuliOp)(a, b))

    def accumulate(self, accumulator: SSAValue, value: SSAValue) -> SSAValue:
        """Adds a term to a sum whose terms may be added in any order, so that it can be vectorized."""
        if isinstance(value.type, AnyFloat):
            return self.add(arith.AddfOp(accumulator, value, REGROUPED))
        return self.plus(accumulator, value)

    def accumulate_factor(self, accumulator: SSAValue, factor: SSAValue) -> SSAValue:
        """Multiplies a product by a factor. The order of factors is free, so that the product can be vectorized."""
        if isinstance(factor.type, AnyFloat):
            return self.add(arith.MulfOp(accumulator, factor, REGROUPED))
        return self.times(accumulator, factor)

    def accumulate_product(self, accumulator: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """Adds a product to a sum in any order; product and sum may be rounded together."""
        if not isinstance(a.type, AnyFloat):
            return self.plus(accumulator, self.times(a, b))
        return self.add(arith.AddfOp(accumulator, self.add(arith.MulfOp(a, b, ALLOW_CONTRACT)), REASSOC_CONTRACT))

    def largest(self, accumulator: SSAValue, value: SSAValue, *, is_number: bool = False) -> SSAValue:
        """Adds a value to a maximum in any order; it is unspecified which of 0.0 and -0.0 remains, as in numpy.

        With `is_number`, the maximum is unspecified if a value is a NaN, which saves two instructions.
        """
        if isinstance(value.type, AnyFloat):
            return self.add(arith.MaximumfOp(accumulator, value, NUMBERS if is_number else UNSIGNED_ZEROS))
        return self.maximum(accumulator, value)

    def smallest(self, accumulator: SSAValue, value: SSAValue) -> SSAValue:
        """Adds a value to a minimum in any order; see `largest`."""
        if isinstance(value.type, AnyFloat):
            return self.add(arith.MinimumfOp(accumulator, value, UNSIGNED_ZEROS))
        return self.minimum(accumulator, value)

    def minus(self, a: ScalarLike, b: ScalarLike) -> SSAValue:
        """Difference of floats or integers; raises `LoweringError` for booleans."""
        a, b = self._scalars(a, b)
        _refuse_booleans(a.type)
        return self.add((arith.SubfOp if isinstance(a.type, AnyFloat) else arith.SubiOp)(a, b))

    def divide(self, a: ScalarLike, b: ScalarLike) -> SSAValue:
        """Quotient of floats or of integers (towards zero); raises `LoweringError` for booleans."""
        a, b = self._scalars(a, b)
        _refuse_booleans(a.type)
        if isinstance(a.type, AnyFloat):
            return self.add(arith.DivfOp(a, b))
        return self.add((arith.DivUIOp if is_unsigned(a.type) else arith.DivSIOp)(a, b))

    def maximum(self, a: ScalarLike, b: ScalarLike) -> SSAValue:
        """The larger value; NaN if an operand is NaN."""
        a, b = self._scalars(a, b)
        if isinstance(a.type, AnyFloat):
            return self.add(arith.MaximumfOp(a, b))
        return self.add((arith.MaxUIOp if is_unsigned(a.type) else arith.MaxSIOp)(a, b))

    def minimum(self, a: ScalarLike, b: ScalarLike) -> SSAValue:
        """The smaller value; NaN if an operand is NaN."""
        a, b = self._scalars(a, b)
        if isinstance(a.type, AnyFloat):
            return self.add(arith.MinimumfOp(a, b))
        return self.add((arith.MinUIOp if is_unsigned(a.type) else arith.MinSIOp)(a, b))

    def select(self, condition: SSAValue, then: ScalarLike, otherwise: ScalarLike) -> SSAValue:
        """`then` if the condition is true, else `otherwise`; both are computed."""
        return self.add(arith.SelectOp(condition, *self._scalars(then, otherwise)))

    def compare(self, a: ScalarLike, relation: str, b: ScalarLike) -> SSAValue:
        """Whether floats or integers are in a relation: `eq`, `ne`, `lt`, `le`, `gt` or `ge`; for NaN only `ne`."""
        a, b = self._scalars(a, b)
        if isinstance(a.type, AnyFloat):
            return self.add(CmpfOp(a, b, "une" if relation == "ne" else f"o{relation}"))
        sign = "" if relation in ("eq", "ne") else "u" if is_unsigned(a.type) else "s"
        return self.add(CmpiOp(a, b, sign + relation))

    def logical_and(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Whether both booleans are true."""
        return self.add(arith.AndIOp(a, b))

    def logical_or(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Whether at least one of both booleans is true."""
        return self.add(arith.OrIOp(a, b))

    def logical_xor(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Whether exactly one boolean is true."""
        return self.add(arith.XOrIOp(a, b))

    def convert(self, x: SSAValue, target: Attribute) -> SSAValue:
        """Converts a number to a type: floats are truncated to integers; booleans are `x != 0`."""
        source = x.type
        if source == target:
            return x
        if target == i1:
            return self.compare(x, "ne", self.constant(0, source))
        if isinstance(source, AnyFloat) and isinstance(target, AnyFloat):
            if source.bitwidth == target.bitwidth == 16:  # between f16 and bf16 through f32
                return self.convert(self.convert(x, f32), target)
            return self.add((arith.ExtFOp if target.bitwidth > source.bitwidth else arith.TruncFOp)(x, target))
        if isinstance(source, AnyFloat) and isa(target, IntegerType):
            return self.add((arith.FPToUIOp if is_unsigned(target) else arith.FPToSIOp)(x, target))
        if isa(source, IntegerType) and isinstance(target, AnyFloat):
            return self.add((arith.UIToFPOp if is_unsigned(source) else arith.SIToFPOp)(x, target))
        if isa(source, IntegerType) and isa(target, IntegerType):
            return self._convert_integer(x, source, target)
        raise LoweringError(f"no conversion from {source} to {target}")

    def _convert_integer(self, x: SSAValue, source: IntegerType, target: IntegerType) -> SSAValue:
        if target.width.data == source.width.data:
            # A change of signedness keeps the bits; it becomes a no-op where scalars are signless.
            return self.bitcast(x, target)
        if target.width.data < source.width.data:
            return self.add(arith.TruncIOp(x, target))
        return self.add((arith.ExtUIOp if is_unsigned(source) else arith.ExtSIOp)(x, target))

    def power(self, base: ScalarLike, exponent: ScalarLike) -> SSAValue:
        """A power of floats."""
        return self.add(math.PowFOp(*self._scalars(base, exponent)))

    def negative(self, x: SSAValue) -> SSAValue:
        """The negative of a float or an integer, which wraps around."""
        return self.add(arith.NegfOp(x)) if isinstance(x.type, AnyFloat) else self.minus(self.constant(0, x.type), x)

    def absolute(self, x: SSAValue) -> SSAValue:
        """The absolute value; the least signed integer wraps to itself."""
        if isinstance(x.type, AnyFloat):
            return self.add(math.AbsFOp(x))
        return x if is_unsigned(x.type) else self.maximum(x, self.negative(x))

    def floor(self, x: SSAValue) -> SSAValue:
        """The greatest whole float that is not greater than a float."""
        return self.add(math.FloorOp(x))

    def ceil(self, x: SSAValue) -> SSAValue:
        """The least whole float that is not less than a float."""
        return self.add(math.CeilOp(x))

    def sqrt(self, x: SSAValue) -> SSAValue:
        """The square root of a float."""
        return self.add(math.SqrtOp(x))

    def tanh(self, x: SSAValue) -> SSAValue:
        """The hyperbolic tangent of a float."""
        return self.add(math.TanhOp(x))

    def erf(self, x: SSAValue) -> SSAValue:
        """The error function of a float."""
        return self.add(math.ErfOp(x))

    def bitcast(self, x: SSAValue, type: Attribute) -> SSAValue:
        """The bits of a scalar as a type of the same width."""
        return self.add(arith.BitcastOp(x, type))

    def exp(self, x: SSAValue) -> SSAValue:
        """The exponential of a float."""
        return self.add(math.ExpOp(x))

    def log(self, x: SSAValue) -> SSAValue:
        """The natural logarithm of a float."""
        return self.add(math.LogOp(x))

    def _exprs(self, indices: Sequence[IndexLike]) -> list[AffineExpr]:
        exprs = [self.expr(index) for index in indices]
        box = index_ranges(self._space)
        return [simplify(expr, box) for expr in exprs]

    def _region(self, fill: Callable[[], SSAValue]) -> Region:
        outer, self._block = self._block, Block()
        try:
            self.add_yield([fill()])
            return Region(self._block)
        finally:
            self._block = outer

    def add_yield(self, values: Sequence[SSAValue]) -> None:
        """Ends the current region."""
        self._block.add_op(YieldOp.of(*values))


def _refuse_booleans(type: Attribute) -> None:
    # numpy's sum of booleans is "or", 1-bit arithmetic's is "exclusive or"; neither equals the sum of other types.
    if type == i1:
        raise LoweringError("arithmetic on booleans", help="cast them to int32 or float32 first")


def compute(
    label: str,
    spatial: Mapping[str, Dim],
    element_types: Sequence[Attribute],
    fill: Callable[[Body], Sequence[SSAValue]],
    *,
    reduce: Mapping[str, Dim] | None = None,
    init: Sequence[Number] = (),
) -> ComputeOp:
    """A `topi.compute` (not inserted) whose body `fill` appends; the values that `fill` returns are yielded.

    `spatial` and `reduce` map names of variables to extents, integers or dimensions; `init` are the accumulators' first
    values, one per element type, and is empty without reduction.
    """
    reduce = reduce or {}
    inits = [scalar_attr(value, type) for value, type in zip(init, element_types, strict=False)]
    types = [typed(spatial.values(), element) for element in element_types]
    body = _body_region([*spatial, *reduce], inits)
    op = ComputeOp(label, list(spatial.values()), list(reduce.values()), inits, types, body)
    return _fill_body(op, fill)


def scan(
    label: str,
    spatial: Mapping[str, Dim],
    axis: int,
    element_types: Sequence[Attribute],
    fill: Callable[[Body], Sequence[SSAValue]],
    init: Sequence[Number],
    *,
    reverse: bool = False,
    exclusive: bool = False,
) -> ScanOp:
    """A `topi.scan` (not inserted) along axis number `axis` of `spatial`; see `compute`."""
    inits = [scalar_attr(value, type) for value, type in zip(init, element_types, strict=True)]
    types = [typed(spatial.values(), element) for element in element_types]
    body = _body_region(list(spatial), inits)
    op = ScanOp(label, list(spatial.values()), axis, inits, types, body, reverse=reverse, exclusive=exclusive)
    return _fill_body(op, fill)


def _body_region(names: Sequence[str], inits: Sequence[FloatAttr | IntegerAttr]) -> Region:
    """A body with an index argument for each name, and one for each accumulator."""
    block = Block(arg_types=[*[IndexType()] * len(names), *(attr.type for attr in inits)])
    for arg, name in zip(block.args, [*names, *("acc" for _ in inits)], strict=True):
        arg.name_hint = name
    return Region(block)


def _fill_body(op: IndexSpaceT, fill: Callable[[Body], Sequence[SSAValue]]) -> IndexSpaceT:
    """Appends the body of `op` with `fill`; scalars become signless."""
    block = op.body.block
    body = Body(block, len(op.spatial), len(op.reduction))
    body.add_yield(fill(body))
    op.init = ArrayAttr([signless_number(attr) for attr in op.init])
    if any(signless(value.type) != value.type for inner in all_ops(op) for value in defined_values(inner)):
        make_scalars_signless(op)
    return op


def variables(prefix: str, extents: Sequence[Dim]) -> dict[str, Dim]:
    """Names for the axes of a shape: `i0, i1, …` for the prefix `i`."""
    return {f"{prefix}{i}": extent for i, extent in enumerate(extents)}


def scatter(
    label: str,
    space: Mapping[str, Dim],
    combine: Combine,
    into: SSAValue,
    fill: Callable[[Body], tuple[Sequence[SSAValue], SSAValue]],
) -> ScatterOp:
    """A `topi.scatter` (not inserted) whose body `fill` appends; `fill` returns the indices and the value to yield.

    `space` maps names of variables to extents; `Body.variables` has them as values.
    """
    block = Block(arg_types=[IndexType() for _ in space])
    for arg, name in zip(block.args, space, strict=True):
        arg.name_hint = name
    op = ScatterOp(label, list(space.values()), combine, into, Region(block))
    body = Body(block, len(space), 0)
    indices, value = fill(body)
    body.add_yield([*indices, value])
    make_scalars_signless(op)
    return op


def combined(combine: Combine, element: Attribute, old: SSAValue, new: SSAValue, block: Block) -> SSAValue:
    """Appends to `block` the op that combines an element of type `element`, with its sign, and an update of it."""
    op = _combination(combine, element, old, new)
    if op is None:
        return new
    block.add_op(op)
    return op.results[0]


def _combination(combine: Combine, element: Attribute, old: SSAValue, new: SSAValue) -> Operation | None:
    is_float = isinstance(element, AnyFloat)
    match combine:
        case Combine.UPDATE:
            return None
        case Combine.ADD:
            return arith.AddfOp(old, new) if is_float else arith.AddiOp(old, new)
        case Combine.MUL:
            return arith.MulfOp(old, new) if is_float else arith.MuliOp(old, new)
        case Combine.MIN if is_float:
            return arith.MinimumfOp(old, new)
        case Combine.MIN:
            return arith.MinUIOp(old, new) if is_unsigned(element) else arith.MinSIOp(old, new)
        case Combine.MAX if is_float:
            return arith.MaximumfOp(old, new)
        case Combine.MAX:
            return arith.MaxUIOp(old, new) if is_unsigned(element) else arith.MaxSIOp(old, new)


def value_range(type: Attribute) -> tuple[Number, Number]:
    """Returns the least and the greatest value of an element type."""
    if not isa(type, IntegerType):
        return float("-inf"), float("inf")
    least = lowest(type)
    return least, least + (1 << type.width.data) - 1
