"""FusedMatMul, TransposeMatMul, FusedGemm and MatMulInteger16, and the distances of CDist."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import INT32, MICROSOFT, NodeView, converted, converts, shape_of
from xrelay.frontend.onnx.converters.microsoft.activation import activated
from xrelay.frontend.onnx.converters.nn.matmul import convert_gemm, convert_matmul
from xrelay.frontend.onnx.converters.shared.activations import ACTIVATIONS

_ATTRIBUTES = ("alpha", "transA", "transB")
_METRICS = ("euclidean", "sqeuclidean")


@converts("FusedMatMul", domain=MICROSOFT, attributes=(*_ATTRIBUTES, "transBatchA", "transBatchB"))
@converts("TransposeMatMul", domain=MICROSOFT, attributes=_ATTRIBUTES)
def convert_fused_matmul(node: NodeView) -> SSAValue:
    """The product of the operands, transposed as the attributes specify, times `alpha`."""
    operands = [_transposed(node, node.input(index), letter) for index, letter in enumerate("AB")]
    result = convert_matmul(node.with_inputs(operands))
    alpha = node.attribute_float("alpha", 1.0)
    return result if alpha == 1.0 else node.emit("multiply", result, node.scalar(alpha, result))


def _transposed(node: NodeView, value: SSAValue, letter: str) -> SSAValue:
    """`value` with the first axis moved after the batch axes, then the last two exchanged, as attributes specify."""
    rank = len(shape_of(value.type))
    order = list(range(rank))
    if rank >= 2:
        if node.attribute_flag(f"transBatch{letter}"):
            order = [*order[1:-1], order[0], order[-1]]
        if node.attribute_flag(f"trans{letter}"):
            order[-2:] = [order[-1], order[-2]]
    return value if order == sorted(order) else node.emit("transpose", value, axes=order)


@converts(
    "FusedGemm",
    domain=MICROSOFT,
    attributes=(
        *("alpha", "beta", "transA", "transB"),
        *("activation", "activation_alpha", "activation_beta", "activation_gamma"),
    ),
    limits="Clip",
)
def convert_fused_gemm(node: NodeView) -> SSAValue:
    """A Gemm, then an activation."""
    name = node.attribute_text("activation") if "activation" in node.attribute_names else ""
    known = ACTIVATIONS.get(name)
    defaults = () if known is None else known.attributes.items()
    numbers = [node.attribute_float(f"activation_{word}", usual) for word, usual in defaults]
    return activated(node, convert_gemm(node), numbers)


@converts("MatMulInteger16", domain=MICROSOFT)
def convert_matmul_integer_16(node: NodeView) -> SSAValue:
    """The i32 product of 16-bit integers."""
    wide = [converted(node, node.input(index), INT32) for index in range(2)]
    return convert_matmul(node.with_inputs(wide))


@converts("CDist", domain=MICROSOFT, attributes=("metric",), limits="euclidean and sqeuclidean distances")
def convert_cdist(node: NodeView) -> SSAValue:
    """The distance of each row of one matrix from each row of another: the root of the sum of squared differences."""
    if len(node.shape(0)) != 2 or len(node.shape(1)) != 2:
        raise node.error(f"distances of {node.input(0).type} and {node.input(1).type}; matrices are expected")
    metric = node.attribute_string("metric", "sqeuclidean", _METRICS)
    left, right = (node.emit("expand_dims", node.input(index), axis=1 - index) for index in range(2))
    apart = node.emit("subtract", left, right)
    total = node.emit("sum", node.emit("multiply", apart, apart), axis=(2,))
    return total if metric == "sqeuclidean" else node.emit("sqrt", total)
