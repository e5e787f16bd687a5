"""Map from values of the loop level to the scf level: scalars, vectors of lanes, index expressions, conditions."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, VectorType, i1
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr

from xrelay.errors import LoweringError
from xrelay.index_algebra.affine_bounds import linear_form
from xrelay.index_algebra.value_map import Space, ValueMap
from xrelay.lowering.loop_to_scf.conditions import Condition
from xrelay.lowering.loop_to_scf.emitter import Constant, Emitter
from xrelay.lowering.loop_to_scf.lane_values import LaneContext, Mask, index_vector


class Values:
    """The scf-level values of loop-level values; index arithmetic stays symbolic until a value is needed."""

    lanes: LaneContext | None
    _emitter: Emitter
    _values: dict[SSAValue, SSAValue]
    _constants: dict[SSAValue, Constant]
    _indices: dict[SSAValue, ValueMap]
    _conditions: dict[SSAValue, Condition]

    def __init__(self, emitter: Emitter):
        self._emitter, self.lanes = emitter, None
        self._values, self._constants, self._indices, self._conditions = {}, {}, {}, {}

    def set(self, old: SSAValue, new: SSAValue) -> None:
        """Maps `old` to `new`."""
        self._values[old] = new

    def set_constant(self, old: SSAValue, value: Constant) -> None:
        """Maps `old` to a constant, which is materialised at each use."""
        self._constants[old] = value

    def set_index(self, old: SSAValue, index: ValueMap) -> None:
        """Maps `old` to the one expression of `index`."""
        self._indices[old] = index

    def set_condition(self, old: SSAValue, condition: Condition) -> None:
        """Maps `old` to `condition`."""
        self._conditions[old] = condition

    def get(self, old: SSAValue) -> SSAValue:
        """Returns the scalar or vector for `old`, computed here if it is an expression."""
        if old in self._values:
            return self._values[old]
        if old in self._constants:
            return self._emitter.constant(self._constants[old])
        if old in self._indices:
            return self._computed(self._indices[old])
        if old in self._conditions:
            return self._condition_value(self._conditions[old])
        raise LoweringError(f"the value {old} is used before its definition")

    def index(self, old: SSAValue) -> ValueMap:
        """Returns the expression for an index."""
        return self._indices[old] if old in self._indices else ValueMap.identity([self.get(old)])

    def condition(self, old: SSAValue) -> Condition:
        """Returns the condition for an `i1`."""
        if old in self._conditions:
            return self._conditions[old]
        value = self.get(old)
        return Condition(mask=Mask(value)) if isinstance(value.type, VectorType) else Condition(value=value)

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


def _by_constant(kind: AffineBinaryOpKind) -> Binary:
    def divide(a: AffineExpr, b: AffineExpr) -> AffineExpr | None:
        return AffineBinaryOpExpr(kind, a, b) if isinstance(b, AffineConstantExpr) and b.value > 0 else None

    return divide


_QUOTIENT, _REMAINDER = _by_constant(AffineBinaryOpKind.FloorDiv), _by_constant(AffineBinaryOpKind.Mod)
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
