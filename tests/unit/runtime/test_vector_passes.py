"""The code for which LLVM's short pipeline is used, and that it unrolls and keeps accumulators in registers."""

from __future__ import annotations

import re

import pytest

from xrelay.runtime.object_code.llvm_compiler import assembly, compile_ir
from xrelay.runtime.object_code.vector_passes import VECTOR_PASSES, Code, code_of, hide_counters, is_vector_code

_LOOP = """define void @f(ptr %x, ptr noalias %y) {{
entry:
  %sum = alloca <8 x float>
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %goes_on = icmp slt i64 %i, 8
  br i1 %goes_on, label %body, label %end
body:
  %from = getelementptr inbounds <8 x float>, ptr %x, i64 %i
  %value = load <8 x float>, ptr %from
{body}
  br label %latch
latch:
  %next = add nsw i64 %i, 1
  br label %head, !llvm.loop !1
end:
{end}
  ret void
}}

!0 = !{{!"llvm.loop.unroll.{unroll}"}}
!1 = distinct !{{!1, !0}}
"""
_STORE = """  %to = getelementptr inbounds <8 x float>, ptr %y, i64 %i
  store <8 x float> %value, ptr %to"""
_BRANCH = """  %is_inside = icmp ult i64 %i, 5
  br i1 %is_inside, label %inside, label %latch
inside:
  store <8 x float> %value, ptr %y"""
_SCALAR = """  %number = extractelement <8 x float> %value, i64 0
  store float %number, ptr %y"""
_LANES = """define void @g(ptr %x, ptr %y) {{
entry:
  %array = {array}
  br label %head
head:
  %lane = phi i64 [ 0, %entry ], [ %next, %body ]
  %goes_on = icmp slt i64 %lane, 8
  br i1 %goes_on, label %body, label %end
body:
  %from = getelementptr inbounds float, ptr %x, i64 %lane
  %number = load float, ptr %from, align 4
  %to = getelementptr inbounds float, ptr %array, i64 %lane
  store float %number, ptr %to, align 4
  %next = add nsw i64 %lane, 1
  br label %head, !llvm.loop !1
end:
  %all = load <8 x float>, ptr %array, align 32
  store <8 x float> %all, ptr %y
  ret void
}}

!0 = !{{!"llvm.loop.unroll.{unroll}"}}
!1 = distinct !{{!1, !0}}
"""
"""Collects lanes in an array and stores them as a vector."""


def _text(body: str, *, unroll: str = "full", end: str = "") -> str:
    return _LOOP.format(body=body, unroll=unroll, end=end)


def _wide(text: str) -> str:
    """The same text with vectors for a machine with 32 vector registers."""
    return text.replace("<8 x float>", "<16 x float>")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_text(_STORE), True),
        (_text(_STORE, end="  store ptr %x, ptr %y"), True),
        (_text(_STORE, end="  store i64 1, ptr %y"), False),
        (_text(_STORE, end="  store volatile i32 1, ptr %y"), False),
        (_text(_SCALAR), False),
        (_text(""), False),
        (_text(_BRANCH), False),
        (_text(_BRANCH, unroll="disable"), True),
        ("", False),
    ],
    ids=["vectors", "arguments", "a number", "volatile", "scalars", "no store", "unrolled", "not unrolled", "empty"],
)
def test_what_is_vector_code(text: str, expected: bool):
    assert is_vector_code(text) is expected


@pytest.mark.parametrize(
    ("array", "unroll", "expected"),
    [
        ("alloca [8 x float], i64 1, align 32", "full", True),
        ("alloca [8 x float], i64 1, align 32", "disable", False),
        ("getelementptr inbounds float, ptr %y, i64 8", "full", False),
    ],
    ids=["a register", "an array in memory", "a result"],
)
def test_lanes_are_collected_in_a_register(array: str, unroll: str, expected: bool):
    assert is_vector_code(_LANES.format(array=array, unroll=unroll)) is expected


@pytest.mark.parametrize(("linkage", "expected"), [("internal ", True), ("", False)])
def test_functions_that_allocate_do_not_count(linkage: str, expected: bool):
    helper = f"define {linkage}void @scratch(ptr %p) {{\nentry:\n  store i64 1, ptr %p\n  ret void\n}}\n"
    assert is_vector_code(helper + _text(_STORE)) is expected
    assert not is_vector_code(helper)


def test_a_choice_of_the_loop_around_is_none_of_the_unrolled_loop():
    outer = _text(_BRANCH, unroll="disable")
    inner = _text(_STORE).replace("@f", "@g").replace("!1", "!3").replace("!0", "!2")
    assert is_vector_code(outer + inner)
    assert not is_vector_code(_text(_BRANCH) + inner)


def test_loops_are_unrolled_whole():
    text = 'target triple = "x86_64-unknown-linux-gnu"\n' + _text(_STORE)
    listing = assembly(text, cpu="x86-64-v3", features="")
    assert len(re.findall(r"^\s*vmov[au]ps\s+%ymm", listing, re.MULTILINE)) == 8
    assert not re.search(r"^\s*j[a-z]+\s", listing, re.MULTILINE)
    assert compile_ir(text, cpu="x86-64-v3", features="")


def test_a_loop_that_stays_counts_by_a_number_that_nobody_looks_into() -> None:
    hidden = hide_counters(_wide(_text(_STORE, unroll="disable")))
    assert "  %next.sum = add nsw i64 %i, 1\n  %next = call i64 @llvm.expect.i64(i64 %next.sum, i64 0)\n" in hidden
    assert "br label %head, !llvm.loop !1" in hidden
    assert hide_counters(hidden) == hidden


def test_a_loop_without_a_word_on_unrolling_counts_so_too() -> None:
    assert "@llvm.expect" in hide_counters(_wide(_text(_STORE)).replace(", !llvm.loop !1", ""))


@pytest.mark.parametrize(
    "text",
    [
        _text(_STORE, unroll="disable"),
        _wide(_text(_STORE)),
        _wide(_text(_STORE, unroll="disable")).replace("%i, 1", "%i, %i").replace("add nsw", "mul nsw"),
        "define i64 @f(i64 %x) {\nentry:\n  %y = add nsw i64 %x, 1\n  br label %end\nend:\n  ret i64 %y\n}\n",
        "",
    ],
    ids=["narrow", "unrolled", "no sum", "no loop", "nothing"],
)
def test_other_sums_stay(text: str) -> None:
    assert hide_counters(text) == text


def test_labels_of_another_function_make_no_loop() -> None:
    first = "define void @g() {\nentry:\n  br label %end\nend:\n  ret void\n}\n"
    second = "define i64 @f(i64 %x) {\nentry:\n  %y = add nsw i64 %x, 1\n  br label %end\nend:\n  ret i64 %y\n}\n"
    note = "; <16 x float>\n"
    assert hide_counters(note + first + second) == note + first + second


def test_what_counts_so_is_compiled_to_the_same_loop() -> None:
    """No call remains, and one addition per iteration."""
    text = 'target triple = "x86_64-unknown-linux-gnu"\n' + _wide(_text(_STORE, unroll="disable"))
    assert "@llvm.expect" in hide_counters(text)
    code = assembly(text, cpu="x86-64-v4", features="")
    assert "expect" not in code
    assert len(re.findall(r"\b(?:incq|addq)\b", code)) <= 2


@pytest.mark.parametrize(("level", "loops"), [(0, 1), (1, 0)])
def test_level_0_only_inlines(level: int, loops: int) -> None:
    text = 'target triple = "x86_64-unknown-linux-gnu"\n' + _text(_STORE, unroll="full")
    assert code_of(text) is Code.VECTORS
    inlined = text.replace("define void @f", "define void @g") + "define void @f() alwaysinline {\n  ret void\n}\n"
    called = inlined.replace("  ret void\n}\n\n", "  call void @f()\n  ret void\n}\n\n", 1)
    code = assembly(called, cpu="x86-64-v4", features="", opt_level=level)
    assert len(re.findall(r"\bj[lg]e?\b", code)) == loops
    assert "call" not in code


def test_few_passes_see_unrolled_code() -> None:
    """It is the largest code; code generation also finds what instruction combining would find."""
    assert VECTOR_PASSES[VECTOR_PASSES.index("LoopUnroll") + 1 :] == ("SROA", "SimplifyCFG")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("%q = sdiv i64 %a, %b", Code.QUOTIENTS),
        ("%q = urem exact i32 7, %b", Code.QUOTIENTS),
        ("%q = srem i64 %a, 8", Code.SCALARS),
        ("%q = fdiv float %a, %b", Code.SCALARS),
    ],
)
def test_what_divides_by_no_constant(line: str, code: Code) -> None:
    assert code_of(f"define void @f() {{\n  {line}\n  store i64 %q, ptr %p\n  ret void\n}}\n") is code
