"""Transposed convolutions are the same after they are split into convolutions of stride 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.one_op import check

from xrelay import relay
from xrelay.interpreters.relay import run_relay
from xrelay.passes.relay.split_conv_transpose import split_conv_transpose

CASES: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 4), (3, 17, 3), {"strides": (2,), "padding": (1, 1), "output_padding": (1,)}),
    ((1, 3, 4), (3, 2, 5), {"strides": (4,)}),
    ((1, 3, 4), (3, 2, 3), {"strides": (2,), "dilation": (3,), "padding": (1, 2)}),
    ((1, 3, 4, 5), (3, 17, 3, 2), {"strides": (2, 1), "padding": (1, 0, 1, 0)}),
    ((1, 4, 3, 3), (4, 3, 4, 4), {"strides": (2, 2), "padding": (1, 1, 1, 1), "groups": 2}),
    ((1, 2, 3, 3), (2, 17, 3, 2), {"strides": (3, 2), "dilation": (2, 1), "output_padding": (1, 0)}),
    ((1, 3, 6, 5), (3, 1, 4, 4), {"strides": (2, 2), "padding": (1, 1, 1, 1)}),
    ((1, 3, 7), (3, 2, 6), {"strides": (3,), "padding": (4, 3), "output_padding": (2,)}),
    ((1, 2, 2, 3, 2), (2, 3, 3, 2, 3), {"strides": (2, 2, 3), "padding": (1, 0, 0, 1, 0, 0)}),
]
REFUSED: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((1, 3, 4), (3, 2, 5), {"strides": (4,), "padding": (4, 0)}),
    ((1, 3, 4), (3, 2, 1), {"strides": (3,)}),
]


def module_of(shape: tuple[int, ...], weight: tuple[int, ...], attributes: dict[str, Any]) -> relay.Module:
    values = np.random.default_rng(0).standard_normal(weight).astype(np.float32)
    op = relay.op_function(f"nn.conv{len(weight) - 2}d_transpose")
    expr = op(relay.var("x", shape=shape, dtype="float32"), relay.const(values), **attributes)
    return relay.transform.InferType()(relay.Module.from_expr(expr))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_split(case: tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]) -> None:
    module, data = module_of(*case), np.random.default_rng(1).standard_normal(case[0]).astype(np.float32)
    wanted = run_relay(module, [data])[0]
    remarks = split_conv_transpose(module)
    assert [remark.applied for remark in remarks] == [True]
    np.testing.assert_allclose(run_relay(module, [data])[0], wanted, rtol=1e-5, atol=1e-5, strict=True)


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_phases_without_taps_and_of_a_part_of_the_data_are_refused(
    case: tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]],
) -> None:
    assert [remark.applied for remark in split_conv_transpose(module_of(*case))] == [False]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_infinite_elements_reach_the_same_results(
    case: tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]],
) -> None:
    module, data = module_of(*case), np.ones(case[0], np.float32)
    data[(0, 0, *[1] * (data.ndim - 2))] = np.inf
    wanted = run_relay(module, [data])[0]
    split_conv_transpose(module)
    np.testing.assert_array_equal(np.isfinite(run_relay(module, [data])[0]), np.isfinite(wanted), strict=True)


def test_native() -> None:
    shape, weight = (1, 16, 5, 7), (16, 32, 3, 3)
    module = module_of(shape, weight, {"strides": (2, 2), "padding": (1, 1, 1, 1), "output_padding": (1, 1)})
    check(module, [np.random.default_rng(1).standard_normal(shape).astype(np.float32)], rtol=1e-4, atol=1e-4)
