"""Hand-written generators for ONNX ops with constraints among operands, or with few valid values.

All other ops are proposed from their schema (`fuzz.onnx_schemas`).
"""

from __future__ import annotations

import numpy as np
from onnx import helper, numpy_helper

from fuzz.onnx_draft import Draft, draws
from fuzz.special_values import is_float


@draws("Pow")
def power(draft: Draft) -> None:
    shape = draft.shape()
    other = draft.broadcast_with(shape)
    whole = draft.dtype.kind in "iu"
    exponent = draft.dtype
    if draft.opset >= 12:
        exponent = np.dtype(draft.pick("float32", "float64", "int32", "int64", draft.dtype))
    first, second = (other, shape) if draft.chance(0.3) else (shape, other)
    # Powers of large integers overflow, and no integer is 0 to a negative power: the engines' results differ.
    domains = draft.pick(("small", "whole 0 5"), ("whole 1 5", "small")) if whole else ("any", "any")
    draft.data(first, domain=domains[0])
    draft.data(second, exponent, domains[1], constant=0.4)


@draws("BitShift")
def bit_shift(draft: Draft) -> None:
    shape = draft.shape()
    draft.data(shape)
    draft.data(draft.broadcast_with(shape), domain="small", constant=0.4)
    draft.attributes["direction"] = draft.pick("LEFT", "RIGHT")


@draws("Max", "Mean", "Min", "Sum")
def variadic(draft: Draft) -> None:
    shape = draft.shape()
    domain = "moderate" if draft.op in ("Mean", "Sum") else "any"
    draft.data(shape, domain=domain)
    for _ in range(draft.integer(0, 3)):
        draft.data(draft.broadcast_with(shape) if draft.opset >= 8 else shape, domain=domain)


@draws("Cast", "CastLike")
def cast(draft: Draft) -> None:
    target = np.dtype(draft.pick("float16", "float32", "float64", "bool", "int8", "uint8", "int32", "int64", "uint64"))
    signed = draft.dtype.kind in "fi" or draft.dtype.kind == "V"
    domain = "any"
    if target.kind in "iu" and draft.dtype.kind not in "iub":
        # The result of a float outside the integer range is unspecified.
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
        # Without allowzero, a 0 copies the extent of the same axis.
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


@draws("NonMaxSuppression")
def non_max_suppression(draft: Draft) -> None:
    batch, classes, boxes = draft.integer(0, 2), draft.integer(0, 3), draft.integer(0, 70)
    draft.data((batch, boxes, 4), np.float32, "finite")
    draft.data((batch, classes, boxes), np.float32, "finite")
    draft.maybe(center_point_box=draft.integer(0, 1))
    draft.data((1,), np.int64, "small", constant=0.7)
    draft.setting([draft.pick(0.0, 0.3, 0.5, 1.0)], np.float32)
    if draft.chance(0.7):
        draft.data((1,), np.float32, "small", constant=0.7)
