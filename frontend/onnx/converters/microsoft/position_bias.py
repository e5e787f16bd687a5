"""Biases of attention scores by the distance from query to key: the bins of T5, and the gates of WavLM."""

from __future__ import annotations

from math import log

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import MICROSOFT, NodeView, Numbers, converts, known_extent, shape_of
from xrelay.frontend.onnx.converters.nn.matmul import convert_matmul


@converts("RelativePositionBias", domain=MICROSOFT, attributes=("is_bidirectional", "max_distance"))
def convert_relative_position_bias(node: NodeView) -> SSAValue:
    """Rows of the table, by the bin of each distance: (1, heads, queries, keys)."""
    if len(node.shape(0)) != 2:
        raise node.error(f"a table {node.input(0).type}: bins and heads are expected")
    numbers = Numbers(node)
    lengths = (numbers.scalar_input(index, name) for index, name in ((1, "query_length"), (2, "key_length")))
    queries, keys = (numbers.arange(0, length) for length in lengths)
    distances = node.emit("subtract", node.emit("expand_dims", queries, axis=1), keys)
    rows = node.emit("take", node.input(0), _bins(node, distances, known_extent(node, node.input(0), 0)), axis=0)
    return node.emit("expand_dims", node.emit("transpose", rows, axes=(2, 0, 1)), axis=0)


def _bins(node: NodeView, distances: SSAValue, count: int) -> SSAValue:
    """The bin of each distance: one per short distance, logarithmic bins, and one from the maximum distance on."""
    both = node.attribute_flag("is_bidirectional")
    count = count // 2 if both else count
    exact, greatest = count // 2, node.attribute_int("max_distance", 0)
    if exact < 1 or greatest <= exact:
        raise node.error(f"{count} bins for distances up to {greatest}: fewer bins, and two at least, are expected")
    far = node.emit("abs", distances) if both else node.emit("maximum", distances, node.scalar(0, distances))
    times = node.emit("cast", node.emit("maximum", far, node.scalar(1, far)), dtype="float32")
    wide = node.emit("log", node.emit("divide", times, node.scalar(exact, times)))
    wide = node.emit("divide", wide, node.scalar(log(greatest / exact), wide))
    wide = node.emit("cast", node.emit("multiply", wide, node.scalar(count - exact, wide)), dtype="int64")
    wide = node.emit("minimum", node.emit("add", wide, node.scalar(exact, wide)), node.scalar(count - 1, wide))
    found = node.emit("where", node.emit("less", far, node.scalar(exact, far)), far, wide)
    if not both:
        return found
    ahead = node.emit("cast", node.emit("less", distances, node.scalar(0, distances)), dtype="int64")
    return node.emit("add", found, node.emit("multiply", ahead, node.scalar(count, ahead)))


@converts("GatedRelativePositionBias", domain=MICROSOFT, attributes=("num_heads",), limits="batches without padding")
def convert_gated_relative_position_bias(node: NodeView) -> SSAValue:
    """The bias times a factor per query and head, computed from two gates."""
    if node.optional_input(6) is not None:
        raise node.unsupported("batches without padding, token_offset, are not supported")
    count = node.attribute_int("num_heads", 0, check=lambda value: value >= 1)
    if len(node.shape(0)) != 3 or len(node.shape(3)) != 2:
        raise node.error(f"queries {node.input(0).type}, weight {node.input(3).type}: three axes and two are expected")
    hidden, columns = known_extent(node, node.input(0), 2), known_extent(node, node.input(3), 1)
    if hidden % count or columns % 2:
        raise node.error(f"{hidden} elements and {columns} columns do not split into {count} heads and two gates")
    query = node.emit("add", node.input(0), node.input(1))
    query = node.emit("reshape", query, newshape=(0, 0, count, hidden // count))
    heads = node.emit("transpose", query, axes=(0, 2, 1, 3))
    joined = convert_matmul(node.with_inputs([heads, node.input(3)]))
    joined = node.emit("add", joined, node.input(4))
    sums = node.emit("sum", node.emit("reshape", joined, newshape=(0, 0, 0, 2, columns // 2)), axis=(4,))
    gates = node.emit("split", node.emit("sigmoid", sums), indices_or_sections=2, axis=3)
    first, second = (node.tuple_field(gates, index) for index in range(2))
    inner = node.emit("subtract", node.emit("multiply", second, node.input(5)), node.scalar(1, second))
    factor = node.emit("add", node.emit("multiply", first, inner), node.scalar(2, first))
    if len(shape_of(node.input(2).type)) != 4:
        raise node.error(f"a bias {node.input(2).type}: one for each head, query and key is expected")
    return node.emit("multiply", factor, node.input(2))
