"""Concatenations that are split, and stop_fusion around tuples, compute the same as before at every level."""

from __future__ import annotations

import numpy as np
import pytest
from support.examples import OPT_LEVELS

import xrelay
from xrelay import relay, transform


@pytest.mark.parametrize("limit", [3, 4, 6, 300])
def test_split_concatenations(limit: int) -> None:
    inputs = [relay.var(f"p{number}", shape=(1, 2, number % 3)) for number in range(9)]
    joined = relay.concatenate([relay.nn.relu(each) for each in inputs], axis=2)
    module = relay.Module.from_expr(relay.Function(inputs, relay.negative(joined)))
    split = transform.SplitArgs(limit)(module)
    assert str(split).count("stop_fusion") == {3: 8, 4: 4, 6: 2, 300: 0}[limit]
    rng = np.random.default_rng(limit)
    data = [rng.standard_normal((1, 2, number % 3)).astype(np.float32) for number in range(9)]
    expected = -np.maximum(np.concatenate(data, axis=2), 0)
    for opt_level in OPT_LEVELS:
        (found,) = xrelay.compile(split, opt_level=opt_level, cache=False, threads=1).run(data)
        np.testing.assert_array_equal(found, expected)


def test_wall_around_fields_that_come_in_blocks() -> None:
    x = relay.var("x", shape=(1, 16, 4, 4))
    ones = relay.const(np.ones((16, 16, 1, 1), np.float32))
    first = relay.nn.conv2d(x, ones)
    fields = relay.annotation.stop_fusion(relay.Tuple([first, relay.nn.relu(first)]))
    module = relay.Module.from_expr(relay.Function([x], relay.concatenate(fields, axis=1)))
    data = np.random.default_rng(1).integers(-9, 9, (1, 16, 4, 4)).astype(np.float32)
    sums = np.broadcast_to(data.sum(axis=1, keepdims=True), data.shape)
    for opt_level in OPT_LEVELS:
        (found,) = xrelay.compile(module, opt_level=opt_level, cache=False, threads=1).run([data])
        np.testing.assert_array_equal(found, np.concatenate([sums, np.maximum(sums, 0)], axis=1))
