"""Products of two dynamic matrices, in every form, in native code against the interpreter and numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.levels import assert_same, check_native, outputs
from support.networks import weight
from xdsl.dialects.builtin import ModuleOp

from xrelay import relay
from xrelay.api.compile import compile
from xrelay.errors import InputError

Shape = tuple[int, ...]
FLIPS = [(False, False), (False, True), (True, False), (True, True)]


def module_of(body: relay.Expr) -> ModuleOp:
    return relay.Module.from_expr(relay.Function(relay.analysis.free_vars(body), body))


def variables(left: Shape, right: Shape, dtype: str) -> tuple[relay.Expr, relay.Expr]:
    return relay.var("left", shape=left, dtype=dtype), relay.var("right", shape=right, dtype=dtype)


def arrays(left: Shape, right: Shape, dtype: str) -> list[NDArray[Any]]:
    rng = np.random.default_rng(sum(left) + sum(right))
    if dtype.startswith("float"):
        return [rng.uniform(-0.5, 0.5, shape).astype(dtype) for shape in (left, right)]
    return [rng.integers(0, 100, shape).astype(dtype) for shape in (left, right)]


def turned(shape: Shape, *, flip: bool) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2]) if flip else shape


STACKS = [
    # left, right: (…, rows, depth) by (…, depth, columns)
    ((7, 5), (5, 19)),
    ((1, 64), (64, 100)),
    ((4, 33, 17), (4, 17, 23)),
    ((2, 1, 20, 8), (3, 8, 70)),
    ((3, 1, 40), (40, 48)),
    ((5, 1, 6), (5, 6, 33)),
    ((40, 1, 6), (6, 33)),
    ((6, 3), (4, 3, 1)),
    ((31, 2), (2, 3)),
    ((13, 0), (0, 20)),
    ((2, 0, 5), (5, 20)),
    ((64, 600), (600, 260)),
    ((1, 13), (13, 1100)),
    ((1, 8), (8, 1088)),
]


@pytest.mark.grid(12)
@pytest.mark.parametrize("flips", FLIPS)
@pytest.mark.parametrize(("left", "right"), STACKS)
def test_products(left: Shape, right: Shape, flips: tuple[bool, bool]) -> None:
    shapes = turned(left, flip=flips[0]), turned(right, flip=flips[1])
    product = relay.nn.matmul if len(right) == 2 else relay.nn.batch_matmul
    a, b = variables(*shapes, "float32")
    module = module_of(product(a, b, transpose_a=flips[0], transpose_b=flips[1]))
    inputs = arrays(*shapes, "float32")
    check_native(module, inputs)
    first, second = (m.swapaxes(-1, -2) if flip else m for m, flip in zip(inputs, flips, strict=True))
    np.testing.assert_allclose(outputs(module, inputs)[0], first.astype(np.float64) @ second, rtol=1e-5, atol=1e-5)


@pytest.mark.grid(16)
@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("target", ["cpu -mcpu=x86-64", None])
@pytest.mark.parametrize("flips", FLIPS)
def test_element_types(dtype: str, target: str | None, flips: tuple[bool, bool]) -> None:
    shapes = turned((2, 21, 9), flip=flips[0]), turned((2, 9, 37), flip=flips[1])
    a, b = variables(*shapes, dtype)
    module = module_of(relay.nn.batch_matmul(a, b, transpose_a=flips[0], transpose_b=flips[1]))
    inputs = arrays(*shapes, dtype)
    expected = outputs(module, inputs)
    found = compile(module, target=target, cache=False, threads=1).run(inputs)
    assert_same(found, expected, "native", {"float16": 2e-3, "float64": 1e-9}.get(dtype, 0.0))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_integers_are_summed_in_a_wider_type(dtype: str) -> None:
    shapes = (3, 20, 40), (3, 40, 24)
    a, b = variables(*shapes, dtype)
    module = module_of(relay.nn.batch_matmul(a, b, transpose_b=False, out_dtype="int32"))
    rng = np.random.default_rng(0)
    inputs = [rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype) for shape in shapes]
    expected = inputs[0].astype(np.int32) @ inputs[1].astype(np.int32)
    for found in (outputs(module, inputs), compile(module, cache=False).run(inputs)):
        np.testing.assert_array_equal(found[0], expected)


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("rows", [3, 60])
def test_epilogues(rows: int, *, transpose_b: bool) -> None:
    left, right = (4, rows, 24), turned((4, 24, 50), flip=transpose_b)
    a, b = variables(left, right, "float32")
    mask, residual = relay.var("mask", shape=(4, 1, 50)), relay.var("residual", shape=(4, rows, 50))
    scores = relay.nn.batch_matmul(a, b, transpose_b=transpose_b) * relay.const(np.float32(0.125)) + mask
    module = module_of(relay.tanh(scores) + residual)
    shapes: Sequence[Shape] = (left, right, (4, 1, 50), (4, rows, 50))
    check_native(module, [weight(*shape, seed=n) for n, shape in enumerate(shapes)])


@pytest.mark.grid(3)
@pytest.mark.parametrize(("rows", "units"), [((5,), 48), ((2, 30), 64), ((16,), 37), ((40, 1), 16)])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_constant_weights(rows: Shape, units: int, *, transpose_b: bool) -> None:
    a = relay.var("data", shape=(*rows, 24))
    constant = relay.const(weight(*turned((24, units), flip=transpose_b)))
    body = relay.nn.relu(relay.nn.matmul(a, constant, transpose_b=transpose_b) + relay.const(weight(units)))
    check_native(module_of(body), [weight(*rows, 24, seed=1)])


@pytest.mark.parametrize("units", [17, 31])
def test_packed_weights_with_a_partial_block(units: int) -> None:
    data, packed = relay.var("x", shape=(3, 5)), relay.var("w", shape=(2, 5, 16))
    module = module_of(relay.nn.contrib_dense_pack(data, packed, "NC16n", units=units))
    left, right = arrays((3, 5), (2, 5, 16), "float32")
    check_native(module, [left, right])
    (found,) = compile(module, threads=1, cache=False).run([left, right])
    plain = right.transpose(0, 2, 1).reshape(32, 5)[:units]
    np.testing.assert_allclose(found, left @ plain.T, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_packed_weights_whose_blocks_have_a_name(dtype: str) -> None:
    """The layout determines the number of columns per block, which becomes an extent of the input."""
    data = relay.var("x", shape=("n", 5), dtype=dtype)
    packed = relay.nn.contrib_dense_pack(data, relay.var("w", shape=("m", 5, "b"), dtype=dtype), "NC8n")
    module = module_of(packed)
    left, right = arrays((3, 5), (2, 5, 8), dtype)
    model = compile(module, threads=1, cache=False)
    found = model.run([left, right])
    assert_same(found, outputs(module, [left, right]), "native", 1e-5)
    plain = right.transpose(0, 2, 1).reshape(16, 5)
    np.testing.assert_allclose(found[0], (left.astype(np.float64) @ plain.T).astype(dtype), rtol=1e-3, atol=1e-5)
    with pytest.raises(InputError, match=r"expected \w+\[m, 5, 8\]"):
        model.run([left, right[:, :, :4]])
