"""`topi-inline-injective` composes index expressions up to a size."""

from __future__ import annotations

from itertools import pairwise

from xdsl.parser import Parser

from xrelay.dialects.topi import ComputeOp, ReadOp
from xrelay.passes.infra.source import full_context
from xrelay.passes.topi.inline_injective import MAX_INDEX_SIZE, TopiInlineInjectivePass


def inlined(stages: int) -> list[ComputeOp]:
    """The remaining computes of `stages` transposes of 7 x 11 elements, each reshaped to 7 x 11 again."""
    names = ["%x", *(f"%a{stage}" for stage in range(stages))]
    computes = [
        f"""{result} = topi.compute "shuffle" [%i : 7, %j : 11] : tensor<7x11xf32> {{
          %v = topi.read {source}[(%i * 11 + %j) mod 7, (%i * 11 + %j) floordiv 7] : tensor<7x11xf32>
          topi.yield %v : f32
        }}"""
        for source, result in pairwise(names)
    ]
    body = "\n".join([*computes, f"func.return {names[-1]} : tensor<7x11xf32>"])
    text = f"func.func @main(%x: tensor<7x11xf32>) -> tensor<7x11xf32> {{ {body} }}"
    context = full_context()
    module = Parser(context, text).parse_module()
    TopiInlineInjectivePass().apply(context, module)
    return [op for op in module.walk() if isinstance(op, ComputeOp)]


def longest_index(computes: list[ComputeOp]) -> int:
    return max(op.index.size() for compute in computes for op in compute.body.walk() if isinstance(op, ReadOp))


def test_a_short_chain_is_one_compute() -> None:
    assert len(inlined(4)) == 1


def test_indices_that_double_with_each_step_end_a_compute() -> None:
    computes = inlined(40)
    assert 1 < len(computes) < 20
    assert longest_index(computes) <= MAX_INDEX_SIZE
