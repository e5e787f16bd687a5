"""Operators as Python functions: `relay.nn.conv2d(data, weight, channels=32)`, derived from the op definitions.

Positional arguments are the operands, then the attributes in the order in which the op declares them, as in Relay.
Both may be given by name, and attributes as expressions (`dynamic_arguments.py`). Operators registered by other
packages are included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any, cast

import numpy as np
from xdsl.irdl import VarOperandDef

from xrelay.dialects.relay.core.attribute_values import AttributeValue, listed
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import UnknownOpError, get_relay_op, relay_ops
from xrelay.dialects.relay.ops.dyn.shapes import CollapseSumToOp
from xrelay.dialects.relay.ops.nn.activation import DropoutOp
from xrelay.dialects.relay.ops.qnn.quantize import RequantizeOp
from xrelay.dialects.relay.ops.random import NormalOp, UniformOp, key_words
from xrelay.dialects.relay.ops.tensor.movement import StridedSliceOp
from xrelay.dialects.relay.ops.tensor.reduce import MeanOp, VarianceOp
from xrelay.dialects.relay.ops.tensor.shape import ReverseReshapeOp
from xrelay.dialects.relay.ops.tensor.transform import PadOp
from xrelay.dialects.shared.types import is_complete
from xrelay.errors import ConstraintError, XRelayError, did_you_mean
from xrelay.relay.expr import Expr, ExprLike, as_value, call, const, view
from xrelay.relay.operator_functions.composed import (
    contrib_conv2d_nchwc,
    dropout_raw,
    mean_std,
    mean_variance,
    on_device,
    resize,
    segment_sum,
    sparse_fill_empty_rows,
)
from xrelay.relay.operator_functions.dynamic_arguments import apply_operator
from xrelay.relay.operator_functions.fitted_operands import convert_operands
from xrelay.relay.operator_functions.quantized import requantize, simulated_dequantize, simulated_quantize
from xrelay.relay.operator_functions.signatures import RELAY_SIGNATURES, SPARSE, number_of, pad, strided_slice

OpFunction = Callable[..., Expr]
"""A function from operands and attributes to the expression."""


def op_function(name: str) -> OpFunction:
    """Returns the function that applies the operator `name` (`nn.conv2d`, or a short name).

    Raises `UnknownOpError` if no operator has this name.
    """
    if name in COMPOSED_OPERATORS and name not in relay_ops():
        return _guard(f"relay.{name}", COMPOSED_OPERATORS[name])
    op = get_relay_op(name)
    return _guard(op.name, _BY_HAND[op]) if op in _BY_HAND else _function_of(op)


class NoOperatorError(UnknownOpError, AttributeError):
    """No operator has this name. An `AttributeError` for Python; the message lists the nearest names."""


def operator_attribute(name: str) -> OpFunction:
    """Returns the function of an operator as the attribute of a module or namespace. Raises `NoOperatorError`."""
    try:
        return op_function(name)
    except UnknownOpError as error:
        raise NoOperatorError(error.message, help=error.help) from error


class Namespace:
    """The operators whose names begin with `prefix.`, as attributes."""

    def __init__(self, prefix: str):
        self._prefix = prefix

    def __getattr__(self, name: str) -> OpFunction:
        if name.startswith("_"):
            raise AttributeError(name)
        return operator_attribute(f"{self._prefix}.{name}")

    def __dir__(self) -> list[str]:
        start = f"{self._prefix}."
        return [name.removeprefix(start) for name in relay_ops() if name.startswith(start)]


nn = Namespace("nn")
"""Relay's `nn` operators."""


annotation = Namespace("annotation")
"""Relay's `annotation` operators."""


image = Namespace("image")
"""Relay's `image` operators."""


qnn = Namespace("qnn")
"""Relay's operators on quantised numbers, which `relay.qnn.op` contains."""


vision = Namespace("vision")
"""Relay's `vision` operators."""


random = Namespace("random")
"""Relay's `random` operators, and `threefry_key`."""


def collapse_sum_to(data: ExprLike, shape: ExprLike | Sequence[int]) -> Expr:
    """`collapse_sum_to`. A list of extents becomes a constant, from which the result type is inferred."""
    if not isinstance(shape, (list, tuple)):
        return call(CollapseSumToOp, data, shape)
    extents = [int(extent) for extent in cast("Sequence[int]", shape)]
    operands = [as_value(data), const(extents, "int32").ssa_value]
    if not is_complete(operands[0].type):
        return call(CollapseSumToOp, *operands)
    return view(CollapseSumToOp.typed(operands, {}, [None, tuple(extents)]).result)


def dropout(data: ExprLike, rate: float = 0.5) -> Expr:
    """`nn.dropout`, which returns only the data, as in Relay's Python."""
    return call(DropoutOp, data, rate=rate)[0]


def variance(
    data: ExprLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    unbiased: bool = False,
    with_mean: ExprLike | None = None,
) -> Expr:
    """`variance` around the mean, or around `with_mean`, as in Relay's Python."""
    if with_mean is None:
        with_mean = call(MeanOp, data, axis=axis, keepdims=True, exclude=exclude)
    named: dict[str, AttributeValue] = {"axis": axis, "keepdims": keepdims, "exclude": exclude, "unbiased": unbiased}
    return call(VarianceOp, data, with_mean, **named)


def uniform(
    key: ExprLike, shape: Sequence[int], dtype: str = "float32", low: ExprLike = 0.0, high: ExprLike = 1.0
) -> Expr:
    """`random.uniform` with Relay's order of arguments: the bounds come last."""
    return call(UniformOp, key, number_of(low, dtype), number_of(high, dtype), out_shape=shape, out_dtype=dtype)


def normal(
    key: ExprLike, shape: Sequence[int], dtype: str = "float32", mean: ExprLike = 0.0, scale: ExprLike = 1.0
) -> Expr:
    """`random.normal` with Relay's order of arguments: mean and scale come last."""
    return call(NormalOp, key, number_of(mean, dtype), number_of(scale, dtype), out_shape=shape, out_dtype=dtype)


def threefry_key(seed: int) -> Expr:
    """Returns a key of random numbers: four words of the seed, and initial path and counter."""
    return const(np.array(key_words(seed), np.uint64))


_BY_HAND: dict[type[RelayOp], OpFunction] = {
    PadOp: pad,
    CollapseSumToOp: collapse_sum_to,
    DropoutOp: dropout,
    VarianceOp: variance,
    UniformOp: uniform,
    NormalOp: normal,
    RequantizeOp: requantize,
    StridedSliceOp: strided_slice,
    **SPARSE,
    **RELAY_SIGNATURES,
}
"""The operators whose function differs from their definition."""


def reverse_reshape(data: ExprLike, newshape: int | Sequence[int]) -> Expr:
    """`contrib_reverse_reshape`, under the name in Relay's Python."""
    return call(ReverseReshapeOp, data, newshape=newshape)


COMPOSED_OPERATORS: dict[str, OpFunction] = {
    "annotation.on_device": on_device,
    "image.resize": resize,
    "mean_std": mean_std,
    "mean_variance": mean_variance,
    "nn.contrib_conv2d_nchwc": contrib_conv2d_nchwc,
    "nn.contrib_depthwise_conv2d_nchwc": contrib_conv2d_nchwc,
    "nn.dropout_raw": dropout_raw,
    "qnn.simulated_dequantize": simulated_dequantize,
    "qnn.simulated_quantize": simulated_quantize,
    "random.threefry_key": threefry_key,
    "reverse_reshape": reverse_reshape,
    "segment_sum": segment_sum,
    "sparse_fill_empty_rows": sparse_fill_empty_rows,
}
"""Functions that are not named after an operator: of another name, or composed of several operators."""


@cache
def _guard(name: str, function: OpFunction) -> OpFunction:
    """Wraps `function` to raise `ConstraintError` if an argument has an unsupported kind."""

    @wraps(function)
    def apply(*arguments: Any, **named: Any) -> Expr:
        try:
            return function(*arguments, **named)
        except XRelayError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise ConstraintError(name, "C0", f"invalid arguments: {error}") from error

    return apply


@cache
def _function_of(op: type[RelayOp]) -> OpFunction:
    """Returns the function that applies `op`. The result is cached, so that functions can be compared."""
    definition = op.get_irdl_definition()
    operand_names = [name for name, _ in definition.operands]
    variadic = any(isinstance(operand, VarOperandDef) for _, operand in definition.operands)
    attribute_names = list(definition.properties)

    def apply(*arguments: Any, **named: Any) -> Expr:
        if variadic:
            return call(op, *arguments, **named)
        known = [*operand_names, *attribute_names]
        unknown = next((name for name in named if name not in known), None)
        if unknown is not None:
            hint = did_you_mean(unknown, known, f"it takes {', '.join(known)}")
            raise ConstraintError(op.name, "C0", f"there is no argument {unknown!r}", help=hint)
        operands = list(arguments[: len(operand_names)])
        for name in operand_names[len(operands) :]:
            if name not in named:
                raise ConstraintError(op.name, "C0", f"operand {name!r} is missing")
            operands.append(named.pop(name))
        values = arguments[len(operand_names) :]
        if len(values) > len(attribute_names):
            raise ConstraintError(op.name, "C0", f"takes at most {len(operand_names) + len(attribute_names)} arguments")
        positional = dict(zip(attribute_names, values, strict=False))
        twice = next((name for name in named if name in positional or name in operand_names), None)
        if twice is not None:
            raise ConstraintError(op.name, "C0", f"argument {twice!r} is given twice")
        given = cast("dict[str, AttributeValue | Expr]", positional | named)
        attributes = {name: value if isinstance(value, Expr) else listed(value) for name, value in given.items()}
        return apply_operator(op, convert_operands(op, operands, attributes), attributes)

    apply.__name__ = op.relay_name().rpartition(".")[2]
    apply.__qualname__ = op.relay_name()
    apply.__doc__ = op.__doc__
    return apply
