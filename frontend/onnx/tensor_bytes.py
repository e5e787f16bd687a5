"""The bytes of large tensors, which the protobuf of a model refers to instead of holding them.

Protobuf copies data when it parses and again when it returns it. So the bytes of large tensors are read from the file
directly into their final buffer, and the tensor refers to them in the form of external data.
"""

from __future__ import annotations

import secrets

import numpy as np
import onnx
from onnx import helper

from xrelay.dialects.relay.structure.weights import Array

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
        """Add bytes; returns the fields with which a tensor refers to them."""
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
