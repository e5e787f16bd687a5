"""The protobuf of a model without the bytes of its large tensors, which are read by themselves.

Only fields that lead to tensors are read: the graph, its initializers, and the tensors in attributes of its nodes.
Protobuf parses the whole file if its encoding is not that of protobuf's own writer, or if a singular field occurs
twice.

The fields of a graph are counted before protobuf parses them, since it needs up to a kilobyte of memory for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

import onnx

from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.tensors import TensorBytes

LEAST: Final = 1 << 14
"""The size in bytes from which on a tensor is large."""
MAX_FIELDS: Final = 1 << 20
"""The maximum number of fields to scan; protobuf alone is fast enough for models with more."""

MAX_PARTS: Final = 1 << 19
"""The maximum number of fields of a model, its graph, its large nodes and its long shapes, together."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIZES: Final = {_FIXED64: 8, _FIXED32: 4}
_WIRES: Final = (_VARINT, _FIXED64, _BYTES, _FIXED32)
_VARINT_BYTES: Final = 10
_CONTINUATION_BIT: Final = 0x80
"""The continuation bit of a byte of a varint."""
_HEAD: Final = 2 * _VARINT_BYTES
_WINDOW: Final = 1 << 12

_PROTO: Final = onnx.TensorProto
_EXTERNAL_DATA_FIELDS: Final = (_PROTO.EXTERNAL_DATA_FIELD_NUMBER, _PROTO.DATA_LOCATION_FIELD_NUMBER)
_LISTS: Final[dict[int, int]] = {
    _PROTO.FLOAT: _PROTO.FLOAT_DATA_FIELD_NUMBER,
    _PROTO.DOUBLE: _PROTO.DOUBLE_DATA_FIELD_NUMBER,
}
"""The element types whose typed lists have the same bytes in the file as in memory."""

Data = bytes | bytearray | memoryview


class Content(Protocol):
    """The bytes of a model."""

    size: int

    def read(self, begin: int, end: int) -> Data:
        """The bytes from `begin` to `end`, valid until the next read."""
        ...

    def array(self, begin: int, end: int) -> Array:
        """The same bytes as a permanent, read-only array of u8."""
        ...


class _OddError(Exception):
    """The bytes are not an encoding that protobuf writes."""


class _Kind:
    """A kind of message: the fields that lead to tensors, with their kinds, and the field that must occur once.

    The fields of a `counted` kind count towards `MAX_PARTS`.
    """

    def __init__(self, fields: dict[int, _Kind] | None = None, once: int | None = None, *, counted: bool = False):
        self.fields, self.once, self.counted = {} if fields is None else fields, once, counted


_TENSOR: Final = _Kind()
_ATTRIBUTE: Final = _Kind({onnx.AttributeProto.T_FIELD_NUMBER: _TENSOR}, once=onnx.AttributeProto.T_FIELD_NUMBER)
_NODE: Final = _Kind({onnx.NodeProto.ATTRIBUTE_FIELD_NUMBER: _ATTRIBUTE}, counted=True)
_SHAPE: Final = _Kind(counted=True)
_TENSOR_TYPE: Final = _Kind({onnx.TypeProto.Tensor.SHAPE_FIELD_NUMBER: _SHAPE})
_TYPE: Final = _Kind({onnx.TypeProto.TENSOR_TYPE_FIELD_NUMBER: _TENSOR_TYPE})
_VALUE: Final = _Kind({onnx.ValueInfoProto.TYPE_FIELD_NUMBER: _TYPE})
_GRAPH: Final = _Kind(
    {
        onnx.GraphProto.NODE_FIELD_NUMBER: _NODE,
        onnx.GraphProto.INITIALIZER_FIELD_NUMBER: _TENSOR,
        onnx.GraphProto.INPUT_FIELD_NUMBER: _VALUE,
        onnx.GraphProto.OUTPUT_FIELD_NUMBER: _VALUE,
        onnx.GraphProto.VALUE_INFO_FIELD_NUMBER: _VALUE,
    },
    counted=True,
)
_MODEL: Final = _Kind(
    {onnx.ModelProto.GRAPH_FIELD_NUMBER: _GRAPH}, once=onnx.ModelProto.GRAPH_FIELD_NUMBER, counted=True
)


class _Field(NamedTuple):
    """A field of a message: its number, its start, and the range of its value."""

    number: int
    wire: int
    start: int
    begin: int
    end: int

    @property
    def size(self) -> int:
        """The size of the value in bytes."""
        return self.end - self.begin


def slim_model(content: Content, tensors: TensorBytes, place: str = "model") -> bytes | None:
    """Returns the bytes of a model without those of its large tensors, which are added to `tensors`.

    Returns `None` if protobuf has to parse the whole model. Errors of reading propagate. Raises `ModelImportError`,
    with the location `place`, for a model of more than `MAX_PARTS` parts.
    """
    try:
        return bytes(_Slimming(content, tensors, place).message(_MODEL, 0, content.size))
    except _OddError:
        return None


class _Slimming:
    def __init__(self, content: Content, tensors: TensorBytes, place: str):
        self._content, self._tensors, self._place = content, tensors, place
        self._left, self._parts = MAX_FIELDS, 0

    def message(self, kind: _Kind, begin: int, end: int) -> bytearray:
        """The message of a range of bytes, without the bytes of its tensors; the recursion is as deep as `_MODEL`."""
        if kind is _TENSOR:
            return self._tensor(begin, end)
        slim, copied, seen = bytearray(), begin, 0
        for field in self._fields(begin, end):
            self._parts += kind.counted
            if self._parts > MAX_PARTS:
                message = f"the model has more than {MAX_PARTS} nodes, weights, types of values and extents"
                raise ModelImportError(message, location=self._place, help="split it, or export it without value_info")
            inner = kind.fields.get(field.number)
            if inner is None or field.wire != _BYTES:
                continue
            seen += field.number == kind.once
            if seen > 1:
                raise _OddError
            if field.size >= LEAST:
                slim += self._content.read(copied, field.start)
                body = self.message(inner, field.begin, field.end)
                slim += _varint(field.number << 3 | _BYTES) + _varint(len(body)) + body
                copied = field.end
        return slim + self._content.read(copied, end)

    def _tensor(self, begin: int, end: int) -> bytearray:
        """The tensor with a reference to its bytes, if it contains them in one piece."""
        data = self._data(begin, end)
        if data is None:
            return bytearray(self._content.read(begin, end))
        slim = bytearray(self._content.read(begin, data.start)) + self._content.read(data.end, end)
        return slim + self._tensors.add(self._content.array(data.begin, data.end)).SerializeToString()

    def _data(self, begin: int, end: int) -> _Field | None:
        """The field with the bytes of a tensor, if they are the same as in memory."""
        fields: dict[int, list[_Field]] = {}
        for field in self._fields(begin, end):
            fields.setdefault(field.number, []).append(field)
        if not fields.keys().isdisjoint(_EXTERNAL_DATA_FIELDS):
            return None
        held = fields.get(_PROTO.RAW_DATA_FIELD_NUMBER, [])
        types = fields.get(_PROTO.DATA_TYPE_FIELD_NUMBER, [])
        if not held and len(types) == 1 and types[0].wire == _VARINT:
            type, _ = _number(self._content.read(types[0].begin, types[0].end), 0)
            held = fields.get(_LISTS.get(type, 0), [])
        return held[0] if len(held) == 1 and held[0].wire == _BYTES and held[0].size >= LEAST else None

    def _fields(self, begin: int, end: int) -> Iterator[_Field]:
        """The fields of a message, in order."""
        place = first = begin
        window: Data = b""
        while place < end:
            if place + _HEAD > first + len(window):
                window, first = self._content.read(place, min(end, place + _WINDOW)), place
            tag, at = _number(window, place - first)
            number, wire = tag >> 3, tag & 7
            size = _SIZES.get(wire, 0)
            if wire == _BYTES:
                size, at = _number(window, at)
            elif wire == _VARINT:
                size = _number(window, at)[1] - at
            field = _Field(number, wire, place, first + at, first + at + size)
            self._left -= 1
            if number == 0 or wire not in _WIRES or field.end > end or self._left < 0:
                raise _OddError
            yield field
            place = field.end


def _number(data: Data, at: int) -> tuple[int, int]:
    """Returns the varint at a position, and the position after it."""
    value = shift = 0
    for byte in data[at : at + _VARINT_BYTES]:
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < _CONTINUATION_BIT:
            return value, at
        shift += 7
    raise _OddError


def _varint(value: int) -> bytes:
    """Encodes a number as a varint."""
    data = bytearray()
    while value >= _CONTINUATION_BIT:
        data.append(value & 0x7F | _CONTINUATION_BIT)
        value >>= 7
    data.append(value)
    return bytes(data)
