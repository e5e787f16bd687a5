"""Integer division never traps: division by zero is an error that names the node, the minimum by -1 wraps."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.levels import STEPS, check_levels, outputs, run_passes
from support.native_kernels import NativeKernel, host_ir
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.passes.infra.source import full_context, parse_module

DTYPES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
TARGETS = ["cpu -mcpu=x86-64", "cpu -mcpu=haswell", "cpu"]
DIVISION_BY_ZERO = 4


def module(dtype: str, shape: tuple[int, ...]) -> ModuleOp:
    return relay.Module.from_expr(relay.divide(*(relay.var(name, shape=shape, dtype=dtype) for name in "xy")))


def operands(dtype: str, shape: tuple[int, ...]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Numbers of all sizes without zero divisors; the minimum and -1 in each combination."""
    rng, info = np.random.default_rng(3), np.iinfo(dtype)
    x, y = (rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True) for _ in "xy")
    x.flat[::3], y.flat[::2] = info.min, np.array(-1).astype(dtype)
    y[y == 0] = 3
    return x, y


def quotient(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Truncated quotients, computed with Python's integers and wrapped."""
    exact = [
        abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(x.flat, y.flat, strict=True)
    ]
    wrapped = np.array([value % (1 << 8 * x.itemsize) for value in exact], dtype=np.uint64)
    return wrapped.astype(f"u{x.itemsize}").view(x.dtype).reshape(x.shape)


@pytest.mark.grid(12)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_native_code_wraps_and_refuses(dtype: str, target: str):
    for shape, threads in ((37,), 1), ((64, 1000), 2):
        x, y = operands(dtype, shape)
        model = xrelay.compile(module(dtype, shape), target=target, threads=threads, cache=False)
        np.testing.assert_array_equal(model(x, y)[0], quotient(x, y))
        for place in (0, x.size // 2, x.size - 1):
            zero = y.copy()
            zero.flat[place] = 0
            with pytest.raises(ExecutionError, match="division by zero"):
                model(x, zero)
        np.testing.assert_array_equal(model(x, y)[0], quotient(x, y))


@pytest.mark.parametrize("dtype", DTYPES)
def test_interpreters_wrap_and_refuse(dtype: str):
    x, y = operands(dtype, (6, 7))
    np.testing.assert_array_equal(outputs(module(dtype, (6, 7)), [x, y])[0], quotient(x, y))
    check_levels(module(dtype, (6, 7)), [x, y], rtol=0)
    y[3, 3] = 0
    lowered = module(dtype, (6, 7))
    for _, passes in STEPS:
        with pytest.raises(InterpreterError, match=r"(relay\.divide|arith\.div[su]i): division by zero"):
            outputs(lowered, [x, y])
        run_passes(lowered, passes)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_node_is_named(threads: int):
    text = """
    func.func @main(%x: tensor<64x1000xi32>, %y: tensor<64x1000xi32>) -> tensor<64x1000xi32> {
      %q = relay.divide(%x, %y) : (tensor<64x1000xi32>, tensor<64x1000xi32>) -> tensor<64x1000xi32> loc("/net/share")
      func.return %q : tensor<64x1000xi32>
    }"""
    zeros, parsed = np.zeros((64, 1000), np.int32), parse_module(full_context(), text, "share.mlir")
    with pytest.raises(InterpreterError, match=r"^/net/share: relay\.divide: division by zero"):
        outputs(parsed, [zeros, zeros])
    model = xrelay.compile(parsed, threads=threads, cache=False)
    with pytest.raises(ExecutionError, match=r"^/net/share: kernel '\w+' failed: division by zero"):
        model(zeros, zeros)


def test_padding_divides_nothing():
    x, y = (relay.var(name, shape=(3, 4), dtype="int32") for name in "xy")
    padded = relay.Module.from_expr(relay.nn.pad(relay.divide(x, y), pad_value=7, pad_width=(1, 1, 2, 0)))
    values = [np.arange(12, dtype=np.int32).reshape(3, 4), np.full((3, 4), 3, np.int32)]
    np.testing.assert_array_equal(xrelay.compile(padded, cache=False)(*values)[0], outputs(padded, values)[0])
    check_levels(padded, values)


OPS = ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")


def scf_kernel(op: str, bits: int, lanes: int) -> str:
    value = f"vector<{lanes}xi{bits}>" if lanes > 1 else f"i{bits}"
    dialect = "vector" if lanes > 1 else "memref"
    kind = f"memref<64xi{bits}>, {value}" if lanes > 1 else f"memref<64xi{bits}>"
    return f"""
    func.func @k(%X: memref<64xi{bits}>, %Z: memref<64xi{bits}>, %Y: memref<64xi{bits}>) {{
      %c0 = arith.constant 0 : index
      %n = arith.constant 64 : index
      %step = arith.constant {lanes} : index
      scf.for %i = %c0 to %n step %step {{
        %a = {dialect}.load %X[%i] : {kind}
        %b = {dialect}.load %Z[%i] : {kind}
        %r = arith.{op} %a, %b : {value}
        {dialect}.store %r, %Y[%i] : {kind}
      }}
      func.return
    }}"""


@pytest.mark.grid(3)
@pytest.mark.parametrize("lanes", [1, 16])
@pytest.mark.parametrize("op", OPS)
def test_every_division_of_the_scf_level(op: str, lanes: int):
    for bits in (8, 32, 64):
        dtype = f"{'u' if op.endswith('ui') else ''}int{bits}"
        x, y = operands(dtype, (64,))
        kernel = NativeKernel(scf_kernel(op, bits, lanes), passes=())
        result = np.empty_like(x)
        kernel(x, y, result)
        np.testing.assert_array_equal(result, exact_result(op, x, y))
        y[5] = 0
        assert kernel.status(x, y, result) & 0xFF == DIVISION_BY_ZERO


def exact_result(op: str, x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """With Python's integers, wrapped."""

    def one(a: int, b: int) -> int:
        towards_zero = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        if op.startswith("rem"):
            return a - towards_zero * b
        return {"f": a // b, "c": -(-a // b), "d": towards_zero}[op[0]]

    exact = [one(int(a), int(b)) for a, b in zip(x, y, strict=True)]
    wrapped = np.array([value % (1 << 8 * x.itemsize) for value in exact], dtype=np.uint64)
    return wrapped.astype(f"u{x.itemsize}").view(x.dtype)


def test_vectors_are_reduced_once_for_a_kernel():
    text = host_ir(scf_kernel("divsi", 32, 16), ())
    assert len(re.findall(r"call i32 @llvm\.vector\.reduce", text)) == 1
    assert len(re.findall(r"@llvm\.umin\.v16i32\(", text)) == 2  # the declaration, and one in the loop
