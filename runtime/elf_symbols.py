"""Renames the global symbols of an ELF object file, so that several models link into one program.

Every model's entry is `xrelay_entry`, its top function `main`, and kernels of two models may have the same name. A
symbol's name is an offset into a string table that nothing else refers to, so a new table is appended to the file and
the symbols refer to it. Order and number of symbols do not change, so relocations stay valid.

Source: System V ABI, chapter 4 (https://gabi.xinuos.com/), 64 bits, little endian.
"""

from __future__ import annotations

import struct
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from xrelay.errors import ArtifactError

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


@dataclass(frozen=True)
class _Symbol:
    """An entry of the symbol table: its offset, and the relevant fields."""

    place: int
    name: str
    is_global: bool
    is_defined: bool


@dataclass(frozen=True)
class _Tables:
    """The symbols of an object file, and their string table."""

    symbols: list[_Symbol]
    names_header: int
    """The offset of the section header of the string table."""
    names: bytes


def defined_symbols(code: bytes) -> set[str]:
    """Returns the global symbols that an object file defines. Raises `ArtifactError` unless it is 64-bit ELF."""
    return {symbol.name for symbol in _read(code).symbols if symbol.is_global and symbol.is_defined}


def rename_symbols(code: bytes, names: Mapping[str, str], *, public: Container[str]) -> bytes:
    """Returns the object file with its global symbols renamed by `names`, both definitions and references.

    A definition whose new name is not `public` is hidden: it links statically, but no library exports it.
    """
    tables = _read(code)
    result, strings = bytearray(code), bytearray(tables.names)
    for symbol in tables.symbols:
        new = names.get(symbol.name) if symbol.is_global else None
        if new is None:
            continue
        struct.pack_into("<I", result, symbol.place, len(strings))
        strings += new.encode() + b"\0"
        if symbol.is_defined and new not in public:
            result[symbol.place + 5] = _HIDDEN
    struct.pack_into("<QQ", result, tables.names_header + 24, len(result), len(strings))
    return bytes(result + strings)


def _read(code: bytes) -> _Tables:
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
    return _Tables(list(_symbols(code, table[4], table[5], strings)), places[table[6]], strings)


def _symbols(code: bytes, start: int, size: int, strings: bytes) -> Iterator[_Symbol]:
    for place in range(start, start + size, _SYMBOL.size):
        name, info, _other, section, _value, _size = _SYMBOL.unpack_from(code, place)
        text = strings[name : strings.index(b"\0", name)].decode()
        yield _Symbol(place, text, is_global=info >> 4 != _LOCAL, is_defined=section != _UNDEFINED)
