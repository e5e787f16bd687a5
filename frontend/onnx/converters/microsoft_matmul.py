"""FusedMatMul: a matrix product with transpositions and a factor."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.shared.types import shape_of
from xrelay.frontend.onnx.converters.nn.matmul import matrix_product
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import MICROSOFT, converts

_TURNS = ("alpha", "transA", "transB")


@converts("FusedMatMul", domain=MICROSOFT, attributes=(*_TURNS, "transBatchA", "transBatchB"))
@converts("TransposeMatMul", domain=MICROSOFT, attributes=_TURNS)
def convert_fused_matmul(node: NodeView) -> SSAValue:
    """The product of the operands, transposed as the attributes specify, times `alpha`."""
    operands = [_turned(node, node.input(index), letter) for index, letter in enumerate("AB")]
    result = matrix_product(node.with_inputs(operands))
    alpha = node.attribute_float("alpha", 1.0)
    return result if alpha == 1.0 else node.emit("multiply", result, node.scalar(alpha, result))


def _turned(node: NodeView, value: SSAValue, letter: str) -> SSAValue:
    """`value` with the first axis moved after the batch axes, then the last two exchanged, as attributes specify."""
    rank = len(shape_of(value.type))
    order = list(range(rank))
    if rank >= 2:
        if _flag(node, f"transBatch{letter}"):
            order = [*order[1:-1], order[0], order[-1]]
        if _flag(node, f"trans{letter}"):
            order[-2:] = [order[-1], order[-2]]
    return value if order == sorted(order) else node.emit("transpose", value, axes=order)


def _flag(node: NodeView, name: str) -> bool:
    return bool(node.attribute_int(name, 0, check=lambda value: value in (0, 1)))
