"""Regions between quantised values, converted to integers: equal to the rounded floats, or one step off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.examples import examples
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay, transform
from xrelay.errors import PassError
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]
qnn = relay.qnn.op
NARROW = ("int8", "uint8", "int16", "uint16")


def numbers(dtype: str, *shape: int, seed: int = 0) -> Array:
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def floats(name: str, data: Array, scale: Any = 0.05, zero: Any = 0, axis: int = -1) -> tuple[relay.Var, relay.Expr]:
    """An integer parameter, and its dequantised value."""
    x = relay.var(name, shape=data.shape, dtype=data.dtype.name)
    return x, qnn.dequantize(x, constant(scale, np.float32), constant(zero, np.int32), axis=axis)


def constant(value: Any, dtype: Any) -> relay.Expr:
    return relay.const(np.array(value, dtype))


def natively(module: ModuleOp, arrays: Sequence[Array]) -> Array:
    return xrelay.compile(module, cache=False, threads=1).run(list(arrays))[0]


def on_integers(module: relay.Module, **options: Any) -> ModuleOp:
    return transform.Sequential([transform.FakeQuantizationToInteger(**options)])(module)


def compared(
    inputs: Sequence[relay.Var], arrays: Sequence[Array], result: relay.Expr, scale: Any, zero: int, dtype: str,
    steps: int = 1, **options: Any,
) -> str:  # fmt: skip
    """Returns the text of the integer form; checks that its results are within `steps` of the floats' results."""
    quantised = qnn.quantize(result, constant(scale, np.float32), constant(zero, np.int32), out_dtype=dtype)
    module = relay.Module.from_expr(relay.Function(list(inputs), quantised))
    changed = on_integers(module, **options)
    text = str(changed)
    assert "relay.qnn.dequantize" not in text
    (expected,), (found,) = run_relay(module, list(arrays)), run_relay(changed, list(arrays))
    assert found.dtype == expected.dtype == np.dtype(dtype)
    difference = np.abs(found.astype(np.int64) - expected.astype(np.int64))
    assert difference.max(initial=0) <= steps
    assert np.mean(difference != 0) < 0.3
    return text


@pytest.mark.parametrize("bias", ["none", "float", "quantised"])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("dtypes", [("uint8", "int8"), ("int8", "int8")], ids=str)
def test_convolutions(dtypes: tuple[str, str], groups: int, bias: str) -> None:
    data, weight = numbers(dtypes[0], 1, 4, 7, 6), numbers(dtypes[1], 6, 4 // groups, 3, 3, seed=1)
    scales = np.array([0.001, 0.002, 0.003, 0.004, 0.01, 0.02], np.float32)
    x, image = floats("x", data, 0.04, 17)
    w, filters = floats("w", weight, scales, axis=0)
    y = relay.nn.conv2d(image, filters, strides=(2, 1), padding=(1, 1), groups=groups)
    inputs, arrays = [x, w], [data, weight]
    if bias == "float":
        y = relay.nn.bias_add(y, constant(np.linspace(-3, 3, 6), np.float32))
    elif bias == "quantised":
        own = np.arange(-300, 300, 100, dtype=np.int32)
        y = relay.nn.bias_add(y, qnn.dequantize(relay.const(own), constant(scales * np.float32(0.04), np.float32), 0))
    text = compared(inputs, arrays, relay.nn.relu(y), 0.07, 3, "uint8")
    assert "relay.qnn.conv2d" in text
    assert "relay.qnn.requantize" in text


PRODUCTS: dict[str, Callable[[relay.Expr, relay.Expr], relay.Expr]] = {
    "conv1d": lambda x, w: relay.nn.conv1d(x, w, padding=1),
    "conv1d_transpose": lambda x, w: relay.nn.conv1d_transpose(x, w, strides=2),
    "batch_matmul": lambda x, w: relay.nn.batch_matmul(x, w, transpose_b=False),
}


@pytest.mark.parametrize("op", PRODUCTS)
def test_products_of_rank_3(op: str) -> None:
    data, weight = numbers("int8", 3, 5, 6), numbers("uint8", *((3, 6, 4) if "mat" in op else (5, 5, 3)), seed=1)
    (x, left), (w, right) = floats("x", data, 0.04, 17), floats("w", weight, 0.01, 120)
    compared([x, w], [data, weight], PRODUCTS[op](left, right), 0.3, -5, "int8")


@pytest.mark.parametrize("turned", [False, True])
def test_matrix_products_take_a_scale_for_each_unit(turned: bool) -> None:
    data, weight = numbers("int8", 2, 3, 8), numbers("int8", *((8, 5) if turned else (5, 8)), seed=1)
    scales = np.array([0.01, 0.02, 0.003, 0.004, 0.05], np.float32)
    (x, left), (w, right) = floats("x", data, 0.04, 17), floats("w", weight, scales, axis=int(turned))
    y = relay.nn.matmul(left, right) if turned else relay.nn.dense(left, right)
    y = relay.add(y, constant([1, -1, 2, -2, 0], np.float32))
    assert "relay.qnn.dense" in compared([x, w], [data, weight], y, 0.2, 5, "int8")


MOVEMENTS: dict[str, Callable[[relay.Expr], relay.Expr]] = {
    "reshape": lambda x: relay.reshape(x, (-1, 8)),
    "squeeze": lambda x: relay.squeeze(x, [0]),
    "expand_dims": lambda x: relay.expand_dims(x, 0),
    "transpose": lambda x: relay.transpose(x, (0, 2, 3, 1)),
    "strided_slice": lambda x: relay.strided_slice(x, [0, 1], [1, 3], axes=[0, 1]),
    "batch_flatten": lambda x: relay.nn.batch_flatten(x),
    "depth_to_space": lambda x: relay.nn.depth_to_space(x, block_size=2),
    "max_pool2d": lambda x: relay.nn.max_pool2d(x, pool_size=(3, 3), padding=(1, 1)),
    "max": lambda x: relay.max(x, axis=2),
    "broadcast_to": lambda x: relay.broadcast_to(x, (2, 4, 6, 8)),
    "split": lambda x: relay.split(x, 2, axis=1)[1],
    "take": lambda x: relay.take(x, relay.const(np.array([3, 0, 1])), axis=1),
    "topk": lambda x: relay.topk(x, k=3, ret_type="values"),
    "pad": lambda x: relay.nn.pad(x, ((0, 0), (0, 0), (1, 1), (2, 0)), 0.0),
    "edges": lambda x: relay.nn.pad(x, ((0, 0), (0, 0), (1, 1), (2, 0)), 0.0, pad_mode="edge"),
    "resize": lambda x: relay.image.resize2d(x, (9, 5), method="nearest_neighbor"),
    "resize_linear": lambda x: relay.image.resize2d(x, (9, 5), method="linear"),
    "resize_cubic": lambda x: relay.image.resize2d(x, (4, 11), method="cubic"),
    "upsampling": lambda x: relay.nn.upsampling(x, 2, 1.5, method="bilinear"),
    "relu": lambda x: relay.nn.relu(x),
    "clip": lambda x: relay.clip(x, -1.234, 0.777),
    "mean": lambda x: relay.mean(x, axis=(2, 3)),
    "sum": lambda x: relay.sum(x, axis=1) / relay.const(4.0),
    "global_avg_pool2d": lambda x: relay.nn.global_avg_pool2d(x),
    "negative": lambda x: relay.negative(x),
    "by_a_number": lambda x: (x * relay.const(-0.7)) / relay.const(1.5),
    "by_channels": lambda x: x * constant(np.linspace(0.1, 0.9, 4).reshape(4, 1, 1), np.float32),
    "concatenate": lambda x: relay.concatenate([x, relay.nn.relu(x)], axis=1),
    "maximum": lambda x: relay.maximum(x, relay.reverse(x, axis=1)),
}


@pytest.mark.grid(4)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("op", MOVEMENTS)
def test_ops_of_one_tensor(op: str, dtype: str) -> None:
    data = numbers(dtype, 1, 4, 6, 8)
    x, image = floats("x", data, 0.04, 17)
    compared([x], [data], MOVEMENTS[op](image), 0.05, 5, dtype)
    compared([x], [data], MOVEMENTS[op](image), 0.04, 17, dtype)


@pytest.mark.parametrize("op", ["sqrt", "exp", "erf", "sigmoid", "tanh", "abs", "nn.leaky_relu", "nn.hard_swish"])
def test_functions(op: str) -> None:
    data = numbers("int8", 300)
    x, reals = floats("x", data, 0.03, -20)
    text = compared([x], [data], relay.op_function(op)(reals), 0.02, -7, "int8")
    assert f"relay.qnn.{op.rpartition('.')[2].replace('hard_', 'hard')}(" in text


def test_functions_of_several_ops_are_a_table() -> None:
    """Every bit equals the result of the floats."""
    data = np.arange(256, dtype=np.uint8).reshape(16, 16)
    _, reals = floats("x", data, 0.03, 100)
    gelu = reals * (relay.erf(reals / relay.const(1.4142135)) + relay.const(1.0)) * relay.const(0.5)
    module = relay.Module.from_expr(qnn.quantize(gelu, 0.02, 30, out_dtype="uint8"))
    changed = on_integers(module)
    assert "relay.take" in str(changed)
    assert "relay.erf" not in str(changed)
    np.testing.assert_array_equal(natively(changed, [data]), run_relay(module, [data])[0])


PAIRS = [("int8", "int8"), ("uint8", "uint8"), ("int8", "uint8"), ("int16", "int8")]


@pytest.mark.grid(4)
@pytest.mark.parametrize("dtypes", PAIRS, ids=str)
@pytest.mark.parametrize("op", ["add", "subtract", "minimum", "maximum"])
def test_ops_of_two_tensors(op: str, dtypes: tuple[str, str]) -> None:
    _compare_binary(op, dtypes)


@pytest.mark.parametrize("dtypes", PAIRS[:3], ids=str)
def test_products_of_two_tensors(dtypes: tuple[str, str]) -> None:
    _compare_binary("multiply", dtypes)


def _compare_binary(op: str, dtypes: tuple[str, str]) -> None:
    first, second = numbers(dtypes[0], 4, 1, 9), numbers(dtypes[1], 3, 1, seed=1)
    (x, left), (y, right) = floats("x", first, 0.04, 17), floats("y", second, 0.06, -5)
    compared([x, y], [first, second], relay.nn.relu(relay.op_function(op)(left, right)), 0.1, 5, "int8")


@pytest.mark.parametrize("op", ["minimum", "maximum", "multiply"])
@pytest.mark.parametrize("second", ["like the first", "along the axis", "one number"])
def test_ops_of_two_tensors_with_scales_for_each_place(op: str, second: str) -> None:
    data, rows = numbers("int8", 4, 3, 9), numbers("int8", 1 if second == "one number" else 4, 3, 9, seed=1)
    scales, zeros = np.linspace(0.03, 0.05, 3), [17, 0, -4]
    x, left = floats("x", data, scales, zeros, axis=1)
    others = {"like the first": (scales, zeros), "along the axis": (scales[::-1], 3), "one number": (0.06, -5)}
    y, right = floats("y", rows, *others[second], axis=1)
    result = relay.op_function(op)(left, right)
    compared([x, y], [data, rows], result, 0.1, 5, "int8")


def test_scales_along_different_axes_stay_floats_in_a_product() -> None:
    _, left = floats("x", numbers("int8", 4, 3), np.linspace(0.03, 0.05, 4), axis=0)
    _, right = floats("y", numbers("int8", 4, 3), np.linspace(0.03, 0.05, 3), axis=1)
    module = relay.Module.from_expr(qnn.quantize(left * right, 0.1, 5))
    with pytest.raises(PassError, match="scales along different axes"):
        on_integers(module, hard_fail=True)


def test_concatenate_and_pools_round_to_the_result() -> None:
    first, second = numbers("int8", 1, 2, 4, 4), numbers("int8", 1, 3, 4, 4, seed=1)
    (x, left), (y, right) = floats("x", first, 0.04, 17), floats("y", second, 0.06, -5)
    text = compared([x, y], [first, second], relay.concatenate([left, right], axis=1), 0.1, 5, "int8")
    assert "relay.qnn.concatenate" in text
    text = compared([x], [first], relay.nn.avg_pool2d(left, pool_size=(2, 2), padding=(1, 1)), 0.05, 3, "int8")
    assert "relay.qnn.avg_pool2d" in text


@pytest.mark.parametrize("size", [1, 4, 5])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_means_of_windows_that_follow_the_result(rank: int, size: int) -> None:
    data = numbers("int8", 1, 2, *[7] * rank)
    x, image = floats("x", data, 2.0, -12)
    pool = relay.op_function(f"nn.adaptive_avg_pool{rank}d")(image, output_size=[size])
    for scale in (0.5, 3.1):
        compared([x], [data], pool, scale, 10, "int8")


def test_bounds_of_channels_with_scales_of_their_own() -> None:
    data = numbers("uint8", 1, 3, 8)
    scales, zeros = np.array([1.0, 2.0, 0.5], np.float32), np.array([0, 100, 7], np.int32)
    _, reals = floats("x", data, scales, zeros, axis=1)
    steps = constant(scales, np.float32), constant(zeros, np.int32)
    module = relay.Module.from_expr(qnn.quantize(relay.clip(reals, -1.3, 6.2), *steps, out_dtype="uint8", axis=1))
    changed = on_integers(module)
    assert "quantize" not in str(changed)
    np.testing.assert_array_equal(run_relay(changed, [data])[0], run_relay(module, [data])[0])


@pytest.mark.parametrize(("op", "rank"), [("avg_pool1d", 1), ("avg_pool2d", 2), ("avg_pool3d", 3)])
def test_means_of_windows_are_no_coarser_than_the_result(op: str, rank: int) -> None:
    data = numbers("int8", 1, 2, *[5] * rank)
    x, image = floats("x", data, 2.0, -12)
    pool = getattr(relay.nn, op)(image, [3] * rank, padding=[1] * rank, count_include_pad=True)
    for scale in (0.5, 1.7, 3.1):
        compared([x], [data], pool, scale, 10, "int8")


def test_softmax_is_rewritten_where_it_is_named() -> None:
    data = numbers("int8", 3, 7)
    x, reals = floats("x", data, 0.1, 0)
    module = relay.Module.from_expr(qnn.quantize(relay.nn.softmax(reals), 1 / 256, -128))
    assert "relay.qnn.softmax" not in str(on_integers(module))
    assert "relay.qnn.softmax" in compared(
        [x], [data], relay.nn.softmax(reals), 1 / 256, -128, "int8", optional_qnn_ops=("nn.softmax",)
    )
    with pytest.raises(PassError, match=r"'nn\.softmaks'"):
        on_integers(module, optional_qnn_ops=("nn.softmaks",))


def test_bounds_between_steps_are_kept_where_the_result_is_finer() -> None:
    data = numbers("int8", 200)
    x, reals = floats("x", data, 1.0, 0)
    compared([x], [data], relay.clip(reals, -1.3, 1.3), 0.01, 0, "int16")


def test_hard_fail_names_op_and_reason() -> None:
    x = relay.var("x", shape=(4, 300000), dtype="int8")
    w = relay.var("w", shape=(2, 300000), dtype="int8")
    long = relay.nn.dense(qnn.dequantize(x, 0.1, 0), qnn.dequantize(w, 0.1, 0))
    module = relay.Module.from_expr(qnn.quantize(long, 0.1, 0))
    with pytest.raises(PassError, match=r"relay\.nn\.dense: a sum of 300000 numbers of int8 by int8"):
        on_integers(module, hard_fail=True)
    assert str(on_integers(module)) == str(module)
    module = relay.Module.from_expr(qnn.quantize(relay.cumsum(qnn.dequantize(x, 0.1, 0), axis=0), 0.1, 0))
    with pytest.raises(PassError, match=r"relay\.cumsum has no integer form"):
        on_integers(module, hard_fail=True)


@pytest.mark.parametrize("scale", [np.inf, np.nan, 3e38])
def test_scales_beyond_floats_stay_floats(scale: float) -> None:
    data = numbers("int8", 16)
    _, reals = floats("x", data, scale)
    module = relay.Module.from_expr(qnn.quantize(reals * relay.const(4.0), 0.1, 0))
    changed = on_integers(module)
    np.testing.assert_array_equal(run_relay(changed, [data])[0], run_relay(module, [data])[0])


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_sums_that_are_quantised_to_32_bits_keep_every_bit(dtype: str) -> None:
    """16 bits stay in floats, 8 bits become a table."""
    data = numbers(dtype, 16)
    _, reals = floats("x", data, 0.1)
    module = relay.Module.from_expr(qnn.quantize(reals + relay.const(1e9), 0.05, 0, out_dtype="int32"))
    changed = on_integers(module)
    assert ("relay.qnn.dequantize" in str(changed)) == (dtype == "int16")
    np.testing.assert_array_equal(run_relay(changed, [data])[0], run_relay(module, [data])[0])


def test_floats_that_come_in_are_no_fault() -> None:
    x, y = relay.var("x", shape=(4,), dtype="int8"), relay.var("y", shape=(4,))
    module = relay.Module.from_expr(qnn.quantize(qnn.dequantize(x, 0.1, 0) + y, 0.1, 0))
    assert str(on_integers(module, hard_fail=True)) == str(module)


def test_single_ops_are_dequantised_with_use_qat() -> None:
    data, weight = numbers("int8", 2, 8), numbers("int8", 5, 8, seed=1)
    (_, left), (_, right) = floats("x", data, 0.04), floats("w", weight, 0.02)
    module = relay.Module.from_expr(relay.cumsum(relay.nn.relu(relay.nn.dense(left, right)), axis=0))
    assert str(on_integers(module)) == str(module)
    changed = on_integers(module, use_qat=True)
    text = str(changed)
    assert text.index("relay.qnn.dense") < text.index("relay.maximum") < text.index("relay.qnn.dequantize")
    assert "relay.nn.relu" not in text
    np.testing.assert_allclose(natively(changed, [data, weight]), run_relay(module, [data, weight])[0], rtol=1e-6)


@pytest.mark.parametrize(("added", "becomes_integer"), [(0.3, False), (24.0, True), (-12.0, True)])
def test_what_is_added_is_not_rounded_where_nothing_rounds_the_sum(added: float, becomes_integer: bool) -> None:
    data, weight = numbers("int8", 2, 8), numbers("int8", 5, 8, seed=1)
    (_, left), (_, right) = floats("x", data, 2.0), floats("w", weight, 6.0)
    module = relay.Module.from_expr(relay.cumsum(relay.nn.dense(left, right) + relay.const(added), axis=0))
    changed = on_integers(module, use_qat=True)
    text = str(changed)
    assert (text.index("relay.add") < text.index("relay.qnn.dequantize")) == becomes_integer
    np.testing.assert_allclose(natively(changed, [data, weight]), run_relay(module, [data, weight])[0], rtol=1e-6)


STEPS: Mapping[str, Callable[[relay.Expr, relay.Expr], relay.Expr]] = {
    "relu": lambda x, _: relay.nn.relu(x),
    "clip": lambda x, _: relay.clip(x, -0.5, 1.0),
    "transpose": lambda x, _: relay.transpose(relay.reshape(x, (6, 6)), (1, 0)),
    "scaled": lambda x, _: x * relay.const(0.5),
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "maximum": lambda x, y: relay.maximum(x, y),
    "dense": lambda x, y: relay.nn.dense(x, y),
    "shifted": lambda x, _: x + relay.const(0.3),
    "sigmoid": lambda x, _: relay.sigmoid(x),
}


@settings(max_examples=examples(20), deadline=None)
@given(data=st.data())
def test_chains_are_a_step_from_floats_or_stay_floats(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(NARROW))
    scales, zeros = st.floats(2.0**-8, 2.0**-3, width=32), st.integers(-20, 20)
    arrays = [numbers(dtype, 6, 6, seed=data.draw(st.integers(0, 99)) + k) for k in range(2)]
    names = data.draw(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=4))
    x, left = floats("x", arrays[0], data.draw(scales), data.draw(zeros))
    y, right = floats("y", arrays[1], data.draw(scales), data.draw(zeros))
    for name in names:
        left = STEPS[name](left, right)
    quantised = qnn.quantize(left, data.draw(scales), data.draw(zeros), out_dtype=data.draw(st.sampled_from(NARROW)))
    module = relay.Module.from_expr(relay.Function([x, y], quantised))
    changed = on_integers(module)
    (expected,), (found,) = run_relay(module, arrays), run_relay(changed, arrays)
    assert found.dtype == expected.dtype
    assert np.abs(found.astype(np.int64) - expected.astype(np.int64)).max() <= 1, names


def test_compile_asks_for_it() -> None:
    data = numbers("int8", 64)
    _, reals = floats("x", data, 0.04, 3)
    module = relay.Module.from_expr(qnn.quantize(relay.tanh(relay.sigmoid(reals)), 0.01, 0))
    plain = xrelay.compile(module, cache=False).run([data])[0]
    for model in (
        xrelay.compile(module, cache=False, integers=True),
        xrelay.compile(module, cache=True, integers=True),
        xrelay.compile(module, cache=True, integers=True),
    ):
        np.testing.assert_array_equal(model.run([data])[0], plain)
    with transform.PassContext(required_pass=["FakeQuantizationToInteger"]):
        np.testing.assert_array_equal(xrelay.compile(module, cache=False).run([data])[0], plain)
