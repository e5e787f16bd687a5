"""Constant weights of 2, 4 or 8 bits as packed words, which `qnn.block_dense` and `qnn.block_dequantize` read."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.meaning.packed_numbers import pack
from xrelay.dialects.relay.ops.qnn.blocks import BITS, WORD
from xrelay.dialects.relay.structure.weights import Array
from xrelay.frontend.onnx.carried import bits_of, carrier_of
from xrelay.frontend.onnx.converters.shared.dtypes import FLOAT32
from xrelay.frontend.onnx.node import NodeView

_BYTE = 8
_BYTES_IN_WORD = WORD // _BYTE


def words_of(packed: Array) -> Array:
    """Returns rows of bytes as words, without a copy if the rows are whole words."""
    missing = -packed.shape[1] % _BYTES_IN_WORD
    return (np.pad(packed, [(0, 0), (0, missing)]) if missing else packed).view("<i4")


def packed_matrix(node: NodeView, axis: int, block: int, dtype: np.dtype) -> SSAValue | None:
    """Returns the first input of a node, a constant matrix of `dtype` that the other inputs scale in blocks, in f32.

    It is `qnn.block_dequantize` of rows along `axis`, transposed if this is the first axis. None if an input is not
    constant, the scales are not f32, the blocks are not whole, or they do not consist of whole words.
    """
    bits = bits_of(dtype) if carrier_of(dtype) is not None else _BYTE * dtype.itemsize
    known = [node.constant(index) for index in range(3)]
    data, scales, points = known
    if data is None or scales is None or (points is None and node.optional_input(2) is not None):
        return None
    is_packed = bits in BITS and data.dtype.kind in "iu" and block % (WORD // bits) == 0
    if not is_packed or data.ndim != 2 or scales.dtype != FLOAT32 or data.shape[axis] % block:
        return None
    middle = 2 ** (bits - 1) if data.dtype.kind == "u" else 0
    zero_points = np.array(-middle, np.int32)
    if points is not None:
        zero_points = _words(points, axis, middle, bits) if points.any() or middle else np.array(0, np.int32)
    rows = scales if axis == 1 else np.ascontiguousarray(scales.T)
    parts = {"words": _words(data, axis, middle, bits), "scales": rows, "zero_points": zero_points}
    constants = [node.emit_constant(part, name) for name, part in parts.items()]
    result = node.emit("qnn.block_dequantize", *constants, bits=bits, block_size=block)
    return result if axis == 1 else node.emit("transpose", result, axes=(1, 0))


def _words(numbers: Array, axis: int, middle: int, bits: int) -> Array:
    """Packs the rows along `axis` of numbers, less their `middle`, as words of signed numbers."""
    rows = numbers if axis == 1 else numbers.T
    return pack(rows.view(np.uint8) - np.uint8(middle) if middle else rows, bits)
