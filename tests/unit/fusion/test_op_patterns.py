"""From relay text to the forward graph."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, Builtin, ModuleOp, TensorType, f32
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.ir import Block
from xdsl.parser import Parser

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.dialect import RELAY
from xrelay.dialects.relay.ops.nn.activation import ReluOp
from xrelay.passes.fusion.op_patterns import FunctionGraph, forward_graph

ELEM_WISE, BROADCAST, INJECTIVE, COMM_REDUCE, HEAVY, TUPLE, OPAQUE = OpPatternKind


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, RELAY):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def body(text: str) -> Block:
    function = parse(text).body.block.first_op
    assert isinstance(function, FuncOp)
    return function.body.block


def names(found: FunctionGraph) -> list[str]:
    return found.graph.names


RESIDUAL = """
func.func @main(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %unused = relay.nn.relu(%x) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %b = relay.nn.conv2d(%x, %w) : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %a = relay.nn.conv2d(%x, %w) {groups = 1} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %s = relay.add(%a, %b) : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  func.return %s : tensor<1x8x4x4xf32>
}
"""


def test_nodes_are_in_post_dfs_order_not_in_text_order():
    block = body(RESIDUAL)
    found = forward_graph(block)
    ops = list(block.ops)
    assert [found.ops[node] for node in range(len(found.graph))] == [None, None, ops[2], ops[1], ops[3]]
    assert names(found) == ["%x", "%w", "nn.conv2d", "nn.conv2d", "add"]
    assert found.graph.extern == [True, True, False, False, True]


def test_ops_that_nothing_needs_are_not_part_of_the_expression():
    block = body(RESIDUAL)
    found = forward_graph(block)
    assert found.unneeded == [block.first_op]
    assert {edge.consumer for edge in found.graph.outputs[0]} == {2, 3}


def test_an_addition_of_equal_shapes_has_elementwise_edges():
    graph = forward_graph(body(RESIDUAL)).graph
    assert [edge.pattern for edge in graph.outputs[2]] == [ELEM_WISE]
    assert {edge.pattern for edge in graph.outputs[0]} == {HEAVY}


def test_a_broadcast_operand_has_a_broadcast_edge():
    found = forward_graph(
        body("""
func.func @main(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %y = relay.nn.relu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = relay.nn.relu(%b) : (tensor<8xf32>) -> tensor<8xf32>
  %s = relay.add(%y, %c) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}
""")
    )
    assert [found.graph.outputs[node][0].pattern for node in (2, 3)] == [ELEM_WISE, BROADCAST]


@pytest.mark.parametrize(
    ("constant", "pattern"),
    [
        ("dense<2.0> : tensor<f32>", ELEM_WISE),
        ("dense<2> : tensor<i64>", ELEM_WISE),
        ("dense<2> : tensor<i8>", OPAQUE),
        ("dense<2.0> : tensor<1xf32>", OPAQUE),
    ],
)
def test_scalar_constants_may_go_into_kernels(constant: str, pattern: OpPatternKind):
    type = constant.split(" : ")[1]
    found = forward_graph(
        body(f"""
func.func @main() -> {type} {{
  %c = relay.constant {constant}
  %d = relay.abs(%c) : ({type}) -> {type}
  func.return %d : {type}
}}
""")
    )
    assert found.graph.patterns[0] is pattern


def test_tuples_are_nodes_with_injective_edges():
    found = forward_graph(
        body("""
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %t = relay.tuple(%y, %y) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  %i = relay.tuple_get_item(%t) {index = 1} : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
  func.return %i : tensor<4xf32>
}
""")
    )
    assert found.graph.patterns == [OPAQUE, ELEM_WISE, TUPLE, INJECTIVE]
    assert [edge.pattern for edge in found.graph.outputs[1]] == [INJECTIVE, INJECTIVE]
    assert [edge.pattern for edge in found.graph.outputs[2]] == [INJECTIVE]
    assert found.graph.extern == [True, False, False, True]


def test_a_tuple_with_a_function_in_it_is_a_wall():
    type = "tuple<tensor<4xf32>, (tensor<4xf32>) -> tensor<4xf32>>"
    found = forward_graph(
        body(f"""
func.func @main(%x: tensor<4xf32>, %f: (tensor<4xf32>) -> tensor<4xf32>) -> tensor<4xf32> {{
  %t = relay.tuple(%x, %f) : (tensor<4xf32>, (tensor<4xf32>) -> tensor<4xf32>) -> {type}
  %i = relay.tuple_get_item(%t) {{index = 0}} : ({type}) -> tensor<4xf32>
  %r = relay.nn.relu(%i) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}}
""")
    )
    assert found.graph.extern == [True, True, True, False, True]
    assert found.graph.patterns[3] is OPAQUE


def test_let_is_a_wall_and_a_branch_has_what_it_alone_uses():
    found = forward_graph(
        body("""
func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %a = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.nn.relu(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %v = relay.let "v" = %b : tensor<4xf32>
  %w = relay.nn.relu(%v) : (tensor<4xf32>) -> tensor<4xf32>
  %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
    %n = relay.negative(%w) : (tensor<4xf32>) -> tensor<4xf32>
    relay.yield %n : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
""")
    )
    assert names(found) == ["%x", "%c", "nn.relu", "nn.relu", "let", "nn.relu", "negative", "if"]
    assert found.graph.extern == [True, True, False, True, True, False, True, True]
    assert [edge.consumer for edge in found.graph.outputs[5]] == [6]


class UniqueOp(ReluOp):
    """An op whose result extents are data-dependent."""

    @property
    def shape_depends_on_data(self) -> bool:
        return True


@pytest.mark.parametrize(("extent", "pattern"), [(DYNAMIC_INDEX, OPAQUE), (4, ELEM_WISE)])
def test_an_op_whose_unknown_shape_depends_on_data_is_opaque(extent: int, pattern: OpPatternKind):
    type = TensorType(f32, [extent])
    block = Block(arg_types=[type])
    op = UniqueOp.create(operands=[block.args[0]], result_types=[type])
    block.add_ops([op, ReturnOp(op)])
    assert forward_graph(block).graph.patterns == [OPAQUE, pattern]


def test_arguments_of_unknown_extent_count_their_extents_and_strides():
    type = "tensor<?x?x3xf32, #relay.dims<n, m>>"
    found = forward_graph(
        body(f"""
func.func @main(%x: {type}) -> {type} {{
  %a = relay.nn.relu(%x) : ({type}) -> {type}
  func.return %a : {type}
}}
""")
    )
    assert found.graph.own_arguments == [6, 6]
    assert found.graph.dynamic_extents[1] == 2


def test_a_long_chain_is_no_recursion():
    type = TensorType(f32, [4])
    block = Block(arg_types=[type])
    value = block.args[0]
    for _ in range(1_500):
        op = ReluOp.create(operands=[value], result_types=[type])
        block.add_op(op)
        value = op.results[0]
    block.add_op(ReturnOp(value))
    assert len(forward_graph(block).graph) == 1_501


@pytest.mark.parametrize(
    ("first", "second", "result", "edges"),
    [
        ("<n>", "<n>", "<n>", [ELEM_WISE, ELEM_WISE]),
        # Either may be 1 if the other is not.
        ("<n>", "<m>", "<broadcast(n, m)>", [BROADCAST, BROADCAST]),
        ("<broadcast(n, m)>", "<m>", "<broadcast(n, m)>", [ELEM_WISE, BROADCAST]),
        # Relay's Any is equal to itself.
        ("<?>", "<?>", "<?>", [ELEM_WISE, ELEM_WISE]),
    ],
)
def test_extents_that_may_differ_have_broadcast_edges(
    first: str, second: str, result: str, edges: list[OpPatternKind]
) -> None:
    types = [f"tensor<?xf32, #relay.dims{dims}>" for dims in (first, second, result)]
    found = forward_graph(
        body(f"""
func.func @main(%x: {types[0]}, %y: {types[1]}) -> {types[2]} {{
  %a = relay.nn.relu(%x) : ({types[0]}) -> {types[0]}
  %b = relay.nn.relu(%y) : ({types[1]}) -> {types[1]}
  %s = relay.add(%a, %b) : ({types[0]}, {types[1]}) -> {types[2]}
  func.return %s : {types[2]}
}}
""")
    )
    relus = [node for node, name in enumerate(names(found)) if name == "nn.relu"]
    assert [found.graph.outputs[node][0].pattern for node in relus] == edges
