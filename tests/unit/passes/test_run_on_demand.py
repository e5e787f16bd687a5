"""Passes keep ops on demand: an invalid index or an endless call does not run if its result is not needed."""

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
"""Rows that only one branch needs."""
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
def test_what_one_branch_needs_does_not_run_for_others(body: str, pipeline: str) -> None:
    head = f"func.func @main(%c: tensor<i1>, %x: {T}, %w: {T}, %i: tensor<3xi64>) -> ({T}, {T}) {{"
    module = parse_module(full_context(), f"{head}{TAKEN}{body}{CHOICE}}}", "demand.mlir")
    rows = np.arange(9, dtype=np.float32).reshape(3, 3)
    inputs = [np.array(False), rows, rows, np.full(3, 7)]
    for found, expected in zip(run_relay(apply(module, pipeline), inputs), run_relay(module, inputs), strict=True):
        np.testing.assert_array_equal(found, expected)
