"""Assembly is connected to lines of the LLVM IR by debug information, which changes no code."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.native_kernels import host_ir

from xrelay.runtime.object_code.line_locations import Listing, listing_of, with_line_locations
from xrelay.runtime.object_code.llvm_compiler import assembly, located_assembly
from xrelay.target import Target

SCALARS = """
define i64 @f(i64 %a, i64 %b) nounwind {
entry:
  %p = mul i64 %a, %b
  %q = sdiv i64 %p, 3
  ret i64 %q
}
"""
VECTORS = """
func.func @k(%X: memref<4x16xf32>, %Y: memref<16xf32>) {
  loop.for "j" %j to 4 {
    loop.for "i" %i to 16 vectorized {
      %x = loop.load %X[%j, %i] : memref<4x16xf32>
      %y = loop.load %Y[%i] : memref<16xf32>
      %s = arith.addf %x, %y : f32
      loop.store %s, %Y[%i] : memref<16xf32>
    }
  }
  func.return
}"""
SCALAR_LOOP = VECTORS.replace(" vectorized", "")


def options() -> dict[str, Any]:
    target = Target.host()
    return {"cpu": target.mcpu, "features": ",".join(target.code_features())}


def without_unwinding(text: str) -> list[str]:
    return [line for line in text.rstrip().split("\n") if not line.startswith("\t.cfi_")]


def test_instructions_have_the_lines_of_their_ops():
    listing = located_assembly(SCALARS, **options())
    lines = {text.strip(): listing.lines.get(at) for at, text in enumerate(listing.text.split("\n"))}
    (product,) = (line for text, line in lines.items() if text.startswith("imulq\t%rsi"))
    assert product == 3
    assert lines["retq"] == 5


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("kernel", [VECTORS, SCALAR_LOOP])
def test_debug_information_changes_no_code(kernel: str, level: int):
    text = host_ir(kernel)
    listing = located_assembly(text, **options(), opt_level=level)
    assert without_unwinding(assembly(text, **options(), opt_level=level)) == without_unwinding(listing.text)
    assert listing.lines


def test_metadata_of_a_text_keeps_its_numbers():
    text = "define void @f() {\n  ret void\n}\n\n!0 = !{i32 1}\n"
    located = with_line_locations(text)
    assert "!0 = !{i32 1}" in located
    numbers = re.findall(r"^!(\d+) = ", located, re.MULTILINE)
    assert len(numbers) == len(set(numbers))
    assert "  ret void, !dbg !" in located


def test_listing_without_locations():
    assert listing_of("f:\n\tretq\n") == Listing("f:\n\tretq\n")
