"""Tensor ops of the domain com.microsoft that ONNX lacks, or lacked when onnxruntime added them."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.frontend.onnx.converters.nn.matmul import matrix_product
from xrelay.frontend.onnx.converters.quantization import converted
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import MICROSOFT, converts

_FLOAT32 = np.dtype(np.float32)
_GROUP_ATTRIBUTES = ("activation", "channels_last", "epsilon", "groups")
_METRICS = ("euclidean", "sqeuclidean")


@converts("CDist", domain=MICROSOFT, attributes=("metric",), limits="euclidean and sqeuclidean distances")
def convert_cdist(node: NodeView) -> SSAValue:
    """The distance of each row of one matrix from each row of another: the root of the sum of squared differences."""
    if len(node.shape(0)) != 2 or len(node.shape(1)) != 2:
        raise node.error(f"distances of {node.input(0).type} and {node.input(1).type}; matrices are expected")
    metric = node.attribute_string("metric", "sqeuclidean", _METRICS)
    left, right = (node.emit("expand_dims", node.input(index), axis=1 - index) for index in range(2))
    apart = node.emit("subtract", left, right)
    total = node.emit("sum", node.emit("multiply", apart, apart), axis=(2,))
    return total if metric == "sqeuclidean" else node.emit("sqrt", total)


@converts("MatMulInteger16", domain=MICROSOFT)
def convert_matmul_integer_16(node: NodeView) -> SSAValue:
    """The i32 product of 16-bit integers."""
    wide = [converted(node, node.input(index), np.dtype(np.int32)) for index in range(2)]
    return matrix_product(node.with_inputs(wide))


@converts("GroupNorm", domain=MICROSOFT, attributes=_GROUP_ATTRIBUTES)
def convert_group_norm(node: NodeView) -> SSAValue:
    """`nn.group_norm` in f32, by default of channels-last images, then optionally silu."""
    return _group_norm(node, converted(node, node.input(0), _FLOAT32))


@converts("SkipGroupNorm", domain=MICROSOFT, attributes=_GROUP_ATTRIBUTES)
def convert_skip_group_norm(node: NodeView) -> list[SSAValue]:
    """GroupNorm of the sum with `skip`, which may have one element per channel of an image, and with a bias."""
    total, skip = (converted(node, node.input(index), _FLOAT32) for index in (0, 3))
    rank, last = len(node.shape(0)), _channels_last(node)
    if len(node.shape(3)) == 2:
        skip = node.emit("expand_dims", skip, axis=1 if last else 2, num_newaxis=rank - 2)
    total = node.emit("add", total, skip)
    if node.optional_input(4) is not None:
        bias = converted(node, node.input(4), _FLOAT32)
        total = node.emit("nn.bias_add", total, bias, axis=rank - 1 if last else 1)
    return [_group_norm(node, total), converted(node, total, numpy_dtype(node.element_type(0)))]


def _group_norm(node: NodeView, data: SSAValue) -> SSAValue:
    rank, last = len(node.shape(0)), _channels_last(node)
    activation = node.attribute_int("activation", 0, check=lambda value: value in (0, 1))
    if last:
        data = node.emit("transpose", data, axes=(0, rank - 1, *range(1, rank - 1)))
    result = node.emit(
        "nn.group_norm",
        data,
        *(converted(node, node.input(index), _FLOAT32) for index in (1, 2)),
        num_groups=node.attribute_int("groups", 0, check=lambda number: number >= 1),
        epsilon=node.attribute_float("epsilon", 1e-5),
    )
    result = node.emit("nn.swish", result) if activation else result
    if last:
        result = node.emit("transpose", result, axes=(0, *range(2, rank), 1))
    return converted(node, result, numpy_dtype(node.element_type(0)))


def _channels_last(node: NodeView) -> bool:
    if len(node.shape(0)) < 3:
        raise node.error(f"images of {node.input(0).type}; they have a batch, channels and spatial axes")
    return bool(node.attribute_int("channels_last", 1, check=lambda value: value in (0, 1)))
