"""Applies relocations of object files on x86-64 and aarch64: those that LLVM emits for the small code model.

A relocation inserts the address of its target, or the distance to it, into an instruction or a variable. Targets within
the linked objects are near. The address of any other symbol is in a table, and a *stub* jumps to it, because it may be
out of the reach of a call.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Final, NamedTuple

_WORD, _HALF, _DISTANCE = struct.Struct("<Q"), struct.Struct("<i"), struct.Struct("<q")
_INSTRUCTION: Final = struct.Struct("<I")
_MASK: Final = (1 << 64) - 1
_PAGE_BITS: Final = 12


class Aim(Enum):
    """The address that a relocation refers to."""

    SYMBOL = auto()
    """The symbol, which must be in the linked objects."""
    FUNCTION = auto()
    """The symbol, or its stub if it is elsewhere."""
    SLOT = auto()
    """The entry of the table that contains the symbol's address."""


Patch = Callable[[memoryview, int, int, int], None]
"""Writes at an offset of memory, whose address is the third argument, a reference to the address in the fourth.

Raises `struct.error` if the place is outside of the memory, or if the distance is too large.
"""


class Machine(NamedTuple):
    """The relocations of an architecture by number, and its stubs."""

    relocations: Mapping[int, tuple[Aim, Patch]]
    stub: Callable[[int, int], bytes]
    """Returns code that jumps to the address in a slot; the arguments are the addresses of code and slot."""


def _absolute(memory: memoryview, offset: int, place: int, target: int) -> None:
    _WORD.pack_into(memory, offset, target & _MASK)


def _far_distance(memory: memoryview, offset: int, place: int, target: int) -> None:
    _DISTANCE.pack_into(memory, offset, target - place)


def _distance(memory: memoryview, offset: int, place: int, target: int) -> None:
    _HALF.pack_into(memory, offset, target - place)


def _intel_stub(place: int, slot: int) -> bytes:
    return b"\xff\x25" + _HALF.pack(slot - place - 6)  # jmp [rip + distance]


_X86_64: Final = Machine(
    {
        1: (Aim.SYMBOL, _absolute),  # R_X86_64_64
        2: (Aim.SYMBOL, _distance),  # PC32
        4: (Aim.FUNCTION, _distance),  # PLT32
        9: (Aim.SLOT, _distance),  # GOTPCREL
        24: (Aim.SYMBOL, _far_distance),  # PC64
        41: (Aim.SLOT, _distance),  # GOTPCRELX
        42: (Aim.SLOT, _distance),  # REX_GOTPCRELX
    },
    _intel_stub,
)


def _insert(memory: memoryview, offset: int, bits: int) -> None:
    (instruction,) = _INSTRUCTION.unpack_from(memory, offset)
    _INSTRUCTION.pack_into(memory, offset, instruction | bits)


def _signed_bits(value: int, width: int) -> int:
    """Returns an integer as `width` bits. Raises `struct.error` if it needs more."""
    if not -(1 << width - 1) <= value < 1 << width - 1:
        raise struct.error(f"{value} does not fit in {width} bits")
    return value & (1 << width) - 1


def _branch(memory: memoryview, offset: int, place: int, target: int) -> None:
    """`b` and `bl`: the distance in instructions."""
    _insert(memory, offset, _signed_bits(target - place >> 2, 26))


def _page_bits(place: int, target: int) -> int:
    """Returns the operand of `adrp`, the distance in pages: its two low bits are apart from the others."""
    pages = _signed_bits((target >> _PAGE_BITS) - (place >> _PAGE_BITS), 21)
    return (pages & 3) << 29 | pages >> 2 << 5


def _page(memory: memoryview, offset: int, place: int, target: int) -> None:
    _insert(memory, offset, _page_bits(place, target))


def _offset_in_page(scale: int) -> Patch:
    """Returns the patch of an `add` (scale 0), or of a load or store of `1 << scale` bytes."""

    def patch(memory: memoryview, offset: int, place: int, target: int) -> None:
        _insert(memory, offset, _offset_bits(target, scale))

    return patch


def _offset_bits(target: int, scale: int) -> int:
    within = target & (1 << _PAGE_BITS) - 1
    if within % (1 << scale):
        raise struct.error(f"an operand of {1 << scale} bytes is not aligned")
    return within >> scale << 10


def _arm_stub(place: int, slot: int) -> bytes:
    load = 0xF9400210 | _offset_bits(slot, 3)  # ldr x16, [x16, offset]
    return struct.pack("<III", 0x90000010 | _page_bits(place, slot), load, 0xD61F0200)  # adrp x16, slot; …; br x16


_AARCH64: Final = Machine(
    {
        257: (Aim.SYMBOL, _absolute),  # R_AARCH64_ABS64
        260: (Aim.SYMBOL, _far_distance),  # PREL64
        261: (Aim.SYMBOL, _distance),  # PREL32
        275: (Aim.SYMBOL, _page),  # ADR_PREL_PG_HI21
        277: (Aim.SYMBOL, _offset_in_page(0)),  # ADD_ABS_LO12_NC
        278: (Aim.SYMBOL, _offset_in_page(0)),  # LDST8_ABS_LO12_NC
        282: (Aim.FUNCTION, _branch),  # JUMP26
        283: (Aim.FUNCTION, _branch),  # CALL26
        284: (Aim.SYMBOL, _offset_in_page(1)),  # LDST16_ABS_LO12_NC
        285: (Aim.SYMBOL, _offset_in_page(2)),  # LDST32_ABS_LO12_NC
        286: (Aim.SYMBOL, _offset_in_page(3)),  # LDST64_ABS_LO12_NC
        299: (Aim.SYMBOL, _offset_in_page(4)),  # LDST128_ABS_LO12_NC
        311: (Aim.SLOT, _page),  # ADR_GOT_PAGE
        312: (Aim.SLOT, _offset_in_page(3)),  # LD64_GOT_LO12_NC
    },
    _arm_stub,
)

MACHINES: Final[Mapping[int, Machine]] = {62: _X86_64, 183: _AARCH64}
"""Architectures by their number in ELF files."""
STUB_BYTES: Final = 16
"""The space for a stub."""
