"""The rules of `relay-fake-quantization-to-integer`: the integer form of each float op.

A rule is a function from an `IntegerWriter` to the quantised result. It is registered under Relay's name of the op, or
for a kind of ops (`RelayOp.QUANTIZATION`), with the source of the result's scale and zero point (`Result`). The
rules are in `integer_arithmetic.py` and `integer_sums.py`. Rules of other packages take precedence:

    @writes_integers("acme.scale")
    def write(w: IntegerWriter) -> QuantizedValue:
        return replace(w.tensor(0), value=w.call("acme.scale_integers", w.tensor(0).value))

Such a rule is called for an op as soon as one of its operands is quantised; the others are unchanged, and the rule has
to check them itself. If it raises, the op stays in floats. An optional rule applies only if the pass's option names the
op. `relay.op.register_fake_quantization_to_integer` accepts Relay's form.

A `Quantized` represents the floats `scale * (value - zero_point)`. Its quantisation parameters, `params`, are the
scale, the zero point and the integer type. An `IntegerWriter` builds the integer form of one op; the new ops are in
no block until they are inserted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias, TypeVar

import numpy as np
from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.quantization import Quantization
from xrelay.dialects.relay.core.registry import get_relay_op, relay_ops
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.errors import PassError
from xrelay.interpreters.relay import can_evaluate, evaluate_op
from xrelay.passes.graph.rewriting import constant_of
from xrelay.plugins import load_plugins
from xrelay.raised import raised
from xrelay.registrations import import_registrations, registering

SCALE_TOLERANCE = 1e-6
"""The relative difference up to which two scales count as equal, since one of them may be a rounded product."""

MAX_SUM = 1 << 30
"""The limit of sums. A bias within the same limit can be added without overflow of 32 bits."""

_STEPS_TO_CONSTANT = 4
"""The maximum number of ops between a parameter and its constant: casts and reshapes."""

OpT = TypeVar("OpT", bound=Operation)


class NoIntegerFormError(Exception):
    """Raised if an op has no integer form; the message has the reason."""


@dataclass(frozen=True)
class QuantParameters:
    """Quantisation parameters: values are rounded to `scale * (n - zero_point)` for n in the range of `dtype`.

    Scale and zero point are one number each, or one per index along `axis`, which is nonnegative.
    """

    scale: SSAValue
    zero_point: SSAValue
    dtype: Attribute
    axis: int

    @property
    def is_single(self) -> bool:
        """Whether scale and zero point are one number each."""
        return all(extent == 1 for parameter in (self.scale, self.zero_point) for extent in shape_of(parameter.type))

    @property
    def is_finite(self) -> bool:
        """Whether no scale is known to be infinite or NaN."""
        known = known_array(self.scale)
        return known is None or bool(np.isfinite(known).all())

    @property
    def holds_zero_point(self) -> bool:
        """Whether no zero point is known to be out of range of `dtype`, where it would be saturated."""
        known, limits = known_array(self.zero_point), np.iinfo(numpy_dtype(self.dtype))
        return known is None or bool(((known >= limits.min) & (known <= limits.max)).all())

    def is_like(self, other: QuantParameters) -> bool:
        """Returns whether the numbers are known to equal those of `other`."""
        if self.dtype != other.dtype or not ((self.is_single and other.is_single) or self.axis == other.axis):
            return False
        return is_same(self.scale, other.scale) and is_same(self.zero_point, other.zero_point)


@dataclass(frozen=True)
class Quantized:
    """Integers that represent the numbers of a float tensor."""

    value: SSAValue
    params: QuantParameters

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the integers."""
        return numpy_dtype(self.params.dtype)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(shape_of(self.value.type))

    @property
    def greatest_distance(self) -> float:
        """The greatest distance of an integer from its zero point."""
        limits = np.iinfo(self.dtype)
        low, high = float(limits.min), float(limits.max)
        known = known_array(self.params.zero_point)
        if known is None:
            return high - low
        zero_points = np.clip(known.astype(np.float64), low, high)
        return float(np.maximum(zero_points - low, high - zero_points).max(initial=0.0))


QuantizedValue: TypeAlias = Quantized | tuple[Quantized, ...]
"""The quantised form of a tensor, or of a tuple of tensors."""


class IntegerWriter:
    """Builds the integer form of `op`: `operands` are the quantised operands, `None` for float ones.

    `params` are those to which the result is rounded afterwards, if known. `rounds_constants` permits rounding a
    constant summand to the steps of the other summand. `ops` collects the new ops.
    """

    def __init__(
        self,
        op: RelayOp,
        operands: Sequence[QuantizedValue | None],
        params: QuantParameters | None,
        *,
        rounds_constants: bool = False,
    ):
        self.op, self.operands, self.params, self.rounds_constants = op, operands, params, rounds_constants
        self.ops: list[Operation] = []

    def op_as(self, kind: type[OpT]) -> OpT:
        """Returns `op`, which is of the class `kind` because the rule is registered for names of such ops."""
        assert isinstance(self.op, kind), f"a rule for {kind.__name__} was called for {self.op.name}"
        return self.op

    def insert(self, op: OpT) -> OpT:
        """Appends `op` to `ops`, with the location and the name of the float op."""
        op.location = self.op.location
        for result in op.results:
            if result.name_hint is None:
                result.name_hint = self.op.results[0].name_hint
        self.ops.append(op)
        return op

    def call(self, name: str, *operands: SSAValue, **attributes: AttributeValue) -> SSAValue:
        """Appends the op called `name`."""
        return self.insert(get_relay_op(name).call(*operands, **attributes)).results[0]

    def like(self, name: str, *operands: SSAValue, **attributes: AttributeValue) -> SSAValue:
        """Appends the op called `name`, with the properties of the float op that it has too, and `attributes`."""
        kind = get_relay_op(name)
        own = kind.get_irdl_definition().properties
        shared = {key: value for key, value in self.op.properties.items() if key in own and key != "out_dtype"}
        given = kind.properties_from({**shared, **attributes})
        return self.insert(kind.typed(operands, given)).results[0]

    def rebuild_op(self, *operands: SSAValue) -> SSAValue:
        """Appends the float op itself on integers, with its other operands unchanged; the result has their type."""
        rest = tuple(self.op.operands)[len(operands) :]
        properties = {key: value for key, value in self.op.properties.items() if key != "out_dtype"}
        return self.insert(type(self.op).typed((*operands, *rest), properties)).results[0]

    def tuple(self, values: Iterable[SSAValue]) -> SSAValue:
        """Appends a tuple of the values."""
        return self.insert(TupleOp.call(*values)).result

    def constant(self, array: Array) -> SSAValue:
        """Appends a constant."""
        return self.insert(ConstantOp.of(np.asarray(array))).result

    def tensor(self, index: int) -> Quantized:
        """Returns quantised operand `index`, which must be a tensor."""
        found = self.operands[index]
        if not isinstance(found, Quantized):
            raise NoIntegerFormError(f"operand #{index} is not a quantised tensor")
        return found

    def single(self, index: int) -> Quantized:
        """Returns quantised operand `index`, which must have one scale and one zero point."""
        found = self.tensor(index)
        if not found.params.is_single:
            raise NoIntegerFormError(f"operand #{index} has one scale per index of axis {found.params.axis}")
        return found

    def result_params(self) -> QuantParameters:
        """Returns the parameters of the result, which must be one known scale and zero point, as new constants."""
        params = self.params
        if params is None:
            raise NoIntegerFormError("it rounds, and no later op determines scale and zero point")
        scale, zero_point = known_array(params.scale), known_array(params.zero_point)
        if scale is None or zero_point is None or not params.is_single:
            raise NoIntegerFormError("it rounds, and the result does not have one constant scale and zero point")
        return QuantParameters(self.constant(scale.reshape(())), self.constant(zero_point.reshape(())), params.dtype, 0)

    def requantize(self, data: Quantized, params: QuantParameters) -> SSAValue:
        """Returns the integers of `data` with other parameters, which have one scale and zero point."""
        if data.params.is_like(params):
            return data.value
        source = data.params
        return self.call(
            "qnn.requantize", data.value, source.scale, source.zero_point, params.scale, params.zero_point,
            axis=source.axis if not source.is_single else -1, out_dtype=params.dtype,
        )  # fmt: skip

    def along(self, parameter: SSAValue, rank: int, axis: int) -> SSAValue:
        """Returns a parameter in a shape that broadcasts with a tensor of `rank`, along `axis`."""
        if all(extent == 1 for extent in shape_of(parameter.type)):
            return self.call("reshape", parameter, newshape=()) if shape_of(parameter.type) else parameter
        trailing = rank - 1 - axis
        return self.call("expand_dims", parameter, axis=1, num_newaxis=trailing) if trailing else parameter

    def distance(self, data: Quantized) -> SSAValue:
        """Returns the integers minus their zero points, as i32."""
        wide = data.value if data.dtype == np.int32 else self.call("cast", data.value, dtype="int32")
        zero_point = data.params.zero_point
        known = known_array(zero_point)
        if known is not None and not known.any():
            return wide
        return self.call("subtract", wide, self.along(zero_point, data.rank, data.params.axis))

    def zero(self) -> SSAValue:
        """Returns the zero point of distances."""
        return self.constant(np.array(0, np.int32))

    def in_32_bits(self, data: Quantized, value: SSAValue) -> Quantized:
        """Returns 32-bit distances as a quantised value with the scale of `data`."""
        return Quantized(value, replace(data.params, zero_point=self.zero(), dtype=i32))

    def product(self, name: str, first: SSAValue, second: SSAValue) -> SSAValue:
        """Returns the product or quotient of two scales, as a constant if both are known."""
        known = known_array(first), known_array(second)
        if known[0] is None or known[1] is None:
            return self.call(name, first, second)
        operation = np.multiply if name == "multiply" else np.divide
        with np.errstate(all="ignore"):
            scale = np.asarray(operation(known[0], known[1], dtype=np.float32))
        if not np.isfinite(scale).all():
            raise NoIntegerFormError("the scale of the result overflows f32")
        if ((np.abs(scale) < np.finfo(np.float32).tiny) & (known[0] != 0)).any():
            raise NoIntegerFormError("the scale of the result is below the normal range of f32")
        return self.constant(scale)


def require_headroom(count: float, *operands: Quantized) -> None:
    """Requires that a sum of `count` products of distances fits into 32 bits."""
    most = count
    for data in operands:
        most *= data.greatest_distance
    if not most <= MAX_SUM:
        kinds = " by ".join(str(data.dtype) for data in operands)
        raise NoIntegerFormError(f"a sum of {count:g} numbers of {kinds} may overflow 32 bits")


def is_same(first: SSAValue, second: SSAValue) -> bool:
    """Returns whether two parameters are known to be the same numbers, up to rounding."""
    if first is second:
        return True
    known = known_array(first), known_array(second)
    if known[0] is None or known[1] is None or known[0].size != known[1].size:
        return False
    return np.allclose(known[0].reshape(-1), known[1].reshape(-1), rtol=SCALE_TOLERANCE, atol=0)


def known_array(value: SSAValue) -> Array | None:
    """Returns the numbers of a parameter that is a constant, possibly cast or reshaped; else `None`."""
    path: list[Operation] = []
    array = constant_of(value)
    while array is None and isinstance(value, OpResult) and len(path) < _STEPS_TO_CONSTANT:
        op = value.op
        if len(op.operands) != 1 or not isinstance(op.operands[0].type, TensorType) or not can_evaluate(op):
            return None
        path.append(op)
        value = op.operands[0]
        array = constant_of(value)
    for op in reversed(path):
        result = None if array is None else evaluate_op(op, [array])
        array = result if isinstance(result, np.ndarray) else None
    return array


def float_constant(value: SSAValue) -> Array | None:
    """Returns the numbers of a finite float constant; `None` for anything else."""
    if not isinstance(value.type, TensorType) or numpy_dtype(element_type_of(value.type)).kind == "i":
        return None
    array = known_array(value)
    return array if array is not None and np.isfinite(array.astype(np.float64)).all() else None


Write: TypeAlias = Callable[[IntegerWriter], QuantizedValue]


class Result(Enum):
    """The source of the quantisation parameters of a result."""

    OWN = "derived from the operands, without rounding"
    UNCHANGED = "those of the operands"
    SHARED = "those of the operands if these agree, else those of the quantised result"
    ROUNDED = "those of the quantised result"


@dataclass(frozen=True)
class Rule:
    """The integer form of an op."""

    write: Write
    result: Result
    data: int | None = 1
    """The number of leading operands that must be quantised; `None` for all."""
    constants: bool = False
    """Whether all but one of them may be float constants."""
    optional: bool = False
    """Whether the op stays in floats unless an option names it."""
    takes_any: bool = False
    """Whether the rule itself checks the other operands, which may be any values."""

    def data_of(self, op: RelayOp) -> int:
        """Returns the number of leading operands of `op` that must be quantised."""
        return len(op.operands) if self.data is None else self.data


_RULES: dict[str | Quantization, Rule] = {}


_MODULES = ("integer_arithmetic", "integer_sums")


def integer_rule(
    *ops: str | Quantization, result: Result, data: int | None = 1, constants: bool = False, optional: bool = False
) -> Callable[[Write], Write]:
    """Decorator that registers a rule under Relay's names of ops, or for a kind of ops without rules of their own."""

    def register(write: Write) -> Write:
        _RULES.update(dict.fromkeys(ops, Rule(write, result, data, constants, optional)))
        return write

    return register


def integer_rules() -> dict[str, Rule]:
    """Returns the rules by Relay's names of ops."""
    import_registrations(f"xrelay.passes.qnn.{name}" for name in _MODULES)
    kinds = {name: _RULES[op.QUANTIZATION] for name, op in relay_ops().items() if op.QUANTIZATION in _RULES}
    return kinds | {name: rule for name, rule in _RULES.items() if isinstance(name, str)}


_HOOKS: dict[tuple[bool, type[RelayOp]], Write] = {}
"""Maps (whether the rule is optional, op) to the rule."""


def writes_integers(op: type[RelayOp] | str, *, optional: bool = False) -> Callable[[Write], Write]:
    """Decorator that registers the integer form of `op`, given by class or Relay's name; it replaces an earlier one.

    Raises `UnknownOpError` for an unknown name.
    """
    kind = get_relay_op(op) if isinstance(op, str) else op

    return registering(_HOOKS, (optional, kind))


def registered_integer_hook(op: type[RelayOp], *, optional: bool = False) -> Write | None:
    """Returns the rule of an op, or `None`."""
    return _HOOKS.get((optional, op))


def forget_integer_hook(op: type[RelayOp], *, optional: bool = False) -> None:
    """Removes a registered rule; the pass's own rule applies again."""
    _HOOKS.pop((optional, op), None)


def all_integer_rules() -> dict[str, Rule]:
    """Returns the rules by Relay's names of ops: registered ones, and the pass's own for other ops."""
    load_plugins("targets")
    rules = dict(integer_rules())
    for (optional, kind), hook in _HOOKS.items():
        name = kind.relay_name()
        if not optional or name not in rules or rules[name].optional:
            rules[name] = Rule(_checked_hook(hook), Result.SHARED, data=None, optional=optional, takes_any=True)
    return rules


def _checked_hook(hook: Write) -> Write:
    """Returns the rule `hook`; an exception that it raises becomes the reason why the op stays in floats.

    Errors of xrelay itself propagate.
    """

    def write(w: IntegerWriter) -> QuantizedValue:
        try:
            return hook(w)
        except (NoIntegerFormError, PassError):
            raise
        except Exception as error:
            name = getattr(hook, "__qualname__", type(hook).__name__)
            raise NoIntegerFormError(f"the rule {name} {raised(error)}") from error

    return write
