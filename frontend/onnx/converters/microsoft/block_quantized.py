"""Weights of 2, 4 or 8 bits in blocks with a scale each: MatMulNBits, MatMulBnb4, GatherBlockQuantized."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.weights import Array
from xrelay.frontend.onnx.converters.definition import MICROSOFT, NodeView, converts, numpy_dtype, shape_of
from xrelay.frontend.onnx.converters.shared.packed_weights import words_of

_BYTE = 8
_BITS = (2, 4, 8)
BYTES = 4
"""The `accuracy_level` that permits data of bytes."""

_FLOATS = (0.0, 1 / 192, 2 / 3, 1.0, 1 / 3, 1 / 2, 1 / 6, 1 / 4)
_TABLES = (
    (*_FLOATS, *(-each for each in _FLOATS)),
    (
        *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
        *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
        *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
        *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
    ),
)
"""The 16 numbers of bitsandbytes' FP4 and NF4: a 4-bit float, and quantiles of a normal distribution."""


@converts(
    "MatMulNBits",
    domain=MICROSOFT,
    attributes=("K", "N", "bits", "block_size", "accuracy_level", "weight_prepacked"),
    limits="bits other than 2, 4 and 8, g_idx, prepacked weights",
)
def convert_matmul_n_bits(node: NodeView) -> SSAValue:
    """`qnn.block_dense`, or `nn.dense` with dequantised weights if they are not constant.

    Weights are `(number - zero point) * scale` in f32. With `accuracy_level` 4, the data of products with constant
    weights may be rounded to bytes; otherwise all numbers are f32, which each level permits.
    """
    if node.optional_input(4) is not None or node.attribute_int("weight_prepacked", 0):
        raise node.unsupported("g_idx and weights in a layout of one processor are not supported")
    rounds = node.attribute_int("accuracy_level", 0) == BYTES
    rows, depth = (node.attribute_int(name, 0, check=lambda value: value >= 1) for name in ("N", "K"))
    bits, size = weight_bits(node), weight_block_size(node)
    shape, data = (rows, -(-depth // size)), float32(node, node.input(0))
    parts = _known_parts(node, shape, bits, size)
    if parts is None:
        result = node.emit("nn.dense", data, _plain_weight(node, shape, bits, size, depth))
    else:
        options = {"bits": bits, "block_size": size, "biased": True, "rounds_data": rounds}
        result = node.emit("qnn.block_dense", data, *parts, **options)
    if node.optional_input(5) is not None:
        result = node.emit("add", result, float32(node, node.input(5)))
    return node.emit("cast", result, dtype=numpy_dtype(node.element_type(0)))


@converts(
    "GatherBlockQuantized",
    domain=MICROSOFT,
    attributes=("bits", "block_size", "gather_axis", "quantize_axis"),
    limits="rows of bytes, in blocks along the last axis",
)
def convert_gather_block_quantized(node: NodeView) -> SSAValue:
    """Selects rows by indices, then dequantises them; an index out of range is an error at run time."""
    rank, bits, size = len(node.shape(0)), weight_bits(node), weight_block_size(node)
    axes = tuple(node.attribute_int(name, default) for name, default in (("gather_axis", 0), ("quantize_axis", 1)))
    if rank != 2 or axes not in ((0, 1), (0, -1), (-2, 1), (-2, -1)):
        raise node.unsupported(f"data of rank {rank}, gathered along axis {axes[0]} and in blocks along axis {axes[1]}")
    if numpy_dtype(node.element_type(0)) != "uint8":
        raise node.unsupported(f"data of {node.input(0).type}, bytes are expected")
    columns, blocks = node.last_extent(0), node.last_extent(2)
    if not isinstance(columns, int) or not isinstance(blocks, int) or blocks * size != columns * _BYTE // bits:
        raise node.error(f"data {node.input(0).type} in blocks of {size} with scales {node.input(2).type}")
    rows = (_rows(node, node.input(index)) for index in (0, 2))
    values, scales = unpacked(node, next(rows), bits), next(rows)
    zero = node.scalar_like(2 ** (bits - 1), 0)
    if node.optional_input(3) is not None:
        if len(node.shape(3)) != 2 or node.last_extent(3) != -(-blocks * bits // _BYTE):
            raise node.error(f"zero points {node.input(3).type} of {blocks} blocks in a row")
        zero = first_of_last_axis(node, unpacked(node, _rows(node, node.input(3)), bits), blocks)
        zero = node.emit("expand_dims", zero, axis=_rank(zero))
    lead = (0,) * (_rank(values) - 1)
    values = node.emit("reshape", values, newshape=(*lead, -4, blocks, size))
    wide = float32(node, node.emit("expand_dims", scales, axis=_rank(scales)))
    found = dequantized(node, values, wide, zero)
    found = node.emit("reshape", found, newshape=(*lead, -3))
    return node.emit("cast", found, dtype=numpy_dtype(node.element_type(2)))


@converts(
    "MatMulBnb4",
    domain=MICROSOFT,
    attributes=("K", "N", "block_size", "quant_type", "training_mode", "transB"),
    limits="transposed weights",
)
def convert_matmul_bnb4(node: NodeView) -> SSAValue:
    """`nn.dense` with weights from a table, by 4-bit indices (upper bits first), times the largest of each block."""
    if node.attribute_int("transB", 1) != 1:
        raise node.unsupported("transposed weights are not supported")
    node.attribute_int("training_mode", 0)
    rows, depth = (node.attribute_int(name, 0, check=lambda value: value >= 1) for name in ("N", "K"))
    size, count = weight_block_size(node), rows * depth
    table = _TABLES[node.attribute_int("quant_type", 1, check=lambda value: value in (0, 1))]
    pairs = node.reshape(node.input(1), (-(-count // 2), 1))
    halves = [
        node.emit("right_shift", pairs, node.scalar(4, pairs)),
        node.emit("bitwise_and", pairs, node.scalar(15, pairs)),
    ]
    chosen = node.emit("cast", node.emit("concatenate", node.make_tuple(halves), axis=1), dtype="int64")
    numbers = node.emit_constant(np.array(table, np.float32), "table")
    values = first_of_last_axis(
        node, node.reshape(node.emit("take", numbers, chosen, axis=0, mode="clip"), (-1,)), count
    )
    blocks = -(-count // size)
    largest = node.emit("repeat", float32(node, node.reshape(node.input(2), (blocks,))), repeats=size, axis=0)
    weights = node.reshape(node.emit("multiply", values, first_of_last_axis(node, largest, count)), (rows, depth))
    result = node.emit("nn.dense", float32(node, node.input(0)), weights)
    return node.emit("cast", result, dtype=numpy_dtype(node.element_type(0)))


def _known_parts(node: NodeView, shape: tuple[int, int], bits: int, size: int) -> list[SSAValue] | None:
    """Returns weight, scales and zero points for rows and blocks of `shape`; None unless all inputs are constants."""
    weight, scales, points = (node.constant(index) for index in (1, 2, 3))
    if weight is None or scales is None or (points is None and node.optional_input(3) is not None):
        return None
    rows, blocks = shape
    if points is not None and points.dtype == np.uint8:
        packed = _shaped(node, points, (rows, -(-blocks * bits // _BYTE)))
        zero_points = node.emit_constant(words_of(packed), "zero_points")
    elif points is not None:
        floats = _shaped(node, points, shape).astype(np.float32) - np.float32(2 ** (bits - 1))
        zero_points = node.emit_constant(floats, "zero_points")
    else:
        zero_points = node.emit_constant(np.array(0, np.int32), "zero_point")
    words = words_of(_shaped(node, weight, (rows, blocks * size * bits // _BYTE)))
    arrays = {"weight": words, "scales": _shaped(node, scales, shape)}
    return [*(node.emit_constant(array, name) for name, array in arrays.items()), zero_points]


def _shaped(node: NodeView, array: Array, shape: tuple[int, int]) -> Array:
    if array.size != shape[0] * shape[1]:
        raise node.error(f"an input has the shape {array.shape}, {shape} is expected")
    return array.reshape(shape)


def _plain_weight(node: NodeView, shape: tuple[int, int], bits: int, size: int, depth: int) -> SSAValue:
    """The weight as ops: its first `depth` columns in f32."""
    rows, blocks = shape
    packed = node.reshape(node.input(1), (rows, blocks, size * bits // _BYTE))
    scales = float32(node, node.reshape(node.input(2), (rows, blocks, 1)))
    weights = dequantized(node, unpacked(node, packed, bits), scales, _zero_points(node, shape, bits))
    return first_of_last_axis(node, node.reshape(weights, (rows, blocks * size)), depth)


def unpacked(node: NodeView, packed: SSAValue, bits: int) -> SSAValue:
    """Returns the `bits`-bit numbers in the bytes along the last axis, lowest bits first."""
    if bits == _BYTE:
        return packed
    mask, rank = node.scalar(2**bits - 1, packed), _rank(packed)
    shifted = [node.emit("right_shift", packed, node.scalar(shift, packed)) for shift in range(0, _BYTE, bits)]
    parts = [node.emit("bitwise_and", each, mask) for each in shifted]
    together = node.emit("stack", node.make_tuple(parts), axis=rank)
    return node.emit("reshape", together, newshape=(*(0,) * (rank - 1), -3))


def _zero_points(node: NodeView, shape: tuple[int, int], bits: int) -> SSAValue:
    """The zero point of each block, with a trailing axis: packed like the numbers, floats, or by default the middle."""
    rows, blocks = shape
    if node.optional_input(3) is None:
        return node.scalar_like(2 ** (bits - 1), 1)
    if numpy_dtype(node.element_type(3)) != "uint8":
        return node.reshape(node.input(3), (rows, blocks, 1))
    packed = node.reshape(node.input(3), (rows, -(-blocks * bits // _BYTE)))
    return node.reshape(first_of_last_axis(node, unpacked(node, packed, bits), blocks), (rows, blocks, 1))


def dequantized(node: NodeView, values: SSAValue, scales: SSAValue, zero: SSAValue) -> SSAValue:
    """Returns `(values - zero) * scales`, in f32."""
    return node.emit("multiply", node.emit("subtract", float32(node, values), float32(node, zero)), scales)


def _rows(node: NodeView, value: SSAValue) -> SSAValue:
    return node.emit("take", value, node.input(1), axis=0, mode="raise")


def first_of_last_axis(node: NodeView, value: SSAValue, count: int) -> SSAValue:
    """Returns the first `count` elements along the last axis."""
    axis = _rank(value) - 1
    if shape_of(value.type)[axis] == count:
        return value
    return node.emit("strided_slice", value, begin=(0,), end=(count,), axes=(axis,))


def _rank(value: SSAValue) -> int:
    return len(shape_of(value.type))


def float32(node: NodeView, value: SSAValue) -> SSAValue:
    """Returns `value` in f32."""
    return node.emit("cast", value, dtype="float32")


def weight_bits(node: NodeView, name: str = "bits") -> int:
    """Returns the number of bits of a weight, from the attribute `name`."""
    bits = node.attribute_int(name, 4)
    if bits not in _BITS:
        raise node.unsupported(f"weights of {bits} bits; {', '.join(map(str, _BITS))} are known")
    return bits


def weight_block_size(node: NodeView) -> int:
    """Returns the numbers in a block: a power of two of at least 16."""
    return node.attribute_int("block_size", 128, check=lambda value: value >= 16 and value & (value - 1) == 0)
