"""The arguments of Relay's rules for fake quantisation: a call on integers and the affine types of its operands.

`relay.op.register_fake_quantization_to_integer` registers such a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import OpResult, SSAValue

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.errors import ConstraintError, PassError
from xrelay.index_algebra.dims import Shape
from xrelay.passes.qnn.integer_rules import IntegerWriter, Quantized, QuantizedValue, Steps, Write
from xrelay.relay.expr import Expr, Var, as_value, view
from xrelay.relay.nodes import Tuple, TupleGetItem
from xrelay.relay.replacing import copies_of


@dataclass(frozen=True)
class TensorAffineType:
    """Integers `n` of `dtype` that represent `scale * (n - zero_point)`, per element of `axis` if these are vectors."""

    scale: Expr
    zero_point: Expr
    dtype: str
    axis: int = -1


@dataclass(frozen=True)
class TupleAffineType:
    """The affine types of the fields of a tuple."""

    types: Sequence[TensorAffineType]


AffineType: TypeAlias = TensorAffineType | TupleAffineType


def integer_hook(function: Callable[..., object]) -> Write:
    """Adapts one of Relay's rules to a rule of `relay-fake-quantization-to-integer`.

    The function takes the call on integers and a map of affine types: `type_map[expr.args[0]]` is that of an operand,
    `type_map[expr]` that to which the result is quantised. It returns a list of an expression and its affine type.
    """

    def write(w: IntegerWriter) -> QuantizedValue:
        shown = _Shown(w)
        answer = function(shown.call, shown.types)
        parts = list(answer) if isinstance(answer, Sequence) else []
        if len(parts) != 2 or not isinstance(parts[0], Expr):
            raise _error(w, function, f"returned {answer!r}, not a list of an expression and its affine type")
        found = _quantized(shown, parts[0], parts[1])
        if isinstance(found, Quantized) and _shape(found.value) != _shape(w.op.results[0]):
            found = f"returned a value of type {found.value.type} for one of type {w.op.results[0].type}"
        if isinstance(found, str):
            raise _error(w, function, found)
        return found

    write.__qualname__ = getattr(function, "__qualname__", type(function).__name__)
    return write


class _Shown:
    """The call that a rule receives: an expression for each operand, and their affine types.

    Variables replace the operands, so that the rule cannot change the program. Constants are passed as copies.
    """

    def __init__(self, w: IntegerWriter):
        self._writer = w
        self.types: dict[Expr, AffineType] = {}
        self.known: dict[SSAValue, SSAValue] = {}
        operands = w.op.operands
        found = [*w.operands, *[None] * (len(operands) - len(w.operands))]
        arguments = [self._argument(value, each) for value, each in zip(operands, found, strict=True)]
        values = [argument.ssa_value for argument in arguments]
        try:
            made = type(w.op).typed(values, w.op.properties)
        except ConstraintError:
            made = type(w.op).create(operands=values, result_types=w.op.result_types, properties=w.op.properties)
        self.call = view(made.results[0])
        if w.steps is not None:
            self.types[self.call] = self._affine(w.steps)

    def copy(self, *results: Expr) -> list[SSAValue]:
        """Inserts the ops of expressions that a rule built; returns their values in the program."""
        values = [result.ssa_value for result in results]
        for op in copies_of(values, self.known):
            self._writer.insert(op)
        return [self.known.get(value, value) for value in values]

    def _argument(self, operand: SSAValue, found: QuantizedValue | None) -> Expr:
        if found is None:
            return self._of(operand)
        if isinstance(found, tuple):
            fields = [self._of(part.value) for part in found]
            argument: Expr = Tuple(fields)
            self.types[argument] = TupleAffineType([self._affine(part.steps) for part in found])
            return argument
        argument = self._of(found.value)
        self.types[argument] = self._affine(found.steps)
        return argument

    def _of(self, value: SSAValue) -> Expr:
        """Returns a variable for `value`, or a copy of its constant."""
        if isinstance(value, OpResult) and isinstance(value.op, ConstantOp):
            return view(value.op.clone().result)
        variable = Var(value.name_hint or "operand", value.type)
        self.known[variable.ssa_value] = value
        return variable

    def _affine(self, steps: Steps) -> TensorAffineType:
        axis = -1 if steps.is_single else steps.axis
        return TensorAffineType(self._of(steps.scale), self._of(steps.zero_point), str(numpy_dtype(steps.dtype)), axis)


def _quantized(shown: _Shown, result: Expr, affine: object) -> QuantizedValue | str:
    """Converts a rule's result to quantised values; returns the error message if it is invalid."""
    if not isinstance(affine, TupleAffineType):
        return _tensor(shown, result, affine)
    fields = [_tensor(shown, TupleGetItem(result, index), each) for index, each in enumerate(affine.types)]
    wrong = next((field for field in fields if isinstance(field, str)), None)
    return wrong if wrong is not None else tuple(field for field in fields if isinstance(field, Quantized))


def _tensor(shown: _Shown, result: Expr, affine: object) -> Quantized | str:
    """Returns the integers that `affine` describes, or the error message if the result does not match it."""
    if not isinstance(affine, TensorAffineType):
        return f"returned {affine!r} as affine type of a tensor"
    value, scale, zero_point = shown.copy(result, view(as_value(affine.scale)), view(as_value(affine.zero_point)))
    element = element_type(affine.dtype)
    if not is_complete(value.type) or element_type_of(value.type) != element:
        return f"returned a value of type {value.type} as integers of {affine.dtype}"
    rank = len(shape_of(value.type))
    return Quantized(value, Steps(scale, zero_point, element, affine.axis % rank if rank else 0))


def _shape(value: SSAValue) -> Shape | None:
    return shape_of(value.type) if isinstance(value.type, TensorType) else None


def _error(w: IntegerWriter, function: Callable[..., object], message: str) -> PassError:
    name = getattr(function, "__qualname__", type(function).__name__)
    return PassError(
        f"relay-fake-quantization-to-integer: the rule {name} of {w.op.relay_name()} {message}",
        location=describe_location(w.op),
    )
