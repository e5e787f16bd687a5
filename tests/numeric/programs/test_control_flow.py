"""Branches and loops at every level and in native code compute the same as the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from support.levels import check_levels, program

import xrelay
from xrelay.api.comparison import compare_outputs
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

UNKNOWN = "!relay.incomplete"
X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


BRANCHES = program(
    "%c: tensor<i1>, %x: tensor<3x4xf32>",
    "%a, %b, %z",
    """
    %e = relay.exp(%x) : (tensor<3x4xf32>) -> U
    %w = relay.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %r = relay.if %c : tensor<i1> -> U {
      %s = relay.add(%e, %w) : (U, tensor<4xf32>) -> U
      %t = relay.tuple(%s, %s) : (U, U) -> U
      relay.yield %t : U
    } else {
      %t = relay.tuple(%x, %e) : (tensor<3x4xf32>, U) -> U
      relay.yield %t : U
    }
    %a = relay.tuple_get_item(%r) {index = 0} : (U) -> U
    %b = relay.tuple_get_item(%r) {index = 1} : (U) -> U
    %z = relay.if %c : tensor<i1> -> U {
      relay.yield %w : tensor<4xf32>
    } else {
      %m = relay.negative(%w) : (tensor<4xf32>) -> U
      relay.yield %m : U
    }
    """,
)

# Two values are swapped, one is stacked before it changes, and the condition is carried as well.
SWAPPING = program(
    "%c: tensor<i1>, %x: tensor<3x4xf32>",
    "%a, %b, %n, %s, %i",
    """
    %count = relay.constant dense<5> : tensor<i64>
    %zero = relay.constant dense<0> : tensor<i32>
    %one = relay.constant dense<1> : tensor<i32>
    %y = relay.exp(%x) : (tensor<3x4xf32>) -> U
    %g = relay.loop(%i0, %p : U = %x : tensor<3x4xf32>, %q : U = %y : U, %k = %zero : tensor<i32>, %h = %c : tensor<i1>)
        to %count : tensor<i64> -> U {
      %k1 = relay.add(%k, %one) : (tensor<i32>, tensor<i32>) -> U
      %h1 = relay.logical_not(%h) : (tensor<i1>) -> U
      %p1 = relay.if %h : tensor<i1> -> U {
        %m = relay.multiply(%p, %q) : (U, U) -> U
        relay.yield %m : U
      } else {
        relay.yield %p : U
      }
      %t = relay.tuple(%q, %p1, %k1, %h1, %p, %i0) : (U, U, U, U, U, tensor<i64>) -> U
      relay.yield %t : U
    }
    %a = relay.tuple_get_item(%g) {index = 0} : (U) -> U
    %b = relay.tuple_get_item(%g) {index = 1} : (U) -> U
    %n = relay.tuple_get_item(%g) {index = 2} : (U) -> U
    %s = relay.tuple_get_item(%g) {index = 4} : (U) -> U
    %i = relay.tuple_get_item(%g) {index = 5} : (U) -> U
    """,
)

# The trip count and the condition are computed, the inner loop depends on the outer one.
NESTED = program(
    "%n: tensor<i64>, %limit: tensor<f32>, %x: tensor<3x4xf32>",
    "%a, %k",
    """
    %true = relay.constant dense<true> : tensor<i1>
    %zero = relay.constant dense<0> : tensor<i64>
    %one = relay.constant dense<1> : tensor<i64>
    %g = relay.loop(%i, %p : U = %x : tensor<3x4xf32>, %m = %zero : tensor<i64>)
        to %n : tensor<i64> while %true : tensor<i1> -> U {
      %in = relay.loop(%j, %q : U = %p : U) to %i : tensor<i64> -> U {
        %d = relay.add(%q, %q) : (U, U) -> U
        %e = relay.tuple(%d) : (U) -> U
        relay.yield %e : U
      }
      %q1 = relay.tuple_get_item(%in) {index = 0} : (U) -> U
      %most = relay.max(%q1) : (U) -> U
      %go = relay.less(%most, %limit) : (U, tensor<f32>) -> U
      %m1 = relay.add(%m, %one) : (tensor<i64>, tensor<i64>) -> U
      %y = relay.tuple(%go, %q1, %m1) : (U, U, U) -> U
      relay.yield %y : U
    }
    %a = relay.tuple_get_item(%g) {index = 0} : (U) -> U
    %k = relay.tuple_get_item(%g) {index = 1} : (U) -> U
    """,
)

# Rows whose strides are known only at run time, stacked a dynamic number of times.
ROWS = program(
    "%n: tensor<i64>, %x: tensor<?x?xf32, #relay.dims<n, m>>",
    "%a, %s",
    """
    %g = relay.loop(%i, %p : U = %x : tensor<?x?xf32, #relay.dims<n, m>>) to %n : tensor<i64> -> U {
      %e = relay.exp(%p) : (U) -> U
      %q = relay.negative(%e) : (U) -> U
      %t = relay.tuple(%q, %e) : (U, U) -> U
      relay.yield %t : U
    }
    %a = relay.tuple_get_item(%g) {index = 0} : (U) -> U
    %s = relay.tuple_get_item(%g) {index = 1} : (U) -> U
    """,
)

# The body's results use two alternating buffers; a value is carried twice, and another equals one's last value.
TURNS = program(
    "%n: tensor<i64>, %g: tensor<i1>, %x: tensor<3x4xf32>",
    "%a, %b, %c, %d",
    """
    %r = relay.loop(%i, %p : U = %x : tensor<3x4xf32>, %q : U = %x : tensor<3x4xf32>, %s : U = %x : tensor<3x4xf32>)
        to %n : tensor<i64> -> U {
      %p1 = relay.exp(%q) : (U) -> U
      %q1 = relay.subtract(%p, %q) : (U, U) -> U
      %y = relay.tuple(%p1, %q1, %q1) : (U, U, U) -> U
      relay.yield %y : U
    }
    %a = relay.tuple_get_item(%r) {index = 0} : (U) -> U
    %b = relay.tuple_get_item(%r) {index = 2} : (U) -> U
    %w = relay.loop(%j, %t : U = %x : tensor<3x4xf32>, %u : U = %b : U) to %n : tensor<i64> while %g : tensor<i1> -> U {
      %t1 = relay.add(%t, %u) : (U, U) -> U
      %u1 = relay.negative(%t) : (U) -> U
      %z = relay.tuple(%g, %t1, %u1) : (tensor<i1>, U, U) -> U
      relay.yield %z : U
    }
    %c = relay.tuple_get_item(%w) {index = 0} : (U) -> U
    %v = relay.tuple_get_item(%w) {index = 1} : (U) -> U
    %d = relay.tanh(%v) : (U) -> U
    """,
)

# The carried value grows, and is stacked before; after no iteration its extents are undefined for the stack.
GROWING = program(
    "%n: tensor<i64>, %x: tensor<?x4xf32, #relay.dims<h>>",
    "%a, %b",
    """
    %r = relay.loop(%i, %p : tensor<?x4xf32, #relay.dims<m>> = %x : tensor<?x4xf32, #relay.dims<h>>)
        to %n : tensor<i64> -> U {
      %t = relay.tuple(%p, %x) : (tensor<?x4xf32, #relay.dims<m>>, tensor<?x4xf32, #relay.dims<h>>) -> U
      %q = relay.concatenate(%t) {axis = 0} : (U) -> U
      %y = relay.tuple(%q, %p) : (U, tensor<?x4xf32, #relay.dims<m>>) -> U
      relay.yield %y : U
    }
    %a = relay.tuple_get_item(%r) {index = 0} : (U) -> U
    %b = relay.tuple_get_item(%r) {index = 1} : (U) -> U
    """,
)

# A weight is carried without a change, first while a condition holds, then in a loop inside, and is used at the end.
UNCHANGED = program(
    "%n: tensor<i64>, %c: tensor<i1>, %x: tensor<3x4xf32>",
    "%a, %b",
    """
    %w = relay.constant dense<0.25> : tensor<4x4xf32>
    %r = relay.loop(%i, %v : U = %w : tensor<4x4xf32>, %p : U = %x : tensor<3x4xf32>)
        to %n : tensor<i64> while %c : tensor<i1> -> U {
      %s = relay.loop(%j, %q : U = %p : U, %u : U = %v : U) to %n : tensor<i64> -> U {
        %d = relay.nn.dense(%q, %u) : (U, U) -> U
        %t = relay.tuple(%d, %u) : (U, U) -> U
        relay.yield %t : U
      }
      %e = relay.tuple_get_item(%s) {index = 0} : (U) -> U
      %y = relay.tuple(%c, %v, %e) : (tensor<i1>, U, U) -> U
      relay.yield %y : U
    }
    %a = relay.tuple_get_item(%r) {index = 1} : (U) -> U
    %f = relay.tuple_get_item(%r) {index = 0} : (U) -> U
    %b = relay.add(%f, %w) : (U, tensor<4x4xf32>) -> U
    """,
)

CASES = {
    "unchanged": (UNCHANGED, [[np.array(n), np.array(c), X] for n, c in ((2, True), (0, True), (3, False))]),
    "branches": (BRANCHES, [[np.array(c), X] for c in (True, False)]),
    "swapping": (SWAPPING, [[np.array(c), X] for c in (True, False)]),
    "turns": (TURNS, [[np.array(n), np.array(c), X] for n, c in ((3, True), (2, True), (-1, True), (1, False))]),
    "growing": (GROWING, [[np.array(n), X[:size]] for n, size in ((1, 3), (0, 2), (1, 1), (1, 0))]),
    "rows": (ROWS, [[np.array(n), X[:size]] for n, size in ((9, 3), (1, 1), (0, 2), (2, 0))]),
    "nested": (
        NESTED,
        [[np.array(n), np.array(most, np.float32), X] for n, most in ((0, 9), (4, 1e9), (4, 1.5), (-3, 9))],
    ),
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", CASES)
def test_native_code_and_every_level_do_as_the_interpreter(name: str) -> None:
    module, cases = CASES[name]
    model = xrelay.compile(module.clone(), cache=False, threads=2)
    for inputs in cases:
        expected = run_relay(module, inputs)
        found = model.run(inputs)
        names = [str(number) for number in range(len(expected))]
        assert compare_outputs(names, found, expected, levels=("native", "relay"), rtol=1e-5, atol=1e-6)
    for inputs in cases[:2]:
        check_levels(module.clone(), inputs)


def test_branches_are_nested_twenty_deep() -> None:
    """Each level branches on another bit of the input, and computes before and after the next level.

    test_run_time_models tests it with all optimisations and a dynamic number of rows.
    """
    lines: list[str] = []
    ends: list[str] = []
    for depth in range(20):
        value = "%x" if depth == 0 else f"%v{depth}"
        lines += [
            f"%d{depth} = relay.constant dense<{1 << depth}> : tensor<i32>",
            f"%b{depth} = relay.bitwise_and(%n, %d{depth}) : (tensor<i32>, tensor<i32>) -> U",
            f"%c{depth} = relay.not_equal(%b{depth}, %zero) : (U, tensor<i32>) -> U",
            f"%r{depth} = relay.if %c{depth} : U -> U {{",
            f"%v{depth + 1} = relay.add({value}, %w) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>",
        ]
        inner = f"%r{depth + 1}" if depth < 19 else "%v20"
        type = "U" if depth < 19 else "tensor<3xf32>"
        ends += [f"%s{depth} = relay.add({inner}, {inner}) : ({type}, {type}) -> U", f"relay.yield %s{depth} : U",
                 "} else {", f"relay.yield {value} : tensor<3xf32>", "}"]  # fmt: skip
    levels = [ends[5 * depth : 5 * depth + 5] for depth in range(20)]
    body = [*lines, *(line for level in reversed(levels) for line in level)]
    constants = ["%zero = relay.constant dense<0> : tensor<i32>", "%w = relay.constant dense<0.5> : tensor<f32>"]
    module = program("%n: tensor<i32>, %x: tensor<3xf32>", "%r0", "\n".join([*constants, *body]))
    model = xrelay.compile(module.clone(), cache=False, threads=1, opt_level=0)
    for number in (0, 1, 0b10111, (1 << 20) - 1, 0b1111111111011111111):
        inputs = [np.array(number, np.int32), X[0, :3].copy()]
        np.testing.assert_array_equal(model.run(inputs)[0], run_relay(module, inputs)[0])


def test_branches_share_memory() -> None:
    """The arena has the size of one branch, not of both."""
    size = 1 << 12

    def branch(op: str) -> str:
        """Two kernels: stop_fusion keeps them apart."""
        return f"""%{op}0 = relay.{op}(%x) : (tensor<{size}xf32>) -> U
          %{op}1 = relay.annotation.stop_fusion(%{op}0) : (U) -> U
          %{op}2 = relay.{op}(%{op}1) : (U) -> U
          relay.yield %{op}2 : U"""

    body = f"%r = relay.if %c : tensor<i1> -> U {{\n{branch('exp')}\n}} else {{\n{branch('tanh')}\n}}"
    module = program(f"%c: tensor<i1>, %x: tensor<{size}xf32>", "%r", body)
    assert xrelay.compile(module, cache=False, threads=1).memory() == 4 * size


SEEDS = {
    "muladd": """
      func.func @main(%x: tensor<f32>) -> U {
        %one = relay.constant dense<1.0> : tensor<f32>
        %two = relay.constant dense<2.0> : tensor<f32>
        %three = relay.constant dense<3.0> : tensor<f32>
        %1 = func.call @muladd(%x, %one, %two) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
        %2 = func.call @muladd(%1, %two, %three) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
        func.return %2 : tensor<f32>
      }
      func.func private @muladd(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>) -> tensor<f32> {
        %1 = relay.multiply(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %2 = relay.add(%1, %z) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        func.return %2 : tensor<f32>
      }""",
    "myfunc": """
      func.func @main(%x: tensor<f32>) -> tensor<f32> {
        %one = relay.constant dense<1.0> : tensor<f32>
        %stop = relay.equal(%x, %one) : (tensor<f32>, tensor<f32>) -> U
        %r = relay.if %stop : U -> tensor<f32> {
          relay.yield %x : tensor<f32>
        } else {
          %m = relay.subtract(%x, %one) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          %c = func.call @main(%m) : (tensor<f32>) -> tensor<f32>
          %d = relay.add(%c, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          relay.yield %d : tensor<f32>
        }
        func.return %r : tensor<f32>
      }""",
    "log outside if": """
      func.func @main(%x: tensor<f32>) -> U {
        %one = relay.constant dense<1.0> : tensor<f32>
        %l = relay.log(%x) : (tensor<f32>) -> U
        %v = relay.let "v" = %l : U
        %c = relay.greater(%x, %one) : (tensor<f32>, tensor<f32>) -> U
        %r = relay.if %c : U -> U {
          %s = relay.add(%v, %v) : (U, U) -> U
          relay.yield %s : U
        } else {
          relay.yield %x : tensor<f32>
        }
        func.return %r : U
      }""",
    "log in a closure": """
      func.func @main(%x: tensor<f32>) -> U {
        %l = relay.log(%x) : (tensor<f32>) -> U
        %f = relay.fn(%y : tensor<f32>) -> U {
          %s = relay.add(%y, %l) : (tensor<f32>, U) -> U
          relay.yield %s : U
        }
        %r = relay.invoke %f(%x) : (tensor<f32>) -> U of (tensor<f32>) -> U
        func.return %r : U
      }""",
}


@pytest.mark.parametrize("name", SEEDS)
def test_the_functions_of_the_seeds(name: str) -> None:
    module = parse_module(full_context(), SEEDS[name].replace("U", UNKNOWN), "seed.mlir")
    infer_types(module)
    model = xrelay.compile(module.clone(), cache=False, threads=1)
    for number in (1, 2, 7):
        inputs = [np.array(number, np.float32)]
        np.testing.assert_allclose(model.run(inputs)[0], run_relay(module, inputs)[0], rtol=1e-6)


def test_a_recursion_is_deeper_than_any_stack() -> None:
    """n + … + 1, with each sum after the recursive call, against its closed form."""
    module = parse_module(
        full_context(),
        """func.func @main(%n: tensor<i64>, %k: tensor<i64>) -> tensor<i64> {
          %zero = relay.constant dense<0> : tensor<i64>
          %one = relay.constant dense<1> : tensor<i64>
          %go = relay.greater(%n, %zero) : (tensor<i64>, tensor<i64>) -> tensor<i1>
          %r = relay.if %go : tensor<i1> -> tensor<i64> {
            %m = relay.subtract(%n, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
            %c = func.call @main(%m, %k) : (tensor<i64>, tensor<i64>) -> tensor<i64>
            %s = relay.add(%c, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
            relay.yield %s : tensor<i64>
          } else {
            relay.yield %k : tensor<i64>
          }
          func.return %r : tensor<i64>
        }""",
        "deep.mlir",
    )
    assert xrelay.compile(module, cache=False, threads=1).run([np.array(100_000), np.array(7)])[0] == 100_007
