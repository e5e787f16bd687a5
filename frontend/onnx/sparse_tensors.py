"""Sparse tensors, stored as their non-zero elements, read as dense arrays."""

from __future__ import annotations

import numpy as np
import onnx

from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.tensor_bytes import TensorBytes
from xrelay.frontend.onnx.tensors import check_size, tensor_array


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
