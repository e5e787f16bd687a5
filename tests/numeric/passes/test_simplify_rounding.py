"""Quantised layers without steps that change nothing are bit-equal to those with all steps, for any numbers."""

from __future__ import annotations

import numpy as np
import pytest

from xrelay import relay, transform
from xrelay.interpreters.relay import run_relay

qnn = relay.qnn.op

SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 3e38, -3e38, 2.5, -2.5, 3.5, 1e9], np.float32)


@pytest.mark.parametrize(("dtype", "zero_point"), [("uint8", 0), ("uint8", 137), ("int8", -128), ("uint16", 7)])
def test_rounded_floats(dtype: str, zero_point: int) -> None:
    scale, zero = relay.const(np.float32(0.5)), relay.const(np.int32(zero_point))
    x, p = relay.var("x", shape=(12,)), relay.var("p", shape=(12,), dtype="int32")
    sums = relay.cast(p, "float32") * relay.const(np.float32(0.01))
    fields = [qnn.dequantize(qnn.quantize(value, scale, zero, out_dtype=dtype), scale, zero) for value in (x, sums)]
    module = transform.InferType()(relay.Module.from_expr(relay.Function([x, p], fields[0] + fields[1])))
    for name in ("qnn-canonicalize-ops", "relay-fold-constant"):
        module = transform.create_pass(name)(module)
    changed = transform.create_pass("relay-simplify-rounding")(module)
    changed = transform.create_pass("relay-keep-floats")(changed)
    assert f"dtype = {dtype.replace('uint', 'ui').replace('int', 'i')}" not in str(changed)
    assert str(changed).count("relay.isnan") == 1
    sums_of = np.random.default_rng(1).integers(-(2**31), 2**31, 12).astype(np.int32)
    (expected,), (found,) = run_relay(module, [SPECIAL, sums_of]), run_relay(changed, [SPECIAL, sums_of])
    np.testing.assert_array_equal(found, expected)
