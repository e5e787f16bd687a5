"""Einsum: a matrix product if the equation is one, else `relay.einsum`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.einsum_equation import Equation
from xrelay.dialects.relay.ops.tensor.einsum import EinsumOp
from xrelay.frontend.onnx.converters.definition import NodeView, certainly_differ, converts, shape_of


@converts("Einsum", since=12, attributes=("equation",))
def convert_einsum(node: NodeView) -> SSAValue:
    """`nn.batch_matmul` of transposed operands, or `relay.einsum`."""
    text = node.attribute_text("equation")
    inputs = [node.input(index) for index in range(len(node.inputs))]
    if not inputs:
        raise node.error("Einsum has no inputs")
    equation = Equation.of(text, [len(node.shape(index)) for index in range(len(inputs))])
    if isinstance(equation, str):
        raise node.error(equation)
    product = _matrix_product(node, equation, inputs)
    return node.emit(EinsumOp, node.make_tuple(inputs), equation=text) if product is None else product


def _matrix_product(node: NodeView, equation: Equation, inputs: Sequence[SSAValue]) -> SSAValue | None:
    """The product of two stacks of matrices, if each operand has one unshared axis, and one axis is summed."""
    if len(inputs) != 2 or len(equation.summed) != 1:
        return None
    left, right = equation.operands
    (depth,) = equation.summed
    stack = [label for label in equation.result if label in left and label in right]
    rows, columns = ([label for label in labels if label in equation.result and label not in stack]
                     for labels in (left, right))  # fmt: skip
    plain = all(len(set(labels)) == len(labels) and depth in labels for labels in (left, right))
    if not plain or len(rows) != 1 or len(columns) != 1 or _broadcasts(equation, inputs):
        return None
    first = _ordered(node, inputs[0], left, [*stack, *rows, depth])
    second = _ordered(node, inputs[1], right, [*stack, *columns, depth])
    return _ordered(node, node.emit("nn.batch_matmul", first, second), [*stack, *rows, *columns], equation.result)


def _broadcasts(equation: Equation, inputs: Sequence[SSAValue]) -> bool:
    """Whether the extents of a label differ, which a matrix product does not support."""
    extents = [
        dict(zip(labels, shape_of(value.type), strict=True))
        for labels, value in zip(equation.operands, inputs, strict=True)
    ]
    return any(certainly_differ(extents[0][label], extents[1][label]) for label in extents[0] if label in extents[1])


def _ordered(node: NodeView, value: SSAValue, labels: Sequence[str], wanted: Sequence[str]) -> SSAValue:
    """`value`, whose axes are `labels`, transposed to the order of `wanted`."""
    order = tuple(labels.index(label) for label in wanted)
    return value if order == tuple(range(len(order))) else node.emit("transpose", value, axes=order)
