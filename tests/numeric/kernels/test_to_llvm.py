"""Programs at the scf level, compiled and run, against numpy."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.examples import examples
from support.native_kernels import NativeKernel

from xrelay.lowering.to_llvm.failures import REASONS, UNSPECIFIED, status_of
from xrelay.runtime.abi import Context, Reason, decode_status

INDICES = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 4, 7, 8, 16, 60))


def compiled(signature: str, body: str, extra: str = "") -> NativeKernel:
    return NativeKernel(f"{extra}\nfunc.func @k({signature}) {{\n{INDICES}\n{body}\nfunc.return\n}}", passes=())


def status(kernel: NativeKernel, *arrays: NDArray[Any]) -> tuple[int, int]:
    """The return value of the kernel, and the status in its context."""
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * (len(arrays) + 1))(kernel._address)
    context = Context(0, 2)
    returned = function(ctypes.addressof(context), *[array.ctypes.data for array in arrays])
    return returned, context.status


def test_masked_tail_touches_nothing_outside():
    kernel = compiled(
        "%x: memref<60xf32>, %y: memref<60xf32>",
        """
%zero = arith.constant dense<0.0> : vector<16xf32>
scf.for %i = %c0 to %c60 step %c16 {
  %left = arith.subi %c60, %i : index
  %m = vector.create_mask %left : vector<16xi1>
  %v = vector.maskedload %x[%i], %m, %zero : memref<60xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  %w = arith.addf %v, %v : vector<16xf32>
  vector.maskedstore %y[%i], %m, %w : memref<60xf32>, vector<16xi1>, vector<16xf32>
}""",
    )
    x, y = np.arange(60, dtype=np.float32), np.full(80, -1, dtype=np.float32)
    kernel(x, y)
    np.testing.assert_array_equal(y[:60], 2 * x)
    np.testing.assert_array_equal(y[60:], -1)


def test_booleans_are_bytes_in_memory():
    kernel = compiled(
        "%x: memref<16xf32>, %b: memref<16xi1>, %y: memref<16xf32>",
        """
%half = arith.constant dense<0.5> : vector<16xf32>
%v = vector.load %x[%c0] : memref<16xf32>, vector<16xf32>
%m = arith.cmpf ogt, %v, %half : vector<16xf32>
vector.store %m, %b[%c0] : memref<16xi1>, vector<16xi1>
%t = arith.constant true
memref.store %t, %b[%c3] : memref<16xi1>
%n = vector.load %b[%c0] : memref<16xi1>, vector<16xi1>
%zero = arith.constant dense<0.0> : vector<16xf32>
%r = arith.select %n, %v, %zero : vector<16xi1>, vector<16xf32>
vector.store %r, %y[%c0] : memref<16xf32>, vector<16xf32>""",
    )
    x = np.linspace(0, 1, 16, dtype=np.float32)
    b, y = np.zeros(16, np.bool_), np.zeros(16, np.float32)
    kernel(x, b, y)
    expected = x > 0.5
    expected[3] = True
    np.testing.assert_array_equal(b, expected)
    np.testing.assert_array_equal(y, np.where(expected, x, 0))


@settings(max_examples=examples(60), deadline=None)
@given(a=st.integers(-(2**31), 2**31 - 1), b=st.integers(-50, 50).filter(bool))
def test_rounding_divisions(a: int, b: int):
    if (a, b) == (-(2**31), -1):
        return
    global _divisions
    _divisions = _divisions or compiled(
        "%x: memref<2xi32>, %y: memref<5xi32>",
        """
%a = memref.load %x[%c0] : memref<2xi32>
%b = memref.load %x[%c1] : memref<2xi32>
%f = arith.floordivsi %a, %b : i32
%c = arith.ceildivsi %a, %b : i32
%u = arith.ceildivui %a, %b : i32
%s = arith.maxsi %a, %b : i32
%m = arith.minui %a, %b : i32
memref.store %f, %y[%c0] : memref<5xi32>
memref.store %c, %y[%c1] : memref<5xi32>
memref.store %u, %y[%c2] : memref<5xi32>
memref.store %s, %y[%c3] : memref<5xi32>
memref.store %m, %y[%c4] : memref<5xi32>""",
    )
    y = np.zeros(5, np.int32)
    _divisions(np.array([a, b], np.int32), y)
    ua, ub = a % 2**32, b % 2**32
    expected = [a // b, -(-a // b), -(-ua // ub), max(a, b), min(ua, ub)]
    assert [int(value) % 2**32 for value in y] == [value % 2**32 for value in expected]


_divisions: NativeKernel | None = None


def test_while_counts():
    kernel = compiled(
        "%x: memref<8xi32>, %y: memref<8xi32>",
        """
%one = arith.constant 1 : i32
%zero = arith.constant 0 : i32
scf.for %i = %c0 to %c8 step %c1 {
  %n = memref.load %x[%i] : memref<8xi32>
  %r:2 = "scf.while"(%n, %zero) ({
  ^bb0(%a: i32, %count: i32):
    %more = arith.cmpi sgt, %a, %one : i32
    scf.condition(%more) %a, %count : i32, i32
  }, {
  ^bb1(%a: i32, %count: i32):
    %next = arith.shrsi %a, %one : i32
    %up = arith.addi %count, %one : i32
    scf.yield %next, %up : i32, i32
  }) : (i32, i32) -> (i32, i32)
  memref.store %r#1, %y[%i] : memref<8xi32>
}""",
    )
    x, y = np.array([1, 2, 5, 9, 64, 1000, 7, 0], np.int32), np.zeros(8, np.int32)
    kernel(x, y)
    np.testing.assert_array_equal(y, [0, 1, 2, 3, 6, 9, 2, 0])


@pytest.mark.parametrize("threads", [1, 2])
def test_parallel_loops_cover_every_iteration_once(threads: int):
    kernel = compiled(
        "%x: memref<64x4xf32> {llvm.noalias}, %y: memref<64x4xf32> {llvm.noalias}, %n: memref<1xindex>",
        """
%limit = memref.load %n[%c0] : memref<1xindex>
%two = arith.constant 2.0 : f32
"scf.parallel"(%c1, %limit, %c3) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
^bb0(%i: index):
  scf.for %j = %c0 to %c4 step %c1 {
    %v = memref.load %x[%i, %j] : memref<64x4xf32>
    %old = memref.load %y[%i, %j] : memref<64x4xf32>
    %w = arith.mulf %v, %two : f32
    %s = arith.addf %w, %old : f32
    memref.store %s, %y[%i, %j] : memref<64x4xf32>
  }
  scf.reduce
}) : (index, index, index) -> ()""",
    )
    x = np.random.default_rng(1).standard_normal((64, 4)).astype(np.float32)
    y = np.zeros_like(x)
    kernel(x, y, np.array([60], np.int64), threads=threads)
    expected = np.zeros_like(x)
    expected[1:60:3] = 2 * x[1:60:3]
    np.testing.assert_array_equal(y, expected)


def test_views_of_an_arena_and_copies():
    kernel = compiled(
        "%arena: memref<?xi8>, %x: memref<8x8xf32>, %y: memref<2x2xf32>, %i: memref<1xindex>",
        """
%c128 = arith.constant 128 : index
%n = memref.load %i[%c0] : memref<1xindex>
%v = memref.view %arena[%c128][] : memref<?xi8> to memref<8x8xf32>
"memref.copy"(%x, %v) : (memref<8x8xf32>, memref<8x8xf32>) -> ()
%s = memref.subview %v[%n, 3] [2, 2] [2, 1] : memref<8x8xf32> to memref<2x2xf32, strided<[16, 1], offset: ?>>
scf.for %a = %c0 to %c2 step %c1 {
  scf.for %b = %c0 to %c2 step %c1 {
    %e = memref.load %s[%a, %b] : memref<2x2xf32, strided<[16, 1], offset: ?>>
    memref.store %e, %y[%a, %b] : memref<2x2xf32>
  }
}""",
    )
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    y = np.zeros((2, 2), np.float32)
    kernel(np.zeros(128 + 256, np.int8), x, y, np.array([4], np.int64))
    np.testing.assert_array_equal(y, x[4:8:2, 3:5])


@pytest.mark.parametrize(("type_", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16), ("f64", np.float64)])
def test_other_float_types(type_: str, dtype: type[Any]):
    kernel = compiled(
        f"%x: memref<16x{type_}>, %y: memref<16x{type_}>",
        f"""
%k = arith.constant dense<1.5> : vector<16x{type_}>
%v = vector.load %x[%c0] : memref<16x{type_}>, vector<16x{type_}>
%m = arith.mulf %v, %k : vector<16x{type_}>
%a = arith.maximumf %m, %v : vector<16x{type_}>
vector.store %a, %y[%c0] : memref<16x{type_}>, vector<16x{type_}>""",
    )
    x = np.linspace(-2, 2, 16).astype(dtype)
    y = np.zeros(16, dtype)
    kernel(x, y)
    expected = np.maximum((x * dtype(1.5)).astype(np.float64), x.astype(np.float64))
    np.testing.assert_allclose(y.astype(np.float64), expected, rtol=1e-2)


def test_heap_buffers():
    kernel = compiled(
        "%t: memref<4xf32>, %y: memref<4xf32>",
        """
%h = memref.alloc() : memref<4xf32>
"memref.copy"(%t, %h) : (memref<4xf32>, memref<4xf32>) -> ()
%e = memref.load %h[%c2] : memref<4xf32>
memref.store %e, %y[%c1] : memref<4xf32>
memref.dealloc %h : memref<4xf32>""",
    )
    y = np.zeros(4, np.float32)
    kernel(np.array([1, 2, 3.5, 4], np.float32), y)
    np.testing.assert_array_equal(y, [0, 3.5, 0, 0])


CHECKED = """
func.func private @first() {
  func.return
}
func.func private @take(%x: memref<4xf32>, %i: memref<1xindex>, %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = memref.load %i[%c0] : memref<1xindex>
  %ok = arith.cmpi ult, %n, %c4 : index
  cf.assert %ok, "index out of range: 4 elements"
  %v = memref.load %x[%n] : memref<4xf32>
  memref.store %v, %y[%c0] : memref<1xf32>
  func.return
}
"""


def test_a_failed_assertion_reaches_the_caller():
    call = "func.call @take(%x, %i, %y) : (memref<4xf32>, memref<1xindex>, memref<1xf32>) -> ()"
    kernel = compiled(
        "%x: memref<4xf32>, %i: memref<1xindex>, %y: memref<1xf32>, %z: memref<1xf32>",
        f"{call}\n%f = arith.constant 5.0 : f32\nmemref.store %f, %z[%c0] : memref<1xf32>",
        extra=CHECKED,
    )
    x, y, z = np.arange(4, dtype=np.float32), np.zeros(1, np.float32), np.zeros(1, np.float32)
    assert status(kernel, x, np.array([2], np.int64), y, z) == (0, 0)
    assert (y[0], z[0]) == (2, 5)
    z[0] = 0
    returned, stored = status(kernel, x, np.array([4], np.int64), y, z)
    assert returned == stored == status_of("index out of range: 4 elements", 1)
    assert decode_status(returned) == ("index out of range", 1)
    assert z[0] == 0, "nothing runs after a failure"


def test_an_assertion_in_a_parallel_body_fails_the_kernel():
    kernel = compiled(
        "%x: memref<16xi32>",
        """
%zero = arith.constant 0 : i32
"scf.parallel"(%c0, %c16, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
^bb0(%i: index):
  %v = memref.load %x[%i] : memref<16xi32>
  %ok = arith.cmpi ne, %v, %zero : i32
  cf.assert %ok, "division by zero"
  scf.reduce
}) : (index, index, index) -> ()""",
    )
    x = np.ones(16, np.int32)
    assert status(kernel, x) == (0, 0)
    x[11] = 0
    returned, stored = status(kernel, x)
    assert stored == int(Reason.DIVISION_BY_ZERO)
    assert returned == stored


def test_reasons_are_those_of_the_runtime():
    assert {Reason(number).text: number for number in REASONS.values()} == REASONS
    assert status_of("anything else", None) == UNSPECIFIED == int(Reason.UNSPECIFIED)
