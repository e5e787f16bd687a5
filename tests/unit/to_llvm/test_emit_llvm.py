"""The text emitter: xDSL's translator as oracle on the common subset, constants, names, attributes, extension."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable

import llvmlite.binding as binding
import numpy as np
import pytest
from support.work import growth
from xdsl.backend.llvm.convert import convert_module
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, bf16, f16, f32, f64, i32
from xdsl.ir import Block, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition

from xrelay.errors import LoweringError
from xrelay.lowering.emit_llvm import FunctionText, emit_llvm_ir, writes
from xrelay.lowering.emit_llvm.texts import float_text
from xrelay.passes.infra.source import full_context, parse_module

COMMON = """
llvm.mlir.global private constant @table(dense<[1.0, 2.5, -3.0, 4.0]> : tensor<4xf32>) : !llvm.array<4 x f32>

llvm.func @helper(%a: i64, %b: i64) -> i64 {
  %0 = llvm.mul %a, %b : i64
  %1 = llvm.xor %0, %a : i64
  llvm.return %1 : i64
}

llvm.func @f(%n: i64, %out: !llvm.ptr) -> i64 {
  %zero = llvm.mlir.constant(0) : i64
  %one = llvm.mlir.constant(1) : i64
  %four = llvm.mlir.constant(4) : i64
  %k = llvm.mlir.constant(1.5 : f32) : f32
  %table = llvm.mlir.addressof @table : !llvm.ptr
  %stack = llvm.alloca %one x !llvm.array<4 x f32> {alignment = 16 : i64} : (i64) -> !llvm.ptr
  llvm.br ^head(%zero, %one : i64, i64)
^head(%i: i64, %sum: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^end(%sum : i64)
^body:
  %slot = llvm.urem %i, %four : i64
  %p = llvm.getelementptr inbounds %table[%slot] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %x = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> f32
  %y = llvm.fmul %x, %k : f32
  %i32 = llvm.trunc %i : i64 to i32
  %if = llvm.sitofp %i32 : i32 to f32
  %z = llvm.fadd %y, %if : f32
  %big = llvm.fcmp "ogt" %z, %k : f32
  %w = llvm.select %big, %z, %k : i1, f32
  %r = llvm.intr.fabs(%w) : (f32) -> f32
  %q = llvm.getelementptr inbounds %stack[%slot] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %r, %q {alignment = 4 : i64} : f32, !llvm.ptr
  %o = llvm.getelementptr inbounds %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %r, %o {alignment = 4 : i64} : f32, !llvm.ptr
  %h = llvm.call @helper(%i, %sum) : (i64, i64) -> i64
  %s = llvm.add %h, %sum : i64
  %next = llvm.add %i, %one : i64
  llvm.br ^head(%next, %s : i64, i64)
^end(%total: i64):
  llvm.return %total : i64
}
"""


def parse(text: str) -> ModuleOp:
    module = parse_module(full_context(), text, "in.mlir")
    module.verify()
    return module


def run(ir: str, count: int) -> tuple[int, np.ndarray]:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    module = binding.parse_assembly(ir)
    module.verify()
    with binding.create_mcjit_compiler(module, machine) as engine:
        engine.finalize_object()
        function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)(engine.get_function_address("f"))
        out = np.zeros(count, dtype=np.float32)
        return function(count, out.ctypes.data), out


def test_agrees_with_the_translator_of_xdsl():
    ours = run(emit_llvm_ir(parse(COMMON)), 11)
    theirs = run(str(convert_module(parse(COMMON), fallback_target_triple="")), 11)
    assert ours[0] == theirs[0]
    np.testing.assert_array_equal(ours[1], theirs[1])


def bits_of(text: str, value_bytes: int) -> int:
    """LLVM's bits of a float constant written as `text` (`type literal`)."""
    type_ = text.split()[0]
    module = binding.parse_assembly(f"@g = global {type_} {text.split()[1]}\ndefine ptr @f() {{ ret ptr @g }}")
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    with binding.create_mcjit_compiler(module, machine) as engine:
        engine.finalize_object()
        address = engine.get_global_value_address("g")
        return int.from_bytes(ctypes.string_at(address, value_bytes), "little")


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, 0.1, -math.pi, 1e-45, 3.4028234663852886e38, math.inf, -math.inf])
def test_float_constants_are_exact(value: float):
    (expected32,) = struct.unpack("<I", struct.pack("<f", value))
    assert bits_of(f"float {float_text(value, f32)}", 4) == expected32
    assert bits_of(f"double {float_text(value, f64)}", 8) == struct.unpack("<Q", struct.pack("<d", value))[0]
    with np.errstate(over="ignore"):
        assert bits_of(f"half {float_text(value, f16)}", 2) == int(np.float16(value).view(np.uint16))
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert bits_of(f"bfloat {float_text(value, bf16)}", 2) == int(ml_dtypes.bfloat16(value).view(np.uint16))


def test_nan_stays_nan():
    assert bits_of(f"float {float_text(math.nan, f32)}", 4) & 0x7FFFFFFF > 0x7F800000
    assert bits_of(f"bfloat {float_text(math.nan, bf16)}", 2) & 0x7FFF > 0x7F80
    assert bits_of(f"half {float_text(math.nan, f16)}", 2) & 0x7FFF > 0x7C00


def test_names_are_readable_unique_and_stable():
    text = """
llvm.func @"odd name"(%x: i32) -> i32 {
  %y = llvm.add %x, %x : i32
  %0 = llvm.add %y, %x : i32
  llvm.return %0 : i32
}
"""
    ir = emit_llvm_ir(parse(text))
    assert ir == emit_llvm_ir(parse(text))
    assert '@"odd name"(i32 %x)' in ir
    assert "%y = add i32 %x, %x" in ir
    binding.parse_assembly(ir).verify()


def test_target_becomes_attributes_of_every_function():
    ir = emit_llvm_ir(
        parse("llvm.func @f() {\n llvm.return\n}\nllvm.func @g()"),
        target_triple="x86_64-unknown-linux-gnu",
        target_cpu="znver4",
        target_features="+avx512f,-sse4a",
        prefer_vector_width=512,
    )
    assert ir.startswith('target triple = "x86_64-unknown-linux-gnu"\n')
    assert (
        'define void @f() "target-cpu"="znver4" "target-features"="+avx512f,-sse4a" "prefer-vector-width"="512" {' in ir
    )
    assert "declare void @g()\n" in ir


@irdl_op_definition
class FenceOp(IRDLOperation):
    """An op of another package."""

    name = "other.fence"


def test_another_package_registers_a_writer():
    function = llvm.FuncOp("f", llvm.LLVMFunctionType([]), body=Region(Block([FenceOp(), llvm.ReturnOp()])))
    module = ModuleOp([function])
    with pytest.raises(LoweringError, match=r"^@f: other\.fence cannot be written as LLVM IR"):
        emit_llvm_ir(module)

    @writes(FenceOp)
    def write_fence(_: FenceOp, text: FunctionText) -> None:
        text.line("fence seq_cst")

    binding.parse_assembly(emit_llvm_ir(module)).verify()
    assert "  fence seq_cst\n" in emit_llvm_ir(module)


def long_function(length: int) -> ModuleOp:
    block = Block(arg_types=[i32])
    value = block.args[0]
    for _ in range(length):
        add = llvm.AddOp(value, value)
        block.add_op(add)
        value = add.res
    block.add_op(llvm.ReturnOp(value))
    return ModuleOp([llvm.FuncOp("f", llvm.LLVMFunctionType([i32], i32), body=Region(block))])


def test_work_is_linear():
    def emit(length: int) -> Callable[[], str]:
        module = long_function(length)
        return lambda: emit_llvm_ir(module)

    assert growth(emit, 500, 10) < 12


def test_two_different_values_for_one_block_are_refused():
    text = """
llvm.func @f(%c: i1, %a: i32, %b: i32) -> i32 {
  llvm.cond_br %c, ^end(%a : i32), ^end(%b : i32)
^end(%r: i32):
  llvm.return %r : i32
}
"""
    with pytest.raises(LoweringError, match="passes different values to the same block twice"):
        emit_llvm_ir(parse(text))
