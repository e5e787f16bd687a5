"""Parsing: every invalid text raises ParseError with a location; ops of a valid text have locations."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.work import executed_lines

from xrelay.dialects.shared.locations import location_of
from xrelay.errors import ParseError, VerificationError
from xrelay.passes.infra.source import full_context, parse_module, read_module
from xrelay.passes.infra.verify import verification_errors, verify_module, walk_ops

GOOD = """func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = "arith.addi"(%b, %b) : (i32, i32) -> i32
  func.return %c : i32 loc("mine")
}
"""


def test_ops_carry_their_places() -> None:
    module = parse_module(full_context(), GOOD, "f.mlir", line_offset=10)
    places = [location_of(op) for op in walk_ops(module)]
    assert places[1:] == ["f.mlir:11:1", "f.mlir:12:3", "f.mlir:13:3", "mine"]


ISOLATED = "func.func @f() { %%a = arith.negf %s : f32 func.return }"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("func.func @f(", "f.mlir:1:", ""),
        ("\n  %a = arith.nothing", "f.mlir:2:3", "operation arith.nothing is not registered"),
        ("func.func @f() {\n  func.retur\n}", "f.mlir:2:3", "did you mean 'func.return'"),
        ("%a = arith.constant 1 : i32\n%a = arith.constant 1 : i32", "f.mlir:2:1", "already defined"),
        ("%a = arith.addi %b, %b : i32", "f.mlir:1:17", "the value %b is not defined"),
        (f"{ISOLATED % '%b'}\n{ISOLATED % '%a'}", "f.mlir:1:34", "the value %b is not defined"),
        (f"{ISOLATED % '%b'}\n%b = arith.constant 1 : i32", "f.mlir:1:34", "the value %b is not defined"),
        (
            f"%b = arith.constant 1 : i32\n{ISOLATED % '%b'}",
            "f.mlir:2:34",
            "it is defined outside of this isolated region",
        ),
        (f"{ISOLATED % '%b'}\nfunc.func @g() {{ %b = arith.constant 1 : i32 func.return }}", "f.mlir:1:34", "%b"),
        (
            "%a = relay.exp(%b, %b) : (tensor<f32>) -> tensor<f32>",
            "f.mlir:1:26",
            "the op has 2 operands, and types for 1",
        ),
        ('"test.op"()\n// note\nfunc.func @f() { func.return }', "f.mlir:1:12", "Expected ':'"),
        (
            "func.func @f() {\n  cf.br ^a\n^a:\n  cf.br ^a\n^a:\n  func.return }",
            "f.mlir:5:1",
            "re-declaration of block 'a'",
        ),
        ('"test.op"(%a) ({ %a = "test.op"() : () -> i32 }) : (i32) -> ()', "f.mlir:1:1", ""),
        (
            "%n = llvm.mlir.zero : i32\n%0 = llvm.alloca %n x f32 : () -> !llvm.ptr",
            "f.mlir:2:",
            "syntax of llvm.alloca",
        ),
        (
            '%p = llvm.mlir.zero : !llvm.ptr\n%0 = llvm.load %p {alignment = "a"} : !llvm.ptr -> f32',
            "f.mlir:2:",
            "not the syntax of llvm.load: a part is missing, of another kind, or out of range",
        ),
        (
            "%s = llvm.mlir.zero : !llvm.struct<(f32)>\n%0 = llvm.extractvalue %s[3] : !llvm.struct<(f32)>",
            "f.mlir:2:",
            "syntax of llvm.extractvalue",
        ),
        (
            "func.func @f(%x: memref<4xf32>) {\n"
            '  loop.for "i" %i to 4 { loop.block "b" (%v : spatial 4 = %j) reads(%x) writes(%x) {\n'
            '    loop.for "j" %j to 4 { } } }\n  func.return }',
            "f.mlir:2:26",
            "loop.block uses a value that is defined in its own region",
        ),
        (f"%a = arith.constant {'1' * 10_000} : i32", "f.mlir:1:21", "a number of 10000 digits; at most 1000 are read"),
        (f"func.func private @f() -> tensor<{2**70}xf32>", "f.mlir:1:34", "does not fit 64 bits"),
        ("%a = arith.constant 1 : i99999999999", "f.mlir:1:25", "at most 16777215 bits"),
        ("%a = arith.constant ½ : i32", "f.mlir:1:21", "unexpected character '½'"),
        ("%a = arith.constant dense<1.0> : tensor<1000000x1000000xf32>", "f.mlir:1:34", "too large for a text"),
        ("%a = arith.constant dense<70000.0> : tensor<3xf16>", "f.mlir:1:26", "a number too large for its type"),
        ("%a = arith.constant 70000.0 : f16", "f.mlir:1:21", "a number too large for its type"),
        ("%a = arith.constant dense<1> : tensor<2xcomplex<f32>>", "f.mlir:1:26", "does not match its type"),
        ("%a = arith.constant 1.0e400 : f64", "f.mlir:1:21", "a number too large for its type"),
        ("%a = arith.constant 0x100000000 : f32", "f.mlir:1:21", ""),
        ("func.func private @f(tensor<?xf32, #relay.dims<n floordiv 0>>)", "f.mlir:1:50", "divides by zero"),
        ("func.func private @f(tensor<?xf32, #relay.dims<n mod (1 - 1)>>)", "f.mlir:1:50", "n mod"),
        ("%a = llvm.shufflevector %b, %b [2147483648] : vector<4xf32>", "f.mlir:1:", "a number does not fit its type"),
        ('"test.op"() {a = array<i0: 0>} : () -> ()', "f.mlir:1:", "a number does not fit its type"),
        ("{-# external_resources: {} #-}", "f.mlir:1:", "only dialect resources are supported"),
        ('%a = "x', "f.mlir:1:6", "the string is not closed"),
        (r'%a = "x\q"', "f.mlir:1:6", "the string has an escape other than"),
        ("func.func private @f() -> !relay.nonsense", "f.mlir:1:", ""),
        ("", "f.mlir:", "the text contains no operation"),
        ("func.func private @f() -> tensor<-3xf32>", "f.mlir:1:", ""),
        ("\x00", "f.mlir:1:", ""),
        ("func.func private @f() attributes {a = 99999999999999999999 : i8}", "f.mlir:1:", ""),
    ],
)
def test_bad_text(text: str, place: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_module(full_context(), text, "f.mlir")
    assert (caught.value.location or "").startswith(place)
    assert message in caught.value.message
    assert "\n" not in str(caught.value)


@settings(max_examples=examples(150), deadline=None)
@given(
    st.integers(0, len(GOOD)),
    st.integers(0, 8),
    st.sampled_from(["", "%", '"', "}", "(", "#relay.", "!", "\n", "é", "<"]),
)
def test_damaged_text_never_raises_anything_else(start: int, length: int, insert: str) -> None:
    text = GOOD[:start] + insert + GOOD[start + length :]
    with suppress(ParseError):
        list(verification_errors(parse_module(full_context(), text, "f.mlir")))


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="No such file"):
        read_module(full_context(), tmp_path / "none.mlir")
    (tmp_path / "latin.mlir").write_bytes(b"// caf\xe9")
    with pytest.raises(ParseError, match=r"latin\.mlir:1:7: .*is not UTF-8"):
        read_module(full_context(), tmp_path / "latin.mlir")


def test_all_failing_ops_are_reported_with_places() -> None:
    text = """
func.func @f(%x: tensor<2xf32>) {
  %a = relay.nn.relu(%x) : (tensor<2xf32>) -> tensor<3xf32>
  %b = relay.exp(%x) : (tensor<2xf32>) -> tensor<4xf32>
  func.return
}
func.func @g(%y: i32) {}
"""
    errors = list(verification_errors(parse_module(full_context(), text, "f.mlir")))
    assert [error.location for error in errors] == ["f.mlir:3:3", "f.mlir:4:3", "f.mlir:7:1"]
    assert "[relay.nn.relu C0]" in errors[0].message
    with pytest.raises(VerificationError):
        verify_module(parse_module(full_context(), text, "f.mlir"))


def test_a_function_without_a_type_is_told_and_not_its_calls() -> None:
    text = """func.func @main() {
  func.call @g() : () -> ()
  func.return
}
"func.func"() <{sym_name = "g"}> ({}) : () -> ()
"""
    errors = list(verification_errors(parse_module(full_context(), text, "f.mlir")))
    assert [str(error) for error in errors] == [
        "f.mlir:5:1: property 'function_type' expected in operation 'func.func'"
    ]


def test_an_unclosed_string_is_an_error_at_once() -> None:
    with pytest.raises(ParseError):
        parse_module(full_context(), 'func.func private @f() attributes {a = "' + "a" * 100_000, "f.mlir")


def test_reading_a_constant_is_cheap() -> None:
    text = "\n".join(f"%{number} = relay.constant dense<{number}.0> : tensor<f32>" for number in range(20))
    context = full_context()
    parse_module(context, text, "first.mlir")
    # xDSL's own parser executes some 10,000 lines for each function.
    assert executed_lines(lambda: parse_module(context, text, "again.mlir"), "xdsl") < 20 * 3_000


@pytest.mark.parametrize(
    ("type", "message"),
    [
        ("i32", "expected a tensor, vector or memref of integers or floats, found i32"),
        ("tensor<?xf32>", "a dense attribute has a static shape, found tensor<?xf32>"),
    ],
)
def test_the_type_of_a_constant_is_checked(type: str, message: str) -> None:
    with pytest.raises(ParseError, match=re.escape(message)):
        parse_module(full_context(), f"%0 = relay.constant dense<0.0> : {type}", "f.mlir")
