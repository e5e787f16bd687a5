"""Emits computes of tensor expressions as `topi.compute`. Affine index arithmetic becomes affine expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, IndexType, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from xrelay.dialects import topi
from xrelay.dialects.shared.dtypes import element_type
from xrelay.dialects.topi.build import Body, compute, is_unsigned, value_range
from xrelay.errors import InputError
from xrelay.te.expr import (
    FUNCTIONS,
    Binary,
    Cast,
    Choice,
    Const,
    IterVar,
    PrimExpr,
    Reduce,
    Unary,
    is_float,
)
from xrelay.te.tensor import ComputeOp, Tensor, TensorRead

_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq"}


def emit_compute(op: ComputeOp, label: str, tensors: Mapping[Tensor, SSAValue]) -> topi.ComputeOp:
    """Returns a detached `topi.compute` for `op`; `tensors` maps the tensors it reads to values."""
    axes = [*op.axis, *op.reduce_axis]
    names = _distinct([axis.name for axis in axes])
    spatial = {name: axis.extent for name, axis in zip(names, op.axis, strict=False)}
    reduce = {name: axis.extent for name, axis in zip(names[len(spatial) :], op.reduce_axis, strict=True)}
    element = element_type(op.body.dtype)

    def fill(b: Body) -> list[SSAValue]:
        index = dict(zip(axes, (*b.spatial, *b.reduction), strict=True))
        emitter = _Emitter(b, index, tensors, {})
        return [_fold(emitter, op.body) if isinstance(op.body, Reduce) else emitter.value(op.body)]

    init = [_first(op.body.kind, element)] if isinstance(op.body, Reduce) else []
    return compute(label, spatial, [element], fill, reduce=reduce, init=init)


def _first(kind: str, element: Attribute) -> float | int:
    least, most = value_range(element)
    return {"sum": 0, "max": least, "min": most}[kind]


def _fold(emitter: _Emitter, reduction: Reduce) -> SSAValue:
    """Returns the next accumulator; the factors of a product are passed apart, so that multiply-adds may be fused."""
    b, x = emitter.body, reduction.x
    (accumulator,) = b.accumulators
    if reduction.kind == "max":
        return b.largest(accumulator, emitter.value(x))
    if reduction.kind == "min":
        return b.smallest(accumulator, emitter.value(x))
    if isinstance(x, Binary) and x.operator == "*" and is_float(x.dtype):
        return b.accumulate_product(accumulator, emitter.value(x.a), emitter.value(x.b))
    return b.accumulate(accumulator, emitter.value(x))


class _Emitter:
    """Appends the ops of expressions to a body, each expression once."""

    def __init__(
        self,
        body: Body,
        axes: Mapping[IterVar, AffineExpr],
        tensors: Mapping[Tensor, SSAValue],
        known: Mapping[PrimExpr, SSAValue],
    ):
        self.body, self._axes, self._tensors = body, axes, tensors
        self._values = dict(known)
        self._affine: dict[PrimExpr, AffineExpr | None] = {}

    def value(self, root: PrimExpr) -> SSAValue:
        """Returns the value of an expression. Iterative except for the branches of choices."""
        order = self._post_order(root)
        needed = {root}
        for expr in reversed(order):
            if expr in needed and expr not in self._values:
                needed.update(self._needs(expr))
        for expr in order:
            if expr in needed and expr not in self._values:
                self._values[expr] = self._emit(expr)
        return self._values[root]

    def _post_order(self, root: PrimExpr) -> list[PrimExpr]:
        """Returns the subexpressions of `root`, operands first, without the branches of choices."""
        order: dict[PrimExpr, None] = {}
        stack: list[tuple[PrimExpr, bool]] = [(root, False)]
        while stack:
            expr, ready = stack.pop()
            if expr in order:
                continue
            if ready:
                order[expr] = None
                self._affine[expr] = self._affine_of(expr)
                continue
            stack.append((expr, True))
            inner = (expr.condition,) if isinstance(expr, Choice) else expr.operands
            stack.extend((operand, False) for operand in reversed(inner))
        return list(order)

    def _needs(self, expr: PrimExpr) -> list[PrimExpr]:
        """Returns the operands whose values are needed to compute `expr`."""
        if self._affine[expr] is not None or self._sides(expr) is not None:
            return []
        if isinstance(expr, Choice):
            return [expr.condition]
        if isinstance(expr, TensorRead):
            return [index for index in expr.indices if self._affine[index] is None]
        return list(expr.operands)

    def _affine_of(self, expr: PrimExpr) -> AffineExpr | None:
        """Returns `expr` as an affine expression of the axes; `None` if it is not affine."""
        if isinstance(expr, IterVar):
            return self._axes[expr]
        if isinstance(expr, Const):
            return AffineConstantExpr(int(expr.value)) if expr.dtype.startswith("int") else None
        if not isinstance(expr, Binary):
            return None
        a, b = self._affine.get(expr.a), self._affine.get(expr.b)
        if a is None or b is None:
            return None
        number = b.value if isinstance(b, AffineConstantExpr) else None
        match expr.operator:
            case "+":
                return a + b
            case "-":
                return a + (b * -1)
            case "*" if number is not None:
                return a * number
            case "*" if isinstance(a, AffineConstantExpr):
                return b * a.value
            case "//" if number is not None and number > 0:
                return a // number
            case "%" if number is not None and number > 0:
                return a % number
            case _:
                return None

    def _sides(self, expr: PrimExpr) -> tuple[AffineExpr, AffineExpr] | None:
        """Returns the sides of a comparison of affine expressions; `None` for any other expression."""
        if not isinstance(expr, Binary) or expr.operator not in _COMPARISONS:
            return None
        left, right = self._affine.get(expr.a), self._affine.get(expr.b)
        return None if left is None or right is None else (left, right)

    def _emit(self, expr: PrimExpr) -> SSAValue:
        b, affine = self.body, self._affine[expr]
        match expr:
            case Const():
                return b.constant(expr.value, element_type(expr.dtype))
            case _ if affine is not None:
                return b.add(arith.IndexCastOp(b.index(affine), i32))
            case TensorRead():
                return b.read(self._tensors[expr.tensor], *(self._index(index) for index in expr.indices))
            case Cast():
                return b.convert(self._values[expr.x], element_type(expr.dtype))
            case Unary():
                return b.add(FUNCTIONS[expr.function](self._values[expr.x]))
            case Binary() if (sides := self._sides(expr)) is not None:
                # compares indices, so that a vector of lanes has a mask
                return _compare(b, _COMPARISONS[expr.operator], b.index(sides[0]), b.index(sides[1]))
            case Binary():
                return _binary(b, expr.operator, self._values[expr.a], self._values[expr.b])
            case Choice():
                return self._choice(expr)
            case _:
                raise InputError(f"{expr!r} is a reduction inside an expression", help="reduce in a separate compute")

    def _index(self, expr: PrimExpr) -> AffineExpr:
        affine = self._affine[expr]
        if affine is not None:
            return affine
        return self.body.as_index(self.body.add(arith.IndexCastOp(self._values[expr], IndexType())))

    def _choice(self, expr: Choice) -> SSAValue:
        """Emits a guard whose branches compute the values that only they need."""

        def branch(root: PrimExpr) -> SSAValue:
            return _Emitter(self.body, self._axes, self._tensors, self._values).value(root)

        condition, element = self._values[expr.condition], element_type(expr.dtype)
        return self.body.guard(condition, element, lambda: branch(expr.then), lambda: branch(expr.otherwise))


def _binary(b: Body, operator: str, x: SSAValue, y: SSAValue) -> SSAValue:
    if operator in _COMPARISONS:
        return _compare(b, _COMPARISONS[operator], x, y)
    match operator:
        case "+":
            return b.plus(x, y)
        case "-":
            return b.minus(x, y)
        case "*":
            return b.times(x, y)
        case "/":
            return b.divide(x, y)
        case "max":
            return b.maximum(x, y)
        case "min":
            return b.minimum(x, y)
        case "pow":
            return b.add(math.PowFOp(x, y))
        case "and":
            return b.add(arith.AndIOp(x, y))
        case "or":
            return b.add(arith.OrIOp(x, y))
        case _:
            return _floor_division(b, operator, x, y)


def _compare(b: Body, relation: str, x: SSAValue, y: SSAValue) -> SSAValue:
    if isinstance(x.type, AnyFloat):
        return b.add(arith.CmpfOp(x, y, f"o{relation}"))
    if relation == "eq":
        return b.add(arith.CmpiOp(x, y, "eq"))
    return b.add(arith.CmpiOp(x, y, f"{'u' if is_unsigned(x.type) else 's'}{relation}"))


def _floor_division(b: Body, operator: str, x: SSAValue, y: SSAValue) -> SSAValue:
    """Returns `//` or `%` of integers, rounded to minus infinity: one less if signs differ with a nonzero remainder."""
    quotient = b.divide(x, y)
    rest = b.minus(x, b.times(quotient, y))
    if is_unsigned(x.type):
        return quotient if operator == "//" else rest
    zero, one = b.constant(0, x.type), b.constant(1, x.type)
    differs = b.add(arith.CmpiOp(b.add(arith.XOrIOp(rest, y)), zero, "slt"))
    below = b.add(arith.AndIOp(differs, b.add(arith.CmpiOp(rest, zero, "ne"))))
    if operator == "//":
        return b.minus(quotient, b.add(arith.SelectOp(below, one, zero)))
    return b.plus(rest, b.add(arith.SelectOp(below, y, zero)))


def _distinct(names: Sequence[str]) -> list[str]:
    """Returns `names`, with a number appended to repeated ones."""
    result: list[str] = []
    for name in names:
        new, number = name, 0
        while new in result:
            number += 1
            new = f"{name}_{number}"
        result.append(new)
    return result
