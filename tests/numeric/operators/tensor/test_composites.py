"""Composite ops: native code and the expansion match the op's definition, also on difficult values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from support import one_op

import xrelay
from xrelay import relay
from xrelay.errors import ExecutionError
from xrelay.interpreters.relay import run_relay

DTYPES = ["float16", "bfloat16", "float32", "float64"]
RTOL = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "float64": 1e-12}
VALUES = [0.0, -0.0, 1e-3, -1e-3, 0.5, -0.5, 1, -1, 3, -3, 9, -9, 17, -17, 88, -88, 6e4, -6e4, np.inf, -np.inf, np.nan]
ELEMENTWISE: list[tuple[str, dict[str, Any]]] = [
    ("leaky_relu", {"alpha": 0.1}),
    ("leaky_relu", {"alpha": float("inf")}),
    ("elu", {"alpha": -1.5}),
    ("celu", {"alpha": 2.0}),
    ("celu", {"alpha": -0.5}),
    ("selu", {}),
    ("thresholded_relu", {"theta": -0.5}),
    ("softplus", {}),
    ("mish", {}),
    ("softsign", {}),
    ("hard_sigmoid", {"alpha": -0.3, "beta": 0.25}),
    ("hard_swish", {}),
    ("swish", {"alpha": 1.7}),
    ("swish", {}),
    ("gelu", {}),
    ("gelu", {"approximate": "tanh"}),
]


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def check(expr: relay.Expr, *inputs: NDArray[Any], rtol: float, atol: float) -> None:
    """Checks that native code agrees with the interpreter."""
    one_op.check(relay.Module.from_expr(expr), inputs, rtol=rtol, atol=atol)


@pytest.mark.grid(8)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("op", "attributes"), ELEMENTWISE, ids=lambda each: str(each))
def test_activations_at_special_values(op: str, attributes: dict[str, Any], dtype: str) -> None:
    data = np.array(VALUES).astype(dtype_of(dtype))
    x = relay.var("x", shape=data.shape, dtype=dtype)
    # Below zero, 1 is subtracted from an exponential, so errors are relative to 1.
    check(getattr(relay.nn, op)(x, **attributes), data, rtol=RTOL[dtype], atol=RTOL[dtype] / 8)


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 0, 5), (2, 7, 13)])
def test_activations_of_any_shape(shape: tuple[int, ...]) -> None:
    data = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    for op in ("leaky_relu", "gelu", "softplus"):
        check(getattr(relay.nn, op)(relay.var("x", shape=shape)), data, rtol=1e-5, atol=1e-6)


@pytest.mark.grid(3)
@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("dtype", DTYPES)
def test_prelu_along_any_axis(axis: int, dtype: str) -> None:
    rng = np.random.default_rng(axis + 9)
    data, alpha = (rng.standard_normal(shape).astype(dtype_of(dtype)) for shape in ((3, 5, 7), ((3, 5, 7)[axis],)))
    x, slope = relay.var("x", shape=(3, 5, 7), dtype=dtype), relay.var("alpha", shape=alpha.shape, dtype=dtype)
    check(relay.nn.prelu(x, slope, axis=axis), data, alpha, rtol=RTOL[dtype], atol=0)


def test_activations_follow_a_convolution_into_blocks() -> None:
    rng = np.random.default_rng(1)
    weight, slope = (rng.standard_normal(shape).astype(np.float32) for shape in ((32, 16, 3, 3), 32))
    conv = relay.nn.conv2d(relay.var("data", shape=(1, 16, 9, 9)), weight, padding=(1, 1))
    module = relay.Module.from_expr(relay.nn.prelu(relay.nn.gelu(conv), relay.const(slope)))
    answer = xrelay.same(xrelay.compile(module, cache=False), module)
    assert answer, str(answer)


NORMS: list[tuple[str, tuple[int, ...], int, dict[str, Any]]] = [
    ("layer_norm", (4, 7, 13), 13, {}),
    ("layer_norm", (4, 7, 13), 7, {"axis": 1, "epsilon": 1e-3, "scale": False}),
    ("layer_norm", (4, 7, 13), 4, {"axis": -3, "center": False}),
    ("layer_norm", (5, 1), 1, {}),
    ("layer_norm", (0, 8), 8, {}),
    ("layer_norm", (17,), 17, {"axis": 0}),
    ("instance_norm", (2, 5, 7, 3), 5, {}),
    ("instance_norm", (2, 7, 3, 5), 5, {"axis": -1}),
    ("instance_norm", (2, 5), 5, {}),
    ("group_norm", (2, 6, 5, 3), 6, {"num_groups": 3}),
    ("group_norm", (2, 5, 3, 6), 6, {"num_groups": 2, "axis": -1, "epsilon": 0.1}),
    ("group_norm", (3, 4), 4, {"num_groups": 1}),
    ("group_norm", (3, 4, 0), 4, {"num_groups": 4}),
    ("rms_norm", (4, 7, 13), 13, {}),
    ("rms_norm", (4, 7, 13), 7, {"axis": -2, "epsilon": 0.5}),
]


@pytest.mark.grid(20)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("op", "shape", "extent", "attributes"), NORMS, ids=lambda each: str(each))
def test_normalisations(op: str, shape: tuple[int, ...], extent: int, attributes: dict[str, Any], dtype: str) -> None:
    rng, kind = np.random.default_rng(11), dtype_of(dtype)
    # A mean far from zero: E[x²] - E[x]² would lose the digits of the variance.
    data = (20 + 3 * rng.standard_normal(shape)).astype(kind)
    vectors = [rng.standard_normal(extent).astype(kind) for _ in range(1 if op == "rms_norm" else 2)]
    x = relay.var("x", shape=shape, dtype=dtype)
    operands = [relay.var(f"v{number}", shape=(extent,), dtype=dtype) for number in range(len(vectors))]
    rtol = max(RTOL[dtype], 2e-5) if dtype != "float64" else 1e-10
    check(getattr(relay.nn, op)(x, *operands, **attributes), data, *vectors, rtol=rtol, atol=rtol)


LONG_ROWS = [
    ((2, 5, 9, 11), [(2, 5, 9, 11)]),
    (("n", 5, "h", 11), [(2, 5, 9, 11)]),
    ((2, "c", 9, 11), [(2, 5, 9, 11)]),
    (("n", 5, "h", "w"), [(2, 5, 9, 11), (1, 5, 3, 37), (1, 5, 2, 16), (2, 5, 40, 1)]),
]


@pytest.mark.parametrize(("shape", "sizes"), LONG_ROWS, ids=lambda each: str(each))
def test_normalisations_of_long_rows(shape: tuple[int | str, ...], sizes: Sequence[tuple[int, ...]]) -> None:
    vectors = np.array([1, 2, -1, 0.5, 3], np.float32), np.array([0, 1, 2, -3, 0.25], np.float32)
    x, g, b = relay.var("x", shape=shape), relay.var("g", shape=(shape[1],)), relay.var("b", shape=(shape[1],))
    module = relay.Module.from_expr(relay.Function([x, g, b], relay.nn.instance_norm(x, g, b)))
    compiled = xrelay.compile(module, cache=False, threads=1)
    gamma, beta = (vector.reshape(5, 1, 1) for vector in vectors)
    for size in sizes:
        data = (20 + 3 * np.random.default_rng(3).standard_normal(size)).astype(np.float32)
        (found,) = compiled.run([data, *vectors])
        exact = data.astype(np.float64)
        centred = exact - exact.mean((2, 3), keepdims=True)
        normal = centred / np.sqrt((centred**2).mean((2, 3), keepdims=True) + 1e-5)
        np.testing.assert_allclose(found, normal * gamma + beta, rtol=2e-5, atol=2e-5)


@pytest.mark.grid(2)
@pytest.mark.parametrize("shape", [(5, 128), (5, 80), (5, 90), (2, 8, 17), (2, 8, 40)], ids=lambda each: str(each))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_softmax_of_rows_with_a_sum_for_each_lane_and_in_groups(shape: tuple[int, ...], dtype: str) -> None:
    data = 10 * np.random.default_rng(4).standard_normal(shape).astype(dtype)
    x = relay.var("x", shape=shape, dtype=dtype)
    check(relay.nn.log_softmax(x), data, rtol=1e-5, atol=1e-5)
    check(relay.nn.softmax(x), data, rtol=1e-5, atol=1e-6)


@pytest.mark.grid(3)
@pytest.mark.parametrize("axis", [None, 1, (0, -1)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_l2_normalize(axis: int | tuple[int, ...] | None, dtype: str) -> None:
    data = np.random.default_rng(2).standard_normal((3, 5, 2)).astype(dtype_of(dtype))
    data[:, 2] = 0
    x = relay.var("x", shape=(3, 5, 2), dtype=dtype)
    check(relay.nn.l2_normalize(x, 1e-6, axis=axis), data, rtol=RTOL[dtype], atol=0)


def test_a_normalisation_means_what_its_formula_says() -> None:
    data = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    x, one = relay.var("x", shape=(2, 3, 4)), relay.const(np.ones(4, np.float32))
    (found,) = run_relay(relay.Module.from_expr(relay.nn.layer_norm(x, one, one, epsilon=0.75)), [data])
    # The variance of n, n + 1, n + 2, n + 3 is 5/4.
    np.testing.assert_allclose(found, np.tile((np.arange(4) - 1.5) / np.sqrt(2) + 1, (2, 3, 1)), rtol=1e-6)


@pytest.mark.parametrize("name", ["instance_norm", "qnn.dense"])
def test_demands_that_no_part_has_are_checked_where_the_program_runs(name: str) -> None:
    """The expansion would broadcast a single factor, and ignores the scale."""
    if name == "qnn.dense":
        x, w = relay.var("x", shape=(2, 4), dtype="int8"), relay.var("w", shape=("n", 4), dtype="int8")
        body = relay.qnn.op.dense(x, w, 0, 0, 0.5, np.ones(3, np.float32))
        module, inputs = (
            relay.Module.from_expr(relay.Function([x, w], body)),
            [np.ones((k, 4), np.int8) for k in (2, 1)],
        )
    else:
        x, g, b = relay.var("x", shape=(2, "c", 4)), relay.var("g", shape=("n",)), relay.var("b", shape=("n",))
        module = relay.Module.from_expr(relay.Function([x, g, b], relay.nn.instance_norm(x, g, b)))
        inputs = [np.ones(shape, np.float32) for shape in ((2, 3, 4), (1,), (1,))]
    with xrelay.PassContext(disabled_pass=["relay-fix-extents"]):
        compiled = xrelay.compile(module, threads=1, cache=False)
    with pytest.raises(ExecutionError, match=r"C[49]. extents of operand #[15] and of the"):
        compiled.run(inputs)


@pytest.mark.parametrize("field", range(3))
def test_a_batch_norm_demands_what_it_does_whichever_field_is_used(field: int) -> None:
    """The channels are static and the vectors dynamic; the statistics are also results."""
    x = relay.var("x", shape=(5, "n", 1))
    vectors = [relay.var(name, shape=("n",)) for name in ("gamma", "beta", "mean", "variance")]
    norm = relay.nn.batch_norm(x, *vectors, axis=2)
    module = relay.Module.from_expr(relay.Function([x, *vectors], norm[field]))
    with xrelay.PassContext(disabled_pass=["relay-fix-extents"]):
        compiled = xrelay.compile(module, threads=1, cache=False)
    compiled.run([np.ones((5, 1, 1), np.float32), *[np.ones(1, np.float32)] * 4])
    with pytest.raises(ExecutionError, match=r"C2. gamma and the data.s axis"):
        compiled.run([np.ones((5, 3, 1), np.float32), *[np.ones(3, np.float32)] * 4])
