"""`relay.fuse_with` hints that cannot be followed: the partition is unchanged, and the explanation has the reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.work import growth
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xrelay.dialects.shared.attribute_names import FUSE_WITH
from xrelay.passes.fusion.explain import ExplainedBlock, explain_fusion
from xrelay.passes.fusion.explain_text import hint_effect
from xrelay.passes.fusion.op_patterns import forward_graph
from xrelay.passes.fusion.partition import FusionOptions
from xrelay.passes.infra.source import full_context, parse_module

SOURCE = """
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = relay.nn.softmax(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = relay.transpose(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = relay.nn.relu(%b) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %c : tensor<4x4xf32>
}
func.func @other(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %elsewhere = relay.exp(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %elsewhere : tensor<4x4xf32>
}
"""


def explained(**hints: Attribute) -> ExplainedBlock:
    """`@main` with hints on the named values."""
    module = parse_module(full_context(), SOURCE, "hints.mlir")
    ops = {op.results[0].name_hint: op for op in module.walk() if op.results}
    for name, hint in hints.items():
        ops[name].attributes[FUSE_WITH] = hint
    return explain_fusion(module, FusionOptions())[0]


def effect(block: ExplainedBlock, value: str) -> str | None:
    (op,) = block.matching(value)
    return hint_effect(block, op)


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        ("transpsoe", "\"transpsoe\" names no op of this function; without effect, did you mean 'transpose'?"),
        ("elsewhere", '"elsewhere" names no op of this function; without effect'),
        ("", '"" names no op of this function; without effect'),
        ("%c", '"%c" is %c nn.relu, not the post-dominator; without effect'),
        ("%x", '"%x" is %x, not the post-dominator; without effect'),
        ("a", '"a" is %a nn.softmax, not the post-dominator; without effect'),
    ],
)
def test_a_hint_without_effect_says_why(hint: str, said: str) -> None:
    block = explained(a=StringAttr(hint))
    assert effect(block, "a") == said
    assert block.partition.roots == explained().partition.roots


def test_hints_in_a_circle_change_nothing() -> None:
    block = explained(b=StringAttr("c"), c=StringAttr("b"))
    assert effect(block, "b") == '"c": visited first, and fused'
    assert effect(block, "c") == '"b" is %b transpose, not the post-dominator; without effect'
    assert block.partition.roots == explained().partition.roots


def test_a_hint_against_the_rules_is_refused() -> None:
    block = explained(a=StringAttr("b"))
    assert effect(block, "a") == '"b": visited first, but the fusion is not legal'
    assert block.partition.roots == explained().partition.roots


def test_an_attribute_that_is_no_string_is_no_hint() -> None:
    assert effect(explained(b=IntegerAttr(1, i32)), "b") is None


@pytest.mark.parametrize("name", ["nn.relu", "nothing", "v{}"])
def test_hints_are_resolved_in_one_pass(name: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        ops = [
            f'%v{n + 1} = relay.exp(%v{n}) {{relay.fuse_with = "{name.format(size - n)}"}}'
            " : (tensor<4xf32>) -> tensor<4xf32>"
            for n in range(size)
        ]
        text = "\n".join(
            [
                "func.func @main(%v0: tensor<4xf32>) -> tensor<4xf32> {",
                *ops,
                f"func.return %v{size} : tensor<4xf32>",
                "}",
            ]
        )
        (function,) = parse_module(full_context(), text, "chain.mlir").body.block.ops
        assert isinstance(function, FuncOp)
        return lambda: forward_graph(function.body.block)

    assert growth(prepare, 20, 10) < 12
