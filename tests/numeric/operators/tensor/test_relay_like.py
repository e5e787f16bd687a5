"""Ops that take a shape or an element type from another tensor, logarithms, and truncated quotients."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from support.one_op import applied, check

import xrelay
from xrelay import relay
from xrelay.errors import ExecutionError, InputError, InterpreterError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

Array = NDArray[Any]


def variables(*arrays: Array) -> list[relay.Expr]:
    return [relay.var(f"x{k}", shape=array.shape, dtype=array.dtype.name) for k, array in enumerate(arrays)]


def rising(*shape: int, dtype: str = "float32") -> Array:
    return np.arange(1, 1 + int(np.prod(shape))).reshape(shape).astype(dtype)


@pytest.mark.parametrize("target", ["float16", "float64", "int8", "uint8", "bool", "bfloat16"])
def test_cast_like(target: str) -> None:
    data = np.array([0.0, -1.5, 2.7, 100.2], np.float32)
    like = np.zeros((2, 2), ml_dtypes.bfloat16 if target == "bfloat16" else target)
    data = np.abs(data) if target == "uint8" else data
    np.testing.assert_array_equal(applied("cast_like", data, like), data.astype(like.dtype), strict=True)


@pytest.mark.parametrize(("shape", "target"), [((4, 1), (2, 4, 8)), ((), (3,)), ((1,), (0, 5)), ((2, 0), (1, 2, 0))])
def test_broadcast_to_like(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    data, like = rising(*shape, dtype="int32"), np.zeros(target, np.bool_)
    np.testing.assert_array_equal(applied("broadcast_to_like", data, like), np.broadcast_to(data, target), strict=True)


def test_what_the_run_tells_broadcasts_one_way() -> None:
    """Data of 4 columns does not broadcast to 1; nor do 0 columns, for which native code would read out of bounds."""
    data, like = (relay.var(name, shape=shape, dtype="float32") for name, shape in (("x", (4, "n")), ("l", (4, "m"))))
    module = relay.Module.from_expr(relay.broadcast_to_like(data, like))
    native = xrelay.compile(module, cache=False)
    for columns, wanted in product((0, 1, 4, 5), (0, 1, 4)):
        inputs = [rising(4, columns), rising(4, wanted)]
        for run in (native.run, lambda given: run_relay(module, given)):
            if columns in (1, wanted):
                np.testing.assert_array_equal(run(inputs)[0], np.broadcast_to(inputs[0], (4, wanted)))
                continue
            with pytest.raises((ExecutionError, InterpreterError), match="broadcast_to_like"):
                run(inputs)


@pytest.mark.parametrize(
    ("shape", "like", "attributes", "expected"),
    [
        ((2, 12), (3, 8), {}, (3, 8)),
        ((2, 12), (5, 3, 4), {"lhs_begin": 1, "rhs_begin": 1}, (2, 3, 4)),
        ((6, 4, 5), (9, 2, 3, 7), {"lhs_end": 1, "rhs_begin": 1, "rhs_end": -1}, (2, 3, 4, 5)),
        ((0, 3), (5, 0), {}, (5, 0)),
        ((1,), (), {}, ()),
    ],
)
def test_reshape_like(
    shape: tuple[int, ...], like: tuple[int, ...], attributes: dict[str, int], expected: tuple[int, ...]
) -> None:
    data = rising(*shape)
    found = applied("reshape_like", data, np.zeros(like, np.int8), **attributes)
    np.testing.assert_array_equal(found, data.reshape(expected), strict=True)


def test_slice_like() -> None:
    data, like = rising(4, 8, 3), np.zeros((2, 5, 3), np.int32)
    np.testing.assert_array_equal(applied("slice_like", data, like), data[:2, :5])
    np.testing.assert_array_equal(applied("slice_like", data, like, axes=(-2,)), data[:, :5])
    np.testing.assert_array_equal(applied("slice_like", data, np.zeros((0, 9)), axes=(0,)), data[:0])
    np.testing.assert_array_equal(applied("slice_like", data, np.zeros(2)), data[:2])
    np.testing.assert_array_equal(applied("slice_like", data, np.zeros((1, 5, 3, 9))), data[:1, :5])


@pytest.mark.grid(2)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_collapse_sum_like(dtype: str) -> None:
    data = rising(2, 3, 4, dtype=dtype)
    for shape, axes in (((3, 1), (0, 2)), ((2, 3, 4), ()), ((), (0, 1, 2)), ((1, 1, 4), (0, 1)), ((4,), (0, 1))):
        wanted = np.add.reduce(data, axis=axes).reshape(shape).astype(dtype)
        np.testing.assert_array_equal(applied("collapse_sum_like", data, np.zeros(shape, dtype)), wanted, strict=True)


@pytest.mark.grid(2)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_collapse_sum_to(dtype: str) -> None:
    data = rising(2, 3, 4, dtype=dtype)
    for shape, axes in (((3, 1), (0, 2)), ((2, 3, 4), ()), ((), (0, 1, 2)), ([1, 1, 4], (0, 1)), ([4], (0, 1))):
        wanted = np.add.reduce(data, axis=axes).reshape(shape).astype(dtype)
        call = relay.collapse_sum_to(*variables(data), shape)
        assert tuple(call.checked_type.get_shape()) == tuple(shape)
        module = relay.Module.from_expr(call)
        np.testing.assert_array_equal(check(module, [data])[0], wanted, strict=True)
    empty = rising(0, 3, dtype=dtype)
    for shape in ((1, 3), (0, 1), (3,), ()):
        module = relay.Module.from_expr(relay.collapse_sum_to(*variables(empty), shape))
        np.testing.assert_array_equal(check(module, [empty])[0], np.zeros(shape, dtype), strict=True)


COLLAPSED = """
!x = tensor<2x?x?xf32, #relay.dims<n, m>>
func.func @main(%x: !x, %s: tensor<2xi32>) -> !relay.incomplete {
  %e = relay.exp(%x) : (!x) -> !x
  %y = relay.collapse_sum_to(%e, %s) : (!x, tensor<2xi32>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""


def test_a_sum_collapses_to_a_shape_that_the_run_tells() -> None:
    module = parse_module(full_context(), COLLAPSED, "collapse.mlir")
    infer_types(module)
    native = xrelay.compile(module, cache=False)
    runs = (native.run, lambda given: run_relay(module, given))
    for n, m in ((3, 5), (1, 4), (0, 2), (40, 1)):
        data = np.random.default_rng(n).uniform(-1, 1, (2, n, m)).astype(np.float32)
        for shape in ((1, 1), (n, 1), (1, m), (n, m)):
            axes = (0, *(axis for axis, extent in enumerate(shape, 1) if extent == 1))
            wanted = np.exp(data).sum(axis=axes, keepdims=True).reshape(shape)
            for run in runs:
                found = run([data, np.array(shape, np.int32)])[0]
                np.testing.assert_allclose(found, wanted, rtol=1e-5, strict=True)
    for shape in ((2, 5), (0, 5), (3, -1), (3, 6)):
        for run in runs:
            with pytest.raises((ExecutionError, InterpreterError), match="collapse_sum_to"):
                run([np.zeros((2, 3, 5), np.float32), np.array(shape, np.int32)])


NAMED = """
!x = tensor<?x?xf32, #relay.dims<n, m>>
!l = tensor<?x?xi32, #relay.dims<k, m>>
func.func @main(%x: !x, %l: !l, %row: tensor<1x?xf32, #relay.dims<m>>) -> (!relay.incomplete) {
  %c = relay.slice_like(%x, %l) {axes = [0]} : (!x, !l) -> !relay.incomplete
  %b = relay.broadcast_to_like(%row, %c) : (tensor<1x?xf32, #relay.dims<m>>, !relay.incomplete) -> !relay.incomplete
  %s = relay.add(%b, %c) : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  %d = relay.collapse_sum_like(%s, %row) : (!relay.incomplete, tensor<1x?xf32, #relay.dims<m>>) -> !relay.incomplete
  %y = relay.reshape_like(%d, %d) {lhs_begin = 0, lhs_end = 0, rhs_begin = 0, rhs_end = 1}
    : (!relay.incomplete, !relay.incomplete) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""


def test_sizes_that_the_run_tells() -> None:
    module = parse_module(full_context(), NAMED, "like.mlir")
    infer_types(module)
    native = xrelay.compile(module, cache=False)
    for n, k, m in ((4, 2, 3), (5, 5, 1), (3, 0, 2)):
        inputs = [rising(n, m), np.zeros((k, m), np.int32), rising(1, m)]
        wanted = (inputs[2] + inputs[0][:k]).sum(axis=0).reshape(1, 1, m)
        for run in (native.run, lambda given: run_relay(module, given)):
            np.testing.assert_allclose(run(inputs)[0], wanted, rtol=1e-6, strict=True)
    inputs = [rising(2, 3), np.zeros((4, 3), np.int32), rising(1, 3)]
    for run in (native.run, lambda given: run_relay(module, given)):
        with pytest.raises((ExecutionError, InputError, InterpreterError), match="4"):
            run(inputs)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("op", ["log2", "log10"])
def test_logarithms(op: str, dtype: str) -> None:
    data = np.array([0, 1, 2, 8, 1000, 3.7, 1e-7, np.inf, -1, np.nan]).astype(dtype)
    rtol = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-14}[dtype]
    (found,) = check(relay.Module.from_expr(getattr(relay, op)(*variables(data))), [data], rtol=rtol)
    with np.errstate(all="ignore"):
        wanted = getattr(np, op)(data.astype(np.float64)).astype(dtype)
    np.testing.assert_allclose(found, wanted, rtol=rtol)


def test_copy() -> None:
    data = np.array([0.0, -0.0, np.nan, np.inf], np.float32)
    np.testing.assert_array_equal(applied("copy", data).view(np.int32), data.view(np.int32))


@pytest.mark.grid(3)
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "float32", "float64"])
def test_division_towards_zero(dtype: str) -> None:
    lhs, rhs = np.array([[7], [0], [5]]).astype(dtype), np.array([2, 3, 7]).astype(dtype)
    for sign, other in ((1, 1), (-1, 1), (1, -1), (-1, -1)) if dtype != "uint8" else ((1, 1),):
        left, right = (lhs * np.array(sign, dtype), rhs * np.array(other, dtype))
        exact = left.astype(np.float64) / right.astype(np.float64)
        np.testing.assert_array_equal(applied("trunc_divide", left, right), np.trunc(exact).astype(dtype), strict=True)
        np.testing.assert_array_equal(applied("trunc_mod", left, right), np.fmod(left, right), strict=True)


@pytest.mark.parametrize("op", ["trunc_divide", "trunc_mod"])
def test_integers_divided_by_zero(op: str) -> None:
    inputs = [np.array([1, 2]), np.array([1, 0])]
    module = relay.Module.from_expr(getattr(relay, op)(*variables(*inputs)))
    native = xrelay.compile(module, cache=False)
    for run in (native.run, lambda given: run_relay(module, given)):
        with pytest.raises((ExecutionError, InterpreterError), match="zero"):
            run(inputs)
