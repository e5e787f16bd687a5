"""Elementwise and broadcasting operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.computes.builder import Build, TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.annotation import CheckpointOp, CompilerBeginOp, CompilerEndOp, StopFusionOp
from xrelay.dialects.relay.ops.nn_activation import DropoutOp, ReluOp
from xrelay.dialects.relay.ops.nn_dense import BiasAddOp
from xrelay.dialects.relay.ops.require import RequireOp
from xrelay.dialects.relay.ops.tensor_compare import EqualOp, GreaterEqualOp, GreaterOp, LessEqualOp, LessOp, NotEqualOp
from xrelay.dialects.relay.ops.tensor_elementwise import (
    AddOp,
    CastOp,
    DivideOp,
    ExpOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    PowerOp,
    ReinterpretOp,
    SigmoidOp,
    SubtractOp,
)
from xrelay.dialects.relay.ops.tensor_select import WhereOp
from xrelay.dialects.relay.ops.tensor_unary import (
    AbsOp,
    ClipOp,
    CopyOp,
    ErfOp,
    LogOp,
    NegativeOp,
    RsqrtOp,
    SqrtOp,
    TanhOp,
)
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.topi.build import Body, is_unsigned, variables
from xrelay.dialects.topi.scalars import compare, convert_scalar, value_range
from xrelay.lowering.relay_to_topi.registry import implements

Unary = Callable[[Body, SSAValue], SSAValue]
Binary = Callable[[Body, SSAValue, SSAValue], SSAValue]


def _label(emitter: TopiBuilder) -> str:
    return emitter.op.name.removeprefix("relay.").replace(".", "_")


def unary(fill: Unary) -> Build:
    """Returns an implementation that computes each element from one operand element."""

    def build(emitter: TopiBuilder) -> Sequence[SSAValue]:
        return emitter.map_elements(_label(emitter), lambda b, values: fill(b, values[0]))

    return build


def binary(fill: Binary) -> Build:
    """Returns an implementation that computes each element from two operand elements, with broadcasting."""

    def build(emitter: TopiBuilder) -> Sequence[SSAValue]:
        return emitter.map_elements(_label(emitter), lambda b, values: fill(b, values[0], values[1]))

    return build


def relu(b: Body, x: SSAValue) -> SSAValue:
    """Computes `max(x, 0)`."""
    return b.maximum(x, b.constant(0, x.type))


def negative(b: Body, x: SSAValue) -> SSAValue:
    """Computes `-x`."""
    return b.add(arith.NegfOp(x)) if isinstance(x.type, AnyFloat) else b.minus(b.constant(0, x.type), x)


def sigmoid(b: Body, x: SSAValue) -> SSAValue:
    """Computes `1 / (1 + exp(-x))`; exp saturates to 0 or infinity, which yields the correct limits."""
    one = b.constant(1, x.type)
    return b.divide(one, b.plus(one, b.add(math.ExpOp(negative(b, x)))))


def divide(b: Body, x: SSAValue, y: SSAValue) -> SSAValue:
    """Computes the quotient, truncated for integers, as in Relay."""
    return b.divide(x, y)


def absolute(b: Body, x: SSAValue) -> SSAValue:
    """Computes `|x|`; the least signed integer wraps to itself."""
    if isinstance(x.type, AnyFloat):
        return b.add(math.AbsFOp(x))
    return x if is_unsigned(x.type) else b.maximum(x, negative(b, x))


_UNARY: dict[type[RelayOp], Unary] = {
    ReluOp: relu,
    CopyOp: lambda b, x: x,
    NegativeOp: negative,
    SigmoidOp: sigmoid,
    AbsOp: absolute,
    ExpOp: lambda b, x: b.add(math.ExpOp(x)),
    LogOp: lambda b, x: b.add(math.LogOp(x)),
    ErfOp: lambda b, x: b.add(math.ErfOp(x)),
    TanhOp: lambda b, x: b.add(math.TanhOp(x)),
    SqrtOp: lambda b, x: b.add(math.SqrtOp(x)),
    RsqrtOp: lambda b, x: b.divide(b.constant(1, x.type), b.add(math.SqrtOp(x))),
    StopFusionOp: lambda b, x: x,
    CheckpointOp: lambda b, x: x,
    CompilerBeginOp: lambda b, x: x,
    CompilerEndOp: lambda b, x: x,
    RequireOp: lambda b, x: x,
}

_BINARY: dict[type[RelayOp], Binary] = {
    AddOp: lambda b, x, y: b.plus(x, y),
    SubtractOp: lambda b, x, y: b.minus(x, y),
    MultiplyOp: lambda b, x, y: b.times(x, y),
    DivideOp: divide,
    MaximumOp: lambda b, x, y: b.maximum(x, y),
    MinimumOp: lambda b, x, y: b.minimum(x, y),
    PowerOp: lambda b, x, y: b.add(math.PowFOp(x, y)),
    EqualOp: lambda b, x, y: compare(b, x, y, "oeq", "eq"),
    NotEqualOp: lambda b, x, y: compare(b, x, y, "une", "ne"),
    LessOp: lambda b, x, y: compare(b, x, y, "olt", "slt"),
    LessEqualOp: lambda b, x, y: compare(b, x, y, "ole", "sle"),
    GreaterOp: lambda b, x, y: compare(b, x, y, "ogt", "sgt"),
    GreaterEqualOp: lambda b, x, y: compare(b, x, y, "oge", "sge"),
}


for _op, _fill in _UNARY.items():
    # Computed in f32 for half precision, because exp overflows where the sigmoid does not.
    _build = in_single(unary(_fill)) if _op is SigmoidOp else unary(_fill)
    implements(_op, f"{_op.relay_name()}.generic")(_build)
for _op, _pair in _BINARY.items():
    implements(_op, f"{_op.relay_name()}.generic")(binary(_pair))


@implements(WhereOp, "where.generic")
def build_where(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits a select."""
    return emitter.map_elements("where", lambda b, values: b.add(arith.SelectOp(*values)))


@implements(ClipOp, "clip.generic")
def build_clip(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes `min(max(x, a_min), a_max)`; bounds outside of the element type's range are omitted."""
    element = emitter.result_type.element_type
    low, high = (_rounded(emitter.number(name), element) for name in ("a_min", "a_max"))
    least, most = value_range(element)

    def fill(b: Body, values: list[SSAValue]) -> SSAValue:
        (x,) = values
        if low > least:
            x = b.maximum(x, b.constant(min(low, most), x.type))
        return b.minimum(x, b.constant(max(high, least), x.type)) if high < most else x

    return emitter.map_elements("clip", fill)


def _rounded(bound: float, type: Attribute) -> float:
    """Rounds a bound to a float type; infinite if it is out of range."""
    if not isinstance(type, AnyFloat):
        return bound
    with np.errstate(over="ignore"):
        return float(np.float64(bound).astype(numpy_dtype(type)))


@implements(DropoutOp, "dropout.inference")
def build_dropout(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Returns the data and a mask of ones."""
    data, mask_type = emitter.result_types
    source, element = emitter.operand(0), mask_type.element_type
    kept = emitter.compute(
        "nn_dropout", variables("i", emitter.extents(0)), data.element_type, lambda b: b.read(source, *b.spatial)
    )
    mask = emitter.compute(
        "dropout_mask", variables("i", emitter.extents(1)), element, lambda b: b.constant(1, element)
    )
    return [kept, mask]


@implements(BiasAddOp, "bias_add.generic")
def build_bias_add(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes `data + bias`, with the bias along one axis."""
    data, bias = emitter.operand(0), emitter.operand(1)
    shape = emitter.result_shape
    axis = emitter.integer("axis") % len(shape)

    def fill(b: Body) -> SSAValue:
        return b.plus(b.read(data, *b.spatial), b.read(bias, b.spatial[axis]))

    names = {f"i{position}": extent for position, extent in enumerate(shape)}
    return [emitter.compute("nn_bias_add", names, element_of(data), fill)]


@implements(CastOp, "cast.generic")
def build_cast(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Converts each element."""
    target = emitter.result_type.element_type
    return emitter.map_elements("cast", lambda b, values: convert_scalar(b, values[0], target))


@implements(ReinterpretOp, "reinterpret.generic")
def build_reinterpret(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits a bitcast."""
    target = emitter.result_type.element_type
    return emitter.map_elements("reinterpret", lambda b, values: b.add(arith.BitcastOp(values[0], target)))
