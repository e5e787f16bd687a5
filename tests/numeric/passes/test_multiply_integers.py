"""Products of dequantised factors on integers: the sums are exact, natively too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import xrelay
from xrelay import relay, transform
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]
qnn = relay.qnn.op
Product = Callable[[Any, Any], Any]

PRODUCTS: dict[str, tuple[Product, tuple[int, ...], tuple[int, ...], int]] = {
    "dense": (lambda x, w: relay.nn.dense(x, w), (5, 30), (16, 30), 0),
    "transposed": (lambda x, w: relay.nn.matmul(x, relay.transpose(w)), (5, 32), (12, 32), 0),
    "matmul": (lambda x, w: relay.nn.matmul(x, w), (2, 5, 32), (32, 12), 1),
    "conv1d": (lambda x, w: relay.nn.conv1d(x, w, strides=2, padding=(1, 2)), (2, 6, 9), (16, 6, 3), 0),
    "conv2d": (lambda x, w: relay.nn.conv2d(x, w, padding=(1, 0, 2, 1), groups=2), (1, 16, 5, 7), (32, 8, 3, 2), 0),
    "conv3d": (lambda x, w: relay.nn.conv3d(x, w, padding=(1, 1, 1)), (1, 8, 4, 5, 6), (16, 8, 3, 3, 3), 0),
}


@pytest.mark.grid(2)
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_scaled_sums_of_integers(name: str, dtype: str) -> None:
    product, shape, weight_shape, axis = PRODUCTS[name]
    rng = np.random.default_rng(1)
    limits = np.iinfo(dtype)
    data = rng.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)
    weight = rng.integers(-127, 127, weight_shape, endpoint=True).astype(np.int8)
    # Powers of two scale floats without rounding, and small sums of floats are exact.
    scales = np.exp2(rng.integers(-3, 3, weight_shape[axis])).astype(np.float32)
    x = relay.var("x", shape=shape, dtype=dtype)
    zero = relay.const(np.int32(limits.min + 100))
    factor = qnn.dequantize(x, relay.const(np.float32(0.5)), zero)
    other = qnn.dequantize(relay.const(weight), relay.const(scales), relay.const(np.int32(0)), axis=axis)
    module = relay.Module.from_expr(relay.Function([x], product(factor, other)))
    changed = transform.create_pass("qnn-multiply-integers")(module)
    assert "qnn.dequantize" not in str(changed)
    (expected,) = run_relay(module, [data])
    np.testing.assert_array_equal(run_relay(changed, [data])[0], expected)
    np.testing.assert_array_equal(xrelay.compile(module, cache=False, threads=1).run([data])[0], expected)
