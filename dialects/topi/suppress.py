"""`topi.suppress`: selects boxes, in an order, that overlap no box selected before (non-maximum suppression)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, TensorType, i1, i64
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.types import tensor_type as typed
from xrelay.dialects.topi.shapes import shape_of, tensor_type
from xrelay.index_algebra.dims import Shape, certainly_differ

SIDES = 5
"""The number of values that describe a box without its kind."""


@irdl_op_definition
class SuppressOp(IRDLOperation):
    """Whether each of the boxes is selected, in the order of their scores, separately for each class of each batch.

    `sides` are the lower and the higher corner of each box, and its area: y, x, y, x, area; if boxes are of several
    kinds, a number for the kind follows. `order` are the numbers of the boxes of each class by falling score, `scores`
    are the scores in this order. A box is selected if its score is greater than `least`, fewer than `most` boxes are
    selected, and it overlaps no selected box. Two boxes overlap if they share an area and this area, divided by the
    area of their union, is greater than `overlap`; a box with an area of NaN overlaps no box, and boxes of different
    kinds do not overlap.

    - C1: of `n` boxes of `b` batches and `c` classes the sides are b × 5 × n, or b × 6 × n with kinds, order, scores
      and the result b × c × n, as far as named dimensions allow to compare; `most` and the thresholds are of rank 0.
    - C2: sides, scores and thresholds have the same float type; order and `most` are of i64, the result is of i1.

    ```mlir
    func.func @best(%sides: tensor<1x5x9xf32>, %order: tensor<1x2x9xi64>, %scores: tensor<1x2x9xf32>,
                    %most: tensor<i64>, %iou: tensor<f32>, %least: tensor<f32>) -> tensor<1x2x9xi1> {
      %kept = topi.suppress(%sides, %order, %scores, %most, %iou, %least)
        : (tensor<1x5x9xf32>, tensor<1x2x9xi64>, tensor<1x2x9xf32>, tensor<i64>, tensor<f32>, tensor<f32>)
        -> tensor<1x2x9xi1>
      func.return %kept : tensor<1x2x9xi1>
    }
    ```
    """

    name = "topi.suppress"

    sides = operand_def(TensorType)
    order = operand_def(TensorType)
    scores = operand_def(TensorType)
    most = operand_def(TensorType)
    overlap = operand_def(TensorType)
    least = operand_def(TensorType)
    kept = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "`(` $sides `,` $order `,` $scores `,` $most `,` $overlap `,` $least `)` attr-dict `:` "
        "functional-type(operands, results)"
    )

    def __init__(self, operands: Sequence[SSAValue]):
        """`operands` are sides, order, scores, the largest number of boxes, and the thresholds of overlap and score."""
        super().__init__(operands=list(operands), result_types=[typed(shape_of(operands[1]), i1)])

    def verify_(self) -> None:
        """Checks C1 and C2."""
        batch, classes, count = self._places()
        row, one, sides = (batch, classes, count), (), SIDES + (shape_of(self.sides)[1:2] == (SIDES + 1,))
        wanted: list[Shape] = [(batch, sides, count), row, row, one, one, one, row]
        values = (*self.operands, self.kept)
        for value, shape in zip(values, wanted, strict=True):
            found = shape_of(value)
            if len(found) != len(shape) or any(map(certainly_differ, found, shape)):
                types = ", ".join(str(value.type) for value in values)
                raise VerifyException(f"[topi.suppress C1] extents do not fit: {types}")
        elements = [tensor_type(value).element_type for value in values]
        kind = elements[0]
        if not isinstance(kind, AnyFloat) or elements != [kind, i64, kind, i64, kind, kind, i1]:
            raise VerifyException(
                f"[topi.suppress C2] element types are {', '.join(map(str, elements))}, not T, i64, T, i64, T, T, i1"
            )

    def _places(self) -> Shape:
        shape = shape_of(self.order)
        if len(shape) != 3:
            raise VerifyException(f"[topi.suppress C1] the order {self.order.type} is of rank {len(shape)}, not 3")
        return shape
