"""Values of the loop level at the scf level, and arithmetic on them.

A value is a scalar, a vector of lanes, an index expression or a condition. Arithmetic is on vectors if an operand
differs between lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, Float64Type, IndexType, IntegerAttr, VectorType, i1
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr

from xrelay.dialects.shared.op_making import make
from xrelay.dialects.upstream.arith_extras import ARITH, SelectOp
from xrelay.errors import LoweringError
from xrelay.index_algebra.affine_bounds import linear_form
from xrelay.index_algebra.value_map import Space, ValueMap
from xrelay.lowering.loop_to_scf.emitter import Constant, Emitter
from xrelay.lowering.loop_to_scf.lanes import (
    Condition,
    LaneContext,
    Mask,
    conjunction,
    index_vector,
    is_vector,
    number,
    splat,
)


class Values:
    """The scf-level values of loop-level values; index arithmetic stays symbolic until a value is needed."""

    lanes: LaneContext | None

    def __init__(self, emitter: Emitter):
        self._emitter, self.lanes = emitter, None
        self._known = dict[SSAValue, SSAValue | Constant | ValueMap | Condition]()

    def set(self, old: SSAValue, new: SSAValue | Constant | ValueMap | Condition) -> None:
        """Maps `old` to a value, a constant, the one expression of a map, or a condition."""
        self._known[old] = new

    def get(self, old: SSAValue) -> SSAValue:
        """Returns the scalar or vector for `old`, computed here if it is an expression; constants are made per use."""
        known = self._known.get(old)
        # `SSAValue` is the last, since `isinstance` of an abstract class is slow for others.
        if isinstance(known, ValueMap):
            return self._computed(known)
        if isinstance(known, Condition):
            return self._condition_value(known)
        if isinstance(known, SSAValue):
            return known
        if known is None:
            raise LoweringError(f"the value {old} is used before its definition")
        return self._emitter.constant(known)

    def index(self, old: SSAValue) -> ValueMap:
        """Returns the expression for an index."""
        known = self._known.get(old)
        return known if isinstance(known, ValueMap) else ValueMap.identity([self.get(old)])

    def condition(self, old: SSAValue) -> Condition:
        """Returns the condition for an `i1`."""
        known = self._known.get(old)
        if isinstance(known, Condition):
            return known
        value = self.get(old)
        return Condition(mask=Mask(value)) if isinstance(value.type, VectorType) else Condition(value=value)

    def choose(self, op: arith.SelectOp) -> bool:
        """Maps the result of a select to the operand that it returns; returns false if the condition is not known."""
        condition = self._known.get(op.cond)
        if not isinstance(condition, Condition) or condition.known is None:
            return False
        self._known[op.result] = self._known[op.lhs if condition.known else op.rhs]
        return True

    def access(self, index: ValueMap) -> ValueMap:
        """Returns the index expressions of an access, over new values."""
        return index.substitute({operand: self.index(operand) for operand in index.operands})

    def _computed(self, index: ValueMap) -> SSAValue:
        if self.lanes is not None and self.lanes.position(index) is not None:
            return index_vector(self._emitter, index, self.lanes)
        return self._emitter.affine(index)

    def _condition_value(self, condition: Condition) -> SSAValue:
        if condition.known is not None:
            return self._emitter.constant(IntegerAttr(int(condition.known), i1))
        if condition.mask is not None:
            return condition.mask.value
        assert condition.value is not None
        return condition.value


Binary = Callable[[AffineExpr, AffineExpr], AffineExpr | None]


def _product(a: AffineExpr, b: AffineExpr) -> AffineExpr | None:
    return a * b if isinstance(a, AffineConstantExpr) or isinstance(b, AffineConstantExpr) else None


def _divide_by_constant(kind: AffineBinaryOpKind) -> Binary:
    def divide(a: AffineExpr, b: AffineExpr) -> AffineExpr | None:
        return AffineBinaryOpExpr(kind, a, b) if isinstance(b, AffineConstantExpr) and b.value > 0 else None

    return divide


_QUOTIENT, _REMAINDER = _divide_by_constant(AffineBinaryOpKind.FloorDiv), _divide_by_constant(AffineBinaryOpKind.Mod)
_SYMBOLIC: dict[type[Operation], Binary] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: _product,
    arith.FloorDivSIOp: _QUOTIENT,
}
_SYMBOLIC_IF_NOT_NEGATIVE: dict[type[Operation], Binary] = {
    arith.DivSIOp: _QUOTIENT,
    arith.DivUIOp: _QUOTIENT,
    arith.RemSIOp: _REMAINDER,
    arith.RemUIOp: _REMAINDER,
}


def as_expression(op: Operation, values: Values, emitter: Emitter) -> ValueMap | None:
    """Returns the affine expression that an operation on indices computes; None if it is not affine."""
    if len(op.operands) != 2 or not isinstance(op.results[0].type, IndexType):
        return None
    left, right = (values.index(operand) for operand in op.operands)
    binary = _SYMBOLIC.get(type(op))
    if binary is None:
        known = emitter.range_of(left)
        binary = _SYMBOLIC_IF_NOT_NEGATIVE.get(type(op)) if known is not None and known[0] >= 0 else None
    if binary is None or any(isinstance(v.type, VectorType) for v in (*left.operands, *right.operands)):
        return None
    space = Space()
    (a,), (b,) = space.lift(left), space.lift(right)
    expr = binary(linear_form(a).expr(), linear_form(b).expr())
    return None if expr is None else ValueMap.make([expr], space.values).simplified()


# --- arithmetic

_ON_VECTORS = {op.name: op for op in ARITH.operations}
_DIVISIONS = {"arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.floordivsi", "arith.ceildivsi",
              "arith.ceildivui"}  # fmt: skip


def elementwise(op: Operation, values: Values, emitter: Emitter) -> None:
    """Writes an arith or math operation and sets its results in `values`."""
    lanes = values.lanes
    if lanes is not None and _is_fused_product(op):
        return
    if lanes is not None and (fused := _fused_multiply_add(op, values, emitter, lanes)) is not None:
        values.set(op.results[0], fused)
        return
    operands = [values.get(operand) for operand in op.operands]
    if lanes is not None and any(is_vector(operand) for operand in operands):
        new = _on_lanes(op, operands, emitter, lanes)
    else:
        new = emitter.add(make(type(op), operands, op.result_types, op.properties))
        new.attributes.update(op.attributes)
        _record_range(new, emitter)
    for old, result in zip(op.results, new.results, strict=True):
        result.name_hint = old.name_hint
        values.set(old, result)


def _on_lanes(op: Operation, operands: Sequence[SSAValue], emitter: Emitter, lanes: LaneContext) -> Operation:
    """Writes the operation on vectors. A uniform condition of a select stays scalar."""
    keep_first = isinstance(op, arith.SelectOp) and not is_vector(operands[0])
    vectors = [
        operand if keep_first and position == 0 else splat(emitter, operand, lanes.count)
        for position, operand in enumerate(operands)
    ]
    if op.name in _DIVISIONS and lanes.mask is not None:
        # Masked-off lanes may hold a zero, and an integer division by zero traps.
        ones = splat(emitter, number(emitter, 1, op.results[0].type), lanes.count)
        vectors[1] = emitter.add(SelectOp(lanes.mask.value, vectors[1], ones)).result
    cls = _ON_VECTORS.get(op.name, type(op))
    types = [lanes.vector_of(result.type) for result in op.results]
    new = emitter.add(make(cls, vectors, types, op.properties))
    new.attributes.update(op.attributes)
    return new


def _record_range(op: Operation, emitter: Emitter) -> None:
    """Records the range of a minimum of indices, for accesses that use it."""
    if isinstance(op, arith.MinSIOp) and isinstance(op.result.type, IndexType):
        ends = [_range(side, emitter) for side in op.operands]
        known = [end for end in ends if end is not None]
        if len(known) == len(ends):
            emitter.ranges[op.result] = (min(low for low, _ in known), min(high for _, high in known))


def _range(value: SSAValue, emitter: Emitter) -> tuple[int, int] | None:
    if isinstance(value, OpResult) and isinstance(value.op, arith.ConstantOp):
        constant = value.op.value
        return (constant.value.data, constant.value.data) if isinstance(constant, IntegerAttr) else None
    return emitter.ranges.get(value)


# --- conditions


def logic(op: arith.AndIOp | arith.OrIOp, values: Values, emitter: Emitter) -> Condition | None:
    """Lowers an `and` or `or` of masks, or with a condition known at compile time; returns None for other operands."""
    if op.result.type != i1:
        return None
    left, right = (values.condition(operand) for operand in op.operands)
    if isinstance(op, arith.AndIOp):
        return conjunction(emitter, left, right)
    for side, other in ((left, right), (right, left)):
        if side.known is not None:
            return side if side.known else other
    return None


# --- fused multiply-add

ALLOW_CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])
"""Allows LLVM to fuse a product and a sum."""


def _may_contract(op: Operation) -> bool:
    flags = op.fastmath if isinstance(op, arith.AddfOp | arith.MulfOp) else None
    return flags is not None and FastMathFlag.ALLOW_CONTRACT in flags.data


def _is_fused_product(op: Operation) -> bool:
    """Whether the only user of a product is a sum that is fused with it."""
    if not isinstance(op, arith.MulfOp) or not _may_contract(op) or len(uses := list(op.result.uses)) != 1:
        return False
    user = uses[0].operation
    return user.parent is op.parent and isinstance(user, arith.AddfOp) and _product_of(user) is op


def _product_of(op: arith.AddfOp) -> arith.MulfOp | None:
    """Returns the product that is fused with a sum: f32 or f64, both with `contract`, without other uses."""
    if not isinstance(op.result.type, Float32Type | Float64Type) or not _may_contract(op):
        return None
    for operand in (op.rhs, op.lhs):
        owner = operand.owner
        if not isinstance(owner, arith.MulfOp) or owner.parent is not op.parent:
            continue
        if _may_contract(owner) and operand.has_one_use():
            return owner
    return None


def _fused_multiply_add(op: Operation, values: Values, emitter: Emitter, lanes: LaneContext) -> SSAValue | None:
    """Writes `a * b + c` of vectors as a product and a sum that LLVM fuses if the CPU has FMA.

    `llvm.fma` would be a call per lane on a CPU without FMA. The sum has no `reassoc` flag: LLVM would otherwise add up
    the products of unrolled terms first.
    """
    product = _product_of(op) if isinstance(op, arith.AddfOp) else None
    if product is None or not isinstance(op, arith.AddfOp):
        return None
    addend = op.lhs if op.rhs is product.result else op.rhs
    parts = [values.get(value) for value in (product.lhs, product.rhs, addend)]
    if not any(is_vector(part) for part in parts):
        scaled = emitter.add(arith.MulfOp(parts[0], parts[1], product.fastmath)).result
        return emitter.add(arith.AddfOp(scaled, parts[2], op.fastmath)).result
    a, b, c = (splat(emitter, part, lanes.count) for part in parts)
    return emitter.add(arith.AddfOp(c, emitter.add(arith.MulfOp(a, b, ALLOW_CONTRACT)), ALLOW_CONTRACT)).result
