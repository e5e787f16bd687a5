"""Padded channels do not change results, and `exact` forbids them."""

from __future__ import annotations

import numpy as np
import pytest

from xrelay import relay
from xrelay.api.compile import compile
from xrelay.interpreters.relay import run_relay
from xrelay.target.target import Target

LANES = Target.host().lanes()
WIDE = 3 * LANES + LANES // 2
"""An odd number of halves of vectors."""


@pytest.mark.parametrize("exact", [False, True])
def test_compiled_groups_equal_the_interpreter(exact: bool) -> None:
    rng = np.random.default_rng(7)
    shapes = ((WIDE, 20, 1, 1), (WIDE, 1, 1), (WIDE, 1, 3, 3), (9, WIDE, 1, 1))
    first, bias, depthwise, last = (relay.const(rng.normal(size=shape).astype(np.float32)) for shape in shapes)
    x = relay.var("x", shape=(2, 20, 7, 6))
    wide = relay.sigmoid(relay.nn.conv2d(x, first) + bias)
    inner = relay.nn.conv2d(wide, depthwise, padding=(1, 1), groups=WIDE)
    result = relay.Tuple([relay.nn.conv2d(inner + wide, last), relay.exp(wide)])
    module = relay.Module.from_expr(relay.Function([x], result))
    data = rng.normal(size=(2, 20, 7, 6)).astype(np.float32)
    model = compile(module, cache=False, exact=exact, threads=1)
    for found, expected in zip(model.run([data]), run_relay(module, [data]), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    schedules = [kernel.work.schedule for kernel in model.artifact.metadata.kernels]
    assert any(f"blocks of {LANES // 2} channels" in schedule for schedule in schedules) == exact
