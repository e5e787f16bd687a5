"""Depthwise convolutions of integers that are computed in f32 have the results of the interpreter, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from support.one_node import Array

import xrelay
from xrelay import relay, transform
from xrelay.interpreters.relay import run_relay


def extremes(shape: tuple[int, ...], least: int, most: int) -> Array:
    """Random numbers; the first channel is the least, the second the greatest."""
    values = np.random.default_rng(len(shape) + shape[-1]).integers(least, most + 1, shape)
    values[..., 0, :, :], values[..., 1, :, :] = least, most
    return values


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize(("kernel", "strides"), [(3, 1), (5, 2), (1, 1)])
def test_depthwise_convolutions_of_bytes(dtype: str, kernel: int, strides: int) -> None:
    limits = np.iinfo(dtype)
    x = relay.var("x", shape=(2, 17, 7, 9), dtype=dtype)
    distance = relay.cast(x, dtype="int32") - relay.const(np.int32(limits.max))
    weight = extremes((1, 17, kernel, kernel), -255, 255).reshape(17, 1, kernel, kernel).astype(np.int32)
    y = relay.nn.conv2d(
        distance, relay.const(weight), padding=(kernel // 2, kernel // 2), strides=(strides, strides), groups=17
    )
    module = transform.InferType()(relay.Module.from_expr(relay.Function([x], y)))
    assert "xf32>" in str(transform.create_pass("relay-widen-products")(module))
    arrays = [extremes((2, 17, 7, 9), limits.min, limits.max).astype(dtype)]
    (expected,) = run_relay(module, arrays)
    (found,) = xrelay.compile(module, cache=False, threads=1).run(arrays)
    np.testing.assert_array_equal(found, expected, strict=True)
