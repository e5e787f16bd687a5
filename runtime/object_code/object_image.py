"""Links object files: places their sections in one block of memory, and resolves references between them.

    code of all objects, stubs  |  constants of all objects, table of addresses  |  variables of all objects
    readable, executable        |  readable                                      |  readable, writable

Each of the three segments is a number of pages. An image links the object files that LLVM emits for the small code
model, as LLVM's JIT linker does, and raises `ArtifactError` for others. It leaves out tables for stack unwinding: no
exception passes through compiled code, and debuggers read such tables only from files.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from mmap import PAGESIZE
from typing import Final, NamedTuple

from xrelay.errors import ArtifactError
from xrelay.runtime.object_code.elf import NO_BITS, ObjectFile, Section, Symbol, read_object
from xrelay.runtime.object_code.relocations import MACHINES, STUB_BYTES, Aim

_PROGRAM_BITS: Final = 1
_WRITABLE, _ALLOCATED, _EXECUTABLE, _THREAD_LOCAL = 1, 2, 4, 0x400
_UNWIND_TABLES: Final = ".eh_frame"
_UNWIND_KIND: Final = 0x70000001
"""The type of unwind tables on x86-64."""
_GLOBAL: Final = 1
_SLOT_BYTES: Final = 8


class Access(Enum):
    """How code may use a segment."""

    EXECUTE = auto()
    READ = auto()
    WRITE = auto()


class Segment(NamedTuple):
    """Pages of an image with one kind of access."""

    access: Access
    begin: int
    end: int


class _Placed(NamedTuple):
    """A section at its offset in the image."""

    section: Section
    offset: int


class ObjectImage:
    """Object files at their places in one block of memory."""

    size: int
    """The size of the block, a number of pages."""
    segments: list[Segment]
    symbols: dict[str, int]
    """Maps the global symbols that the objects define to their offsets."""
    undefined: list[str]
    """The other global symbols, which `write` looks up."""

    def __init__(self, objects: Sequence[bytes]):
        """Reads the files and places their sections. Raises `ArtifactError` if one has to be linked by LLVM."""
        self._files = [read_object(code) for code in objects]
        machines = {file.machine for file in self._files}
        if len(machines) != 1 or not machines <= MACHINES.keys():
            raise _refusal(f"objects for the machines {sorted(machines)}")
        self._machine = MACHINES[machines.pop()]
        self._places: list[dict[int, _Placed]] = [{} for _ in objects]
        names = {symbol.name: None for file in self._files for symbol in file.symbols if symbol.is_global}
        self._slot_of = {name: number for number, name in enumerate(names)}
        self._place_sections()
        self.symbols = self._defined()
        self.undefined = [name for name in names if name not in self.symbols]

    def _place_sections(self) -> None:
        """Places the sections of each kind of access together, then stubs and slots for all global symbols."""
        self.segments = []
        self.size = 0
        for access in Access:
            begin = self.size
            for file, places in zip(self._files, self._places, strict=True):
                for number, section in enumerate(file.sections):
                    if _access(section) is access:
                        self._place(section, number, places)
            if access is Access.EXECUTE:
                self._stubs = self._reserve(STUB_BYTES)
            if access is Access.READ:
                self._slots = self._reserve(_SLOT_BYTES)
            self.size = _aligned(self.size, PAGESIZE)
            if self.size > begin:
                self.segments.append(Segment(access, begin, self.size))

    def _place(self, section: Section, number: int, places: dict[int, _Placed]) -> None:
        alignment = max(1, section.alignment)
        if alignment & alignment - 1 or alignment > PAGESIZE:
            raise _refusal(f"a section with alignment {alignment}")
        start = _aligned(self.size, alignment)
        places[number] = _Placed(section, start)
        self.size = start + section.size

    def _reserve(self, size: int) -> int:
        """Reserves `size` bytes for each global symbol; returns the offset of the first."""
        start = _aligned(self.size, STUB_BYTES)
        self.size = start + size * len(self._slot_of)
        return start

    def _defined(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for file, places in zip(self._files, self._places, strict=True):
            for symbol in filter(_is_public, file.symbols):
                if symbol.binding != _GLOBAL or symbol.name in found:
                    raise _refusal(f"a weak or repeated symbol '{symbol.name}'")
                found[symbol.name] = _offset_of(symbol, places)
        return found

    def write(self, memory: memoryview, base: int, undefined: Mapping[str, int]) -> None:
        """Writes the linked code to `memory`, which has `size` bytes, is zeroed, and begins at the address `base`.

        `undefined` has the addresses of the undefined symbols. Raises `ArtifactError` if LLVM has to link the objects.
        """
        for places in self._places:
            for section, offset in places.values():
                memory[offset : offset + len(section.data)] = section.data
        defined = {name: base + offset for name, offset in self.symbols.items()}
        for name in self.undefined:
            place, slot = (start + base for start in (self._stub(name), self._slot(name)))
            code = self._machine.stub(place, slot)
            memory[place - base : place - base + len(code)] = code
        for name, address in {**defined, **undefined}.items():
            struct.pack_into("<Q", memory, self._slot(name), address)
        try:
            for file, places in zip(self._files, self._places, strict=True):
                self._relocate(file, places, memory, base)
        except (struct.error, IndexError, KeyError) as error:
            raise _refusal(f"a relocation: {error!r}") from error

    def _relocate(self, file: ObjectFile, places: dict[int, _Placed], memory: memoryview, base: int) -> None:
        """Applies the relocations of a file. Raises `KeyError`, `IndexError` and `struct.error` for unknown ones."""
        kinds = self._machine.relocations
        for number, relocations in file.relocations():
            if number not in places:
                continue  # of unwind tables and debug information, which are not loaded
            section, start = places[number]
            part = memory[start : start + section.size]
            for offset, kind, index, addend in relocations:
                aim, patch = kinds[kind]
                target = self._target(aim, file.symbols[index], places) + base + addend
                patch(part, offset, base + start + offset, target)

    def _target(self, aim: Aim, symbol: Symbol, places: dict[int, _Placed]) -> int:
        """Returns the offset that a relocation refers to. Raises `KeyError` for an unknown symbol."""
        if aim is Aim.SLOT:
            return self._slot(symbol.name)
        if not symbol.is_global:
            return _offset_of(symbol, places)
        if aim is Aim.FUNCTION and symbol.name not in self.symbols:
            return self._stub(symbol.name)
        return self.symbols[symbol.name]

    def _stub(self, name: str) -> int:
        return self._stubs + self._slot_of[name] * STUB_BYTES

    def _slot(self, name: str) -> int:
        return self._slots + self._slot_of[name] * _SLOT_BYTES


def _access(section: Section) -> Access | None:
    """Returns the access that a section needs; `None` if it is not loaded. Raises `ArtifactError` for other kinds."""
    if not section.flags & _ALLOCATED or section.kind == _UNWIND_KIND or section.name == _UNWIND_TABLES:
        return None
    if section.kind not in (_PROGRAM_BITS, NO_BITS) or section.flags & _THREAD_LOCAL:
        raise _refusal(f"the section '{section.name}'")
    if section.flags & _EXECUTABLE:
        return Access.EXECUTE
    return Access.WRITE if section.flags & _WRITABLE else Access.READ


def _is_public(symbol: Symbol) -> bool:
    return symbol.is_global and symbol.is_defined


def _offset_of(symbol: Symbol, places: dict[int, _Placed]) -> int:
    """Returns the offset of a defined symbol in the image. Raises `ArtifactError` if it is not in a loaded section."""
    if symbol.section not in places or symbol.value > places[symbol.section].section.size:
        raise _refusal(f"the symbol '{symbol.name}' in section {symbol.section}")
    return places[symbol.section].offset + symbol.value


def _aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _refusal(what: str) -> ArtifactError:
    return ArtifactError(f"cannot link {what}")
