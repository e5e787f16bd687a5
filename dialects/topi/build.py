"""Building computes from Python: index variables are affine expressions, a body is a function that appends ops.

    def relu(b: Body) -> list[SSAValue]:
        return [b.maximum(b.read(x, *b.spatial), b.constant(0.0, f32))]

    op = compute("relu", {"n": 1, "c": 64}, [f32], relu)

The op is not inserted anywhere; its results are `op.tensors`.
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
    i1,
    i64,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.rewriter import Rewriter

from xrelay.dialects.shared.defined_values import defined_values
from xrelay.dialects.shared.op_lists import all_ops
from xrelay.dialects.shared.types import tensor_type as typed
from xrelay.dialects.topi.checked_index import CheckedIndexOp
from xrelay.dialects.topi.compute import ComputeOp
from xrelay.dialects.topi.guard import GuardOp
from xrelay.dialects.topi.index_map import Place, box_of, dim_expr
from xrelay.dialects.topi.index_space import IndexSpaceOp, YieldOp
from xrelay.dialects.topi.read import InBoundsOp, IndexOp, ReadOp
from xrelay.dialects.topi.scan import ScanOp
from xrelay.dialects.topi.shapes import tensor_type
from xrelay.dialects.upstream.arith_extras import IndexCastOp, IndexCastUIOp, SIToFPOp
from xrelay.dialects.upstream.signless import make_scalars_signless, signless, signless_number
from xrelay.errors import LoweringError
from xrelay.index_algebra.affine_bounds import simplify
from xrelay.index_algebra.affine_products import floor_div, modulo, times
from xrelay.index_algebra.dims import Dim, maximum, minimum
from xrelay.index_algebra.value_map import Space

REGROUPED = arith.FastMathFlagsAttr([FastMathFlag.REASSOC])
CONTRACTED = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])
REGROUPED_CONTRACTED = arith.FastMathFlagsAttr([FastMathFlag.REASSOC, FastMathFlag.ALLOW_CONTRACT])
"""What is allowed of sums that reductions make: other orders, and fused multiply-adds."""
UNSIGNED_ZEROS = arith.FastMathFlagsAttr([FastMathFlag.NO_SIGNED_ZEROS])
"""What is allowed of maxima that reductions make; ordering zeros costs a processor two more operations."""

IndexLike: TypeAlias = AffineExpr | Dim
Number: TypeAlias = float | int
Scalar: TypeAlias = IntegerType | IndexType | AnyFloat
IndexSpaceT = TypeVar("IndexSpaceT", bound=IndexSpaceOp)


def scalar_attr(value: Number, type: Attribute, *, wraps: bool = False) -> FloatAttr | IntegerAttr:
    """`value` as an attribute of the scalar type `type`, with `wraps` the last bits of an integer that does not fit.

    Raises `LoweringError` for a type that is not a scalar.
    """
    if isinstance(type, IntegerType | IndexType):
        return IntegerAttr(int(value), type, truncate_bits=wraps)
    if isinstance(type, AnyFloat):
        return FloatAttr(float(value), type)
    raise LoweringError(f"{type} is not the type of a scalar constant")


def is_unsigned(type: Attribute) -> bool:
    """Whether values of an integer type are never negative: unsigned ones and booleans."""
    return isinstance(type, IntegerType) and (type.signedness.data == Signedness.UNSIGNED or type.width.data == 1)


class Body:
    """Appends scalar ops to the body of a compute.

    `spatial` and `reduction` are the variables as affine expressions, to be used in `read`, `index` and `in_bounds`
    (write `expr - 1`, never `1 - expr`: xDSL's expressions get the latter wrong); `accumulators` are scalars, and
    `variables` the variables as values. A dimension becomes an expression by `expr`; products and quotients with
    one are `scaled`, `quotient` and `remainder`.
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
        """Appends `op` and gives its first result."""
        self._block.add_op(op)
        return op.results[0]

    def as_index(self, value: SSAValue) -> AffineExpr:
        """A computed value of type index as an expression, so that it can stand in an access."""
        return AffineDimExpr(self._space.position(value))

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
        """`by`, or 1 where that is 0: of an extent without elements none is computed, but its place is written."""
        divisor = simplify(self.expr(by), box_of(self._space))
        return self.expr(1) if divisor == AffineConstantExpr(0) else divisor

    def broadcast(self, index: AffineExpr, extent: Dim, space: Dim) -> IndexLike:
        """Where an axis of `extent` is read that broadcasts to `space`: at `index`, or at 0 where the extent is 1.

        Where it is not known which, at the index times 0 or 1.
        """
        if extent == 1:
            return 0
        if extent == space or isinstance(extent, int):
            return index
        return self.scaled(index, maximum(0, minimum(1, extent - 1)))

    def size(self, dim: Dim, type: Attribute) -> SSAValue:
        """A dimension as a number of a scalar type: its last bits if it does not fit, as a truth value `dim != 0`."""
        if isinstance(dim, int):
            value = int(dim != 0) if type == i1 else dim
            return self.add(arith.ConstantOp(scalar_attr(value, type, wraps=True)))
        index = self.index(dim)
        if isinstance(type, IndexType):
            return index
        if isinstance(type, AnyFloat):
            return self.add(SIToFPOp(self.add(IndexCastOp(index, i64)), type))
        if type == i1:
            return self.add(arith.CmpiOp(index, self.constant(0, index.type), "ne"))
        return self.add(IndexCastOp(index, type))

    def read(self, tensor: SSAValue, *indices: IndexLike) -> SSAValue:
        """The element of `tensor` at `indices`."""
        op = ReadOp(tensor, self._exprs(indices), self._space.values)
        # While the body is written its scalars say whether they are signed, so that the right ops are chosen.
        element = tensor_type(tensor).element_type
        if op.element.type != element:
            Rewriter.replace_value_with_new_type(op.element, element)
        return self.add(op)

    def index(self, expr: IndexLike) -> SSAValue:
        """The value of an index expression."""
        return self.add(IndexOp(self._exprs([expr]), self._space.values))

    def checked_index(self, value: SSAValue, size: Dim, *, from_end: bool = False) -> SSAValue:
        """An integer as an index below `size`, checked where the program runs; see `topi.checked_index`."""
        if isinstance(value.type, IndexType):
            return self.add(CheckedIndexOp(value, size, from_end=from_end))
        unsigned = is_unsigned(value.type)
        index = self.add((IndexCastUIOp if unsigned else IndexCastOp)(value, IndexType()))
        return self.add(CheckedIndexOp(index, size, from_end=from_end and not unsigned))

    def in_bounds(self, exprs: Sequence[IndexLike], sizes: Sequence[Dim]) -> SSAValue:
        """Whether `0 <= expr < size` for each expression."""
        return self.add(InBoundsOp(self._exprs(exprs), sizes, self._space.values))

    def guard(
        self, condition: SSAValue, type: Attribute, then: Callable[[], SSAValue], otherwise: Callable[[], SSAValue]
    ) -> SSAValue:
        """The value of `then` where the condition holds, else of `otherwise`; each appends to a region of its own."""
        regions = [self._region(then), self._region(otherwise)]
        return self.add(GuardOp(condition, type, *regions))

    def constant(self, value: Number, type: Attribute) -> SSAValue:
        """A constant of a scalar type."""
        return self.add(arith.ConstantOp(scalar_attr(value, type)))

    def plus(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Sum, of floats or integers; `LoweringError` for booleans, which have none."""
        _refuse_booleans(a.type)
        return self.add((arith.AddfOp if isinstance(a.type, AnyFloat) else arith.AddiOp)(a, b))

    def times(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Product, of floats or integers."""
        return self.add((arith.MulfOp if isinstance(a.type, AnyFloat) else arith.MuliOp)(a, b))

    def accumulate(self, accumulator: SSAValue, value: SSAValue) -> SSAValue:
        """One more term of a sum whose terms may be added in any order, so that it can run in lanes."""
        if isinstance(value.type, AnyFloat):
            return self.add(arith.AddfOp(accumulator, value, REGROUPED))
        return self.plus(accumulator, value)

    def accumulate_product(self, accumulator: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """One more product of a sum in any order; product and sum may be rounded once."""
        if not isinstance(a.type, AnyFloat):
            return self.plus(accumulator, self.times(a, b))
        return self.add(arith.AddfOp(accumulator, self.add(arith.MulfOp(a, b, CONTRACTED)), REGROUPED_CONTRACTED))

    def largest(self, accumulator: SSAValue, value: SSAValue) -> SSAValue:
        """One more value of a maximum in any order; which of 0.0 and -0.0 remains is left open, as numpy does."""
        if isinstance(value.type, AnyFloat):
            return self.add(arith.MaximumfOp(accumulator, value, UNSIGNED_ZEROS))
        return self.maximum(accumulator, value)

    def smallest(self, accumulator: SSAValue, value: SSAValue) -> SSAValue:
        """One more value of a minimum in any order; see `largest`."""
        if isinstance(value.type, AnyFloat):
            return self.add(arith.MinimumfOp(accumulator, value, UNSIGNED_ZEROS))
        return self.minimum(accumulator, value)

    def minus(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Difference, of floats or integers; `LoweringError` for booleans, which have none."""
        _refuse_booleans(a.type)
        return self.add((arith.SubfOp if isinstance(a.type, AnyFloat) else arith.SubiOp)(a, b))

    def divide(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Quotient, of floats or of integers (towards zero); `LoweringError` for booleans, which have none."""
        _refuse_booleans(a.type)
        if isinstance(a.type, AnyFloat):
            return self.add(arith.DivfOp(a, b))
        return self.add((arith.DivUIOp if is_unsigned(a.type) else arith.DivSIOp)(a, b))

    def maximum(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The larger one; NaN where a float is NaN."""
        if isinstance(a.type, AnyFloat):
            return self.add(arith.MaximumfOp(a, b))
        return self.add((arith.MaxUIOp if is_unsigned(a.type) else arith.MaxSIOp)(a, b))

    def minimum(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The smaller one; NaN where a float is NaN."""
        if isinstance(a.type, AnyFloat):
            return self.add(arith.MinimumfOp(a, b))
        return self.add((arith.MinUIOp if is_unsigned(a.type) else arith.MinSIOp)(a, b))

    def power(self, base: SSAValue, exponent: SSAValue) -> SSAValue:
        """A power of floats."""
        return self.add(math.PowFOp(base, exponent))

    def exp(self, x: SSAValue) -> SSAValue:
        """The exponential of a float."""
        return self.add(math.ExpOp(x))

    def log(self, x: SSAValue) -> SSAValue:
        """The natural logarithm of a float."""
        return self.add(math.LogOp(x))

    def _exprs(self, indices: Sequence[IndexLike]) -> list[AffineExpr]:
        exprs = [self.expr(index) for index in indices]
        box = box_of(self._space)
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
    # numpy takes their sum for "or", one bit of arithmetic for "exclusive or": neither is what a sum means elsewhere.
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
    """A `topi.compute` (not inserted anywhere) whose body `fill` appends; what `fill` returns is yielded.

    `spatial` and `reduce` map names of variables to extents, integers or dimensions; `init` holds the accumulators'
    first values, one per element type, and is empty without reduction.
    """
    reduce = reduce or {}
    inits = [scalar_attr(value, type) for value, type in zip(init, element_types, strict=False)]
    types = [typed(spatial.values(), element) for element in element_types]
    body = _body_region([*spatial, *reduce], inits)
    op = ComputeOp(label, list(spatial.values()), list(reduce.values()), inits, types, body)
    return _filled(op, fill)


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
    """A `topi.scan` (not inserted anywhere) along axis number `axis` of `spatial`; see `compute`."""
    inits = [scalar_attr(value, type) for value, type in zip(init, element_types, strict=True)]
    types = [typed(spatial.values(), element) for element in element_types]
    body = _body_region(list(spatial), inits)
    op = ScanOp(label, list(spatial.values()), axis, inits, types, body, reverse=reverse, exclusive=exclusive)
    return _filled(op, fill)


def _body_region(names: Sequence[str], inits: Sequence[FloatAttr | IntegerAttr]) -> Region:
    """A body with an index argument for each name, and one for each accumulator."""
    block = Block(arg_types=[*[IndexType()] * len(names), *(attr.type for attr in inits)])
    for arg, name in zip(block.args, [*names, *("acc" for _ in inits)], strict=True):
        arg.name_hint = name
    return Region(block)


def _filled(op: IndexSpaceT, fill: Callable[[Body], Sequence[SSAValue]]) -> IndexSpaceT:
    """`op` with a body that `fill` appends; scalars become signless."""
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
