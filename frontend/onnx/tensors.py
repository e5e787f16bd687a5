"""The tensors that a model carries, as arrays: checked before a byte of them is trusted."""

from __future__ import annotations

from math import prod

import onnx
from onnx import external_data_helper, numpy_helper

from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import ModelImportError


def tensor_array(tensor: onnx.TensorProto) -> Array:
    """The array in `tensor`; `ModelImportError` for a negative extent, bytes of another length, or bytes elsewhere."""
    place = f"tensor {tensor.name!r}" if tensor.name else "tensor"
    if any(extent < 0 for extent in tensor.dims):
        raise ModelImportError(f"the shape {list(tensor.dims)} has a negative extent", location=place)
    if external_data_helper.uses_external_data(tensor):
        raise ModelImportError(
            "its bytes are in a file of their own, which a model in memory does not bring along",
            location=place,
            help="give the path of the model, or load it by onnx.load",
        )
    try:
        return numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        text = " ".join(str(error).split())
        raise ModelImportError(f"the bytes do not fit its shape and type: {text}", location=place) from error


def check_size(shape: tuple[int, ...], itemsize: int) -> str | None:
    """Returns why a constant of `shape` is refused: it is larger than what a model file can carry; else `None`."""
    # numpy multiplies the extents of an empty array, too.
    size = prod(max(extent, 1) for extent in shape) * itemsize
    return f"a constant of shape {list(shape)} would take {size} bytes" if size > MAX_CONSTANT_BYTES else None


MAX_CONSTANT_BYTES = 2**31
"""The size limit of ONNX files (protobuf's), so of what a file spells out."""
