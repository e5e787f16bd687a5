"""The steps of random programs: each adds an op, or a few that belong together, after a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import FunctionType, TensorType, TupleType
from xdsl.dialects.func import CallOp
from xdsl.ir import Region, SSAValue

from support.random_programs import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    HALVES,
    I8,
    I32,
    I64,
    SPECIAL,
    U8,
    Program,
    dtype_of,
    extents,
    is_float,
)
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops import annotation
from xrelay.dialects.relay.ops.nn import activation, conv, dense, lrn, norm, softmax
from xrelay.dialects.relay.ops.nn.adaptive_pool import GlobalAvgPool2DOp, GlobalMaxPool2DOp
from xrelay.dialects.relay.ops.nn.pool import AvgPool2DOp, MaxPool2DOp
from xrelay.dialects.relay.ops.tensor import arithmetic, reduce, unary
from xrelay.dialects.relay.ops.tensor import cast as conversion
from xrelay.dialects.relay.ops.tensor import compare as compare
from xrelay.dialects.relay.ops.tensor import join as join
from xrelay.dialects.relay.ops.tensor import shape as reshape
from xrelay.dialects.relay.ops.tensor import transform as transform
from xrelay.dialects.relay.ops.tensor.elementwise import BinaryBroadcastOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import element_type_of, tensor_type

Build = Callable[[Program, SSAValue], SSAValue]


Fits = Callable[[Program, SSAValue], bool]


@dataclass(frozen=True)
class Step:
    """A kind of step."""

    build: Build
    fits: Fits
    weight: int
    keeps: bool
    """Whether the result has the type of the operand."""


STEPS: list[Step] = []


def step(fits: Fits, *, weight: int = 2, keeps: bool = False) -> Callable[[Build], Build]:
    """Registers a function as a step for the values that satisfy `fits`."""

    def register(build: Build) -> Build:
        STEPS.append(Step(build, fits, weight, keeps))
        return build

    return register


def add_steps(p: Program, count: int) -> None:
    """Adds steps, each after an earlier value."""
    for _ in range(count):
        x = p.recent()
        p.note(_chosen(p, x, lambda step: True)(p, x))


def _chosen(p: Program, x: SSAValue, wanted: Callable[[Step], bool]) -> Build:
    fitting = [step for step in STEPS if wanted(step) and step.fits(p, x)]
    place = p.below(sum(step.weight for step in fitting))
    for step in fitting:
        if place < step.weight:
            return step.build
        place -= step.weight
    raise AssertionError("no step fits")


def add_results(p: Program) -> list[SSAValue]:
    """The results of a function: the last value, others, parameters, some twice, nested tuples."""
    visible = p.tensors()
    results = [visible[-1], *(p.pick(visible) for _ in range(p.pick([0, 0, 1, 2])))]
    tuples = p.scopes[-1].tuples
    if tuples and p.chance(30):
        results.append(p.pick(tuples))
    if p.chance(15):
        results = [p.call(TupleOp, results[0], p.call(TupleOp, *results))]
    return results


# --- for which values -------------------------------------------------------------------------------------------------


def always(p: Program, x: SSAValue) -> bool:
    return True


def floats(p: Program, x: SSAValue) -> bool:
    return is_float(x)


def images(p: Program, x: SSAValue) -> bool:
    return is_float(x) and len(extents(x)) == 4


def with_axes(p: Program, x: SSAValue) -> bool:
    return bool(extents(x))


def floats_with_axes(p: Program, x: SSAValue) -> bool:
    return is_float(x) and bool(extents(x))


def numbers(p: Program, x: SSAValue) -> bool:
    return dtype_of(x).kind != "b"


def control(p: Program, x: SSAValue) -> bool:
    return p.control and len(p.scopes) < 3


def tame(p: Program, x: SSAValue, *, most: float = 3.0) -> SSAValue:
    """Clips `x` if values must stay small."""
    return x if p.profile.exact else p.call(unary.ClipOp, x, a_min=-most, a_max=most)


def away_from_zero(p: Program, x: SSAValue) -> SSAValue:
    """Returns |x| + 1/2 if values must not blow up, otherwise `x`."""
    if p.profile.exact:
        return x
    return p.call(arithmetic.AddOp, p.call(unary.AbsOp, x), p.scalar(0.5, dtype_of(x)))


# --- elementwise ------------------------------------------------------------------------------------------------------


@step(always, weight=3, keeps=True)
def simple(p: Program, x: SSAValue) -> SSAValue:
    return p.call(p.pick([activation.ReluOp, unary.NegativeOp if numbers(p, x) else unary.AbsOp, unary.AbsOp]), x)


@step(floats, weight=3, keeps=True)
def function_of_float(p: Program, x: SSAValue) -> SSAValue:
    kind = p.below(7)
    if kind < 3:
        return p.call([unary.SigmoidOp, unary.TanhOp, unary.ErfOp][kind], x)
    if kind == 3:
        return p.call(unary.ExpOp, tame(p, x))
    return p.call([unary.SqrtOp, unary.RsqrtOp, unary.LogOp][kind - 4], away_from_zero(p, x))


@step(numbers, keeps=True)
def clip(p: Program, x: SSAValue) -> SSAValue:
    low, high = p.pick([(-0.5, 1.0), (0.0, 2.0), (-0.0, 2.0), (-1.0, 0.0), (-1.0, -0.0)])
    return p.call(unary.ClipOp, x, a_min=low, a_max=high)


@step(numbers, weight=5, keeps=True)
def binary(p: Program, x: SSAValue) -> SSAValue:
    ops = [
        arithmetic.AddOp,
        arithmetic.MultiplyOp,
        arithmetic.SubtractOp,
        arithmetic.MaximumOp,
        arithmetic.MinimumOp,
    ]
    y = p.like(x) if p.chance(60) else broadcast_constant(p, x)
    return p.call(p.pick(ops), *([x, y] if p.chance(60) else [y, x]))


@step(floats, weight=1, keeps=True)
def divide(p: Program, x: SSAValue) -> SSAValue:
    if p.chance(30) and p.profile.exact:
        return p.call(arithmetic.PowerOp, x, p.like(x))
    return p.call(arithmetic.DivideOp, x, away_from_zero(p, p.like(x)))


def broadcast_constant(p: Program, x: SSAValue, *, positive: bool = False) -> SSAValue:
    """A constant that broadcasts to `x`: a scalar of few values, along one axis, or along several."""
    shape, dtype = extents(x), dtype_of(x)
    kind = p.below(4)
    if kind == 0 or not shape:
        known = [0.0, 1.0, 2.0, *([-0.0, np.nan, np.inf] if p.wild and is_float(x) else [])]
        return p.scalar(p.pick(known[1:3] if positive else known), dtype)
    if kind == 1:
        return p.constant(shape, dtype, positive=positive)
    axis = p.below(len(shape)) if kind == 2 else min(1, len(shape) - 1)
    return along(p, x, axis, positive=positive)


def along(p: Program, x: SSAValue, axis: int, *, positive: bool = False) -> SSAValue:
    """A constant that varies along one axis of `x`, with or without leading axes of extent 1."""
    shape = extents(x)
    tail = (shape[axis], *([1] * (len(shape) - axis - 1)))
    return p.constant(tail if p.chance(60) else (*([1] * axis), *tail), dtype_of(x), positive=positive)


# --- networks ---------------------------------------------------------------------------------------------------------


LAYOUTS = [("NCHW", "OIHW"), ("NCHW", "OIHW"), ("NHWC", "HWIO"), ("NHWC", "OHWI"), ("NCHW", "HWIO"), ("HWCN", "IHWO")]


def conv2d(p: Program, x: SSAValue, data_layout: str, kernel_layout: str, out_layout: str = "") -> SSAValue:
    """A convolution that interprets its data in `data_layout`, whatever its own layout."""
    size = dict(zip(data_layout, extents(x), strict=True))
    groups = p.pick([1, 1, 1, size["C"], 2 if size["C"] % 2 == 0 else 1])
    filters = groups * p.pick([1, 2, 3] if groups > 1 else [4, 3, 8, 16, 1])
    padding = p.pick([(0, 0, 0, 0), (1, 1, 1, 1), (1, 0, 2, 1), (0, 2, 1, 0)])
    dilation = (p.pick([1, 1, 2]), 1)
    room = (size["H"] + padding[0] + padding[2], size["W"] + padding[1] + padding[3])
    window = [p.pick([k for k in (1, 3, 2) if dilation[i] * (k - 1) < room[i]]) for i in (0, 1)]
    kernel = {"O": filters, "I": size["C"] // groups, "H": window[0], "W": window[1]}
    shape = tuple(kernel[letter] for letter in kernel_layout)
    strides = p.pick([(1, 1), (2, 2), (1, 2)])
    return p.call(
        conv.Conv2DOp, x, operand(p, shape, dtype_of(x)), strides=strides, padding=padding, dilation=dilation,
        groups=groups, data_layout=data_layout, kernel_layout=kernel_layout, out_layout=out_layout,
    )  # fmt: skip


def operand(p: Program, shape: Sequence[int], dtype: np.dtype) -> SSAValue:
    """A weight: mostly a new constant, sometimes an existing value of the shape."""
    if p.chance(15):
        same = [value for value in p.tensors() if extents(value) == tuple(shape) and dtype_of(value) == dtype]
        if same:
            return p.pick(same)
    return p.constant(shape, dtype)


def heavy(p: Program, x: SSAValue) -> tuple[SSAValue, int]:
    """A convolution or dense layer, and its channel axis."""
    if len(extents(x)) != 4 or p.chance(10):
        units = operand(p, (p.pick([4, 3, 8, 17]), extents(x)[-1]), dtype_of(x))
        return p.call(dense.DenseOp, x, units), len(extents(x)) - 1
    data_layout, kernel_layout = p.pick(LAYOUTS)
    out_layout = p.pick(["", "", "", "NHWC", "NCHW"])
    return conv2d(p, x, data_layout, kernel_layout, out_layout), (out_layout or data_layout).index("C")


@step(floats_with_axes, weight=4)
def heavy_alone(p: Program, x: SSAValue) -> SSAValue:
    return heavy(p, x)[0]


@step(floats_with_axes, weight=7)
def layer(p: Program, x: SSAValue) -> SSAValue:
    """A heavy op, the ops that follow it in networks, and a factor; intermediate values may have other uses."""
    x, axis = heavy(p, x)
    for _ in range(p.below(3)):
        x = between(p, x, axis)
        if p.chance(10):
            p.note(x)
    return batch_norm_along(p, x, axis) if p.chance(30) else scaled(p, x, axis)


@step(floats_with_axes, weight=4)
def scaled_layer(p: Program, x: SSAValue) -> SSAValue:
    """A factor before a heavy op, perhaps with a relu or pool between."""
    axis = p.pick([1, 3]) if len(extents(x)) == 4 else len(extents(x)) - 1
    x = scaled(p, x, axis)
    for _ in range(p.below(3)):
        x = p.call(activation.ReluOp, x) if p.chance(60) or not images(p, x) else max_pool2d(p, x)
        if p.chance(10):
            p.note(x)
    return heavy(p, x)[0]


def between(p: Program, x: SSAValue, axis: int) -> SSAValue:
    """An op that may occur between a heavy op and a factor."""
    kind = p.below(6)
    if kind == 0:
        return p.call(activation.ReluOp, x)
    if kind == 1:
        axis = axis if p.chance(70) else p.below(len(extents(x)))
        return p.call(dense.BiasAddOp, x, p.constant((extents(x)[axis],), dtype_of(x)), axis=axis)
    if kind == 2:
        bias = along(p, x, axis) if p.chance(70) else broadcast_constant(p, x)
        return p.call(arithmetic.AddOp, *([x, bias] if p.chance(70) else [bias, x]))
    if kind == 3 and len(extents(x)) == 4:
        return max_pool2d(p, x)
    if kind == 4:
        return p.call(arithmetic.AddOp, x, p.like(x))
    return p.call(TupleGetItemOp, p.call(activation.DropoutOp, x), index=0)


def scaled(p: Program, x: SSAValue, axis: int) -> SSAValue:
    """`x` times a factor, mostly along `axis`."""
    positive, axis = p.chance(60), axis if p.chance(80) else p.below(len(extents(x)))
    factor = along(p, x, axis, positive=positive) if p.chance(80) else broadcast_constant(p, x, positive=positive)
    return p.call(arithmetic.MultiplyOp, *([x, factor] if p.chance(70) else [factor, x]))


def batch_norm_along(p: Program, x: SSAValue, axis: int, *, field: int = 0) -> SSAValue:
    channels, dtype = (extents(x)[axis],), dtype_of(x)
    gamma, beta, mean = (p.constant(channels, dtype) for _ in range(3))
    given = axis - len(extents(x)) if p.chance(20) else axis
    normal = p.call(
        norm.BatchNormOp, x, gamma, beta, mean, p.constant(channels, dtype, positive=True),
        axis=given, center=p.chance(75), scale=p.chance(75), epsilon=p.pick([1e-5, 1e-3]),
    )  # fmt: skip
    if p.chance(10):
        p.note(normal)
    return p.call(TupleGetItemOp, normal, index=field)


@step(floats_with_axes, weight=4)
def batch_norm(p: Program, x: SSAValue) -> SSAValue:
    return batch_norm_along(p, x, p.below(len(extents(x))), field=p.pick([0, 0, 0, 1, 2]))


@step(floats_with_axes)
def bias_add(p: Program, x: SSAValue) -> SSAValue:
    axis = p.below(len(extents(x)))
    bias = operand(p, (extents(x)[axis],), dtype_of(x))
    return p.call(dense.BiasAddOp, x, bias, axis=axis - len(extents(x)) if p.chance(30) else axis)


def max_pool2d(p: Program, x: SSAValue) -> SSAValue:
    return pool_of(p, x, MaxPool2DOp)


def pool_of(p: Program, x: SSAValue, op: type[RelayOp], **attributes: object) -> SSAValue:
    layout = p.pick(["NCHW", "NCHW", "NHWC"])
    size = dict(zip(layout, extents(x), strict=True))
    window = [p.pick([k for k in (2, 3, 1) if k <= size[letter]]) for letter in "HW"]
    padding = (0, 0) if min(window) < 2 or p.chance(60) else (1, 1)
    strides = p.pick([(1, 1), (2, 2), (2, 1)])
    return p.call(
        op, x, pool_size=window, strides=strides, padding=padding, ceil_mode=p.chance(20), layout=layout, **attributes
    )


@step(images)
def pool(p: Program, x: SSAValue) -> SSAValue:
    kind = p.below(5)
    if kind == 0:
        return max_pool2d(p, x)
    if kind < 3:
        return pool_of(p, x, AvgPool2DOp, count_include_pad=p.chance(50))
    return p.call([GlobalAvgPool2DOp, GlobalMaxPool2DOp][kind - 3], x, layout=p.pick(["NCHW", "NHWC"]))


@step(floats_with_axes, keeps=True)
def normalised(p: Program, x: SSAValue) -> SSAValue:
    axis = p.below(len(extents(x)))
    if p.chance(60):
        return p.call(softmax.SoftmaxOp, x, axis=axis)
    return p.call(lrn.LRNOp, x, size=p.pick([3, 1, 2]), axis=axis, alpha=p.pick([1e-5, 0.5]))


@step(floats, keeps=True)
def dropout(p: Program, x: SSAValue) -> SSAValue:
    return p.call(TupleGetItemOp, p.call(activation.DropoutOp, x, rate=p.pick([0.5, 0.0])), index=p.pick([0, 0, 1]))


# --- shapes -----------------------------------------------------------------------------------------------------------


@step(always)
def transpose(p: Program, x: SSAValue) -> SSAValue:
    axes = list(range(len(extents(x))))
    for place in range(len(axes) - 1, 0, -1):
        other = place - p.below(place + 1)
        axes[place], axes[other] = axes[other], axes[place]
    return p.call(transform.TransposeOp, x, axes=axes)


@step(with_axes)
def other_shape(p: Program, x: SSAValue) -> SSAValue:
    shape = extents(x)
    kind = p.below(4)
    if kind == 0:
        return p.call(reshape.BatchFlattenOp, x)
    if kind == 1:
        return p.call(reshape.ExpandDimsOp, x, axis=p.below(len(shape) + 1), num_newaxis=1 + p.below(2))
    if kind == 2 and 1 in shape:
        return p.call(reshape.SqueezeOp, x, axis=[shape.index(1)])
    return p.call(reshape.ReshapeOp, x, newshape=[*shape[: len(shape) // 2], -1])


@step(images, weight=1)
def blocked(p: Program, x: SSAValue) -> SSAValue:
    block = p.pick([b for b in (1, 2, 4, 8) if extents(x)[1] % b == 0])
    there = p.call(transform.LayoutTransformOp, x, src_layout="NCHW", dst_layout=f"NCHW{block}c")
    back = p.pick(["NCHW", "NHWC"])
    return p.call(
        transform.LayoutTransformOp, p.call(activation.ReluOp, there), src_layout=f"NCHW{block}c", dst_layout=back
    )


@step(with_axes, weight=1)
def pad(p: Program, x: SSAValue) -> SSAValue:
    widths = [n for _ in extents(x) for n in (p.pick([0, 1]), p.pick([0, 0, 2]))]
    value = p.pick([0.0, *(SPECIAL if p.wild and is_float(x) else (1.0,))])
    mode = p.pick(["constant", "constant", "edge"])
    return p.call(transform.PadOp, x, p.scalar(value, dtype_of(x)), pad_width=widths, pad_mode=mode)


@step(always)
def reduction(p: Program, x: SSAValue) -> SSAValue:
    rank = len(extents(x))
    axes = sorted({p.below(rank) for _ in range(p.below(3))}) if rank else []
    ops = [reduce.SumOp, reduce.MaxOp, reduce.MinOp, *([reduce.ProdOp] if p.profile.exact else [])]
    if is_float(x):
        ops.append(reduce.MeanOp)
    if not numbers(p, x):
        ops = [reduce.MaxOp, reduce.MinOp]
    chosen = {"axis": axes} if axes or not rank else {}
    return p.call(p.pick(ops), x, keepdims=p.chance(50), **chosen)


# --- tuples -----------------------------------------------------------------------------------------------------------


@step(with_axes, weight=3)
def concatenate(p: Program, x: SSAValue) -> SSAValue:
    shape = extents(x)
    axis = p.below(len(shape))

    def joins(value: SSAValue) -> bool:
        other = extents(value)
        rest = len(other) == len(shape) and (*other[:axis], *other[axis + 1 :]) == (*shape[:axis], *shape[axis + 1 :])
        return rest and dtype_of(value) == dtype_of(x)

    fields = [x, *(p.pick([v for v in reversed(p.tensors()) if joins(v)]) for _ in range(1 + p.below(2)))]
    joined = p.call(join.ConcatenateOp, p.call(TupleOp, *fields), axis=axis)
    few = int(np.prod(extents(joined))) <= p.profile.most_elements
    return scaled(p, joined, axis) if is_float(x) and few and p.chance(30) else joined


@step(with_axes)
def split(p: Program, x: SSAValue) -> SSAValue:
    axes = [axis for axis, extent in enumerate(extents(x)) if extent > 1]
    if not axes:
        return p.call(LetOp, x, variable="v") if p.control else simple(p, x)
    axis = p.pick(axes)
    parts = p.call(join.SplitOp, x, indices_or_sections=[1 + p.below(extents(x)[axis] - 1)], axis=axis)
    p.note(parts)
    return p.call(TupleGetItemOp, parts, index=p.below(2))


@step(always)
def through_tuples(p: Program, x: SSAValue) -> SSAValue:
    """A field of an existing tuple, or of a tuple of tuples with `x` in it."""
    known = [value for scope in p.scopes for value in scope.tuples]
    if known and p.chance(60):
        tuple_ = p.pick(known)
    else:
        inner = p.call(TupleOp, x, p.pick(p.tensors()))
        tuple_ = p.call(TupleOp, p.pick(p.tensors()), p.note(inner), x)
    p.note(tuple_)
    value = tuple_
    while isinstance(value.type, TupleType):
        value = p.call(TupleGetItemOp, value, index=p.below(len(value.type.types)))
    return value


# --- dtypes -----------------------------------------------------------------------------------------------------------


@step(always)
def cast(p: Program, x: SSAValue) -> SSAValue:
    if p.profile.exact:
        # Casts of floats outside the integer range are machine-dependent: only floats of a known range are cast.
        wide = (F32, F64, F16, BF16)
        whole = (I32, I64, I8, U8, BOOL)
        if is_float(x) and p.chance(50):
            x = p.call(unary.ClipOp, p.call(unary.SigmoidOp, x), a_min=0.0, a_max=1.0)
            x = x if not p.wild else p.call(arithmetic.MaximumOp, p.scalar(0.0, dtype_of(x)), x)
            return p.call(
                conversion.CastOp, p.call(compare.GreaterOp, x, p.scalar(0.5, dtype_of(x))), dtype=p.pick(whole)
            )
        return p.call(conversion.CastOp, x, dtype=p.pick(wide))
    wide = (p.dtype,) if p.dtype in HALVES else (F32, F64) if p.dtype == F64 else (F32,)
    return p.call(conversion.CastOp, x, dtype=p.pick(wide))


@step(always)
def comparison(p: Program, x: SSAValue) -> SSAValue:
    if not p.profile.exact and is_float(x):
        x = p.pick([value for value in p.inputs if value in p.tensors()] or [p.constant((3,))])
    ops = [compare.LessOp, compare.EqualOp, compare.GreaterOp, compare.LessEqualOp, compare.NotEqualOp]
    other = p.constant(extents(x), dtype_of(x)) if not p.profile.exact else p.like(x)
    return p.call(p.pick(ops), x, other)


# --- duplicates -------------------------------------------------------------------------------------------------------


@step(always, weight=4)
def duplicate(p: Program, x: SSAValue) -> SSAValue:
    """A copy of an op: the same, with its operands swapped, or along another axis; sometimes added to the op."""
    known = [op for scope in p.scopes for op in scope.block.ops if isinstance(op, RelayOp) and not op.regions]
    if not known:
        return simple(p, x)
    op = known[-1 - p.below(min(4, len(known)))]
    kind = p.below(3)
    if kind == 2 and isinstance(op, softmax.SoftmaxOp | lrn.LRNOp):
        copy = type(op).call(*op.operands, axis=p.below(len(extents(op.operands[0]))))
    else:
        copy = op.clone()
    if kind == 1 and isinstance(op, BinaryBroadcastOp):
        copy.operands = list(reversed(copy.operands))
    new = p.insert(copy)
    if not isinstance(new.type, TensorType):
        return new
    if dtype_of(new).kind == "b" or p.chance(40):
        return new
    return p.call(arithmetic.SubtractOp, op.results[0], new)


# --- control ----------------------------------------------------------------------------------------------------------


@step(control)
def let(p: Program, x: SSAValue) -> SSAValue:
    return p.call(LetOp, x, variable="v")


@step(always, weight=1)
def stop_fusion(p: Program, x: SSAValue) -> SSAValue:
    return p.call(annotation.StopFusionOp, x)


@step(control, weight=3)
def branch(p: Program, x: SSAValue) -> SSAValue:
    regions = [_region(p, x) for _ in range(2)]
    return p.insert(IfOp(condition(p, x), x.type, *regions))


def condition(p: Program, x: SSAValue) -> SSAValue:
    """A truth value; computed from an input if rounding must not decide it."""
    known = p.inputs if not p.profile.exact else [x, *p.inputs]
    usable = [value for value in known if numbers(p, value) and value in p.tensors()]
    if not usable:
        return p.insert(ConstantOp.of(np.array(p.chance(50))))
    value = p.pick(usable)
    total = p.call(p.pick([reduce.MaxOp, reduce.MinOp]), value)
    return p.call(compare.LessOp, p.scalar(0, dtype_of(value)), total)


def _region(p: Program, x: SSAValue) -> Region:
    """A branch: steps that keep the type of `x`, and perhaps an unrelated value that is added to it."""
    with p.scope() as scope:
        if p.chance(40):
            add_steps(p, 1 + p.below(2))
            last = p.tensors()[-1]
            if is_float(x) and dtype_of(last) == dtype_of(x):
                x = p.call(arithmetic.AddOp, x, p.call(reduce.MaxOp, last))
        for _ in range(p.below(3)):
            x = p.note(_chosen(p, x, lambda step: step.keeps)(p, x))
        scope.block.add_op(YieldOp(x))
    return Region(scope.block)


@step(control, weight=2)
def loop(p: Program, x: SSAValue) -> SSAValue:
    """A loop that carries `x`: for a known number of times, with a stack, or while a condition holds."""
    times = p.below(4) - p.below(2)
    count = p.insert(ConstantOp.of(np.array(times, np.int64)))
    go = condition(p, x) if p.chance(30) else None
    with p.scope(count.type, x.type) as scope:
        number, value = scope.block.args
        for _ in range(1 + p.below(2)):
            value = p.note(_chosen(p, value, lambda step: step.keeps)(p, value))
        limit = p.insert(ConstantOp.of(np.array(p.below(3), np.int64)))
        total = p.call(reduce.MaxOp, value)
        end = [value, total] if go is None else [p.call(compare.LessOp, number, limit), value]
        scope.block.add_op(YieldOp(p.call(TupleOp, *end)))
    stack = tensor_type([max(times, 0)], element_type_of(total.type))
    type = TupleType([x.type, stack] if go is None else [x.type])
    result = p.note(p.insert(LoopOp(count, go, [x], type, Region(scope.block))))
    return p.call(TupleGetItemOp, result, index=0)


@step(control, weight=2)
def closure(p: Program, x: SSAValue) -> SSAValue:
    """A function of `x` that also uses outer values, called once or twice."""
    with p.scope(x.type) as scope:
        add_steps(p, 1 + p.below(3))
        result = p.tensors()[-1]
        scope.block.add_op(YieldOp(result))
    function = p.insert(FnOp(FunctionType.from_lists([x.type], [result.type]), Region(scope.block)))
    if p.chance(40):
        p.note(p.insert(InvokeOp(function, [p.like(x)], result.type)))
    return p.insert(InvokeOp(function, [x], result.type))


@step(control, weight=2)
def function_call(p: Program, x: SSAValue) -> SSAValue:
    """A call of a function of the module that takes an `x`: an existing one, or a new one."""
    known = [f for f in p.functions if list(f.function_type.inputs) == [x.type]]
    if not known or p.chance(40):
        with p.scope(x.type, alone=True) as scope:
            add_steps(p, 1 + p.below(4))
            known = [p.function(f"f{len(p.functions)}", [x.type], add_results(p), scope.block)]
    callee = p.pick(known)
    call = CallOp(callee.sym_name.data, [x], list(callee.function_type.outputs))
    p.insert(call)
    for result in call.results[1:]:
        p.note(result)
    return call.results[0]
