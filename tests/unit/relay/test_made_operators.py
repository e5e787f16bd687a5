"""Functions of Relay's Python API that expand to several operators, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import xrelay
from xrelay import relay
from xrelay.errors import InputError
from xrelay.interpreters.relay import run_relay
from xrelay.relay.expr import Expr
from xrelay.relay.loops import while_loop

DATA = np.random.default_rng(5).standard_normal((3, 4, 5)).astype(np.float32)
X = relay.var("x", shape=(3, 4, 5))


def results(expr: Expr) -> list[NDArray[Any]]:
    """The results of the interpreter; checks that native code agrees."""
    module = relay.Module.from_expr(relay.Function([X], expr))
    expected, found = run_relay(module, [DATA]), xrelay.compile(module, cache=False, threads=1).run([DATA])
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6, strict=True)
    return list(expected)


@pytest.mark.parametrize(
    ("words", "axes"),
    [
        ({}, (0, 1, 2)),
        ({"axis": 1}, (1,)),
        ({"axis": (-1, 0), "keepdims": True}, (0, 2)),
        ({"axis": 1, "exclude": True}, (0, 2)),
    ],
)
def test_moments(words: dict[str, Any], axes: tuple[int, ...]) -> None:
    kept = bool(words.get("keepdims"))
    mean, variance = results(relay.mean_variance(X, **words, unbiased=True))
    np.testing.assert_allclose(mean, DATA.mean(axes, keepdims=kept), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(variance, DATA.var(axes, keepdims=kept, ddof=1), rtol=1e-5, atol=1e-6)
    mean, deviation = results(relay.mean_std(X, **words))
    assert mean.shape == deviation.shape
    np.testing.assert_allclose(deviation, DATA.std(axes, keepdims=kept), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("count", [None, 4, relay.const(4)])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_sums_of_segments(dtype: str, count: int | Expr | None) -> None:
    numbers = relay.const(np.array([2, 0, 2], dtype))
    (found,) = results(relay.segment_sum(X, numbers, count))
    wanted = np.zeros((3 if count is None else 4, 4, 5), np.float32)
    wanted[0], wanted[2] = DATA[1], DATA[0] + DATA[2]
    np.testing.assert_allclose(found, wanted, rtol=1e-6, strict=True)
    with pytest.raises(InputError, match="operands of known types"):
        relay.segment_sum(relay.var("y"), numbers)


def test_dropout_has_its_mask() -> None:
    data, mask = results(relay.nn.dropout_raw(X))
    np.testing.assert_array_equal(data, DATA)
    np.testing.assert_array_equal(mask, np.ones_like(DATA))


@pytest.mark.parametrize(
    ("places", "wanted", "taken", "empty"),
    [
        ([[0, 1], [0, 3], [2, 0], [3, 1]], [[0, 1], [0, 3], [1, 0], [2, 0], [3, 1], [4, 0]], "129349", [0, 1, 0, 0, 1]),
        ([[3, 2]], [[0, 0], [1, 0], [2, 0], [3, 2], [4, 0]], "99919", [1, 1, 1, 0, 1]),
        ([], [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0]], "99999", [1, 1, 1, 1, 1]),
    ],
)
def test_empty_rows_of_sparse_tensors(places: list[list[int]], wanted: Any, taken: str, empty: list[int]) -> None:
    matrix = np.array(places, np.int64).reshape(-1, 2)
    i, v = relay.var("i", shape=matrix.shape, dtype="int64"), relay.var("v", shape=(len(places),))
    filled = relay.sparse_fill_empty_rows(i, v, relay.const(np.array([5, 6])), relay.const(np.float32([9])))
    module = relay.Module.from_expr(relay.Function([i, v], filled))
    data = [matrix, np.arange(1, len(places) + 1, dtype=np.float32)]
    for found in (run_relay(module, data), xrelay.compile(module, cache=False, threads=1).run(data)):
        assert [each.tolist() for each in found] == [wanted, [float(digit) for digit in taken], empty]
        assert [each.dtype.name for each in found] == ["int64", "float32", "bool"]


def test_loops_repeat_while_a_condition_holds() -> None:
    i, total = relay.var("i", "int32"), relay.var("total", shape=(2,))
    loop = while_loop(
        lambda i, _: relay.less(i, relay.const(4)),
        [i, total],
        lambda i, total: [i + relay.const(1), total + relay.cast(i, "float32")],
    )
    start = relay.var("start", shape=(2,))
    module = relay.Module.from_expr(relay.Function([start], loop(relay.const(0), start)))
    data = [np.array([1, 2], np.float32)]
    for found in (run_relay(module, data), xrelay.compile(module, cache=False).run(data)):
        assert [each.tolist() for each in found] == [4, [7.0, 8.0]]


def test_a_condition_of_any_type_holds_where_it_is_not_0() -> None:
    weights, x = relay.var("weights", shape=(3,)), relay.var("x", shape=(3,))
    chosen = relay.create_executor("graph").evaluate(relay.Function([weights, x], relay.where(weights, x, weights)))
    assert chosen(np.array([0, -1, 2], np.float32), np.array([5, 6, 7], np.float32)).tolist() == [0, 6, 7]


def test_convolutions_in_blocks_have_relays_name() -> None:
    data, kernel = relay.var("data", shape=(1, 2, 5, 5, 4)), relay.var("kernel", shape=(1, 2, 3, 3, 4, 8))
    for layout in ("OIHW4i8o", "OIHW"):
        layouts = {"data_layout": "NCHW4c", "kernel_layout": layout, "out_layout": "NCHW8c"}
        made = relay.nn.contrib_conv2d_nchwc(data, kernel, padding=(1, 1), channels=8, kernel_size=(3, 3), **layouts)
        assert made.type == relay.TensorType((1, 1, 5, 5, 8))
        assert made.op == relay.op.get("nn.conv2d")


def test_the_padding_of_integers_may_be_a_whole_float() -> None:
    x = relay.var("x", shape=(2,), dtype="int8")
    padded = relay.create_executor("graph").evaluate(relay.Function([x], relay.nn.pad(x, [(1, 1)], 2.0)))
    assert padded(np.array([5, 6], np.int8)).tolist() == [2, 5, 6, 2]
