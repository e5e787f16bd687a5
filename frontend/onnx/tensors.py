"""The tensors of a model as arrays, checked before their bytes are used.

Protobuf copies data when it parses and again when it returns it. So the bytes of large tensors are read from the file
directly into their final buffer, and the tensor refers to them in the form of external data. Sparse tensors, which are
stored as their non-zero elements, are read as dense arrays.
"""

from __future__ import annotations

import secrets
from math import prod

import numpy as np
import onnx
from onnx import external_data_helper, helper, numpy_helper

from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import ModelImportError, one_line
from xrelay.frontend.onnx.signature import stored_bytes

MAX_ELEMENTS = 2**59
"""The maximum product of the extents, 0 counted as 1: numpy counts up to 16 bytes per element in 63 bits."""

MAX_CONSTANT_BYTES = 2**31
"""The size limit of ONNX files (protobuf's), and so of constants in a file."""

MAX_COMPUTED_BYTES = 2**29
"""The size limit of a constant that the importer computes per element, which takes several times as much memory."""

_PROTO = onnx.TensorProto
_PLAIN = (
    _PROTO.FLOAT, _PROTO.DOUBLE, _PROTO.FLOAT16, _PROTO.BFLOAT16, _PROTO.BOOL, _PROTO.INT8, _PROTO.INT16, _PROTO.INT32,
    _PROTO.INT64, _PROTO.UINT8, _PROTO.UINT16, _PROTO.UINT32, _PROTO.UINT64,
)  # fmt: skip


def plain_dtype(type: int) -> np.dtype | None:
    """Returns the dtype of an ONNX type with the same encoding in a file as in memory; `None` for others."""
    return helper.tensor_dtype_to_np_dtype(type) if type in _PLAIN else None


class TensorBytes:
    """The bytes of tensors of one model, numbered in order of addition.

    A tensor refers to its bytes by a random key, which no file can contain by intent.
    """

    def __init__(self) -> None:
        self._key = secrets.token_hex(8)
        self._arrays: list[Array] = []

    def add(self, data: Array) -> onnx.TensorProto:
        """Adds bytes; returns the fields with which a tensor refers to them."""
        fields = onnx.TensorProto(data_location=onnx.TensorProto.EXTERNAL)
        entry = fields.external_data.add()
        entry.key, entry.value = self._key, str(len(self._arrays))
        self._arrays.append(data)
        return fields

    def of(self, tensor: onnx.TensorProto) -> Array | None:
        """Returns the bytes that a tensor refers to; `None` if it contains them, or they are in another file."""
        entries = tensor.external_data
        if len(entries) != 1 or entries[0].key != self._key:
            return None
        return self._arrays[int(entries[0].value)]


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
    """Raises `ValueError` if `given` raw bytes are too few, or more than the tensor takes, which onnx would drop."""
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


def dense_array(sparse: onnx.SparseTensorProto, kept: TensorBytes) -> Array:
    """Returns the dense array.

    The position of an element is its flat index, or one index per axis. Raises `ModelImportError` for indices out of
    range, for another number of indices than elements, and for a tensor larger than the limit of constants.
    """
    location = f"sparse tensor {sparse.values.name!r}" if sparse.values.name else "sparse tensor"
    values, shape = tensor_array(sparse.values, kept), tuple(sparse.dims)
    if any(extent < 0 for extent in shape):
        raise ModelImportError(f"the shape {list(shape)} has a negative extent", location=location)
    problem = check_size(shape, values.itemsize)
    if problem is not None:
        raise ModelImportError(problem, location=location)
    dense = np.zeros(shape, values.dtype)
    if values.size:
        dense.reshape(-1)[_flat_indices(tensor_array(sparse.indices, kept), values, shape, location)] = values
    return dense


def _flat_indices(indices: Array, values: Array, shape: tuple[int, ...], location: str) -> Array:
    """The flat index of each stored element."""
    by_axis = len(shape) > 0 and indices.shape == (values.size, len(shape))
    if values.ndim != 1 or not (by_axis or indices.shape == values.shape) or indices.dtype != np.int64:
        text = f"{list(values.shape)} values at places {indices.dtype}{list(indices.shape)}"
        raise ModelImportError(
            f"{text}: a list of values is expected, with one 64-bit place each, or one for each axis", location=location
        )
    extents = np.array(shape if by_axis else np.prod(shape, dtype=np.int64), np.int64)
    if ((indices < 0) | (indices >= extents)).any():
        raise ModelImportError(f"an index is outside of the shape {list(shape)}", location=location)
    return np.asarray(np.ravel_multi_index(tuple(indices.T), shape)) if by_axis else indices


def weight_name(weight: onnx.TensorProto | onnx.SparseTensorProto) -> str:
    """Returns the name of a tensor or sparse tensor."""
    return weight.values.name if isinstance(weight, onnx.SparseTensorProto) else weight.name
