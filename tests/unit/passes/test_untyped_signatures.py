"""The signature of a function without inferred result types is updated when a pass replaces results by typed values."""

from __future__ import annotations

import pytest
from support.pass_checks import apply

from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verify_module

T, U = "tensor<4xf32>", "!relay.incomplete"
LET = f'%r = "relay.let"(%x) <{{variable = "a"}}> : ({T}) -> {U}'
FIELD = f"""
  %t = relay.tuple(%x) : ({T}) -> {U}
  %r = relay.tuple_get_item(%t) {{index = 0}} : ({U}) -> {U}
"""
CONSTANT = f"""
  %k = relay.constant dense<1.0> : {T}
  %r = relay.exp(%k) : ({T}) -> {U}
"""
WALL = f"%r = relay.annotation.stop_fusion(%x) : ({T}) -> {U}"
UNTYPED_WALL = f"""
  %w = relay.exp(%x) : ({T}) -> {U}
  %r = relay.annotation.stop_fusion(%w) : ({U}) -> {T}
"""
BORDER = f'%r = relay.annotation.compiler_begin(%x) {{compiler = "default"}} : ({T}) -> {U}'

CASES = [
    (LET, "relay-to-graph-normal-form"),
    (LET, "relay-dead-code-elimination{inline-once=true}"),
    (FIELD, "relay-fold-constant"),
    (FIELD, "relay-simplify-inference"),
    (FIELD, "relay-to-mixed-precision"),
    (CONSTANT, "relay-fold-constant"),
    (WALL, "relay-fuse-ops"),
    (UNTYPED_WALL, "relay-fuse-ops"),
    (BORDER, "relay-partition-graph"),
    (BORDER, "relay-dissolve-compiler-regions"),
]


@pytest.mark.parametrize(("body", "pipeline"), CASES)
def test_functions_and_their_calls_say_what_is_known_now(body: str, pipeline: str) -> None:
    given = T if body is UNTYPED_WALL else U
    module = parse_module(
        full_context(),
        f"""
        func.func @main(%x: {T}) -> {U} {{
          %r = func.call @inner(%x) : ({T}) -> {given}
          %e = relay.exp(%r) : ({given}) -> {U}
          func.return %e : {U}
        }}
        func.func @inner(%x: {T}) -> {given} {{
          {body}
          func.return %r : {given}
        }}
        """,
        "untyped.mlir",
    )
    verify_module(module)
    verify_module(apply(module, pipeline))
