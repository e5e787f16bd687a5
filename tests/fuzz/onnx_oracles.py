"""Oracles for the models of `onnx_nodes`: onnxruntime's outputs, its known faults, and tolerances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from llvmlite.binding import get_host_cpu_features
from onnx import numpy_helper

from fuzz.onnx_ops import domain_and_type
from fuzz.special_values import Array, is_float

RUNTIME: Any = onnxruntime
"""onnxruntime, which has no type annotations."""

RUNTIME.set_default_logger_severity(4)

RTOL = {
    np.dtype(np.float64): 1e-9,
    np.dtype(np.float32): 1e-4,
    np.dtype(np.float16): 1e-2,
    np.dtype(ml_dtypes.bfloat16): 6e-2,
}

_FEATURES = {name for name, has in get_host_cpu_features().items() if has}
SATURATES = "avx2" in _FEATURES and not _FEATURES & {"avx512vnni", "avxvnni"}
"""Whether onnxruntime adds two byte products in 16 bits on this CPU, which saturates for weights above 7 bits."""

_PRODUCTS_OF_BYTES = frozenset(
    {
        "ConvInteger",
        "DynamicQuantizeLSTM",
        "DynamicQuantizeMatMul",
        "MatMulInteger",
        "MatMulIntegerToFloat",
        "QAttention",
        "QGemm",
        "QLinearConv",
        "QLinearMatMul",
    }
)
_MAXIMA = frozenset({"GlobalMaxPool", "LogSoftmax", "MaxPool", "ReduceLogSumExp", "ReduceMax", "ReduceMin", "Softmax"})
_SUMS = frozenset(
    {
        "AffineGrid",
        "Attention",
        "AveragePool",
        "BatchNormalization",
        "CDist",
        "Conv",
        "ConvTranspose",
        "ConvTransposeWithDynamicPads",
        "CropAndResize",
        "CumSum",
        "DFT",
        "DeformConv",
        "Det",
        "DynamicQuantizeMatMul",
        "EmbedLayerNormalization",
        "FusedConv",
        "FusedGemm",
        "FusedMatMul",
        "Gemm",
        "GlobalAveragePool",
        "GlobalLpPool",
        "GridSample",
        "GroupQueryAttention",
        "LRN",
        "LinearClassifier",
        "LinearRegressor",
        "LpPool",
        "MatMul",
        "MatMulBnb4",
        "MatMulIntegerToFloat",
        "MatMulNBits",
        "Mean",
        "MoE",
        "MultiHeadAttention",
        "QAttention",
        "QEmbedLayerNormalization",
        "QMoE",
        "RotaryEmbedding",
        "STFT",
        "SVMClassifier",
        "SVMRegressor",
        "SkipLayerNormalization",
        "Sum",
        "TransposeMatMul",
        "TreeEnsemble",
        "TreeEnsembleClassifier",
        "TreeEnsembleRegressor",
    }
)

_ROUNDED = frozenset(
    {
        "QLinearAdd",
        "QLinearAveragePool",
        "QLinearGlobalAveragePool",
        "QLinearLeakyRelu",
        "QLinearMul",
        "QLinearReduceMean",
        "QLinearSigmoid",
        "QLinearSoftmax",
    }
)
"""Ops whose integers may be off by one: onnxruntime adds the zero point before rounding, or rounds other floats."""

_SCALES = {
    **{"DynamicQuantizeLSTM": 20.0, "GatedRMSNorm": 0.2, "QuickGelu": 0.05, "Swish": 0.05},
    **{"GRU": 1.0, "LSTM": 1.0, "RNN": 1.0},
}
"""Op → the magnitude whose `RTOL` is the absolute tolerance near 0, if it is not 0.01.

onnxruntime's f32 sigmoid is a quotient of polynomials plus 1/2, so its error near 0 is some units of 2^-24, and it is 0
below -18. Swish and QuickGelu multiply it by at most 18: four units are 4.3e-6. GatedRMSNorm multiplies it by a row of
variance 1. DynamicQuantizeLSTM rounds states, so a last bit may move a state by a step of at most 2 / 255; with a
weight of 0.76 and a slope of 1/4 the error is 1.5e-3. States of GRU, LSTM and RNN are within 1, and have the rounding
errors of sums of some hundreds of products.
"""


def onnxruntime_outputs(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> list[Array] | None:
    """Returns onnxruntime's outputs without its optimiser; `None` if it rejects the model or lacks a kernel."""
    options = RUNTIME.SessionOptions()
    options.graph_optimization_level = RUNTIME.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    try:
        session = RUNTIME.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return [np.asarray(value) for value in session.run(None, dict(inputs))]
    except Exception:  # onnxruntime's errors have no common class
        return None


def _integers(node: onnx.NodeProto) -> dict[str, int]:
    return {attribute.name: attribute.i for attribute in node.attribute}


def _has_bytes_of_8_bits(array: Array) -> bool:
    """Whether signed bytes need more than 7 bits."""
    return array.dtype == np.int8 and bool(((array < -64) | (array > 63)).any())


def onnxruntime_departs(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> str | None:
    """The reason why onnxruntime is no oracle for this node on these inputs; `None` if it is an oracle."""
    (node,) = model.graph.node
    arrays = [*inputs.values(), *(numpy_helper.to_array(tensor) for tensor in model.graph.initializer)]
    wild = any(is_float(array.dtype) and not np.isfinite(array.astype(np.float64)).all() for array in arrays)
    doubles = any(array.dtype == np.float64 for array in arrays)
    if (
        node.op_type in ("ScatterElements", "ScatterND")
        and wild
        and any(a.s in (b"max", b"min") for a in node.attribute)
    ):
        return "its maxima drop NaN"
    if node.op_type in _MAXIMA and wild:
        return "its maxima drop NaN"
    if SATURATES and node.op_type in _PRODUCTS_OF_BYTES and any(map(_has_bytes_of_8_bits, arrays)):
        return "without VNNI it adds two products of bytes in 16 bits, which saturate"
    if node.op_type == "Clip" and wild:
        return "it takes an absent bound for the greatest finite number, onnx's reference for none"
    if node.op_type.startswith("Reduce") and any(array.size == 0 for array in inputs.values()):
        return "it leaves axes of extent 0 where all axes are reduced"
    if node.op_type == "InstanceNormalization" and any(array.size == 0 for array in arrays):
        return "it crashes on instances of no elements"
    if node.op_type == "NonZero" and arrays[0].ndim == 0:
        return "it gives a scalar the index of a list, which the standard says it has not"
    if node.op_type in ("Div", "Mod") and _divides_the_least_by_minus_one(*arrays[:2]):
        return "it ends the process where a quotient is one more than the type holds"
    if node.op_type == "Unique" and arrays[0].size == 0:
        return "it ends the process on slices of no elements"
    if node.op_type == "MatMul" and any(array.size == 0 for array in arrays):
        return "it leaves the products of no elements unset"
    halves = any(array.dtype == np.float16 for array in arrays)
    if node.domain and node.op_type in ("Attention", "GroupQueryAttention", "MultiHeadAttention") and halves:
        return "it rounds scores and weights to f16, which are computed in f32"
    if node.op_type == "QuantizeLinear" and halves:
        return "it divides f16 in f32, the standard in the type of the scale"
    if node.op_type == "QuantizeLinear" and _quantizes_no_number(node, model, inputs):
        return "of what is not a number ONNX does not say which integer it is: it gives the least, we the zero point"
    if node.op_type == "QMoE" and {"block_size": 16, "expert_weight_bits": 8}.items() <= _integers(node).items():
        return "it rounds tokens to 8 bits where the weights are blocks of 8 bits"
    if node.op_type == "Inverse":
        return "its inverses of matrices that nearly have none are others"
    if node.op_type == "GroupNormalization" and doubles:
        return "it computes f64 in the f32 of stash_type"
    if node.op_type == "GroupNormalization" and _deviates_little(arrays[0], _integers(node)["num_groups"]):
        return "it subtracts the square of the mean from the mean of squares, which are nearly equal"
    if node.op_type == "InstanceNormalization" and _deviates_little(arrays[0], arrays[0].shape[1]):
        return "it adds the scaled mean to scaled elements, which cancel where they are nearly equal"
    if node.op_type == "LayerNormalization" and _deviates_little(*_normalized_rows(arrays[0], _integers(node))):
        return "it subtracts the square of the mean from the mean of squares, which are nearly equal"
    if node.op_type == "MeanVarianceNormalization":
        return "it divides by the deviation without the standard's 1e-9: of one element that is 0 by 0"
    if node.op_type == "Col2Im" and len(arrays[1]) > 2:
        return "it takes windows of three axes for others"
    if node.op_type == "Shrink" and doubles:
        return "it computes f64 in f32"
    if node.op_type == "Sign" and wild:
        return "of what is not a number ONNX does not say the sign: it gives 0, numpy what it was"
    if node.op_type == "TopK" and any(a.name == "sorted" and not a.i for a in node.attribute):
        return "the order is left open"
    if node.op_type in ("GRU", "LSTM", "RNN") and wild:
        return "its activations make a number of NaN"
    if node.op_type in ("FastGelu", "Gelu", "HardSwish") and doubles:
        return "its constants of f64 formulas have the precision of f32"
    return None


def _quantizes_no_number(node: onnx.NodeProto, model: onnx.ModelProto, inputs: Mapping[str, Array]) -> bool:
    """Whether a quotient may be NaN: for a NaN, or for a scale of 0 or infinity."""
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    data, scale = ({**held, **inputs}[name].astype(np.float64) for name in node.input[:2])
    return bool(np.isnan(data).any() or (scale == 0).any() or not np.isfinite(scale).all())


def _divides_the_least_by_minus_one(dividend: Array, divisor: Array) -> bool:
    """Whether a division of the least integer by -1 may occur, whose quotient traps on the CPU."""
    signed = dividend.dtype.kind == "i"
    return signed and bool((dividend == np.iinfo(dividend.dtype).min).any() and (divisor == -1).any())


def _normalized_rows(data: Array, attributes: Mapping[str, int]) -> tuple[Array, int]:
    """The data of LayerNormalization as one batch, and the number of normalized rows."""
    axis = attributes.get("axis", -1) % data.ndim
    count = int(np.prod(data.shape[:axis], dtype=np.int64))
    return data[np.newaxis], count


def _deviates_little(data: Array, groups: int) -> bool:
    """Whether a group's variance, as a difference of squares, loses digits because its deviation is small."""
    if data.size == 0:
        return False
    elements = data.astype(np.float64).reshape(data.shape[0], groups, -1)
    with np.errstate(invalid="ignore"):
        return bool((16 * elements.std(axis=2) < np.abs(elements.mean(axis=2))).any())


def difference(op: str, found: Sequence[Array], expected: Sequence[Array]) -> str | None:
    """Describes the first difference between two lists of outputs of a node; `None` if they agree.

    `op` is a type, with or without its domain.

    Integers must be equal. The tolerance of a float is `RTOL` times its value; for sums, which cancel, `RTOL` times the
    largest value.
    """
    if len(found) != len(expected):
        return f"{len(found)} outputs, {len(expected)} expected"
    for index, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
            return f"output {index}: {ours.dtype}{list(ours.shape)}, not {theirs.dtype}{list(theirs.shape)}"
        agree = _agree(domain_and_type(op)[1], ours, theirs)
        if not agree.all():
            some = np.argwhere(~agree)[0]
            place = tuple(int(axis) for axis in some)
            return f"output {index} at {place}: {ours[place]}, not {theirs[place]} ({(~agree).sum()} of {ours.size})"
    return None


def _agree(op: str, found: Array, expected: Array) -> Array:
    rtol = RTOL.get(found.dtype)
    if op in _ROUNDED:
        return np.abs(found.astype(np.int64) - expected.astype(np.int64)) <= 1
    if rtol is None:
        return np.asarray(found == expected)
    ours, theirs = found.astype(np.float64), expected.astype(np.float64)
    finite = np.abs(theirs[np.isfinite(theirs)])
    cancels = op in _SUMS or op.startswith("Reduce")
    scale = max(float(finite.max(initial=0)), 1.0) if cancels else _SCALES.get(op, 0.01)
    with np.errstate(invalid="ignore"):
        near = np.abs(ours - theirs) <= rtol * (np.abs(theirs) + scale)
    return near | (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
