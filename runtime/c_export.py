"""Exports a compiled model to C: an object file, a header, and a file of weights.

For a model `m` with input `data` and output `prob`, the header declares

    void *m_load_weights(const char *path);      // NULL on failure; free() it
    int32_t m_run(const float *data, float *prob, const void *weights, void *arena, int32_t num_threads);

For a model with named dimensions it also declares m_plan, and m_run takes `dims` before the number of threads:

    int32_t m_plan(const int64_t *dims, int64_t *sizes);  // the arena's bytes, and the open extents of outputs

Outputs of data-dependent shape are not parameters. They are fields of a struct, which m_run takes before the weights:

    typedef struct m_results { … struct { float *data; int64_t extents[1]; } rows; } m_results;
    void m_release(m_results *results);          // frees the data, after each run that succeeded

A model that allocates buffers also has m_run_with: m_run with a last parameter, an `xrelay_allocator` of the program
for all of them. Sequences and optionals are objects, and the header has functions to create and read them.

The header also defines, as a weak symbol, a serial `xrelay_parallel_for`, which a program may replace. The object file
is position-independent and needs libc and libm. Every global symbol in it begins with the model's name, and the entry
is `m_entry`, so one program may contain several models.

Names of the model are escaped in comments. Identifiers that C, C++ or the header use are prefixed with `x_`.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import tempfile
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from xrelay.errors import ArtifactError
from xrelay.runtime.abi import BUFFER_SYMBOL, ENTRY_SYMBOL, PLAN_SYMBOL, RELEASE_SYMBOL
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.c_header import c_prefix, entry_symbol, header_text, plan_symbol, release_symbol, weight_offsets
from xrelay.runtime.files import sibling

_MAGIC: Final = b"\x7fELF\x02\x01"
_SECTION_HEADERS: Final = struct.Struct("<40xQ10xHH")
"""Fields of the file header: offset of the section headers, size of a header, number of headers."""
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_SYMBOL_TABLE: Final = 2
"""The type of the section that contains the symbols."""
_LOCAL, _UNDEFINED = 0, 0
_HIDDEN: Final = 2
"""The visibility of symbols that are hidden from other shared libraries."""


def export_c(artifact: Artifact, object_path: Path, header_path: Path, *, name: str | None = None) -> list[Path]:
    """Writes the object file, the header and, if the model has weights, `object_path` with suffix `.weights`.

    Returns the paths of the files.

    `name` is the prefix of all functions and macros and defaults to the name of the header. Raises `ArtifactError` if a
    file cannot be written, if the model has several object files and there is no linker (`ld`, `ld.lld`) to join them,
    or if they are not ELF files.
    """
    for spec in (*artifact.metadata.inputs, *artifact.metadata.outputs):
        if spec.is_function:
            raise ArtifactError(f"cannot export to C: '{spec.name}' is a function, which C cannot return")
    prefix = c_prefix(header_path.stem if name is None else name)
    offsets, size = weight_offsets(artifact.metadata)
    try:
        weights_path = sibling(object_path, ".weights")
        _join_objects(_named_after(artifact.objects, prefix), object_path)
        if artifact.weights:
            with weights_path.open("wb") as file:
                for offset, array in zip(offsets, artifact.weights, strict=True):
                    file.write(bytes(offset - file.tell()))
                    file.write(array.tobytes())
                file.write(bytes(size - file.tell()))
        allocates = any(BUFFER_SYMBOL in defined_symbols(code) for code in artifact.objects)
        header_path.write_text(header_text(artifact.metadata, prefix, allocates=allocates), encoding="utf-8")
    except OSError as error:
        raise ArtifactError(f"cannot export to '{object_path}': {error}") from error
    return [object_path, header_path, *([weights_path] if artifact.weights else [])]


def _named_after(objects: tuple[bytes, ...], prefix: str) -> tuple[bytes, ...]:
    """Returns the objects with all symbols that they define prefixed by the model's name."""
    defined = set[str]().union(*(defined_symbols(code) for code in objects))
    public = {
        ENTRY_SYMBOL: entry_symbol(prefix),
        PLAN_SYMBOL: plan_symbol(prefix),
        RELEASE_SYMBOL: release_symbol(prefix),
    }
    names = {name: public.get(name, f"{prefix}__{name}") for name in defined}
    return tuple(rename_symbols(code, names, public=set(public.values())) for code in objects)


def _join_objects(objects: tuple[bytes, ...], path: Path) -> None:
    if len(objects) == 1:
        path.write_bytes(objects[0])
        return
    linker = shutil.which("ld") or shutil.which("ld.lld")
    if linker is None:
        raise ArtifactError(f"the model has {len(objects)} object files and no 'ld' to link them", help="install one")
    with tempfile.TemporaryDirectory() as folder:
        parts = [Path(folder) / f"{i}.o" for i in range(len(objects))]
        for part, code in zip(parts, objects, strict=True):
            part.write_bytes(code)
        command = [linker, "-r", "-o", str(path), *(str(part) for part in parts)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise ArtifactError(f"{linker} cannot link the object files: {' '.join(result.stderr.split())}")


@dataclass(frozen=True)
class _Symbol:
    """An entry of the symbol table: its offset, and the relevant fields."""

    place: int
    name: str
    is_global: bool
    is_defined: bool


def defined_symbols(code: bytes) -> set[str]:
    """Returns the global symbols that an object file defines. Raises `ArtifactError` unless it is 64-bit ELF."""
    return {symbol.name for symbol in _read(code)[0] if symbol.is_global and symbol.is_defined}


def rename_symbols(code: bytes, names: Mapping[str, str], *, public: Container[str]) -> bytes:
    """Returns the object file with its global symbols renamed by `names`, both definitions and references.

    A definition whose new name is not `public` is hidden: it links statically, but no library exports it.
    """
    symbols, names_header, old_strings = _read(code)
    result, strings = bytearray(code), bytearray(old_strings)
    for symbol in symbols:
        new = names.get(symbol.name) if symbol.is_global else None
        if new is None:
            continue
        struct.pack_into("<I", result, symbol.place, len(strings))
        strings += new.encode() + b"\0"
        if symbol.is_defined and new not in public:
            result[symbol.place + 5] = _HIDDEN
    struct.pack_into("<QQ", result, names_header + 24, len(result), len(strings))
    return bytes(result + strings)


def _read(code: bytes) -> tuple[list[_Symbol], int, bytes]:
    """Returns the symbols of an object file, the offset of the header of their string table, and this table."""
    if not code.startswith(_MAGIC):
        raise ArtifactError("only 64-bit ELF object files can be exported to C", help="compile on Linux")
    start, size, count = _SECTION_HEADERS.unpack_from(code)
    places = [start + number * size for number in range(count)]
    sections: list[tuple[int, ...]] = [_SECTION.unpack_from(code, place) for place in places]
    table = next((section for section in sections if section[1] == _SYMBOL_TABLE), None)
    if table is None:
        raise ArtifactError("an object file of the model has no symbol table", help="compile the model again")
    names = sections[table[6]]
    strings = code[names[4] : names[4] + names[5]]
    return list(_symbols(code, table[4], table[5], strings)), places[table[6]], strings


def _symbols(code: bytes, start: int, size: int, strings: bytes) -> Iterator[_Symbol]:
    for place in range(start, start + size, _SYMBOL.size):
        name, info, _other, section, _value, _size = _SYMBOL.unpack_from(code, place)
        text = strings[name : strings.index(b"\0", name)].decode()
        yield _Symbol(place, text, is_global=info >> 4 != _LOCAL, is_defined=section != _UNDEFINED)
