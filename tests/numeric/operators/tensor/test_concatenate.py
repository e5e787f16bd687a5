"""Concatenations and splits with many operands or results."""

from __future__ import annotations

import numpy as np
import pytest
from support.levels import run_passes
from xdsl.dialects.func import FuncOp

import xrelay
from xrelay import relay
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.interpreters.relay import run_relay


def test_nothing_recurses_over_the_operands() -> None:
    data = [np.full((2, 1 + number % 2), number, np.float32) for number in range(500)]
    operands = [relay.var(f"x{number}", shape=array.shape) for number, array in enumerate(data)]
    module = relay.Module.from_expr(relay.Function(operands, relay.concatenate(relay.Tuple(operands), axis=1)))
    expected = np.concatenate(data, axis=1)
    np.testing.assert_array_equal(run_relay(module, data)[0], expected)
    np.testing.assert_array_equal(xrelay.compile(module, threads=1, cache=False).run(data)[0], expected)


@pytest.mark.grid(2)
@pytest.mark.parametrize("axis", [0, 1])
def test_a_wide_split_is_joined_again(axis: int) -> None:
    x = relay.var("x", shape=(160, 160))
    places = [place for place in range(1, 160) if place % 9]
    parts = relay.split(x, places, axis=axis)
    order = [*range(0, len(places) + 1, 2), *range(1, len(places) + 1, 2)]
    joined = relay.concatenate(relay.Tuple([parts[number] for number in order]), axis=axis)
    data = np.arange(160 * 160, dtype=np.float32).reshape(160, 160)
    expected = np.concatenate([np.split(data, places, axis)[number] for number in order], axis)
    module = relay.Module.from_expr(relay.Function([x], joined))
    np.testing.assert_array_equal(xrelay.compile(module, threads=1, cache=False).run([data])[0], expected)


def test_no_kernel_has_an_argument_for_each_of_many_parts() -> None:
    x = relay.var("x", shape=(1000,))
    parts = relay.split(x, 1000)
    joined = relay.concatenate(relay.Tuple([relay.exp(parts[number]) for number in reversed(range(1000))]))
    module = relay.Module.from_expr(relay.Function([x], joined))
    run_passes(module, "relay-split-wide-ops,relay-fuse-ops,relay-outline-fused")
    kernels = [op for op in module.body.block.ops if isinstance(op, FuncOp) and PRIMITIVE in op.attributes]
    assert max(len(kernel.body.block.args) for kernel in kernels) <= 128
