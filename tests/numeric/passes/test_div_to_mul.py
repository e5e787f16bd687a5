"""Quotients by constants become products, except with `exact` and below a rounding."""

from __future__ import annotations

import numpy as np
import pytest

from xrelay import relay
from xrelay.api.compile import compile


@pytest.mark.parametrize("exact", [False, True])
def test_only_exact_results_are_quotients(exact: bool) -> None:
    x = relay.var("x", shape=(1000,))
    module = relay.Module.from_expr(relay.Function([x], x / relay.const(np.float32(49))))
    data = np.arange(1000, dtype=np.float32)
    (found,) = compile(module, cache=False, exact=exact, threads=1).run([data])
    np.testing.assert_allclose(found, data / np.float32(49), rtol=2e-7)
    assert np.array_equal(found, data / np.float32(49)) == exact


def test_rounded_quotients_are_exact() -> None:
    x = relay.var("x", shape=(1000,))
    module = relay.Module.from_expr(relay.Function([x], relay.floor(x / relay.const(np.float32(49)))))
    data = np.arange(1000, dtype=np.float32)
    (found,) = compile(module, cache=False, threads=1).run([data])
    np.testing.assert_array_equal(found, np.arange(1000) // 49)
