"""The work of each pass grows about linearly with the graph, for graphs that were once quadratic."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from pass_graphs import Graph
from support.work import copied_operands, growth
from xdsl.dialects.builtin import ModuleOp, TupleType, f32, i1
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.relay.ops.nn.norm import BatchNormOp
from xrelay.dialects.relay.ops.tensor import join
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp
from xrelay.dialects.relay.ops.tensor.join import ConcatenateOp, SplitOp
from xrelay.dialects.relay.ops.tensor.unary import ExpOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import symbol
from xrelay.lowering.registry import ALL_PASSES, load_pass
from xrelay.passes.functions.inline import inline_calls
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.source import full_context
from xrelay.passes.types.type_upkeep import TypeUpkeep

VECTOR = tensor_type([20], f32)


LIMIT = 12.0
"""The project's limit of work for ten times the graph."""


def wide(size: int) -> ModuleOp:
    """Sums with constants of one name and shape, each twice, joined by one op."""
    graph = Graph(VECTOR)
    ends: list[SSAValue] = []
    for number in range(size):
        for _ in range(2):
            constant = graph.add(ConstantOp.of(np.full(20, number, np.float32)))
            ends.append(graph.call(AddOp, graph.block.args[0], constant))
    return ModuleOp([graph.function("main", graph.call(ConcatenateOp, graph.call(TupleOp, *ends)))])


def wide_parameter(size: int) -> ModuleOp:
    """A parameter that is a tuple, joined by one op."""
    graph = Graph(TupleType((VECTOR,) * size))
    return ModuleOp([graph.function("main", graph.call(ConcatenateOp, graph.block.args[0]))])


def fields(size: int) -> ModuleOp:
    """A parameter that is a tuple, and a concatenation of its fields."""
    graph = Graph(TupleType((VECTOR,) * size))
    ends = [graph.add(TupleGetItemOp.call(graph.block.args[0], index=index)) for index in range(size)]
    return ModuleOp([graph.function("main", graph.call(ConcatenateOp, graph.call(TupleOp, *ends)))])


def norms(size: int) -> ModuleOp:
    """A chain of batch norms."""
    graph = Graph(tensor_type([1, 20, 1, 1], f32))
    value: SSAValue = graph.block.args[0]
    statistics = graph.add(ConstantOp.of(np.ones(20, np.float32)))
    for _ in range(size):
        value = graph.add(BatchNormOp.call(value, *[statistics] * 4))
        value = graph.add(TupleGetItemOp.call(value, index=0))
    return ModuleOp([graph.function("main", value)])


def functions(size: int) -> ModuleOp:
    """A chain of private functions that call each other; `@main` is the first."""
    found: list[Operation] = []
    for number in range(size):
        graph = Graph(VECTOR)
        value = graph.add(ExpOp.call(graph.block.args[0]))
        if number + 1 < size:
            value = graph.add(CallOp(f"f{number + 1}", [value], [VECTOR]))
        found.append(graph.function(f"f{number}" if number else "main", value, "private" if number else None))
    return ModuleOp(found)


def nested(size: int, depth: int = 40) -> ModuleOp:
    """Forty nested branches, with `size` ops in each."""
    levels = [Graph(tensor_type([], i1), VECTOR), *(Graph() for _ in range(depth))]
    flag, value = levels[0].block.args
    values: list[SSAValue] = []
    for level in levels:
        for _ in range(size):
            value = level.call(ExpOp, value)
        values.append(value)
    result = values[-1]
    for level in reversed(range(len(levels) - 1)):
        other = Graph()
        levels[level + 1].block.add_op(YieldOp(result))
        other.block.add_op(YieldOp(values[level]))
        result = levels[level].add(IfOp(flag, VECTOR, Region(levels[level + 1].block), Region(other.block)))
    return ModuleOp([levels[0].function("main", result)])


def applied(names: str, make: Callable[[int], ModuleOp]) -> Callable[[int], Callable[[], object]]:
    """The work that `growth` measures: the last of the passes `names`, after the others."""

    def prepare(size: int) -> Callable[[], object]:
        module, context = make(size), full_context()
        table = {name: lambda name=name: load_pass(name) for name in ALL_PASSES}
        *first, last = parse_passes(names, table)
        for one in first:
            one.apply(context, module)
        return lambda: last.apply(context, module)

    return prepare


TYPED = "relay-infer-type"


ALONE = f"{TYPED},relay-fuse-ops{{fuse-opt-level=0}}"
"""A group for every op: by default the largest groups of a graph do not grow with it."""


@pytest.mark.parametrize(
    ("names", "make", "size"),
    [
        (TYPED, wide, 30),
        (f"{TYPED},relay-eliminate-common-subexpr", wide, 30),
        (f"{TYPED},relay-to-a-normal-form", wide, 30),
        (f"{TYPED},relay-to-a-normal-form,relay-to-graph-normal-form", wide, 30),
        (f"{ALONE},relay-defuse-ops", wide, 20),
        (f"{ALONE},relay-outline-fused", wide, 20),
        (f"{ALONE},relay-outline-fused", wide_parameter, 20),
        (TYPED, fields, 30),
        (f"{TYPED},relay-fuse-ops", fields, 30),
        (f"{TYPED},relay-dynamic-to-static", fields, 30),
        (f"{TYPED},relay-fix-extents", fields, 30),
        ("relay-simplify-inference", norms, 5),
        (TYPED, functions, 20),
        ("relay-inline", functions, 20),
        ("relay-dead-code-elimination", functions, 20),
        ("relay-remove-unused-functions", functions, 20),
        (f"{TYPED},relay-to-basic-block-normal-form", nested, 1),
        (f"{TYPED},relay-eliminate-common-subexpr", nested, 1),
        (f"{TYPED},relay-dead-code-elimination", nested, 1),
    ],
)
def test_work_grows_with_the_graph(names: str, make: Callable[[int], ModuleOp], size: int) -> None:
    assert growth(applied(names, make), size, 10) < LIMIT


@pytest.mark.parametrize(
    "names",
    [
        TYPED,
        f"{TYPED},relay-eliminate-common-subexpr",
        f"{TYPED},relay-to-a-normal-form",
        f"{TYPED},relay-to-a-normal-form,relay-to-graph-normal-form",
        f"{ALONE},relay-defuse-ops",
        f"{ALONE},relay-outline-fused",
    ],
)
def test_a_wide_op_is_not_written_anew_for_each_operand(names: str) -> None:
    # 200 operands, half of them changed: replaced singly, they would cost 20,000 copies.
    assert copied_operands(applied(names, wide)(100)) < 2_000


def test_the_places_of_a_split_are_listed_once() -> None:
    graph = Graph(VECTOR)
    data = graph.block.args[0]
    with patch.object(join, "numbers", side_effect=join.numbers) as numbers:
        SplitOp.call(data, indices_or_sections=list(range(1, 20)))
    assert numbers.call_count < 5


def test_the_names_of_a_concatenation_are_summed_in_groups() -> None:
    graph = Graph(*(tensor_type([symbol(f"n{number}")], f32) for number in range(100)))
    module = ModuleOp([graph.function("main", graph.call(ConcatenateOp, graph.call(TupleOp, *graph.block.args)))])
    applied(f"{TYPED},relay-split-wide-ops", lambda _: module)(1)()
    sizes = [len(op.operands) for op in module.walk() if isinstance(op, TupleOp)]
    assert sizes == [16] * 6 + [4, 7]


def test_branches_in_branches_are_asked_for_their_effects_without_recursion() -> None:
    # xDSL recurses here: 600 levels would overflow the interpreter's stack.
    names = f"{TYPED},relay-to-basic-block-normal-form,relay-check-basic-block-normal-form"
    applied(names, partial(nested, depth=600))(1)()


def test_arguments_are_not_copied_for_each_field_of_a_tuple() -> None:
    outline = applied(f"{ALONE},relay-outline-fused", wide_parameter)(100)
    with patch.object(Block, "insert_arg", autospec=True, side_effect=Block.insert_arg) as insert:
        outline()
    # xDSL copies the whole list of arguments each time.
    assert insert.call_count < 10


def test_what_only_an_unused_branch_uses_goes_with_it() -> None:
    graph, inner, other = Graph(tensor_type([], i1), VECTOR), Graph(), Graph()
    flag, value = graph.block.args
    used = graph.add(ExpOp.call(value))
    for branch in (inner, other):
        branch.block.add_op(YieldOp(used))
    graph.add(IfOp(flag, VECTOR, Region(inner.block), Region(other.block)))
    module = ModuleOp([graph.function("main", value)])
    applied("relay-simplify-inference", lambda _: module)(1)()
    assert [op.name for op in graph.block.ops] == ["func.return"]


def test_a_chain_of_functions_is_inlined_without_copies() -> None:
    module = functions(100)
    assert inline_calls(module, max_ops=0) == 99
    (main,) = module.body.block.ops
    assert sum(isinstance(op, ExpOp) for op in main.regions[0].block.ops) == 100


def test_types_of_changed_signatures_reach_callers_in_one_walk() -> None:
    def prepare(size: int) -> Callable[[], object]:
        module = functions(size)
        found = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
        upkeep = TypeUpkeep(found)
        # Another name for the same type: every signature changes, the last function's first.
        changed = tensor_type([20, 1], f32)
        last = found[-1].body.block
        value = last.last_op
        assert value is not None
        longer = ConstantOp.of(np.zeros((20, 1), np.float32))
        last.insert_op_before(longer, value)
        value.operands = [longer.result]
        assert longer.result.type == changed
        return lambda: upkeep.update(module, found[-1:])

    assert growth(prepare, 20, 10) < LIMIT
