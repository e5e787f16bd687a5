"""`xrelay.compile` accepts fused and unfused modules alike."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay import relay, transform

LINK_PARAMS = {"relay.FuseOps.link_params": True}


@pytest.mark.parametrize("fused_before", [False, True])
def test_constants_inside_groups_are_arguments_of_kernels(fused_before: bool) -> None:
    x = relay.var("x", shape=(5, 1))
    places, scale = np.array([[0, 4], [1, 0]]), np.arange(2, dtype=np.float32)
    picked = relay.gather_nd(relay.concatenate([x, relay.negative(x)], axis=-1), relay.const(places))
    module = relay.IRModule.from_expr(relay.Function([x], picked * relay.const(scale)))
    data = np.arange(1, 6, dtype=np.float32).reshape(5, 1)
    with transform.PassContext(config=LINK_PARAMS):
        if fused_before:
            module = transform.FuseOps()(transform.InferType()(module))
            assert "relay.constant dense<[[0, 4], [1, 0]]>" in str(module).split("relay.fused")[1]
        (result,) = xrelay.compile(module).run([data])
    assert result.tolist() == [0, 5]
