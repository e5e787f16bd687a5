"""Texts in the llvm dialect that call functions of the process: only known ones are allowed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xrelay
from xrelay.errors import LoweringError, XRelayError
from xrelay.extend.symbols import register_external_symbol
from xrelay.lowering import external_symbols

MODULE = """
builtin.module attributes {{
    xrelay.inputs = [{{name = "x", type = tensor<1xi32>}}], xrelay.outputs = [{{name = "y", type = tensor<1xi32>}}],
    xrelay.weights = [], xrelay.arena_size = 0 : i64, xrelay.kernels = []}} {{
  llvm.func @xrelay_entry(%ctx: !llvm.ptr, %args: !llvm.ptr) -> i32 {{
    %a = llvm.getelementptr inbounds %args[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %x = llvm.load %a : !llvm.ptr -> !llvm.ptr
    %b = llvm.getelementptr inbounds %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %y = llvm.load %b : !llvm.ptr -> !llvm.ptr
    %n = llvm.load %x : !llvm.ptr -> i32
    {body}
    %ok = llvm.mlir.constant(0 : i32) : i32
    llvm.return %ok : i32
  }}
  {top}
}}
"""
FUNCTION = """"llvm.func"() <{sym_name = "puts", function_type = !llvm.func<i32 (!llvm.ptr)>, CConv = #llvm.cconv<ccc>,
  linkage = #llvm.linkage<"LINKAGE">, visibility_ = 0 : i64}> ({^bb0(%z: !llvm.ptr):
    %r = llvm.mlir.constant(0 : i32) : i32
    llvm.return %r : i32
  }) : () -> ()"""
PUTS = "llvm.func @puts(!llvm.ptr) -> i32"
KERNEL = """
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {loop.num_outputs = 1 : i64} {
  MAIN
  func.call @k(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}
func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {loop.num_outputs = 1 : i64, loop.kernel} {
  loop.for "i" %i to 4 {
    %v = loop.load %x[%i] : memref<4xf32>
    loop.store %v, %y[%i] : memref<4xf32>
  }
  KERNEL
  func.return
}
func.func private @puts(memref<4xf32>)
"""
CALL = "func.call @puts(%x) : (memref<4xf32>) -> ()"


def _calling(place: str) -> str:
    """A loop-level text that calls an external function at one of its call sites."""
    return KERNEL.replace(place, CALL).replace("MAIN", "").replace("KERNEL", "")


def _compiled(text: str) -> xrelay.CompiledModel:
    return xrelay.compile(xrelay.parse(text), cache=False)


@pytest.mark.parametrize(
    ("body", "top", "words"),
    [
        ("%r = llvm.call @puts(%x) : (!llvm.ptr) -> i32", PUTS, "external function @puts"),
        ("%p = llvm.mlir.addressof @puts : !llvm.ptr", PUTS, "external function @puts"),
        ("", FUNCTION.replace("LINKAGE", "available_externally"), "external function @puts"),
        ("", FUNCTION.replace("LINKAGE", "extern_weak"), "external function @puts"),
        ("", "llvm.mlir.global external @environ() : !llvm.ptr", "external variable @environ"),
        ("", "llvm.mlir.global internal @llvm.used(0 : i64) : i64", "external variable @llvm.used"),
        ('%r = llvm.call_intrinsic "puts"(%x) : (!llvm.ptr) -> i32', "", "llvm."),
        ('%r = llvm.call_intrinsic "llvm.f() declare void @g"(%x) : (!llvm.ptr) -> i32', "", "no intrinsic"),
        ("%k = llvm.mlir.constant(4096 : i64) : i64\n %p = llvm.inttoptr %k : i64 to !llvm.ptr", "", "inttoptr"),
        ('"llvm.inline_asm"(%x) <{asm_string = "nop", constraints = "r"}> : (!llvm.ptr) -> ()', "", "inline_asm"),
        (
            "",
            'llvm.func @f() attributes {passthrough = ["cold { ret void } declare void @g() define void @h()"]} {'
            " llvm.return }",
            "no attribute of a function",
        ),
    ],
)
def test_what_reaches_for_the_process_is_refused(body: str, top: str, words: str) -> None:
    with pytest.raises(XRelayError, match=words):
        _compiled(MODULE.format(body=body, top=top))


@pytest.mark.parametrize("place", ["MAIN", "KERNEL"])
def test_functions_that_the_loop_level_declares_are_refused(place: str) -> None:
    with pytest.raises(LoweringError, match=r"external function @puts; help: .*register_external_symbol"):
        _compiled(_calling(place))


@pytest.mark.parametrize("place", ["MAIN", "KERNEL"])
def test_a_program_for_another_machine_is_checked(place: str, tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(_calling(place))
    with pytest.raises(LoweringError, match="external function @puts"):
        xrelay.compile(tmp_path / "m.mlir", target="cpu -mtriple=aarch64-linux-gnu", cache=False)


def test_attributes_of_functions_stay_strings() -> None:
    top = (
        'llvm.func @f() attributes {passthrough = [["a\\22 { ret void } declare void @g()", "b\\22"]]} { llvm.return }'
    )
    assert _compiled(MODULE.format(body="", top=top)).run([np.zeros(1, np.int32)])


def test_a_registered_function_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_symbols, "_registered", set[str]())
    body = "%r = llvm.call @abs(%n) : (i32) -> i32\nllvm.store %r, %y : i32, !llvm.ptr"
    text = MODULE.format(body=body, top="llvm.func @abs(i32) -> i32")
    with pytest.raises(LoweringError, match="external function @abs"):
        _compiled(text)
    register_external_symbol("abs")
    assert _compiled(text).run([np.array([-3], np.int32)])[0].tolist() == [3]


def test_a_name_that_is_registered_is_one_of_c() -> None:
    with pytest.raises(XRelayError, match=r"'a b' .* function"):
        register_external_symbol("a b")
