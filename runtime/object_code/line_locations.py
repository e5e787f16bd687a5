"""Connects assembly to the lines of the LLVM IR that it was made from, by debug information.

`with_line_locations` adds debug information to a module: each instruction gets its own line number. LLVM keeps these
numbers while it optimises, and `listing_of` reads them from the assembly. Debug information does not change code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_NODE: Final = re.compile(r"^!(\d+) = ", re.MULTILINE)
_DEFINITION: Final = "define "
_INDENT: Final = "  "
_PLACE: Final = re.compile(r"\t\.loc\t\d+ (\d+) ")
_ADDED: Final = re.compile(r"\t\.(?:loc|file)\t\d+ |\t\.cfi_|\.Ltmp\d+:$|\.Lfunc_begin\d+:$")
"""The lines of an assembly text that debug information adds to functions."""
_SECTION: Final = "\t.section\t"
_DEBUG_SECTION: Final = "\t.section\t.debug_"


@dataclass(frozen=True)
class Listing:
    """An assembly text, and the line of the LLVM IR for each line with an instruction; both count from 0."""

    text: str
    lines: dict[int, int] = field(default_factory=dict[int, int])


def with_line_locations(ir_text: str) -> str:
    """Returns a module whose instructions have their line numbers in `ir_text` as debug locations.

    ```
    define void @f() {                 define void @f() !dbg !9 {
      %x = add i64 %a, %b        →       %x = add i64 %a, %b, !dbg !10
    }                                  }
    ```
    """
    first = 1 + max((int(number) for number in _NODE.findall(ir_text)), default=-1)
    file, unit, version, kind = range(first, first + 4)
    nodes = [
        f'!{file} = !DIFile(filename: "module.ll", directory: "")',
        f"!{unit} = distinct !DICompileUnit(language: DW_LANG_C, file: !{file}, emissionKind: LineTablesOnly)",
        f'!{version} = !{{i32 2, !"Debug Info Version", i32 3}}',
        f"!{kind} = !DISubroutineType(types: !{{null}})",
    ]
    lines: list[str] = []
    scope = first
    for number, line in enumerate(ir_text.split("\n"), start=1):
        new = first + len(nodes)
        if line.startswith(_DEFINITION):
            scope = new
            nodes.append(f'!{new} = distinct !DISubprogram(name: "f", scope: !{file}, file: !{file}, type: !{kind}, '
                         f"unit: !{unit}, spFlags: DISPFlagDefinition)")  # fmt: skip
            lines.append(f"{line.removesuffix('{')}!dbg !{new} {{")
        elif line.startswith(_INDENT):
            nodes.append(f"!{new} = !DILocation(line: {number}, scope: !{scope})")
            lines.append(f"{line}, !dbg !{new}")
        else:
            lines.append(line)
    lines += [f"!llvm.dbg.cu = !{{!{unit}}}", f"!llvm.module.flags = !{{!{version}}}", *nodes, ""]
    return "\n".join(lines)


def listing_of(assembly: str) -> Listing:
    """Returns the assembly of a module with line locations as it is without debug information."""
    kept: list[str] = []
    lines: dict[int, int] = {}
    place = 0
    for line in _without_debug_sections(assembly.split("\n")):
        if (found := _PLACE.match(line)) is not None:
            place = int(found[1])
        if _ADDED.match(line) is None:
            if line.startswith("\t") and not line.startswith("\t.") and place:
                lines[len(kept)] = place - 1
            kept.append(line)
    return Listing("\n".join(kept), lines)


def _without_debug_sections(lines: list[str]) -> Iterator[str]:
    is_debug = False
    for line in lines:
        if line.startswith(_SECTION):
            is_debug = line.startswith(_DEBUG_SECTION)
        if not is_debug:
            yield line
