"""The tensors of a model as arrays, checked before their bytes are used."""

from __future__ import annotations

from math import prod

import numpy as np
import onnx
from onnx import external_data_helper, numpy_helper

from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import ModelImportError, one_line
from xrelay.frontend.onnx.signature import stored_bytes
from xrelay.frontend.onnx.tensor_bytes import TensorBytes, plain_dtype


def tensor_array(tensor: onnx.TensorProto, kept: TensorBytes) -> Array:
    """Returns the array of `tensor`, with its bytes from `kept` if it refers to them.

    Raises `ModelImportError` for extents that no array has, bytes of the wrong length, or bytes in an external file.
    """
    location = f"tensor {tensor.name!r}" if tensor.name else "tensor"
    if any(extent < 0 for extent in tensor.dims):
        raise ModelImportError(f"the shape {list(tensor.dims)} has a negative extent", location=location)
    if prod(max(extent, 1) for extent in tensor.dims) > MAX_ELEMENTS:
        raise ModelImportError(f"no array has the shape {list(tensor.dims)}, even an empty one", location=location)
    data = kept.of(tensor)
    if data is None and external_data_helper.uses_external_data(tensor):
        raise ModelImportError(
            "its data is external, which a model in memory does not include",
            location=location,
            help="pass the path of the model, or load it with onnx.load",
        )
    try:
        _check_length(tensor, len(tensor.raw_data) if data is None else len(data))
        return numpy_helper.to_array(tensor) if data is None else _array_of(tensor, data)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        text = one_line(str(error))
        raise ModelImportError(f"the bytes do not fit its shape and type: {text}", location=location) from error


def _check_length(tensor: onnx.TensorProto, given: int) -> None:
    """Raise `ValueError` if `given` raw bytes are too few, or more than the tensor takes, which onnx would drop."""
    if given and given != stored_bytes(tensor):
        raise ValueError(f"got {given} bytes, expected {stored_bytes(tensor)}")


def _array_of(tensor: onnx.TensorProto, data: Array) -> Array:
    """The array of a tensor with these bytes; raises as `numpy_helper.to_array` does."""
    dtype = plain_dtype(tensor.data_type)
    if dtype is not None and not tensor.HasField("segment"):
        return np.frombuffer(data, dtype).reshape(tuple(tensor.dims))
    whole = onnx.TensorProto()
    whole.CopyFrom(tensor)
    whole.ClearField("external_data")
    whole.ClearField("data_location")
    whole.raw_data = data.tobytes()
    return numpy_helper.to_array(whole)


def check_size(shape: tuple[int, ...], itemsize: int, most: int | None = None) -> str | None:
    """Returns the reason if a constant of `shape` takes more than `most` bytes; else `None`.

    `most` defaults to the size that a model file can hold.
    """
    # numpy also multiplies the extents of an empty array.
    size = prod(max(extent, 1) for extent in shape) * itemsize
    most = MAX_CONSTANT_BYTES if most is None else most
    return f"a constant of shape {list(shape)} would take {size} bytes" if size > most else None


MAX_ELEMENTS = 2**59
"""The maximum product of the extents, 0 counted as 1: numpy counts up to 16 bytes per element in 63 bits."""

MAX_CONSTANT_BYTES = 2**31
"""The size limit of ONNX files (protobuf's), and so of constants in a file."""

MAX_COMPUTED_BYTES = 2**29
"""The size limit of a constant that the importer computes per element, which takes several times as much memory."""
