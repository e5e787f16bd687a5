"""Parameters in one blob of bytes: arrays by name, in TVM's format.

    blob = relay.save_param_dict({"weight": weight})
    params = relay.load_param_dict(blob)

All numbers are little-endian. A blob is a magic number, eight reserved bytes, the number of names, the names, the
number of arrays, and the arrays in the same order. A name is its length and its text. An array is a magic number, eight
reserved bytes, a device, its rank, its dtype (kind, bits and lanes), its extents, its size in bytes, and its data in C
order.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from math import prod
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from xrelay.api.arrays import Tensor, as_array
from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.errors import ArtifactError, InputError, TypeInferenceError, with_article

_LIST_MARK: Final = 0xF7E58D4F05049CB7
_ARRAY_MARK: Final = 0xDD5E40F096B4A13F
_CPU: Final = 1
_MAX_AXES: Final = 32
"""The maximum rank that every version of numpy supports."""
_CODES: Final = {
    **{f"int{bits}": (0, bits) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (1, bits) for bits in (8, 16, 32, 64)},
    **{f"float{bits}": (2, bits) for bits in (16, 32, 64)},
    "bool": (1, 1),
    "bfloat16": (4, 16),
}
"""Maps a dtype to its kind and its bits."""
_NAMES: Final = {code: name for name, code in _CODES.items()}


def save_param_dict(params: Mapping[str, object]) -> bytearray:
    """Returns arrays, or values convertible to arrays, as one blob. Raises `InputError` for non-numeric values."""
    if not isinstance(cast(object, params), Mapping):
        raise InputError(f"params is {with_article(type(params).__name__)}", help="pass a dictionary of arrays by name")
    blob = bytearray(struct.pack("<QQQ", _LIST_MARK, 0, len(params)))
    for name in params:
        if not isinstance(cast(object, name), str):
            raise InputError(f"a parameter is called {name!r}", help="names are strings")
        text = name.encode()
        blob += struct.pack("<Q", len(text)) + text
    blob += struct.pack("<Q", len(params))
    for name, value in params.items():
        blob += _array_bytes(name, as_array(f"parameter {name!r}", value))
    return blob


def _array_bytes(name: str, array: NDArray[Any]) -> bytes:
    """Returns the encoding of an array."""
    try:
        dtype = str(numpy_dtype(element_type(array.dtype.newbyteorder("="))))
    except TypeInferenceError as error:
        raise InputError(f"parameter {name!r} has dtype {array.dtype}, which is not a tensor dtype") from error
    kind, bits = _CODES[dtype]
    head = struct.pack("<QQiiiBBH", _ARRAY_MARK, 0, _CPU, 0, array.ndim, kind, bits, 1)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return head + struct.pack(f"<{array.ndim}qq", *array.shape, array.nbytes) + little.tobytes()


def load_param_dict(param_bytes: bytes | bytearray | memoryview) -> dict[str, Tensor]:
    """Returns the arrays of a blob by name. Raises `ArtifactError` for damage, and `InputError` unless it is bytes."""
    if not isinstance(cast(object, param_bytes), bytes | bytearray | memoryview):
        raise InputError(
            f"cannot read parameters from {with_article(type(param_bytes).__name__)}", help="pass the bytes of the file"
        )
    blob = _Reader(memoryview(param_bytes))
    blob.expect(_LIST_MARK, "parameters")
    names = [blob.text() for _ in range(blob.count())]
    if blob.count() != len(names):
        raise ArtifactError("the numbers of names and arrays differ")
    found = {name: blob.array(name) for name in names}
    if blob.left:
        raise ArtifactError(f"{blob.left} bytes follow the last parameter")
    return found


class _Reader:
    """Reads a blob from its start. Raises `ArtifactError` if it ends too early or has invalid values."""

    def __init__(self, blob: memoryview):
        self._blob, self._at = blob, 0

    @property
    def left(self) -> int:
        """The number of unread bytes."""
        return len(self._blob) - self._at

    def bytes(self, size: int) -> memoryview:
        """Reads `size` bytes."""
        if not 0 <= size <= self.left:
            raise ArtifactError(f"the parameters end after {len(self._blob)} bytes, {size} more were expected")
        self._at += size
        return self._blob[self._at - size : self._at]

    def numbers(self, form: str) -> tuple[int, ...]:
        """Reads numbers; `form` is a format of `struct`."""
        return struct.unpack(f"<{form}", self.bytes(struct.calcsize(f"<{form}")))

    def count(self) -> int:
        """Reads a count or a size."""
        return self.numbers("Q")[0]

    def expect(self, mark: int, what: str) -> None:
        """Reads the magic number of `what`."""
        if self.numbers("QQ")[0] != mark:
            raise ArtifactError(f"the bytes are not a valid {what}", help="pass the result of save_param_dict")

    def text(self) -> str:
        """Reads a text."""
        try:
            return str(self.bytes(self.count()), "utf-8")
        except UnicodeDecodeError as error:
            raise ArtifactError("the name of a parameter is not UTF-8") from error

    def array(self, name: str) -> Tensor:
        """Reads an array, as a writeable copy."""
        self.expect(_ARRAY_MARK, f"array for {name!r}")
        _, _, rank, kind, bits, lanes = self.numbers("iiiBBH")
        if (kind, bits) not in _NAMES or lanes != 1 or not 0 <= rank <= _MAX_AXES:
            raise ArtifactError(f"parameter {name!r} has rank {rank} and dtype ({kind}, {bits}, {lanes})")
        shape = self.numbers(f"{rank}q")
        dtype = numpy_dtype(element_type(_NAMES[kind, bits]))
        size = prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or self.numbers("q")[0] != size:
            raise ArtifactError(f"parameter {name!r} has shape {shape}, but its data has another size")
        if prod(max(extent, 1) for extent in shape) * dtype.itemsize >= 2**63:
            raise ArtifactError(f"parameter {name!r} has shape {shape}, which is not a valid array shape")
        data = self.bytes(size)
        return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype).reshape(shape).view(Tensor)
