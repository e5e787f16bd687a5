"""safetensors files whose tensors are aligned in memory when the file is mapped.

The format (an eight-byte length, a JSON header, the tensors end to end) fixes no alignment and allows no holes. Here
the header is padded with spaces, as the format permits, and short tensors named `padding.N` stand between the others,
so that every tensor starts at a multiple of 64 and is used where it lies. Other readers of safetensors read the files.
"""

from __future__ import annotations

import json
import mmap
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import ArtifactError
from xrelay.runtime.abi import ALIGNMENT
from xrelay.runtime.json_fields import is_extent, is_list, is_object, parse_json_object

# safetensors' codes by numpy's and ml_dtypes' names; other dtypes are stored as the bytes they are made of.
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
_PADDING: Final = "padding."
_MAX_HEADER: Final = 100_000_000  # the format's own limit


@dataclass(frozen=True, slots=True)
class SafetensorsFile:
    """A mapped file: its metadata strings, and the bytes of each tensor by name (read-only views of the mapping)."""

    metadata: Mapping[str, str]
    tensors: Mapping[str, NDArray[np.uint8]]


def write_safetensors(path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Write a file. It appears whole or not at all: an existing one is replaced in one step, mapped or not."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        with partial.open("wb") as file:
            _write(file, {name: np.asarray(array, order="C") for name, array in tensors.items()}, metadata)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _write(file: BinaryIO, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    pads: list[int] = []
    end = 0
    for i, (name, array) in enumerate(tensors.items()):
        pad = -end % ALIGNMENT
        if pad:
            header[f"{_PADDING}{i}"] = {"dtype": "U8", "shape": [pad], "data_offsets": [end, end + pad]}
        begin, end = end + pad, end + pad + array.nbytes
        header[name] = _entry(array, begin, end)
        pads.append(pad)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % ALIGNMENT)
    file.write(len(text).to_bytes(8, "little"))
    file.write(text)
    for pad, array in zip(pads, tensors.values(), strict=True):
        file.write(bytes(pad))
        file.write(array.reshape(-1).view(np.uint8).data)


def _entry(array: NDArray[Any], begin: int, end: int) -> dict[str, object]:
    code = _CODES.get(array.dtype.name)
    shape = list(array.shape) if code is not None else [array.nbytes]
    return {"dtype": "U8" if code is None else code, "shape": shape, "data_offsets": [begin, end]}


def read_safetensors(path: Path) -> SafetensorsFile:
    """Map a file. `ArtifactError` where it cannot be opened, is truncated, or is not of this format."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < 8:
                raise ArtifactError(f"'{path}' is not a saved model: it has {size} bytes")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise ArtifactError(f"cannot open '{path}': {error}") from error
    data = np.frombuffer(mapped, np.uint8)
    length = int.from_bytes(mapped[:8], "little")
    if length > _MAX_HEADER or mapped[8:9] != b"{":
        raise ArtifactError(f"'{path}' is not a saved model", help="give a file that model.save() wrote")
    if length > size - 8:
        raise ArtifactError(f"'{path}' is truncated: its header has {length} bytes, the file {size}")
    return _parse_header(path, mapped[8 : 8 + length], data[8 + length :])


def _parse_header(path: Path, text: bytes, data: NDArray[np.uint8]) -> SafetensorsFile:
    header = dict(parse_json_object(text, f"the header of '{path}'"))
    metadata = header.pop("__metadata__", {})
    if not is_object(metadata):
        raise ArtifactError(f"'{path}' is damaged: its metadata is not an object")
    tensors: dict[str, NDArray[np.uint8]] = {}
    for name, entry in header.items():
        begin, end = _offsets(path, name, entry)
        if end > data.size:
            raise ArtifactError(f"'{path}' is truncated: tensor '{name}' ends at {end}, the data at {data.size}")
        if not name.startswith(_PADDING):
            tensors[name] = data[begin:end]
    strings = {key: value for key, value in metadata.items() if isinstance(value, str)}
    return SafetensorsFile(strings, tensors)


def _offsets(path: Path, name: str, entry: object) -> tuple[int, int]:
    offsets = entry.get("data_offsets") if is_object(entry) else None
    if is_list(offsets) and len(offsets) == 2:
        begin, end = offsets
        if is_extent(begin) and is_extent(end) and begin <= end:
            return begin, end
    raise ArtifactError(f"'{path}' is damaged: tensor '{name}' has no valid place")
