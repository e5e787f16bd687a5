"""Integers in the place of floats, as `relay-fake-quantization-to-integer` follows them through a graph.

A `Quantized` stands for `scale * (value - zero_point)`; its steps are what value, scale and zero point say of rounding.
An `IntegerWriter` makes the integer form of one op. What it makes stands in no block until somebody needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import numpy as np
from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.core.types import element_type_of, shape_of
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay import can_evaluate, evaluate_op
from xrelay.passes.graph.rewriting import constant_of

NEAR = 1e-6
"""Scales that differ by no more than this part of them are the same: one of them may be a product that was rounded."""

MOST_SUM = 1 << 30
"""No sum may be beyond, so that a bias which is not beyond either may be added in 32 bits."""

_STEPS_TO_CONSTANT = 4
"""How many ops may lie between a parameter and the constant that it is made of: casts and reshapes."""

OpT = TypeVar("OpT", bound=Operation)


class NoIntegerFormError(Exception):
    """An op stays in floats; the message says why."""


@dataclass(frozen=True)
class Steps:
    """The numbers that a tensor is rounded to: `scale * (n - zero_point)` for each n that `dtype` holds.

    Scale and zero point are one number each, or one for each place along `axis`, which is counted from the front.
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
        """Whether no scale is known to be infinite, or no number."""
        known = known_array(self.scale)
        return known is None or bool(np.isfinite(known).all())

    @property
    def holds_zero_point(self) -> bool:
        """Whether no zero point is known to be beyond the integers; one that is counts as the nearest of them."""
        known, limits = known_array(self.zero_point), np.iinfo(numpy_dtype(self.dtype))
        return known is None or bool(((known >= limits.min) & (known <= limits.max)).all())

    def is_like(self, other: Steps) -> bool:
        """Whether the numbers are known to be those of `other`."""
        if self.dtype != other.dtype or not ((self.is_single and other.is_single) or self.axis == other.axis):
            return False
        return is_same(self.scale, other.scale) and is_same(self.zero_point, other.zero_point)


@dataclass(frozen=True)
class Quantized:
    """Integers that stand for the numbers of a float tensor."""

    value: SSAValue
    steps: Steps

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the integers."""
        return numpy_dtype(self.steps.dtype)

    @property
    def rank(self) -> int:
        """How many axes there are."""
        return len(shape_of(self.value.type))

    @property
    def greatest_distance(self) -> float:
        """How far from its zero point an integer may be."""
        limits = np.iinfo(self.dtype)
        low, high = float(limits.min), float(limits.max)
        known = known_array(self.steps.zero_point)
        if known is None:
            return high - low
        zero_points = np.clip(known.astype(np.float64), low, high)
        return float(np.maximum(zero_points - low, high - zero_points).max(initial=0.0))


StandIn: TypeAlias = Quantized | tuple[Quantized, ...]
"""What stands for a tensor, or for a tuple of tensors."""


class IntegerWriter:
    """Makes the integer form of `op`: `operands` are what stands for its operands, `None` for those that stay.

    `steps` are those that the result is rounded to afterwards, where that is known. `rounds_constants` says whether a
    constant that is added may be rounded to the steps of the other side. `ops` collects what is made.
    """

    def __init__(
        self, op: RelayOp, operands: Sequence[StandIn | None], steps: Steps | None, *, rounds_constants: bool = False
    ):
        self.op, self.operands, self.steps, self.rounds_constants = op, operands, steps, rounds_constants
        self.ops: list[Operation] = []

    def insert(self, op: OpT) -> OpT:
        """Note `op`, with the location and the name of the op whose form it is part of."""
        op.location = self.op.location
        for result in op.results:
            if result.name_hint is None:
                result.name_hint = self.op.results[0].name_hint
        self.ops.append(op)
        return op

    def call(self, name: str, *operands: SSAValue, **attributes: AttributeValue) -> SSAValue:
        """The op called `name`."""
        return self.insert(get_relay_op(name).call(*operands, **attributes)).results[0]

    def like(self, name: str, *operands: SSAValue, **attributes: AttributeValue) -> SSAValue:
        """The op called `name` with those properties of the float op that it has too, and `attributes`."""
        kind = get_relay_op(name)
        own = kind.get_irdl_definition().properties
        shared = {key: value for key, value in self.op.properties.items() if key in own and key != "out_dtype"}
        given = kind.properties_from({**shared, **attributes})
        return self.insert(kind.typed(operands, given)).results[0]

    def again(self, *operands: SSAValue) -> SSAValue:
        """The float op itself on integers, which it leaves of their type, its other operands as they are."""
        rest = tuple(self.op.operands)[len(operands) :]
        properties = {key: value for key, value in self.op.properties.items() if key != "out_dtype"}
        return self.insert(type(self.op).typed((*operands, *rest), properties)).results[0]

    def tuple(self, values: Iterable[SSAValue]) -> SSAValue:
        """The tuple of values."""
        return self.insert(TupleOp.call(*values)).result

    def constant(self, array: Array) -> SSAValue:
        """A constant."""
        return self.insert(ConstantOp.of(np.asarray(array))).result

    def tensor(self, index: int) -> Quantized:
        """What stands for operand `index`, required to be a tensor."""
        found = self.operands[index]
        if not isinstance(found, Quantized):
            raise NoIntegerFormError(f"operand #{index} is no tensor of quantised numbers")
        return found

    def single(self, index: int) -> Quantized:
        """What stands for operand `index`, required to have one scale and one zero point."""
        found = self.tensor(index)
        if not found.steps.is_single:
            raise NoIntegerFormError(f"operand #{index} has a scale for each place along axis {found.steps.axis}")
        return found

    def goal(self) -> Steps:
        """The steps of the result, required to be one known scale and zero point; as constants of this place."""
        steps = self.steps
        if steps is None:
            raise NoIntegerFormError("it rounds, and what comes behind it does not say to which steps")
        scale, zero_point = known_array(steps.scale), known_array(steps.zero_point)
        if scale is None or zero_point is None or not steps.is_single:
            raise NoIntegerFormError("it rounds, and the steps of the result are not one constant scale and zero point")
        return Steps(self.constant(scale.reshape(())), self.constant(zero_point.reshape(())), steps.dtype, 0)

    def in_steps(self, data: Quantized, goal: Steps) -> SSAValue:
        """The integers of `data` in other steps, of one scale and zero point."""
        if data.steps.is_like(goal):
            return data.value
        source = data.steps
        return self.call(
            "qnn.requantize", data.value, source.scale, source.zero_point, goal.scale, goal.zero_point,
            axis=source.axis if not source.is_single else -1, out_dtype=goal.dtype,
        )  # fmt: skip

    def along(self, parameter: SSAValue, rank: int, axis: int) -> SSAValue:
        """A parameter so that it broadcasts with a tensor of `rank`, along `axis`."""
        if all(extent == 1 for extent in shape_of(parameter.type)):
            return self.call("reshape", parameter, newshape=()) if shape_of(parameter.type) else parameter
        behind = rank - 1 - axis
        return self.call("expand_dims", parameter, axis=1, num_newaxis=behind) if behind else parameter

    def distance(self, data: Quantized) -> SSAValue:
        """The integers less their zero points, of i32."""
        wide = data.value if data.dtype == np.int32 else self.call("cast", data.value, dtype="int32")
        zero_point = data.steps.zero_point
        known = known_array(zero_point)
        if known is not None and not known.any():
            return wide
        return self.call("subtract", wide, self.along(zero_point, data.rank, data.steps.axis))

    def zero(self) -> SSAValue:
        """The zero point of distances."""
        return self.constant(np.array(0, np.int32))

    def in_32_bits(self, data: Quantized, value: SSAValue) -> Quantized:
        """Numbers of 32 bits that stand for themselves times the scale of `data`."""
        return Quantized(value, replace(data.steps, zero_point=self.zero(), dtype=i32))

    def product(self, name: str, first: SSAValue, second: SSAValue) -> SSAValue:
        """The product or quotient of two scales, as a constant where both are known."""
        known = known_array(first), known_array(second)
        if known[0] is None or known[1] is None:
            return self.call(name, first, second)
        operation = np.multiply if name == "multiply" else np.divide
        with np.errstate(all="ignore"):
            scale = np.asarray(operation(known[0], known[1], dtype=np.float32))
        if not np.isfinite(scale).all():
            raise NoIntegerFormError("the scale of the result is beyond what f32 holds")
        if ((np.abs(scale) < np.finfo(np.float32).tiny) & (known[0] != 0)).any():
            raise NoIntegerFormError("the scale of the result is below what f32 holds without loss")
        return self.constant(scale)


def require_room(count: float, *operands: Quantized) -> None:
    """Demand that a sum of `count` products of distances fits into 32 bits."""
    most = count
    for data in operands:
        most *= data.greatest_distance
    if not most <= MOST_SUM:
        kinds = " by ".join(str(data.dtype) for data in operands)
        raise NoIntegerFormError(f"a sum of {count:g} numbers of {kinds} may need more than 32 bits")


def is_same(first: SSAValue, second: SSAValue) -> bool:
    """Whether two parameters are known to be the same numbers, but for rounding."""
    if first is second:
        return True
    known = known_array(first), known_array(second)
    if known[0] is None or known[1] is None or known[0].size != known[1].size:
        return False
    return np.allclose(known[0].reshape(-1), known[1].reshape(-1), rtol=NEAR, atol=0)


def known_array(value: SSAValue) -> Array | None:
    """The numbers of a parameter, a constant or one cast or reshaped; `None` where only the run tells them."""
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
    """The numbers of a constant of floats; `None` for anything else, and for what is not finite."""
    if not isinstance(value.type, TensorType) or numpy_dtype(element_type_of(value.type)).kind == "i":
        return None
    array = known_array(value)
    return array if array is not None and np.isfinite(array.astype(np.float64)).all() else None
