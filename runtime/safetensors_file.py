"""safetensors files whose tensors are aligned in memory when the file is mapped.

The format (an eight-byte length, a JSON header, contiguous tensors) guarantees no alignment and allows no gaps. Here
the header is padded with spaces, as the format permits, and short tensors named `padding.N` separate the others, so
that every tensor starts at a multiple of 64 and is used in place. Other readers of safetensors can read the files.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import ArtifactError
from xrelay.runtime.abi import ALIGNMENT
from xrelay.runtime.files import read_bytes, write_file
from xrelay.runtime.json_fields import is_extent, is_list, is_object, parse_json_object

# Maps dtype names of numpy and ml_dtypes to safetensors' codes; other dtypes are stored as bytes.
_CODES: Final = {
    "bool": "BOOL",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
}
_METADATA: Final = "__metadata__"
_PADDING: Final = "padding."
_LENGTH_BYTES: Final = 8
_MAX_HEADER: Final = 100_000_000  # the format's own limit


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a file: metadata strings, and the position of each tensor's bytes in the file."""

    metadata: Mapping[str, str]
    tensors: Mapping[str, tuple[int, int]]
    """The begin and end of each tensor by name, without padding."""
    fields: Mapping[str, object]
    """The header as parsed JSON."""


class SafetensorsWriter:
    """Writes a file. Its header is laid out first and can be inspected before writing."""

    def __init__(self, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]):
        """Lays out tensors in the given order."""
        self._arrays = {name: np.asarray(array, order="C") for name, array in tensors.items()}
        self._pads: list[int] = []
        self.header: dict[str, object] = {_METADATA: dict(metadata)}
        """The header as JSON data."""
        end = 0
        for i, (name, array) in enumerate(self._arrays.items()):
            pad = -end % ALIGNMENT
            if pad:
                self.header[f"{_PADDING}{i}"] = {"dtype": "U8", "shape": [pad], "data_offsets": [end, end + pad]}
            begin, end = end + pad, end + pad + array.nbytes
            self.header[name] = _entry(array, begin, end)
            self._pads.append(pad)

    def add_metadata(self, key: str, value: str) -> None:
        """Adds a metadata string to the header."""
        self.header[_METADATA] = {**_strings(self.header), key: value}

    def write(self, file: BinaryIO) -> None:
        """Writes the header and the tensors."""
        text = json.dumps(self.header, separators=(",", ":")).encode()
        text += b" " * (-(len(text) + _LENGTH_BYTES) % ALIGNMENT)
        file.write(len(text).to_bytes(_LENGTH_BYTES, "little"))
        file.write(text)
        for pad, array in zip(self._pads, self._arrays.values(), strict=True):
            file.write(bytes(pad))
            file.write(array.reshape(-1).view(np.uint8).data)


def write_safetensors(path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Writes a file atomically, replacing an existing one, even if that is mapped."""
    write_file(path, SafetensorsWriter(tensors, metadata).write)


def _entry(array: NDArray[Any], begin: int, end: int) -> dict[str, object]:
    code = _CODES.get(array.dtype.name)
    shape = list(array.shape) if code is not None else [array.nbytes]
    return {"dtype": "U8" if code is None else code, "shape": shape, "data_offsets": [begin, end]}


def map_file(descriptor: int) -> NDArray[np.uint8]:
    """Maps an open file read-only. Access beyond the end of a file truncated since then kills the process."""
    return np.frombuffer(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ), np.uint8)


def reason(error: Exception) -> str:
    """Returns the text of a failed file operation, without the path."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def read_header(path: Path, descriptor: int, what: str = "saved model") -> Header:
    """Reads the header of an open file; `path` names it in errors, and `what` describes the expected file.

    Raises `ArtifactError` if the file is truncated or not of this format: tensors must be contiguous and fill the file.
    Raises `EOFError` and `OSError` if reading fails.
    """
    size = os.fstat(descriptor).st_size
    if size < _LENGTH_BYTES:
        raise ArtifactError(f"'{path}' is not a {what}: it has {size} bytes")
    start = bytes(read_bytes(descriptor, 0, min(size, _LENGTH_BYTES + 1)))
    length = int.from_bytes(start[:_LENGTH_BYTES], "little")
    if length > _MAX_HEADER or start[_LENGTH_BYTES:] != b"{":
        raise ArtifactError(f"'{path}' is not a {what}", help="pass a file written by model.save()")
    data_begin = _LENGTH_BYTES + length
    if data_begin > size:
        raise ArtifactError(f"'{path}' is truncated: its header has {length} bytes, the file {size}")
    text = bytes(read_bytes(descriptor, _LENGTH_BYTES, data_begin))
    fields = parse_json_object(text, f"the header of '{path}'")
    ranges = {name: _offsets(path, name, entry) for name, entry in fields.items() if name != _METADATA}
    _check_ranges(path, ranges, size - data_begin)
    tensors = {
        name: (data_begin + begin, data_begin + end)
        for name, (begin, end) in ranges.items()
        if not name.startswith(_PADDING)
    }
    if not is_object(fields.get(_METADATA, {})):
        raise ArtifactError(f"'{path}' is damaged: its metadata is not an object")
    return Header(_strings(fields), tensors, fields)


def header_text(fields: Mapping[str, object], without: str) -> str:
    """Returns the canonical text of a header, equal for equal headers, without the metadata string `without`."""
    metadata = {key: value for key, value in _strings(fields).items() if key != without}
    return json.dumps({**fields, _METADATA: metadata}, sort_keys=True, separators=(",", ":"))


def _strings(fields: Mapping[str, object]) -> dict[str, str]:
    metadata = fields.get(_METADATA)
    if not is_object(metadata):
        return {}
    return {key: value for key, value in metadata.items() if isinstance(value, str)}


def _offsets(path: Path, name: str, entry: object) -> tuple[int, int]:
    offsets = entry.get("data_offsets") if is_object(entry) else None
    if is_list(offsets) and len(offsets) == 2:
        begin, end = offsets
        if is_extent(begin) and is_extent(end) and begin <= end:
            return begin, end
    raise ArtifactError(f"'{path}' is damaged: tensor '{name}' has no valid offsets")


def _check_ranges(path: Path, ranges: Mapping[str, tuple[int, int]], size: int) -> None:
    """Raises `ArtifactError` for tensors that overlap, leave gaps, or do not fill the data."""
    reached = 0
    for name, (begin, end) in sorted(ranges.items(), key=lambda item: item[1]):
        if end > size:
            raise ArtifactError(f"'{path}' is truncated: tensor '{name}' ends at {end}, the data at {size}")
        if begin != reached:
            raise ArtifactError(
                f"'{path}' is damaged: tensor '{name}' begins at {begin}, the tensor before it ends at {reached}"
            )
        reached = end
    if reached != size:
        raise ArtifactError(f"'{path}' is damaged: its tensors end at {reached}, the data at {size}")
