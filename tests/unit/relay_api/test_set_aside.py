"""Functions that function passes skip, as in Relay's pass manager."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import transform
from xrelay.relay.pass_api.passes import hide_skipped_functions

MAIN = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @aside(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.constant dense<2.0> : tensor<f32>
  %d = relay.multiply(%c, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %z = relay.multiply(%y, %d) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}
"""
ASIDE = """
func.func private @aside(%x: tensor<4xf32>) -> tensor<4xf32> attributes {MARK} {
  %a = relay.constant dense<1.0> : tensor<f32>
  %b = relay.add(%a, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = relay.add(%x, %b) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
"""


def module(mark: str) -> ModuleOp:
    return xrelay.parse(MAIN + ASIDE.replace("MARK", mark))


@pytest.mark.parametrize("mark", ['Compiler = "mine"', "Extern = 1", "relay.skip_optimization"])
def test_passes_on_functions_do_not_look_into_them(mark: str) -> None:
    main, aside = (str(op) for op in transform.FoldConstant()(module(mark)).body.block.ops)
    assert main.count("relay.multiply") == 1
    assert aside.count("relay.add") == 2


def test_others_they_do_look_into() -> None:
    _, aside = (str(op) for op in transform.FoldConstant()(module("mine")).body.block.ops)
    assert aside.count("relay.add") == 1


def test_the_bodies_are_back_where_a_pass_fails() -> None:
    given = module('Compiler = "mine"')

    def fail() -> None:
        with hide_skipped_functions(given):
            assert "relay.add" not in str(given)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert str(given) == str(module('Compiler = "mine"'))
