"""Draws random nodes of each ONNX op: shapes that fit, attributes that are allowed, and dtypes."""

from __future__ import annotations

import numpy as np
from onnx import helper, numpy_helper

from fuzz.onnx_nodes import Draft, draws
from fuzz.special_values import is_float


@draws("Abs", "Ceil", "Erf", "Exp", "Floor", "HardSwish", "Identity", "Log", "Mish", "Neg", "Not", "Reciprocal", "Relu")
@draws("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Cos", "Cosh", "IsNaN", "Round", "Sign", "Sin")
@draws("Sigmoid", "Sinh", "Size", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh")
def unary(draft: Draft) -> None:
    # Of what is not a number ONNX does not say the sign: onnxruntime gives 0, numpy what it was.
    draft.data(draft.shape(), domain="finite" if draft.op == "Sign" else "any")


@draws("Shape")
def shape(draft: Draft) -> None:
    draft.data(draft.shape())
    if draft.opset >= 15:
        draft.maybe(start=draft.integer(-6, 6), end=draft.integer(-6, 6))


@draws("Celu", "Elu", "HardSigmoid", "LeakyRelu", "Selu", "Shrink", "Swish", "ThresholdedRelu")
def parametric(draft: Draft) -> None:
    draft.data(draft.shape())
    if draft.op == "Shrink":
        draft.maybe(lambd=draft.pick(0.0, 0.3, 1.5), bias=draft.pick(0.25, -1.0))
        return
    draft.maybe(alpha=draft.pick(0.1, 0.3, 1.5, -0.7))
    if draft.op in ("HardSigmoid", "Selu"):
        draft.maybe(**{"beta" if draft.op == "HardSigmoid" else "gamma": draft.pick(0.25, 1.0, 2.5)})


@draws("Gelu")
def gelu(draft: Draft) -> None:
    draft.data(draft.shape())
    draft.maybe(approximate=draft.pick("none", "tanh"))


@draws("Add", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Mod", "Mul", "Pow", "PRelu", "Sub")
def binary(draft: Draft) -> None:
    shape = draft.shape()
    other = draft.broadcast_with(shape)
    if draft.op == "PRelu" and draft.opset < 7:
        shape = draft.shape(2)
        other = (draft.pick(1, shape[1]),)
    whole = draft.dtype.kind in "iu"
    exponent = draft.dtype
    if draft.op == "Pow" and draft.opset >= 12:
        exponent = np.dtype(draft.pick("float32", "float64", "int32", "int64", draft.dtype))
    swap = draft.op != "PRelu" and draft.chance(0.3)
    if draft.op == "Mod":
        draft.attributes["fmod"] = 0 if whole and draft.chance(0.7) else 1
    first, second = (other, shape) if swap else (shape, other)
    draft.data(first, domain="small" if draft.op == "Pow" and whole else "any")
    domain = {"Div": "nonzero" if whole else "any", "Mod": "nonzero", "Pow": "small" if whole else "any"}
    draft.data(second, exponent, domain.get(draft.op, "any"), constant=0.4)


@draws("And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Or", "Xor")
def logic(draft: Draft) -> None:
    shape = draft.shape()
    draft.data(shape)
    draft.data(draft.broadcast_with(shape), domain="small", constant=0.4)
    if draft.op == "BitShift":
        draft.attributes["direction"] = draft.pick("LEFT", "RIGHT")


@draws("IsInf")
def is_inf(draft: Draft) -> None:
    draft.data(draft.shape(), domain="any")
    draft.maybe(detect_negative=draft.integer(0, 1), detect_positive=draft.integer(0, 1))


@draws("ArgMax", "ArgMin")
def arg_reduction(draft: Draft) -> None:
    shape = draft.shape(1)
    draft.data(shape, domain="small")
    draft.maybe(axis=draft.axis(len(shape)) if draft.opset >= 11 else draft.integer(0, len(shape) - 1))
    draft.maybe(keepdims=draft.integer(0, 1))
    if draft.opset >= 12:
        draft.maybe(select_last_index=draft.integer(0, 1))


@draws("CumSum")
def cumulative_sum(draft: Draft) -> None:
    shape = draft.shape(1)
    draft.data(shape, domain="small")
    draft.setting(draft.axis(len(shape)))
    draft.maybe(exclusive=draft.integer(0, 1), reverse=draft.integer(0, 1))


@draws("Max", "Mean", "Min", "Sum")
def variadic(draft: Draft) -> None:
    shape = draft.shape()
    domain = "moderate" if draft.op in ("Mean", "Sum") else "any"
    draft.data(shape, domain=domain)
    for _ in range(draft.integer(0, 3)):
        draft.data(draft.broadcast_with(shape) if draft.opset >= 8 else shape, domain=domain)


@draws("Where")
def where(draft: Draft) -> None:
    shape = draft.shape()
    values = draft.pick("float32", "int64", "bool", "float16", "uint8", "float64")
    draft.data(draft.broadcast_with(shape), np.bool_)
    draft.data(shape, values)
    draft.data(draft.broadcast_with(shape), values)


@draws("Clip")
def clip(draft: Draft) -> None:
    draft.data(draft.shape())
    if draft.opset < 11:
        draft.maybe(min=draft.pick(-1.0, 0.5), max=draft.pick(1.0, 6.0))
        return
    for _ in range(draft.integer(0, 2)):
        if draft.chance(0.2) and len(draft.order) == 1:
            draft.absent()
        else:
            draft.data((), domain="finite", constant=0.7)


@draws("Cast", "CastLike")
def cast(draft: Draft) -> None:
    target = np.dtype(draft.pick("float16", "float32", "float64", "bool", "int8", "uint8", "int32", "int64", "uint64"))
    signed = draft.dtype.kind in "fi" or draft.dtype.kind == "V"
    domain = "any"
    if target.kind in "iu" and draft.dtype.kind not in "iub":
        # The integer that a float out of range becomes is left open.
        domain = "positive" if target.kind == "u" and signed else "finite"
    draft.data(draft.shape(), domain=domain)
    if draft.op == "Cast":
        draft.attributes["to"] = helper.np_dtype_to_tensor_dtype(target)
    else:
        draft.data(draft.shape(), target)


@draws("LogSoftmax", "Softmax")
def softmax(draft: Draft) -> None:
    shape = draft.shape(1)
    draft.data(shape)
    rank = len(shape)
    low = 0 if draft.opset < 11 else -rank
    default = 1 if draft.opset < 13 else -1
    draft.attributes["axis"] = draft.integer(low, rank - 1)
    if default < rank and draft.chance(0.2):
        del draft.attributes["axis"]


@draws("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd")
@draws("ReduceSum", "ReduceSumSquare")
def reduction(draft: Draft) -> None:
    shape = draft.shape()
    domain = "moderate" if is_float(draft.dtype) else "finite"
    domains = {"ReduceMax": "any", "ReduceMin": "any", "ReduceProd": "small"}
    draft.data(shape, domain=domains.get(draft.op, domain))
    draft.maybe(keepdims=draft.integer(0, 1))
    axes = draft.axes(len(shape))
    if draft.opset < 11:
        axes = [axis % len(shape) for axis in axes]
    if draft.opset >= (13 if draft.op == "ReduceSum" else 18):
        draft.maybe(noop_with_empty_axes=draft.integer(0, 1))
        if axes or draft.chance(0.5):
            draft.setting(axes)
    elif axes:
        draft.attributes["axes"] = axes


@draws("Flatten")
def flatten(draft: Draft) -> None:
    shape = draft.shape()
    draft.data(shape)
    draft.attributes["axis"] = draft.integer(0 if draft.opset < 11 else -len(shape), len(shape))


@draws("Transpose")
def transpose(draft: Draft) -> None:
    shape = draft.shape()
    draft.data(shape)
    if shape:
        draft.maybe(perm=[int(axis) for axis in draft.rng.permutation(len(shape))])


@draws("Reshape")
def reshape(draft: Draft) -> None:
    shape = draft.shape()
    draft.data(shape)
    target = [int(extent) for extent in draft.rng.permutation(np.array(shape, np.int64))]
    if len(target) > 1 and draft.chance(0.5):
        target[:2] = [target[0] * target[1]]
    if draft.chance(0.3):
        target.insert(draft.integer(0, len(target)), 1)
    if 0 in target and draft.opset >= 14:
        draft.attributes["allowzero"] = 1
    elif 0 in target:
        # Before, a 0 copies the extent at its place.
        target = list(shape)
    if target and 0 not in target and draft.chance(0.5):
        target[draft.integer(0, len(target) - 1)] = -1
    draft.setting(target)


@draws("Squeeze", "Unsqueeze")
def unit_axes(draft: Draft) -> None:
    shape = list(draft.shape(0, 3))
    count = draft.integer(0 if draft.op == "Squeeze" else 1, 2)
    rank = len(shape) + count
    axes = [int(axis) for axis in draft.rng.permutation(rank)[:count]]
    if draft.op == "Squeeze":
        for axis in sorted(axes):
            shape.insert(axis, 1)
    draft.data(tuple(shape))
    if draft.opset >= 11:
        axes = [axis - (rank if draft.chance(0.4) else 0) for axis in axes]
    if draft.op == "Squeeze" and (not axes or draft.chance(0.2)):
        return
    if draft.opset >= 13:
        draft.setting(axes)
    else:
        draft.attributes["axes"] = axes


@draws("Concat")
def concat(draft: Draft) -> None:
    shape = list(draft.shape(1))
    axis = draft.integer(0 if draft.opset < 11 else -len(shape), len(shape) - 1)
    draft.attributes["axis"] = axis
    for _ in range(draft.integer(1, 4)):
        shape[axis] = draft.pick(1, 2, 3, 5, 0)
        draft.data(tuple(shape))


@draws("Split")
def split(draft: Draft) -> None:
    shape = list(draft.shape(1))
    axis = draft.integer(0 if draft.opset < 11 else -len(shape), len(shape) - 1)
    parts = draft.integer(1, 4)
    sizes = [draft.pick(1, 2, 3, 5, 0 if draft.opset >= 13 else 4) for _ in range(parts)]
    even = draft.chance(0.3)
    shape[axis] = parts * sizes[0] if even else sum(sizes)
    draft.attributes["axis"], draft.outputs = axis, parts
    draft.data(tuple(shape))
    if even and draft.opset >= 18:
        draft.attributes["num_outputs"] = parts
    elif not even and draft.opset >= 13:
        draft.setting(sizes)
    elif not even:
        draft.attributes["split"] = sizes


@draws("Slice")
def slice_(draft: Draft) -> None:
    shape = draft.shape(1)
    draft.data(shape)
    axes = draft.axes(len(shape), 1)
    starts, ends, steps = [], [], []
    for axis in axes:
        extent = shape[axis]
        forward = draft.opset < 10 or draft.chance(0.7)
        starts.append(draft.integer(-extent - 2, extent + 2))
        ends.append(draft.pick(draft.integer(-extent - 2, extent + 2), 2**31 - 1 if forward else -(2**31)))
        steps.append(draft.pick(1, 1, 2, 3) if forward else draft.pick(-1, -2))
    if draft.opset < 10:
        draft.attributes |= {"starts": starts, "ends": ends, "axes": [axis % len(shape) for axis in axes]}
        return
    kind = draft.pick(np.int64, np.int32)
    for values in (starts, ends, axes, steps):
        draft.setting(values, kind)


@draws("Expand")
def expand(draft: Draft) -> None:
    wanted = draft.shape()
    draft.data(draft.broadcast_with(wanted))
    draft.setting([1 if extent > 1 and draft.chance(0.2) else extent for extent in wanted])
    if draft.chance(0.2):
        draft.initializers[-1].CopyFrom(numpy_helper.from_array(np.ones(1, np.int64), draft.order[-1]))


@draws("Tile")
def tile(draft: Draft) -> None:
    shape = draft.shape(1, 3)
    draft.data(shape)
    draft.setting([draft.pick(1, 2, 3, 0) for _ in shape])


@draws("Pad")
def pad(draft: Draft) -> None:
    shape = draft.shape(1)
    mode = draft.pick("constant", "constant", "edge", "reflect")
    if 0 in shape:
        mode = "constant"
    draft.attributes["mode"] = mode
    most = [2 if mode != "reflect" else min(2, extent - 1) for extent in shape] * 2
    pads = [draft.integer(0, limit) for limit in most]
    draft.data(shape)
    if draft.opset < 11:
        draft.attributes["pads"] = pads
        draft.maybe(value=1.5)
        return
    axes = draft.axes(len(shape), 1) if draft.opset >= 18 and draft.chance(0.4) else None
    if axes is not None:
        rank = len(shape)
        pads = [pads[axis % rank] for axis in axes] + [pads[axis % rank + rank] for axis in axes]
    draft.setting(pads)
    if mode == "constant" and draft.chance(0.7):
        draft.data((), constant=1.0)
    elif axes is not None:
        draft.absent()
    if axes is not None:
        draft.setting(axes)


@draws("Range")
def range_(draft: Draft) -> None:
    kind = np.dtype(draft.pick("int32", "int64", "float32", "float64"))
    low, step = draft.integer(-20, 20), draft.pick(1, 2, 3, -1, -2)
    for number in (low, low + step * draft.integer(-2, 9) + draft.integer(0, 1), step):
        draft.setting(number, kind)


@draws("Constant")
def constant(draft: Draft) -> None:
    array = draft.rng.integers(0, 2, draft.shape()).astype(draft.dtype)
    draft.attributes["value"] = numpy_helper.from_array(array)


@draws("ConstantOfShape")
def constant_of_shape(draft: Draft) -> None:
    draft.setting(draft.shape())
    if draft.chance(0.8):
        number = np.iinfo(draft.dtype).max if draft.dtype.kind in "iu" else 1
        draft.attributes["value"] = numpy_helper.from_array(np.array([number]).astype(draft.dtype))


@draws("TopK")
def top_k(draft: Draft) -> None:
    shape = draft.shape(1)
    axis = draft.axis(len(shape))
    count = draft.integer(0, shape[axis])
    # What onnxruntime gives for NaN depends on its algorithm.
    draft.data(shape, domain="finite")
    draft.outputs = 2
    if draft.opset < 11:
        axis %= len(shape)
    draft.attributes["axis"] = axis
    if draft.opset < 10:
        draft.attributes["k"] = max(count, 1)
        return
    draft.setting([count])
    if draft.opset >= 11:
        draft.maybe(largest=draft.integer(0, 1), sorted=1)


@draws("NonZero")
def nonzero(draft: Draft) -> None:
    # Of a scalar the specification gives no row, onnxruntime one.
    draft.data(draft.shape(1), domain="any")


@draws("Unique")
def unique(draft: Draft) -> None:
    # Which of equal zeros is kept, and whether NaN equals itself, engines decide differently.
    draft.data(draft.shape(), domain="positive")
    draft.maybe(sorted=draft.integer(0, 1))
    draft.outputs = draft.integer(1, 4)


@draws("Trilu")
def trilu(draft: Draft) -> None:
    draft.data(draft.shape(2))
    if draft.chance(0.6):
        draft.data((), np.int64, "small", constant=0.7)
    draft.maybe(upper=draft.integer(0, 1))


@draws("EyeLike")
def eye_like(draft: Draft) -> None:
    draft.data(draft.shape(2, 2))
    draft.maybe(k=draft.integer(-3, 3), dtype=draft.pick(1, 7, 11))


@draws("ReverseSequence")
def reverse_sequence(draft: Draft) -> None:
    shape = draft.shape(2)
    time = draft.integer(0, 1)
    draft.data(shape)
    draft.attributes.update(time_axis=time, batch_axis=1 - time)
    draft.setting(draft.rng.integers(min(1, shape[time]), shape[time] + 1, shape[1 - time]))
