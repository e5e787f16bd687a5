"""Hooks of passes from functions in Relay's form, which take expressions, attributes and types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, OpResult, SSAValue

from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.layout.layout_permutation import LayoutPermutation
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import element_type_of, is_complete, shape_of
from xrelay.errors import ConstraintError, PassError
from xrelay.index_algebra.dims import Shape
from xrelay.passes.gradient.rule_table import GradientRule, differentiates
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.qnn.integer_rules import IntegerWriter, Quantized, QuantizedValue, QuantParameters, Write
from xrelay.registrations import note_registration
from xrelay.relay.copies import copies_of, insert_after, insert_before
from xrelay.relay.expr import Expr, Var, as_value, view
from xrelay.relay.nodes import Attrs, Call, Tuple, TupleGetItem, op_of
from xrelay.relay.passes.to_mixed_precision import Precision
from xrelay.relay.types import type_view


def target_hook(function: Callable[..., object]) -> Callable[[RelayOp], object]:
    """Returns a hook for `target.NAME`. The function takes the call."""

    def hook(op: RelayOp) -> object:
        return function(view(op.results[0]))

    return _named(hook, function)


def legalize_hook(function: Callable[..., object]) -> Callable[[RelayOp, Emitter], SSAValue | None]:
    """Converts a function for `register_legalize` in Relay's form to a hook of `transform.legalize_scope`."""

    def hook(op: RelayOp, emit: Emitter) -> SSAValue | None:
        types = [type_view(each) for each in (*op.operand_types, *op.result_types)]
        answer = function(Attrs(op), [view(operand) for operand in op.operands], types)
        if answer is not None and not isinstance(answer, Expr):
            raise PassError(f"it returned {answer!r}, not an expression")
        return None if answer is None else insert_after(op, answer.ssa_value)

    return _named(hook, function)


def precision_hook(function: Callable[..., object]) -> Callable[[RelayOp, Attribute], Precision]:
    """Converts a function in Relay's form to a hook of `relay-to-mixed-precision`."""

    def hook(op: RelayOp, mixed: Attribute) -> Precision:
        answer = function(view(op.results[0]), str(numpy_dtype(mixed)))
        fields = list(answer) if isinstance(answer, Sequence) else []
        if len(fields) != 3 or fields[0] not in tuple(MixedPrecision):
            raise PassError(f"returned {answer!r}, not a list of a category, 0 to 2, and two dtypes")
        category, accumulation, output = fields
        return Precision(
            MixedPrecision(cast(int, category)), element_type(str(accumulation)), element_type(str(output))
        )

    return _named(hook, function)


def layout_hook(
    function: Callable[..., object],
) -> Callable[[RelayOp, Sequence[Layout | None], int], LayoutDecision | LayoutRefusal | None]:
    """Converts a function in Relay's form to a hook of `relay-alter-op-layout`."""

    def hook(op: RelayOp, available: Sequence[Layout | None], lanes: int) -> LayoutDecision | LayoutRefusal | None:
        inputs: list[Expr] = [Var(f"operand{number}") for number in range(len(op.operands))]
        types = [type_view(operand.type) for operand in op.operands]
        answer = function(Attrs(op), inputs, types, type_view(op.results[0].type))
        return None if answer is None else _decision(op, answer, inputs)

    return _named(hook, function)


def _decision(op: RelayOp, answer: object, inputs: Sequence[Expr]) -> LayoutDecision | LayoutRefusal:
    """Returns the layouts in the attributes of the call `answer`, whose arguments become the operands of `op`."""
    made = op_of(answer) if isinstance(answer, Call) else None
    if not isinstance(answer, Call) or not isinstance(made, RelayOp) or len(answer.args) != len(inputs):
        raise PassError(f"it returned {answer!r}, not a call of an operator on as many operands")
    layouts = getattr(made, "layouts", None)
    if not isinstance(layouts, tuple):
        raise PassError(f"the attributes of {made.relay_name()} contain no layouts: use transform.alters_layout")
    named, owns = cast("tuple[Layout, ...]", layouts), cast("tuple[Layout, ...]", getattr(op, "layouts", ()))
    *operands, result = [LayoutPermutation.of(wanted, own) for own, wanted in zip(owns, named, strict=True)]
    fits = getattr(op, "with_layouts", None)
    refusal = fits(*operands, result) if callable(fits) and type(made) is type(op) else None
    if isinstance(refusal, LayoutRefusal):
        return refusal
    _compute_operands(op, answer.args, inputs)
    kind = None if type(made) is type(op) else type(made)
    return LayoutDecision(tuple(operands), result, dict(made.properties), kind)


def _compute_operands(op: RelayOp, arguments: Sequence[Expr], inputs: Sequence[Expr]) -> None:
    """Inserts the ops of `arguments` before `op` as its operands; `inputs` are replaced by the old operands."""
    known = dict(zip([each.ssa_value for each in inputs], op.operands, strict=True))
    op.operands = [insert_before(op, argument.ssa_value, known) for argument in arguments]


HookT = TypeVar("HookT", bound=Callable[..., object])


def _named(hook: HookT, function: Callable[..., object]) -> HookT:
    """Returns `hook` with the name of the function that it calls, for error messages."""
    hook.__qualname__ = _name_of(function)
    return hook


def _name_of(function: Callable[..., object]) -> str:
    return getattr(function, "__qualname__", type(function).__name__)


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
        shown = _RuleCall(w, function)
        answer = function(shown.call, shown.types)
        result, affine = answer if isinstance(answer, Sequence) and len(answer) == 2 else (None, None)
        if not isinstance(result, Expr):
            raise shown.error(f"returned {answer!r}, not a list of an expression and its affine type")
        if isinstance(affine, TupleAffineType):
            fields = enumerate(affine.types)
            return tuple(shown.quantized(TupleGetItem(result, index), each) for index, each in fields)
        found = shown.quantized(result, affine)
        if _shape(found.value) != _shape(w.op.results[0]):
            raise shown.error(f"returned a value of type {found.value.type} for one of type {w.op.results[0].type}")
        return found

    return _named(write, function)


class _RuleCall:
    """The call that a rule receives: an expression for each operand, and their affine types.

    Variables replace the operands, so that the rule cannot change the program. Constants are passed as copies.
    """

    def __init__(self, w: IntegerWriter, function: Callable[..., object]):
        self._writer, self._function = w, function
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
        if w.params is not None:
            self.types[self.call] = self._affine(w.params)

    def quantized(self, result: Expr, affine: object) -> Quantized:
        """Inserts a result and its affine type in the program. Raises `PassError` if they do not match."""
        if not isinstance(affine, TensorAffineType):
            raise self.error(f"returned {affine!r} as affine type of a tensor")
        values = [result.ssa_value, as_value(affine.scale), as_value(affine.zero_point)]
        for op in copies_of(values, self.known):
            self._writer.insert(op)
        value, scale, zero_point = (self.known.get(each, each) for each in values)
        element = element_type(affine.dtype)
        if not is_complete(value.type) or element_type_of(value.type) != element:
            raise self.error(f"returned a value of type {value.type} as integers of {affine.dtype}")
        rank = len(shape_of(value.type))
        return Quantized(value, QuantParameters(scale, zero_point, element, affine.axis % rank if rank else 0))

    def error(self, message: str) -> PassError:
        """Returns the error for an invalid result of the rule."""
        op = self._writer.op
        return PassError(
            f"relay-fake-quantization-to-integer: the rule {_name_of(self._function)} of {op.relay_name()} {message}",
            location=describe_location(op),
        )

    def _argument(self, operand: SSAValue, found: QuantizedValue | None) -> Expr:
        if found is None:
            return self._of(operand)
        if isinstance(found, tuple):
            fields = [self._of(part.value) for part in found]
            argument: Expr = Tuple(fields)
            self.types[argument] = TupleAffineType([self._affine(part.params) for part in found])
            return argument
        argument = self._of(found.value)
        self.types[argument] = self._affine(found.params)
        return argument

    def _of(self, value: SSAValue) -> Expr:
        """Returns a variable for `value`, or a copy of its constant."""
        if isinstance(value, OpResult) and isinstance(value.op, ConstantOp):
            return view(value.op.clone().result)
        variable = Var(value.name_hint or "operand", value.type)
        self.known[variable.ssa_value] = value
        return variable

    def _affine(self, steps: QuantParameters) -> TensorAffineType:
        axis = -1 if steps.is_single else steps.axis
        return TensorAffineType(self._of(steps.scale), self._of(steps.zero_point), str(numpy_dtype(steps.dtype)), axis)


def _shape(value: SSAValue) -> Shape | None:
    return shape_of(value.type) if isinstance(value.type, TensorType) else None


FunctionT = TypeVar("FunctionT", bound=Callable[..., object])

_LEVELS: dict[type[RelayOp], int] = {}


def register_gradient(
    op_name: str, fgradient: Callable[..., object] | None = None, level: int = 10
) -> Callable[[FunctionT], FunctionT]:
    """Registers the gradient of `op_name`. May be used as a decorator.

    The rule takes the call and the gradient of its result as expressions; it returns a list of the gradients of the
    arguments, each of the argument's type. It replaces xrelay's rule, and rules of a lower or the same `level`. Raises
    `UnknownOpError` for an unknown operator. An invalid result of a rule raises `PassError` in differentiation.
    """
    kind = get_relay_op(op_name)

    def register(function: FunctionT) -> FunctionT:
        if level >= _LEVELS.get(kind, 0):
            _LEVELS[kind] = level
            differentiates(kind)(_rule(function))
            note_registration(function)
        return function

    if fgradient is not None:
        register(cast(FunctionT, fgradient))
    return register


def _rule(function: Callable[..., object]) -> GradientRule[RelayOp]:
    """Converts a rule in Relay's form to one in xrelay's form."""

    def rule(op: RelayOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
        answer = function(view(op.results[0]), view(gradient))
        if not isinstance(answer, Sequence) or not all(isinstance(each, Expr) for each in answer):
            raise not_differentiable(op, f"its gradient is {answer!r}, not a list of expressions")
        values = [each.ssa_value for each in cast("Sequence[Expr]", answer)]
        return [insert_after(emit.last_op, value) for value in values]

    return _named(rule, function)
