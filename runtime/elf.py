"""Reads and renames the symbols of ELF object files."""

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
_FUNCTION: Final = 2
"""The type of a symbol that is a function."""
_HIDDEN: Final = 2
"""The visibility of symbols that are hidden from other shared libraries."""


@dataclass(frozen=True)
class _Symbol:
    """An entry of the symbol table: its offset, and the relevant fields."""

    place: int
    name: str
    is_global: bool
    is_defined: bool
    is_function: bool
    size: int


def defined_symbols(code: bytes) -> set[str]:
    """Returns the global symbols that an object file defines. Raises `ArtifactError` unless it is 64-bit ELF."""
    return {symbol.name for symbol in _read(code)[0] if symbol.is_global and symbol.is_defined}


def function_sizes(code: bytes) -> dict[str, int]:
    """Maps the global functions that an object file defines to their sizes in bytes. Raises as `defined_symbols`."""
    symbols = _read(code)[0]
    return {each.name: each.size for each in symbols if each.is_global and each.is_defined and each.is_function}


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
        raise ArtifactError("the model's code is not 64-bit ELF", help="compile on Linux")
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
        name, info, _other, section, _value, length = _SYMBOL.unpack_from(code, place)
        text = strings[name : strings.index(b"\0", name)].decode()
        yield _Symbol(
            place,
            text,
            is_global=info >> 4 != _LOCAL,
            is_defined=section != _UNDEFINED,
            is_function=info & 15 == _FUNCTION,
            size=length,
        )
