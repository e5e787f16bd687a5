"""Uses before definition, in every form of control flow, checked against a slow definition on random graphs."""

from __future__ import annotations

import random

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Block, Region
from xdsl.parser import Parser

from xrelay.errors import VerificationError
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import dominance_errors


def errors_in(text: str) -> list[VerificationError]:
    return list(dominance_errors(parse_module(full_context(), text, "t.mlir")))


def test_straight_line_is_fine() -> None:
    assert errors_in('%a = "test.op"() : () -> i32\n%b = "test.op"(%a) : (i32) -> i32') == []


def test_use_before_definition_points_at_the_use_and_names_the_definition() -> None:
    (error,) = errors_in('%b = "test.op"(%a) : (i32) -> i32\n%a = "test.op"() : () -> i32')
    assert error.location == "t.mlir:1:1"
    assert "%a" in error.message
    assert "t.mlir:2:1" in error.message


def test_own_result_is_not_visible_in_own_region() -> None:
    assert len(errors_in('%a = "test.op"() ({ "test.op"(%a) : (i32) -> () }) : () -> i32')) == 1


def test_outer_values_are_visible_inside_unless_isolated() -> None:
    outer = '%a = "test.op"() : () -> i32\n'
    assert errors_in(outer + '"test.op"() ({ "test.op"(%a) : (i32) -> () }) : () -> ()') == []
    isolated = outer + 'func.func @f() { "test.op"(%a) : (i32) -> ()\n func.return }'
    module = Parser(full_context(), isolated, "t.mlir").parse_module()
    assert len(list(dominance_errors(module))) == 1


def test_sibling_regions_do_not_see_each_other() -> None:
    text = '"test.op"() ({ %a = "test.op"() : () -> i32 }, { "test.op"() : () -> () }) : () -> ()'
    module = parse_module(full_context(), text, "t.mlir")
    first, second = next(iter(module.ops)).regions
    next(iter(second.block.ops)).operands = next(iter(first.block.ops)).results
    (error,) = dominance_errors(module)
    assert "another region" in error.message


DIAMOND = """
func.func @f(%c: i1) -> i32 {{
  cf.cond_br %c, ^a, ^b
^a:
  %x = "test.op"() : () -> i32
  cf.br ^join
^b:
  {b}
  cf.br ^join
^join:
  {join}
  %z = "test.op"() : () -> i32
  func.return %z : i32
^unreachable:
  "test.op"(%x) : (i32) -> ()
  func.return %x : i32
}}
"""


def test_branches_of_a_diamond_are_visible_neither_to_each_other_nor_after_the_join() -> None:
    use = '"test.op"(%x) : (i32) -> ()'
    assert errors_in(DIAMOND.format(b="", join="")) == []
    assert len(errors_in(DIAMOND.format(b=use, join=""))) == 1
    assert len(errors_in(DIAMOND.format(b="", join=use))) == 1


def test_loop_header_dominates_its_body_and_exit() -> None:
    text = """
    func.func @f(%c: i1) -> i32 {
      cf.br ^head
    ^exit:
      func.return %h : i32
    ^body:
      "test.op"(%h) : (i32) -> ()
      cf.br ^head
    ^head:
      %h = "test.op"() : () -> i32
      cf.cond_br %c, ^body, ^exit
    }"""
    assert errors_in(text) == []


@pytest.mark.parametrize("seed", range(30))
def test_random_graphs_agree_with_the_definition(seed: int) -> None:
    """A block dominates another if the other cannot be reached from the entry without it."""
    rng = random.Random(seed)
    count = rng.randint(2, 9)
    targets = [[rng.randrange(1, count) for _ in range(2)] for _ in range(count)]
    using, defining = rng.randrange(count), rng.randrange(count)
    blocks: list[str] = []
    for number, (left, right) in enumerate(targets):
        use = '"test.op"(%v) : (i32) -> ()' if number == using else ""
        define = '%v = "test.op"() : () -> i32' if number == defining else ""
        label = f"^b{number}x:" if number else ""
        blocks.append(f"{label}\n{use}\n{define}\ncf.cond_br %c, ^b{left}x, ^b{right}x")
    found = errors_in("func.func @f(%c: i1) {\n" + "\n".join(blocks) + "\n}")
    reachable = _reach(targets, removed=None)
    visible = using not in reachable or (using != defining and using not in _reach(targets, removed=defining))
    assert (found == []) == visible


def _reach(targets: list[list[int]], removed: int | None) -> set[int]:
    seen: set[int] = set()
    pending = [0]
    while pending:
        block = pending.pop()
        if block not in seen and block != removed:
            seen.add(block)
            pending += targets[block]
    return seen


def test_many_ops_and_deep_nesting_cost_no_recursion() -> None:
    inner = test.TestOp(result_types=[i32])
    for _ in range(2000):
        inner = test.TestOp(result_types=[i32], regions=[Region(Block([inner]))])
    chain = [test.TestOp(result_types=[i32])]
    for _ in range(5_000):
        chain.append(test.TestOp(operands=[chain[-1].results[0]], result_types=[i32]))
    assert not list(dominance_errors(ModuleOp([inner, *chain])))
