"""Compiling LLVM IR text and loading object code."""

from __future__ import annotations

import ctypes
import gc
import platform
from unittest.mock import patch

import pytest

from xrelay.errors import ExecutionError, LoweringError
from xrelay.runtime import llvm
from xrelay.runtime.host_cpu import host_features
from xrelay.runtime.object_code.llvm_compiler import assembly, compile_ir, compile_many
from xrelay.runtime.object_code.native_library import NativeLibrary


def constant(name: str, value: int) -> str:
    return f"define i64 @{name}() {{\n  ret i64 {value}\n}}\n"


def call(library: NativeLibrary, name: str) -> int:
    return ctypes.CFUNCTYPE(ctypes.c_int64)(library.address(name))()


def test_compile_and_call():
    code = compile_ir(constant("seven", 7), cpu="", features="")
    assert call(NativeLibrary.load([code], exports=["seven"]), "seven") == 7


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_every_optimisation_level(level: int):
    code = compile_ir(constant("seven", 7), cpu="", features="", opt_level=level)
    assert call(NativeLibrary.load([code], exports=["seven"]), "seven") == 7


def test_syntax_error_carries_the_message_of_llvm():
    with pytest.raises(LoweringError, match=r"LLVM .*expected") as error:
        compile_ir("define i32 @f( {", cpu="", features="")
    assert "\n" not in str(error.value)


def test_invalid_module_is_refused():
    text = "define i32 @f(i32 %x) {\n  %y = add i32 %z, 1\n  %z = add i32 %x, 1\n  ret i32 %y\n}\n"
    with pytest.raises(LoweringError, match="does not dominate"):
        compile_ir(text, cpu="", features="")


def test_compile_many_keeps_the_order_and_compiles_equal_texts_once():
    texts = [constant(f"f{i % 5}", i % 5) for i in range(10)]
    codes = compile_many(texts, cpu="", features="", threads=4)
    assert codes[:5] == codes[5:]
    assert len(set(codes)) == 5
    for i in range(5):
        assert call(NativeLibrary.load([codes[i]], exports=[f"f{i}"]), f"f{i}") == i


def test_each_module_has_its_level():
    text = "define i64 @f(i64 %x) {\n  %a = add i64 %x, 1\n  %b = add i64 %a, -1\n  ret i64 %b\n}\n"
    plain, optimised, again = compile_many([text] * 3, cpu="", features="", opt_level=[0, 3, 0])
    assert plain == again == compile_ir(text, cpu="", features="", opt_level=0)
    assert optimised == compile_ir(text, cpu="", features="", opt_level=3) != plain


def test_a_compiler_serves_one_module_after_another_with_the_same_options() -> None:
    texts = [constant(f"f{i}", i) for i in range(6)]
    kind = type(llvm.binding().Target.from_default_triple())
    with patch.object(kind, "create_target_machine", autospec=True, side_effect=kind.create_target_machine) as made:
        codes = [compile_ir(text, cpu="generic", features="", opt_level=i % 2) for i, text in enumerate(texts)]
    assert made.call_count <= 2
    for i, code in enumerate(codes):
        assert call(NativeLibrary.load([code], exports=[f"f{i}"]), f"f{i}") == i
    assert codes == [compile_ir(text, cpu="generic", features="", opt_level=i % 2) for i, text in enumerate(texts)]


def test_compile_many_raises_the_error_of_one():
    with pytest.raises(LoweringError):
        compile_many([constant("a", 1), "nonsense", constant("b", 2)], cpu="", features="", threads=2)


def test_objects_are_linked_together():
    caller = (
        "declare i64 @five()\ndefine i64 @six() {\n  %f = call i64 @five()\n  %s = add i64 %f, 1\n  ret i64 %s\n}\n"
    )
    codes = compile_many([caller, constant("five", 5)], cpu="", features="")
    assert call(NativeLibrary.load(codes, exports=["six"]), "six") == 6


def test_symbols_of_several_libraries_do_not_meet():
    one, two = (NativeLibrary.load([compile_ir(constant("f", v), cpu="", features="")], exports=["f"]) for v in (1, 2))
    assert (call(one, "f"), call(two, "f")) == (1, 2)


def test_import_binds_an_address():
    text = "declare i64 @host()\ndefine i64 @f() {\n  %r = call i64 @host()\n  ret i64 %r\n}\n"
    host = ctypes.CFUNCTYPE(ctypes.c_int64)(lambda: 42)
    address = ctypes.cast(host, ctypes.c_void_p).value
    assert address is not None
    library = NativeLibrary.load([compile_ir(text, cpu="", features="")], exports=["f"], imports={"host": address})
    assert call(library, "f") == 42


def test_libm_is_at_hand():
    text = "declare double @exp(double)\ndefine i64 @f() {\n  %e = call double @exp(double 0.0)\n"
    text += "  %r = fptosi double %e to i64\n  ret i64 %r\n}\n"
    library = NativeLibrary.load([compile_ir(text, cpu="", features="", opt_level=0)], exports=["f"])
    assert call(library, "f") == 1


def test_missing_symbol():
    text = "declare i64 @missing_symbol()\ndefine i64 @f() {\n  %r = call i64 @missing_symbol()\n  ret i64 %r\n}\n"
    with pytest.raises(ExecutionError, match=r"cannot load native code: .*'missing_symbol'"):
        NativeLibrary.load([compile_ir(text, cpu="", features="")], exports=["f"])


def test_garbage_is_no_object_file():
    with pytest.raises(ExecutionError, match="cannot load native code"):
        NativeLibrary.load([b"not an object file"], exports=[])


def test_unknown_export():
    library = NativeLibrary.load([compile_ir(constant("f", 1), cpu="", features="")], exports=["f"])
    with pytest.raises(ExecutionError, match="'g'"):
        library.address("g")


def test_libraries_are_unloaded_and_loaded_again():
    for value in range(4):
        library = NativeLibrary.load([compile_ir(constant("f", value), cpu="", features="")], exports=["f"])
        assert call(library, "f") == value
        del library
        gc.collect()


def test_read_only_data_is_reachable():
    """The small code model requires an object's sections to be close together, wherever the linker places them."""
    text = "@table = private constant [4 x i64] [i64 10, i64 20, i64 30, i64 40]\ndefine i64 @f(i64 %i) {\n"
    text += "  %p = getelementptr [4 x i64], ptr @table, i64 0, i64 %i\n  %v = load i64, ptr %p\n  ret i64 %v\n}\n"
    library = NativeLibrary.load([compile_ir(text, cpu="", features="")], exports=["f"])
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(library.address("f"))(2) == 30


def test_loops_marked_for_unrolling_are_unrolled():
    text = """
define void @f(ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %n, %loop ]
  %q = getelementptr i32, ptr %p, i64 %i
  store volatile i32 7, ptr %q
  %n = add i64 %i, 1
  %c = icmp ult i64 %n, 6
  br i1 %c, label %loop, label %exit, !llvm.loop !0
exit:
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.full"}
"""
    if platform.machine() == "x86_64":
        assert assembly(text, cpu="", features="").count("movl\t$7") == 6


def test_host_features_are_known():
    if platform.machine() == "x86_64":
        assert "sse2" in host_features()
