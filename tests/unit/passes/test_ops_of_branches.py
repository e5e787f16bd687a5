"""Passes that combine, merge or group ops leave an op that may fail in its branch."""

from __future__ import annotations

import numpy as np
import pytest
from support.pass_checks import apply

from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module

T = "tensor<3x3xf32>"
TAKEN = f"""
  %t = relay.take(%w, %i) {{axis = 0, mode = "raise"}} : ({T}, tensor<3xi64>) -> {T}
"""
"""Rows that one branch alone uses."""
CHOICE = f"""
  %r = relay.if %c : tensor<i1> -> {T} {{
    relay.yield %b : {T}
  }} else {{
    relay.yield %a : {T}
  }}
  func.return %a, %r : {T}, {T}
"""

PRODUCTS = f"""
  %a = relay.nn.dense(%x, %w) : ({T}, {T}) -> {T}
  %b = relay.nn.dense(%x, %t) : ({T}, {T}) -> {T}
"""
SUMS_OF_PRODUCTS = f"""
  %p = relay.nn.dense(%x, %w) : ({T}, {T}) -> {T}
  %a = relay.add(%p, %x) : ({T}, {T}) -> {T}
  %q = relay.nn.dense(%x, %w) : ({T}, {T}) -> {T}
  %b = relay.add(%q, %t) : ({T}, {T}) -> {T}
"""
REGIONS = f"""
  %e = relay.exp(%x) : ({T}) -> {T}
  %a = relay.nn.relu(%e) : ({T}) -> {T}
  %b = relay.add(%e, %t) : ({T}, {T}) -> {T}
"""
PARTITION = 'relay-annotate-target{targets=c ops="c:exp","c:nn.relu","c:add"},relay-merge-compiler-regions'
COMBINE = "relay-combine-parallel-dense{min-num-branches=2 to-batch=false}"

CASES = [
    (PRODUCTS, COMBINE),
    (PRODUCTS, "relay-combine-parallel-dense{min-num-branches=2}"),
    (SUMS_OF_PRODUCTS, COMBINE),
    (REGIONS, f"{PARTITION},relay-partition-graph"),
]


@pytest.mark.parametrize(("body", "pipeline"), CASES)
def test_an_index_of_one_branch_is_not_checked_for_the_other(body: str, pipeline: str) -> None:
    head = f"func.func @main(%c: tensor<i1>, %x: {T}, %w: {T}, %i: tensor<3xi64>) -> ({T}, {T}) {{"
    module = parse_module(full_context(), f"{head}{TAKEN}{body}{CHOICE}}}", "demand.mlir")
    rows = np.arange(9, dtype=np.float32).reshape(3, 3)
    inputs = [np.array(False), rows, rows, np.full(3, 7)]
    for found, expected in zip(run_relay(apply(module, pipeline), inputs), run_relay(module, inputs), strict=True):
        np.testing.assert_array_equal(found, expected)


QUOTIENTS = """
func.func @main(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<i32>, %y: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %p = relay.divide(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %q = relay.divide(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %a = relay.if %c : tensor<i1> -> tensor<i32> {
    relay.yield %p : tensor<i32>
  } else {
    relay.yield %x : tensor<i32>
  }
  %b = relay.if %d : tensor<i1> -> tensor<i32> {
    relay.yield %q : tensor<i32>
  } else {
    relay.yield %y : tensor<i32>
  }
  func.return %a, %b : tensor<i32>, tensor<i32>
}
"""


def test_equal_ops_of_two_branches_are_not_merged() -> None:
    module = parse_module(full_context(), QUOTIENTS, "quotients.mlir")
    merged = apply(module, "relay-eliminate-common-subexpr,relay-to-basic-block-normal-form")
    inputs = [np.array(False), np.array(False), np.array(7, np.int32), np.array(0, np.int32)]
    assert [int(value) for value in run_relay(merged, inputs)] == [7, 0]
