"""Networks whose products are split agree with those of f32, in the interpreter and as native code."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from xrelay import relay
from xrelay.api.compile import compile
from xrelay.interpreters.relay import run_relay
from xrelay.passes.layout.alter_op_layout import alter_layouts
from xrelay.passes.layout.split_products import split_products

Array = NDArray[np.float32]


def block(shape: tuple[int, ...], filters: int, stride: int, *, is_dynamic: bool) -> tuple[relay.Module, list[Array]]:
    """Two convolutions of a concatenation with 1 x 1 filters; a bias, their sum and a relu follow."""
    random = np.random.default_rng(shape[-1])

    def normal(*extents: int) -> Array:
        return random.standard_normal(extents).astype(np.float32)

    x = relay.var("x", shape=(relay.Any(), *shape[1:]) if is_dynamic else shape)
    data = relay.nn.relu(relay.concatenate((x, relay.negative(x)), axis=1))
    first, second = (
        relay.nn.conv2d(data, normal(filters, 2 * shape[1], 1, 1), strides=(stride, stride)) for _ in range(2)
    )
    y = relay.nn.relu(relay.nn.bias_add(first, normal(filters)) + second)
    return relay.transform.InferType()(relay.Module.from_expr(relay.Function([x], y))), [normal(*shape)]


@pytest.mark.parametrize(
    ("shape", "filters", "stride", "is_dynamic"),
    [
        ((1, 128, 14, 13), 512, 1, False),
        ((2, 128, 7, 9), 304, 1, False),
        ((1, 128, 25, 27), 512, 2, False),
        ((3, 128, 15, 13), 512, 2, True),
    ],
    ids=str,
)
def test_convolutions(shape: tuple[int, ...], filters: int, stride: int, is_dynamic: bool) -> None:
    """The number of images may be dynamic."""
    module, inputs = block(shape, filters, stride, is_dynamic=is_dynamic)
    other, _ = block(shape, filters, stride, is_dynamic=is_dynamic)
    alter_layouts(other, vector_lanes=16)
    assert [remark.applied for remark in split_products(other)] == [True, True]
    (wanted,) = run_relay(module, inputs)
    for found in (run_relay(other, inputs)[0], compile(other, cache=False).run(inputs)[0]):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-5 * np.abs(wanted).max(), strict=True)


@pytest.mark.parametrize(("rows", "is_dynamic"), [((256,), False), ((2, 128), False), ((250,), True)], ids=str)
@pytest.mark.parametrize("transpose_b", [False, True])
def test_matrices(rows: tuple[int, ...], is_dynamic: bool, transpose_b: bool) -> None:
    """Two matrices that are computed at run time; the number of rows may be dynamic."""
    random, columns = np.random.default_rng(0), (96, 128) if transpose_b else (128, 96)
    a = relay.var("a", shape=(relay.Any(), 128) if is_dynamic else (*rows, 128))
    b = relay.var("b", shape=columns)
    y = relay.nn.matmul(relay.exp(a), relay.exp(b), transpose_b=transpose_b)
    module = relay.transform.InferType()(relay.Module.from_expr(relay.Function([a, b], y)))
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in ((*rows, 128), columns)]
    (wanted,) = run_relay(module, inputs)
    assert [remark.applied for remark in split_products(module)] == [True]
    for found in (run_relay(module, inputs)[0], compile(module, cache=False, specialize=False).run(inputs)[0]):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-5 * np.abs(wanted).max(), strict=True)
