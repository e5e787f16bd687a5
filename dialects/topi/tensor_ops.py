"""Ops on whole tensors: `topi.positions`, `topi.sort` and `topi.suppress`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, IntegerAttr, IntegerType, TensorType, UnitAttr, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.types import tensor_type as typed
from xrelay.dialects.topi.shapes import certainly_greater, shape_list, shape_of, tensor_type
from xrelay.index_algebra.dims import Dim, Shape, certainly_differ, product


@irdl_op_definition
class PositionsOp(IRDLOperation):
    """The row-major positions of the true elements of `mask`, ascending, and their number.

    Outputs of data-dependent length begin with this op: `positions` has room for all elements, the first `count`
    entries are used, and the others are zero. Computes then read elements at these positions, up to `count`.

    - C1: the mask is of i1.
    - C2: positions are a list of i64 with as many entries as the mask has elements.
    - C3: the count is one i64.

    ```mlir
    func.func @where(%m: tensor<4x5xi1>) -> (tensor<20xi64>, tensor<i64>) {
      %p, %n = topi.positions(%m) : (tensor<4x5xi1>) -> (tensor<20xi64>, tensor<i64>)
      func.return %p, %n : tensor<20xi64>, tensor<i64>
    }
    ```
    """

    name = "topi.positions"

    mask = operand_def(TensorType)
    positions = result_def(TensorType)
    count = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "`(` $mask `)` attr-dict `:` functional-type(operands, results)"

    def __init__(self, mask: SSAValue):
        super().__init__(operands=[mask], result_types=[typed([product(shape_of(mask))], i64), TensorType(i64, [])])

    def verify_(self) -> None:
        """Checks C1 to C3."""
        mask = tensor_type(self.mask)
        if mask.element_type != i1:
            raise VerifyException(f"[topi.positions C1] the mask is {mask}, not of i1")
        wanted = typed([product(shape_of(self.mask))], i64)
        if self.positions.type != wanted:
            raise VerifyException(
                f"[topi.positions C2] positions in {mask} are {self.positions.type}, they can be {wanted}"
            )
        if self.count.type != TensorType(i64, []):
            raise VerifyException(f"[topi.positions C3] the count is {self.count.type}, not tensor<i64>")


@irdl_op_definition
class SortOp(IRDLOperation):
    """Sorts along `axis`, and keeps as many of the first elements as the results have along it.

    `values` are the sorted elements, `indices` their original positions along the axis. If all elements are kept this
    is a sort, otherwise top-k. The order is ascending unless `descending` is set. In both directions equal elements
    keep their order, 0.0 and -0.0 are equal, and NaN is greater than all numbers, as in numpy's sort and onnxruntime's
    TopK. A compute that reads other data at `indices` sorts it in the same order.

    - C1: 0 <= axis < rank.
    - C2: values and indices have the data's shape, but along the axis at most its extent.
    - C3: values have the data's element type, of floats or integers; indices are i64.

    ```mlir
    func.func @top3(%x: tensor<4x10xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>) {
      %v, %i = topi.sort(%x) {axis = 1 : i64, descending} : (tensor<4x10xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
      func.return %v, %i : tensor<4x3xf32>, tensor<4x3xi64>
    }
    ```
    """

    name = "topi.sort"

    data = operand_def(TensorType)
    axis = prop_def(IntegerAttr[IntegerType])
    descending = opt_prop_def(UnitAttr)
    values = result_def(TensorType)
    indices = result_def(TensorType)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "`(` $data `)` attr-dict `:` functional-type(operands, results)"

    def __init__(self, data: SSAValue, axis: int, *, descending: bool = False, count: Dim | None = None):
        """`count` is the number of elements kept along the axis, by default all."""
        element, shape = tensor_type(data).element_type, list(shape_of(data))
        if count is not None:
            shape[axis] = count
        super().__init__(
            operands=[data],
            properties={"axis": IntegerAttr(axis, i64), "descending": UnitAttr() if descending else None},
            result_types=[typed(shape, element), typed(shape, i64)],
        )

    @property
    def rows(self) -> Shape:
        """The extents of the axes that enumerate the rows: all but the sorted axis."""
        axis, shape = self.axis.value.data, shape_of(self.data)
        return shape[:axis] + shape[axis + 1 :]

    def verify_(self) -> None:
        """Checks C1 to C3."""
        data, axis = tensor_type(self.data), self.axis.value.data
        if not 0 <= axis < data.get_num_dims():
            raise VerifyException(f"[topi.sort C1] axis {axis} of a tensor of rank {data.get_num_dims()}")
        for result in (self.values, self.indices):
            self._verify_shape(result, shape_of(self.data), axis)
        if shape_of(self.values) != shape_of(self.indices):
            raise VerifyException(
                f"[topi.sort C2] values {self.values.type} and indices {self.indices.type} differ in shape"
            )
        element = data.element_type
        if not isinstance(element, AnyFloat | IntegerType) or tensor_type(self.values).element_type != element:
            raise VerifyException(
                f"[topi.sort C3] data {data} and values {self.values.type} must have the same element type"
            )
        if tensor_type(self.indices).element_type != i64:
            raise VerifyException(f"[topi.sort C3] indices are {self.indices.type}, not of i64")

    @staticmethod
    def _verify_shape(result: SSAValue[Attribute], shape: Shape, axis: int) -> None:
        found = shape_of(result)
        others = found[:axis] + found[axis + 1 :] == shape[:axis] + shape[axis + 1 :]
        if len(found) != len(shape) or not others or certainly_greater(found[axis], shape[axis]):
            raise VerifyException(
                f"[topi.sort C2] result {result.type} of data of shape {shape_list(shape)}: only axis {axis} may be "
                "shorter"
            )


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
      and the result b × c × n; named dimensions must not be certainly different. `most` and the thresholds are of rank
      0.
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
