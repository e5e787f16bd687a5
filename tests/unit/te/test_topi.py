"""Operators as tensor expressions against numpy, and their schedules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.tensor_expressions import value_of

import xrelay
from xrelay import te, topi
from xrelay.errors import XRelayError
from xrelay.transform import create_pass

RNG = np.random.default_rng(7)
A = RNG.standard_normal((3, 4, 5)).astype(np.float32)
P = np.abs(A) + 0.1
X = te.placeholder((3, 4, 5), name="X")


def erf(x: np.ndarray) -> np.ndarray:
    from math import erf

    return np.vectorize(erf)(x).astype(np.float32)


UNARY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "cos": np.cos,
    "erf": erf,
    "exp": np.exp,
    "floor": np.floor,
    "identity": lambda x: x,
    "log": np.log,
    "log2": np.log2,
    "negative": np.negative,
    "round": np.round,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sin": np.sin,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "trunc": np.trunc,
}


@pytest.mark.parametrize("name", UNARY)
def test_elementwise(name: str) -> None:
    values = P if name in ("log", "log2", "sqrt", "rsqrt") else A
    made = getattr(topi, name)(X)
    np.testing.assert_allclose(value_of(made, (X, values)), UNARY[name](values), rtol=1e-4, atol=1e-6)
    assert made.op.tag == "elemwise"


BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
    "minimum": np.minimum, "power": np.power, "less": np.less, "less_equal": np.less_equal, "greater": np.greater,
    "greater_equal": np.greater_equal, "equal": np.equal,
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
def test_broadcasting(name: str) -> None:
    y = te.placeholder((4, 1), name="Y")
    other = P[0, :, :1]
    np.testing.assert_allclose(
        value_of(getattr(topi, name)(X, y), (X, P), (y, other)), BINARY[name](P, other), rtol=1e-4
    )
    np.testing.assert_allclose(value_of(getattr(topi, name)(X, 2.0), (X, P)), BINARY[name](P, np.float32(2)), rtol=1e-4)


def test_integers() -> None:
    n = te.placeholder((6,), "int32", name="N")
    values = np.array([-7, -3, -1, 0, 4, 9], np.int32)
    np.testing.assert_array_equal(value_of(topi.floor_divide(n, 4), (n, values)), values // 4)
    np.testing.assert_array_equal(value_of(topi.floor_mod(n, 4), (n, values)), values % 4)
    np.testing.assert_array_equal(value_of(topi.cast(n, "float32"), (n, values)), values.astype(np.float32))
    np.testing.assert_array_equal(value_of(topi.nn.relu(n), (n, values)), np.maximum(values, 0))


MOVES: dict[str, tuple[Callable[[te.Tensor], te.Tensor], Callable[[np.ndarray], np.ndarray]]] = {
    "broadcast_to": (lambda x: topi.broadcast_to(x, (2, 3, 4, 5)), lambda x: np.broadcast_to(x, (2, 3, 4, 5))),
    "clip": (lambda x: topi.clip(x, -0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5)),
    "transpose": (lambda x: topi.transpose(x, (2, 0, 1)), lambda x: x.transpose(2, 0, 1)),
    "transpose all": (topi.transpose, np.transpose),
    "reshape": (lambda x: topi.reshape(x, (2, 15, 2)), lambda x: x.reshape(2, 15, 2)),
    "expand_dims": (lambda x: topi.expand_dims(x, 1, 2), lambda x: x[:, None, None]),
    "squeeze": (lambda x: topi.squeeze(topi.expand_dims(x, -1)), lambda x: x),
    "flip": (lambda x: topi.flip(x, 1), lambda x: x[:, ::-1]),
    "concatenate": (lambda x: topi.concatenate([x, topi.exp(x), x], 1), lambda x: np.concatenate([x, np.exp(x), x], 1)),
    "sum": (lambda x: topi.sum(x, 1), lambda x: x.sum(1)),
    "max": (lambda x: topi.max(x, (0, -1), keepdims=True), lambda x: x.max((0, 2), keepdims=True)),
    "min of all": (topi.min, lambda x: x.min()),
    "softmax": (lambda x: topi.nn.softmax(x, 1), lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)),
    "flatten": (topi.nn.flatten, lambda x: x.reshape(3, 20)),
    "leaky_relu": (lambda x: topi.nn.leaky_relu(x, 0.1), lambda x: np.where(x > 0, x, x * np.float32(0.1))),
    "pad": (lambda x: topi.nn.pad(x, (0, 1, 2), (1, 0, 0), 7.0),
            lambda x: np.pad(x, ((0, 1), (1, 0), (2, 0)), constant_values=7)),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
def test_moves_and_reductions(name: str) -> None:
    make, meaning = MOVES[name]
    np.testing.assert_allclose(value_of(make(X), (X, A)), meaning(A), rtol=1e-4, atol=1e-6)


def test_matrices() -> None:
    x, w, b = te.placeholder((4, 6), name="x"), te.placeholder((5, 6), name="w"), te.placeholder((5,), name="b")
    values = [RNG.standard_normal(one.shape).astype(np.float32) for one in (x, w, b)]
    dense = value_of(topi.nn.dense(x, w, b), *zip((x, w, b), values, strict=True))
    np.testing.assert_allclose(dense, values[0] @ values[1].T + values[2], rtol=1e-4, atol=1e-5)
    turned = value_of(topi.nn.matmul(w, x, transpose_b=True), (w, values[1]), (x, values[0]))
    np.testing.assert_allclose(turned, values[1] @ values[0].T, rtol=1e-4, atol=1e-5)
    square = te.placeholder((6, 5), name="s")
    other = RNG.standard_normal((6, 5)).astype(np.float32)
    tall = te.placeholder((6, 4), name="t")
    left = RNG.standard_normal((6, 4)).astype(np.float32)
    crossed = value_of(topi.nn.matmul(tall, square, transpose_a=True), (tall, left), (square, other))
    np.testing.assert_allclose(crossed, left.T @ other, rtol=1e-4, atol=1e-5)


def test_convolution() -> None:
    data, weight = te.placeholder((1, 3, 8, 9), name="data"), te.placeholder((4, 3, 3, 3), name="weight")
    values = [RNG.standard_normal(one.shape).astype(np.float32) for one in (data, weight)]
    made = topi.nn.conv2d_nchw(data, weight, stride=(2, 1), padding=(1, 0, 0, 1), dilation=2)
    result = value_of(made, *zip((data, weight), values, strict=True))
    padded = np.pad(values[0], ((0, 0), (0, 0), (1, 0), (0, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5), (2, 3))[:, :, ::2, :, ::2, ::2]
    np.testing.assert_allclose(result, np.einsum("nchwyx,ocyx->nohw", windows, values[1]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(), (7,), (16,), (3, 40), (2, 3, 33), (1, 4, 5, 6), (1, 2, 3, 4, 32), (0, 4)])
def test_injective_schedules_inline_vectorize_and_run_in_parallel(shape: tuple[int, ...]) -> None:
    x = te.placeholder(shape, name="x")
    y = topi.add(topi.exp(topi.multiply(x, 2.0)), 1.0)
    s = topi.generic.schedule_injective(y)
    values = RNG.standard_normal(shape).astype(np.float32)
    np.testing.assert_allclose(value_of(y, (x, values), schedule=s), np.exp(values * 2) + 1, rtol=1e-5)
    text = str(create_pass("loop-apply-schedules")(te.lower(s, [x, y])))
    assert text.count("loop.block") == (0 if 0 in shape else 1)
    if shape == (2, 3, 33):
        assert "parallel" in text
        assert "vectorized" in text


def test_lanes_are_those_of_the_target_around() -> None:
    x = te.placeholder((4, 64), name="x")
    y = topi.exp(x)
    with xrelay.Target("cpu -mcpu=x86-64"):
        assert 'split("i1", 4)' in str(te.lower(topi.generic.schedule_injective([y]), [x, y]))


def place(i: int, extent: int, size: int, mode: str) -> float:
    if mode == "half_pixel":
        return (i + 0.5) * extent / size - 0.5
    return i * extent / size if mode == "asymmetric" else i * (extent - 1) / max(size - 1, 1)


def cubic(d: float, a: float) -> float:
    return (a + 2) * d**3 - (a + 3) * d**2 + 1 if d <= 1 else a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a


def taps(at: float, method: str, extent: int, alpha: float = -0.5) -> dict[int, float]:
    below = int(np.floor(at))
    if method == "bilinear":
        weights = {below: 1 - (at - below), below + 1: at - below}
    else:
        weights = {index: cubic(abs(at - index), alpha) for index in range(below - 1, below + 3)}
    found: dict[int, float] = {}
    for index, weight in weights.items():
        kept = min(max(index, 0), extent - 1)
        found[kept] = found.get(kept, 0) + weight
    return found


@pytest.mark.grid(5)
@pytest.mark.parametrize("mode", topi.image.MODES)
@pytest.mark.parametrize("method", ["bilinear", "bicubic"])
@pytest.mark.parametrize(("layout", "shape"), [("NCHW", (1, 2, 5, 4)), ("NHWC", (1, 5, 4, 2))])
def test_resizing_weighs_what_is_around(mode: str, method: str, layout: str, shape: tuple[int, ...]) -> None:
    data = te.placeholder(shape, name="data")
    values = RNG.standard_normal(shape).astype(np.float32)
    made = topi.image.resize(data, (7, 3), layout, method, mode)
    result = value_of(made, (data, values))
    image, found = (
        (values, result) if layout == "NCHW" else (values.transpose(0, 3, 1, 2), result.transpose(0, 3, 1, 2))
    )
    for i in range(7):
        for j in range(3):
            rows, columns = taps(place(i, 5, 7, mode), method, 5), taps(place(j, 4, 3, mode), method, 4)
            expected = sum(u * v * image[:, :, y, x] for y, u in rows.items() for x, v in columns.items())
            np.testing.assert_allclose(found[:, :, i, j], expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("mode", topi.image.MODES)
@pytest.mark.parametrize("rounding", topi.image.ROUNDINGS)
def test_the_nearest_element(mode: str, rounding: str) -> None:
    data = te.placeholder((1, 1, 5, 8), name="data")
    values = np.arange(40, dtype=np.float32).reshape(1, 1, 5, 8)
    result = value_of(topi.image.resize(data, (7, 4), "NCHW", "nearest_neighbor", mode, rounding), (data, values))
    chosen = rounding if rounding else "round" if mode == "align_corners" else "floor"
    rules = {"floor": np.floor, "ceil": np.ceil, "round_prefer_floor": lambda c: np.ceil(c - 0.5)}

    def nearest(count: int, extent: int) -> list[int]:
        places = [round(place(i, extent, count, mode), 9) for i in range(count)]
        return [int(np.clip(rules.get(chosen, lambda c: np.floor(c + 0.5))(c), 0, extent - 1)) for c in places]

    np.testing.assert_array_equal(result[0, 0], values[0, 0][np.ix_(nearest(7, 5), nearest(4, 8))])


def test_excluded_weights_and_other_dtypes() -> None:
    data = te.placeholder((1, 1, 4, 4), "uint8", name="data")
    values = np.full((1, 1, 4, 4), 9, np.uint8)
    made = topi.image.resize(data, (9, 9), "NCHW", "bicubic", bicubic_exclude=1, out_dtype="float32")
    np.testing.assert_allclose(value_of(made, (data, values)), np.full((1, 1, 9, 9), 9), rtol=1e-5)
    nearest = topi.image.resize(data, (8, 8), "NCHW", "nearest_neighbor")
    assert value_of(nearest, (data, values)).dtype == np.uint8


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "shapes": (lambda: topi.add(X, te.placeholder((3, 1, 2))), r"add: the shapes \[3, 4, 5\] and \[3, 1, 2\]"),
    "numbers": (lambda: topi.add(1, 2), "add of two numbers"),
    "axis": (lambda: topi.sum(X, 3), "X has no axis 3; help: it has 3"),
    "order": (lambda: topi.transpose(X, (0, 0, 1)), ".* 3 axes of X"),
    "number of elements": (lambda: topi.reshape(X, (7, 2)), "does not reshape to"),
    "squeeze": (lambda: topi.squeeze(X, 0), "axis 0 of X has more than one element"),
    "concatenate": (lambda: topi.concatenate([X, te.placeholder((3, 4, 6))], 0), "differ"),
    "broadcast": (lambda: topi.broadcast_to(X, (3, 4)), r"\[3, 4, 5\] and \[3, 4\] do not broadcast"),
    "narrower": (lambda: topi.broadcast_to(X, (3, 4, 1)), "does not broadcast to"),
    "matmul": (lambda: topi.nn.matmul(te.placeholder((2, 3)), te.placeholder((2, 3))), "3 columns for 2 rows"),
    "matrices": (lambda: topi.nn.dense(X, X), "matmul of 3 and 3 axes"),
    "bias": (lambda: topi.nn.dense(*[te.placeholder((2, 2))] * 2, te.placeholder((3,))), "a bias of shape"),
    "pad": (lambda: topi.nn.pad(X, (1,)), "1 and 1 widths for 3 axes"),
    "conv": (lambda: topi.nn.conv2d_nchw(X, X, 1, 0), "NCHW.*OIHW"),
    "method": (lambda: topi.image.resize(X, (2, 2), method="bilinea"), "did you mean 'bilinear'"),
    "mode": (lambda: topi.image.resize(X, (2, 2), coordinate_transformation_mode="x"), "'x' is not supported"),
    "layout": (lambda: topi.image.resize(X, (2, 2)), "layout 'NCHW' of 3 axes"),
    "exp of integers": (lambda: topi.exp(te.placeholder((2,), "int32")), "exp of int32"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_in_one_line(mistake: str) -> None:
    make, words = MISTAKES[mistake]
    with pytest.raises(XRelayError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)
