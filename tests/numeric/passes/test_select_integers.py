"""Integers that are moved and selected equal dequantised numbers that are moved, selected and quantised again."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay import relay, transform
from xrelay.interpreters.relay import run_relay

qnn = relay.qnn.op


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
@pytest.mark.parametrize("scale", [3e-30, 0.1, 0.7, 2e29])
def test_pool(dtype: str, scale: float) -> None:
    limits = np.iinfo(dtype)
    s, z = relay.const(np.float32(scale)), relay.const(np.int32(limits.max // 3))
    x = relay.var("x", shape=(1, 2, 256, 256), dtype=dtype)
    # The windows of the borders are in the padding.
    pool = relay.nn.max_pool2d(qnn.dequantize(x, s, z), pool_size=(2, 2), strides=(2, 2), padding=(2, 2, 2, 2))
    result = qnn.quantize(relay.transpose(pool, (0, 2, 3, 1)), s, z, out_dtype=dtype)
    module = transform.InferType()(relay.Module.from_expr(relay.Function([x], result)))
    changed = transform.create_pass("qnn-select-integers")(module)
    assert "quantize" not in str(changed)
    data = np.arange(1 << 17).reshape(1, 2, 256, 256) + limits.min
    integers = data.astype(dtype)
    (expected,) = run_relay(module, [integers])
    assert len(np.unique(expected)) > 100
    np.testing.assert_array_equal(run_relay(changed, [integers])[0], expected)
    np.testing.assert_array_equal(xrelay.compile(module, threads=1, cache=False).run([integers])[0], expected)
