"""Linking object files: relocations of both architectures, refusals, and damaged files."""

from __future__ import annotations

import ctypes
import gc
import platform
import struct
import sys
from itertools import product
from pathlib import Path
from unittest.mock import patch

import pytest

from xrelay.errors import ArtifactError
from xrelay.runtime.object_code import llvm_linker
from xrelay.runtime.object_code.elf import read_object
from xrelay.runtime.object_code.llvm_compiler import compile_ir
from xrelay.runtime.object_code.native_library import NativeLibrary
from xrelay.runtime.object_code.object_image import Access, ObjectImage

PROGRAM = """
@table = internal constant [4 x i64] [i64 10, i64 20, i64 30, i64 40]
@byte = internal global i8 4
@half = internal global i16 7
@word = internal global i32 9
@pair = internal global <2 x i64> <i64 100, i64 200>
@public = global i64 5
@pointer = internal global ptr @public
@zero = internal global i64 0
declare i64 @host(i64)
declare i64 @other(i64)
define i64 @f(i64 %i) {
  %place = getelementptr [4 x i64], ptr @table, i64 0, i64 %i
  %item = load i64, ptr %place
  %byte = load volatile i8, ptr @byte
  %half = load volatile i16, ptr @half
  %word = load volatile i32, ptr @word
  %pair = load volatile <2 x i64>, ptr @pair
  store volatile i64 3, ptr @zero
  %three = load volatile i64, ptr @zero
  %pointer = load volatile ptr, ptr @pointer
  %five = load volatile i64, ptr %pointer
  %public = load volatile i64, ptr @public
  %byte64 = zext i8 %byte to i64
  %half64 = zext i16 %half to i64
  %word64 = zext i32 %word to i64
  %last = extractelement <2 x i64> %pair, i64 1
  %s1 = add i64 %item, %byte64
  %s2 = add i64 %s1, %half64
  %s3 = add i64 %s2, %word64
  %s4 = add i64 %s3, %last
  %s5 = add i64 %s4, %three
  %s6 = add i64 %s5, %five
  %s7 = add i64 %s6, %public
  %host = call i64 @host(i64 %s7)
  %other = call i64 @other(i64 %host)
  ret i64 %other
}
"""
OTHER = """
declare i64 @host(i64)
define i64 @other(i64 %x) {
  %y = tail call i64 @host(i64 %x)
  ret i64 %y
}
define ptr @host_address() {
  ret ptr @host
}
"""
RESULT = 30 + 4 + 7 + 9 + 200 + 3 + 5 + 5 + 2
BASES = (0x10000, 0x7F55_5000_0000)
HOST = 0x1122_3344_5566_7780


def compiled(text: str, arch: str = "") -> bytes:
    triple = f'target triple = "{arch}-unknown-linux-gnu"\n' if arch else ""
    return compile_ir(triple + text, cpu="generic", features="", opt_level=1)


def kinds(*objects: bytes) -> set[int]:
    return {each.kind for code in objects for _, rows in read_object(code).relocations() for each in rows}


def written(image: ObjectImage, base: int) -> bytearray:
    memory = bytearray(image.size)
    image.write(memoryview(memory), base, dict.fromkeys(image.undefined, HOST))
    return memory


def places(image: ObjectImage, code: bytes) -> dict[str, int]:
    """Returns the offsets of all named symbols of the only object of an image, local ones too."""
    file, (sections,) = read_object(code), image._places  # pyright: ignore[reportPrivateUsage]
    return {each.name: sections[each.section].offset + each.value for each in file.symbols if each.section in sections}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="runs code of x86-64")
def test_linked_code_runs():
    objects = [compiled(text, "x86_64") for text in (PROGRAM, OTHER)]
    assert kinds(*objects) >= {1, 2, 4, 42}
    host = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda x: x + 1)
    address = ctypes.cast(host, ctypes.c_void_p).value
    assert address is not None
    with patch.object(llvm_linker, "link", side_effect=AssertionError):
        library = NativeLibrary.load(objects, exports=["f", "host_address"], imports={"host": address})
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(library.address("f"))(2) == RESULT
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(library.address("host_address"))() == address


@pytest.mark.parametrize("base", BASES)
def test_calls_on_x86_64_reach_any_address(base: int):
    """A call of a function that may be further away than 2 GiB calls a stub, which jumps to the address in a slot."""
    code = compiled(OTHER, "x86_64")
    image = ObjectImage([code])
    memory = written(image, base)
    start = image.symbols["other"]
    (distance,) = struct.unpack_from("<i", memory, start + 1)
    assert memory[start] == 0xE9  # jmp
    stub = start + 5 + distance
    assert memory[stub : stub + 2] == b"\xff\x25"  # jmp [rip + distance]
    (distance,) = struct.unpack_from("<i", memory, stub + 2)
    assert struct.unpack_from("<Q", memory, stub + 6 + distance) == (HOST,)


# Instructions that refer to symbols, by mask and bits: `adrp`; `b` and `bl`; `add`, loads and stores with their scales.
ADRP, BRANCH = (0x9F000000, 0x90000000), (0x7C000000, 0x14000000)
OFFSETS = [
    ((0xFFC00000, 0x91000000), 0),
    ((0xFF800000, 0x39000000), 0),
    ((0xFF800000, 0x79000000), 1),
    ((0xFF800000, 0xB9000000), 2),
    ((0xFF800000, 0xF9000000), 3),
    ((0xFF800000, 0x3D800000), 4),
]


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> width - 1 else value


def referred(memory: bytearray, offset: int, base: int) -> int:
    """Returns the address that an instruction of aarch64 refers to; of an operand in a page, its low bits."""
    (code,) = struct.unpack_from("<I", memory, offset)
    if code & ADRP[0] == ADRP[1]:
        pages = signed((code >> 5 & 0x7FFFF) << 2 | code >> 29 & 3, 21)
        return ((base + offset >> 12) + pages) << 12
    if code & BRANCH[0] == BRANCH[1]:
        return base + offset + 4 * signed(code & 0x3FFFFFF, 26)
    (scale,) = (scale for (mask, bits), scale in OFFSETS if code & mask == bits)
    return (code >> 10 & 0xFFF) << scale


@pytest.mark.parametrize("base", BASES)
def test_instructions_of_aarch64_refer_to_their_symbols(base: int):
    code = compiled(PROGRAM, "aarch64")
    assert kinds(code) >= {257, 275, 277, 278, 282, 283, 284, 285, 286, 299, 311, 312}
    image, file = ObjectImage([code]), read_object(code)
    memory, offsets = written(image, base), places(image, code)
    for number, relocations in file.relocations():
        if file.sections[number].name != ".text":
            continue
        start = image._places[0][number].offset  # pyright: ignore[reportPrivateUsage]
        for offset, kind, index, addend in relocations:
            found, name = referred(memory, start + offset, base), file.symbols[index].name
            if kind in (282, 283):
                assert slot_of_stub(memory, found, base) == HOST
                continue
            if kind in (311, 312):
                aim = base + image._slot(name)  # pyright: ignore[reportPrivateUsage]
                assert struct.unpack_from("<Q", memory, aim - base) == (base + offsets[name],)
            else:
                section = file.symbols[index].section
                aim = base + image._places[0][section].offset + file.symbols[index].value + addend  # pyright: ignore[reportPrivateUsage]
            assert found == (aim & ~0xFFF if kind in (275, 311) else aim & 0xFFF)


def slot_of_stub(memory: bytearray, stub: int, base: int) -> int:
    """Returns the address in the slot that a stub of aarch64 reads."""
    page, low = (referred(memory, stub - base + 4 * number, base) for number in range(2))
    assert struct.unpack_from("<I", memory, stub - base + 8) == (0xD61F0200,)  # br x16
    return struct.unpack_from("<Q", memory, page + low - base)[0]


def test_objects_for_two_machines_are_refused():
    with pytest.raises(ArtifactError, match="machines"):
        ObjectImage([compiled(OTHER, "x86_64"), compiled("define void @g() {\n  ret void\n}", "aarch64")])


@pytest.mark.parametrize(
    "text",
    [
        "define weak i64 @f() {\n  ret i64 3\n}",
        "@x = thread_local global i64 3\ndefine i64 @f() {\n  %v = load i64, ptr @x\n  ret i64 %v\n}",
        "@x = common global i64 0\ndefine i64 @f() {\n  %v = load i64, ptr @x\n  ret i64 %v\n}",
        '@x = constant i64 3, section ".init_array"\ndefine i64 @f() {\n  ret i64 3\n}',
    ],
    ids=["weak", "thread-local", "common", "initialisers"],
)
def test_other_constructs_are_refused(text: str):
    with pytest.raises(ArtifactError, match="cannot link"):
        written(ObjectImage([compiled(text, "x86_64")]), BASES[0])


def test_repeated_symbols_are_refused():
    with pytest.raises(ArtifactError, match="'other'"):
        ObjectImage([compiled(OTHER)] * 2)


def test_llvm_links_what_an_image_refuses():
    library = NativeLibrary.load([compiled("define weak i64 @f() {\n  ret i64 3\n}")], exports=["f"])
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(library.address("f"))() == 3


def test_damaged_objects_are_refused_or_linked():
    """Each byte of a file is changed, and the file is cut at each length: nothing but `ArtifactError` is raised."""
    code = compiled(PROGRAM)
    changed = (
        code[:place] + bytes([value]) + code[place + 1 :] for place, value in product(range(len(code)), (0, 255))
    )
    outcomes = {is_refused(each) for each in changed}
    assert outcomes == {False, True}
    assert all(is_refused(code[:length]) for length in range(0, len(code), 5))


def is_refused(code: bytes) -> bool:
    try:
        image = ObjectImage([code])
        if image.size < 1 << 20:
            written(image, BASES[0])
    except ArtifactError:
        return True
    return False


def access_of(address: int) -> str | None:
    """Returns the access to the pages at an address, as in `r-xp`; `None` if they are not mapped."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(text, 16) for text in line.split()[0].split("-"))
        if begin <= address < end:
            return line.split()[1]
    return None


@pytest.mark.skipif(sys.platform != "linux", reason="reads the maps of a process on Linux")
def test_pages_are_writable_or_executable_until_they_are_freed():
    text = "@x = global i64 1\n@c = constant i64 1\ndefine void @f() {\n  ret void\n}\n"
    library = NativeLibrary.load([compiled(text)], exports=["f", "x", "c"])
    addresses = {name: library.address(name) for name in "fxc"}
    assert {name: access_of(address) for name, address in addresses.items()} == {"f": "r-xp", "x": "rw-p", "c": "r--p"}
    del library
    gc.collect()
    assert access_of(addresses["f"]) in (None, "rw-p")  # perhaps used again by the allocator


def test_segments_are_in_order():
    image = ObjectImage([compiled(PROGRAM)])
    assert [each.access for each in image.segments] == [Access.EXECUTE, Access.READ, Access.WRITE]
    assert image.segments[-1].end == image.size
