"""Kernels that compute in place agree with the interpreter, use less memory, and leave inputs unchanged."""

from __future__ import annotations

import re

import numpy as np
from support.levels import program

import xrelay
from xrelay.interpreters.relay import run_relay

SIDE = 128
T = f"tensor<{SIDE}x{SIDE}xf32>"


def _kernels(*ops: str) -> str:
    """A kernel for each line `%name = op(operands)`: stop_fusion separates them."""
    lines: list[str] = []
    for line in ops:
        name, _, call = line.partition(" = ")
        types = ", ".join(T if value == "%x" else "U" for value in re.findall("%[a-z]+", call))
        lines += [f"{name}_ = relay.{call} : ({types}) -> U",
                  f"{name} = relay.annotation.stop_fusion({name}_) : (U) -> U"]  # fmt: skip
    return "\n".join(lines)


def test_what_reads_elsewhere_or_is_needed_later_is_kept() -> None:
    """Transposed and reduced reads, a value with a later read, branches and an iteration's values, twice each."""
    chain = _kernels("%a = exp(%x)", "%b = tanh(%a)", "%t = transpose(%b)", "%c = add(%b, %t)", "%d = add(%c, %b)",
                     "%m = max(%d) {axis = array<i64: 1>, keepdims = true}", "%e = subtract(%d, %m)",
                     "%f = cumsum(%e) {axis = 0}", "%g = subtract(%e, %f)", "%h = multiply(%g, %g)")  # fmt: skip
    body = f"""
    {chain}
    %n = relay.constant dense<3> : tensor<i64>
    %r = relay.loop(%i, %p : U = %h : U) to %n : tensor<i64> -> U {{
      {_kernels("%u = sin(%p)", "%v = negative(%u)", "%w = subtract(%v, %p)")}
      %q = relay.if %flag : tensor<i1> -> U {{
        {_kernels("%j = cos(%w)", "%k = exp(%j)", "%l = add(%k, %w)")}
        relay.yield %l : U
      }} else {{
        relay.yield %p : U
      }}
      %y = relay.tuple(%q, %w) : (U, U) -> U
      relay.yield %y : U
    }}
    %z = relay.tuple_get_item(%r) {{index = 0}} : (U) -> U
    %s = relay.tuple_get_item(%r) {{index = 1}} : (U) -> U
    """
    module = program(f"%x: {T}, %flag: tensor<i1>", "%z, %s, %h, %m", body)
    model = xrelay.compile(module.clone(), cache=False, threads=2)
    x = np.random.default_rng(0).standard_normal((SIDE, SIDE)).astype(np.float32)
    for flag in (True, False):
        kept = x.copy()
        for found, expected in zip(model.run([x, np.array(flag)]), run_relay(module, [x, np.array(flag)]), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(x, kept)


def test_a_chain_needs_no_buffer_beside_its_result() -> None:
    """The first kernel writes to the output's buffer, and all later ones read and write it."""
    module = program(f"%x: {T}", "%e", _kernels("%a = exp(%x)", "%b = tanh(%a)", "%c = sin(%b)", "%e = add(%c, %x)"))
    model = xrelay.compile(module.clone(), cache=False, threads=1)
    assert model.memory() == 0
    x = np.random.default_rng(1).standard_normal((SIDE, SIDE)).astype(np.float32)
    np.testing.assert_allclose(model.run([x])[0], run_relay(module, [x])[0], rtol=1e-5, atol=1e-6)
