"""The bytes of large tensors, which a model's protobuf names and does not hold.

Protobuf copies what it parses, and gives out copies of that. So the bytes of large tensors are read from the file to
where they stay, and the tensor says instead, in the way of external data, which of them are its own.
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
    """The dtype of a type of ONNX whose elements lie in a file as in memory; `None` for others."""
    return helper.tensor_dtype_to_np_dtype(type) if type in _PLAIN else None


class TensorBytes:
    """Bytes of tensors of one model, in the order in which they were found.

    A tensor names its own by a key that no file can know beforehand.
    """

    def __init__(self) -> None:
        self._key = secrets.token_hex(8)
        self._arrays: list[Array] = []

    def add(self, data: Array) -> onnx.TensorProto:
        """Keep bytes; gives the fields by which a tensor names them."""
        fields = onnx.TensorProto(data_location=onnx.TensorProto.EXTERNAL)
        entry = fields.external_data.add()
        entry.key, entry.value = self._key, str(len(self._arrays))
        self._arrays.append(data)
        return fields

    def of(self, tensor: onnx.TensorProto) -> Array | None:
        """The bytes that a tensor names; `None` for one that holds its own, or has them in another file."""
        entries = tensor.external_data
        if len(entries) != 1 or entries[0].key != self._key:
            return None
        return self._arrays[int(entries[0].value)]
