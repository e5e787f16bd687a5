"""Reads ELF object files, and renames their symbols.

Every offset, index and size of a file is checked before it is used, so a damaged file is an error.
"""

from __future__ import annotations

import struct
from collections.abc import Container, Iterator, Mapping
from typing import Final, NamedTuple

from xrelay.errors import ArtifactError

_MAGIC: Final = b"\x7fELF\x02\x01"
_HEADER: Final = struct.Struct("<18xH20xQ10xHHH")
"""Fields of the file header: machine, offset of the section headers, size and number of headers, section of titles."""
_SECTION: Final = struct.Struct("<IIQ8xQQIIQQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_RELOCATION: Final = struct.Struct("<QIIq")
_OBJECT_SYMBOLS, _RELOCATIONS, NO_BITS = 2, 4, 8
"""Types of sections: the symbols, relocations with addends, and zeros that are not in the file."""
_UNDEFINED, _FIRST_RESERVED = 0, 0xFF00
"""Section numbers of undefined symbols, and of absolute and common ones."""
_LOCAL: Final = 0
_FUNCTION: Final = 2
"""The type of a symbol that is a function."""
_HIDDEN: Final = 2
"""The visibility of symbols that are hidden from other shared libraries."""


class Section(NamedTuple):
    """A section of an object file."""

    name: str
    kind: int
    flags: int
    data: bytes
    """Its bytes in the file; none if `kind` is `NO_BITS`."""
    size: int
    link: int
    info: int
    alignment: int


class Symbol(NamedTuple):
    """An entry of the symbol table; the first one is empty."""

    name: str
    binding: int
    kind: int
    section: int
    """The index of the section that defines it; 0 for undefined symbols."""
    value: int
    size: int

    @property
    def is_global(self) -> bool:
        """Whether other object files can refer to it."""
        return self.binding != _LOCAL

    @property
    def is_defined(self) -> bool:
        """Whether this object file defines it."""
        return self.section != _UNDEFINED


class Relocation(NamedTuple):
    """A place in a section whose bytes depend on the address of a symbol."""

    offset: int
    kind: int
    symbol: int
    addend: int


class ObjectFile(NamedTuple):
    """The parts of an object file."""

    machine: int
    """The number of the architecture."""
    sections: list[Section]
    symbols: list[Symbol]
    symbols_offset: int
    names_header: int
    """The offset of the section header of the symbols' names."""
    names: bytes

    def relocations(self) -> Iterator[tuple[int, Iterator[Relocation]]]:
        """Yields the index of each section that has relocations, and its relocations."""
        for section in self.sections:
            if section.kind == _RELOCATIONS:
                whole = section.data[: len(section.data) // _RELOCATION.size * _RELOCATION.size]
                yield section.info, map(_relocation, _RELOCATION.iter_unpack(whole))


def _relocation(fields: tuple[int, int, int, int]) -> Relocation:
    offset, kind, symbol, addend = fields
    return Relocation(offset, kind, symbol, addend)


def read_object(code: bytes) -> ObjectFile:
    """Reads an object file. Raises `ArtifactError` unless it is a whole 64-bit little-endian ELF file."""
    if not code.startswith(_MAGIC):
        raise ArtifactError("the model's code is not 64-bit ELF", help="compile on Linux")
    try:
        return _read(code)
    except (struct.error, IndexError, ValueError, OverflowError) as error:
        raise ArtifactError(
            f"an object file of the model is damaged: {error}", help="compile the model again"
        ) from error


def _read(code: bytes) -> ObjectFile:
    header: tuple[int, ...] = _HEADER.unpack_from(code)
    machine, start, size, count, titled = header
    places = [start + number * size for number in range(count)]
    headers: list[tuple[int, ...]] = [_SECTION.unpack_from(code, place) for place in places]
    contents = [_content(code, header) for header in headers]
    titles = contents[titled]
    sections = [
        Section(_text(titles, name), kind, flags, data, size, link, info, alignment)
        for (name, kind, flags, _, size, link, info, alignment, _), data in zip(headers, contents, strict=True)
    ]
    table = next((number for number, each in enumerate(sections) if each.kind == _OBJECT_SYMBOLS), None)
    if table is None:
        raise ValueError("it has no symbol table")
    link = sections[table].link
    names = contents[link]
    symbols = [_symbol(fields, names, count) for fields in _SYMBOL.iter_unpack(contents[table])]
    return ObjectFile(machine, sections, symbols, headers[table][3], places[link], names)


def _content(code: bytes, header: tuple[int, ...]) -> bytes:
    _, kind, _, start, size, *_ = header
    if kind == NO_BITS:
        return b""
    if start + size > len(code):
        raise ValueError(f"a section of {size} bytes begins at {start} in a file of {len(code)} bytes")
    return code[start : start + size]


def _symbol(fields: tuple[int, ...], names: bytes, count: int) -> Symbol:
    name, info, _, section, value, size = fields
    if count <= section < _FIRST_RESERVED:
        raise ValueError(f"a symbol is in section {section} of {count}")
    return Symbol(_text(names, name), info >> 4, info & 15, section, value, size)


def _text(names: bytes, start: int) -> str:
    return names[start : names.index(b"\0", start)].decode()


def defined_symbols(code: bytes) -> set[str]:
    """Returns the global symbols that an object file defines. Raises `ArtifactError` unless it is 64-bit ELF."""
    return {symbol.name for symbol in read_object(code).symbols if symbol.is_global and symbol.is_defined}


def function_sizes(code: bytes) -> dict[str, int]:
    """Maps the global functions that an object file defines to their sizes in bytes. Raises as `defined_symbols`."""
    symbols = read_object(code).symbols
    return {each.name: each.size for each in symbols if each.is_global and each.is_defined and each.kind == _FUNCTION}


def rename_symbols(code: bytes, names: Mapping[str, str], *, public: Container[str]) -> bytes:
    """Returns the object file with its global symbols renamed by `names`, both definitions and references.

    A definition whose new name is not `public` is hidden: it links statically, but no library exports it.
    """
    file = read_object(code)
    result, strings = bytearray(code), bytearray(file.names)
    for number, symbol in enumerate(file.symbols):
        new = names.get(symbol.name) if symbol.is_global else None
        if new is None:
            continue
        place = file.symbols_offset + number * _SYMBOL.size
        struct.pack_into("<I", result, place, len(strings))
        strings += new.encode() + b"\0"
        if symbol.is_defined and new not in public:
            result[place + 5] = _HIDDEN
    struct.pack_into("<QQ", result, file.names_header + 24, len(result), len(strings))
    return bytes(result + strings)
