"""Quantised and other convolutions compute the same in the layouts that a user requests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.one_op import check

from xrelay import relay, transform
from xrelay.interpreters.relay import run_relay

RNG = np.random.default_rng(3)


def quantised(per_channel: bool) -> tuple[relay.Module, list[Any]]:
    """Two convolutions with requantisations; then a concatenation and a tanh."""
    qnn = relay.qnn.op
    arrays = [RNG.integers(0, 255, (2, 4, 7, 6)).astype(np.uint8)]
    arrays += [RNG.integers(-128, 127, shape).astype(np.int8) for shape in ((8, 4, 3, 3), (4, 8, 1, 1))]
    x, w, v = variables = [
        relay.var(name, shape=array.shape, dtype=array.dtype.name)
        for name, array in zip(("x", "w", "v"), arrays, strict=True)
    ]
    scale = relay.const(RNG.uniform(1e-3, 2e-3, 8).astype(np.float32)) if per_channel else 2e-3
    a = qnn.conv2d(x, w, 120, 3, 0.5, scale, (3, 3), 8, padding=(1, 1, 1, 1))
    a = qnn.requantize(a, scale, 0, 0.1, 5, axis=1)
    a = qnn.add(a, a, 0.1, 5, 0.1, 5, 0.2, 4)
    b = qnn.conv2d(a, v, 4, 0, 0.2, 0.5, (1, 1), 4)
    b = qnn.requantize(b, 0.1, 0, 0.7, -3)
    scales, zeros = (relay.Tuple([relay.const(np.array(each))] * 2) for each in (np.float32(0.7), np.int32(-3)))
    b = qnn.concatenate(relay.Tuple([b, b]), scales, zeros, 0.9, 1, 1)
    return relay.Module.from_expr(relay.Function(list(variables), qnn.tanh(b, 0.9, 1, 1 / 128, 0))), list(arrays)


@pytest.mark.grid(3)
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("layouts", [["NHWC", "default"], ["NCHW4c"], ["NHWC", "OHWI"]])
def test_quantised_convolutions(layouts: list[str], per_channel: bool) -> None:
    module, arrays = quantised(per_channel)
    changed = transform.ConvertLayout({"qnn.conv2d": layouts})(module)
    assert str(changed).count(f'data_layout = "{layouts[0]}"') == 2
    (expected,), (found,) = run_relay(module, arrays), run_relay(changed, arrays)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(check(relay.Module.of(changed), arrays)[0], expected)
