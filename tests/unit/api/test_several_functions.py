"""A module with several functions runs its `@main`; the others may be public and contain weights."""

from __future__ import annotations

import numpy as np

import xrelay
from xrelay import relay


def test_weights_of_functions_that_main_calls() -> None:
    weight = np.arange(900, dtype=np.float32).reshape(30, 30)
    x, y = relay.var("x", shape=(2, 30)), relay.var("y", shape=(2, 30))
    module = relay.IRModule({"layer": relay.Function([x], relay.nn.dense(x, relay.const(weight)))})
    module["unused"] = relay.Function([x], relay.nn.dense(x, relay.const(weight + 1)))
    layer = module.get_global_var("layer")
    module["main"] = relay.Function([y], layer(layer(y)))
    before = str(module)
    data = np.ones((2, 30), np.float32)
    (found,) = xrelay.compile(module, cache=False).run([data])
    np.testing.assert_allclose(found, data @ weight.T @ weight.T, rtol=1e-5)
    assert str(module) == before
