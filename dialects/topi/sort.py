"""`topi.sort`: sorts along an axis and returns the original position of each element; also top-k."""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat, IntegerAttr, IntegerType, TensorType, UnitAttr, i64
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
from xrelay.index_algebra.dims import Dim, Shape


@irdl_op_definition
class SortOp(IRDLOperation):
    """Sorts along `axis`, and keeps as many of the first elements as the results have along it.

    `values` are the sorted elements, `indices` their original positions along the axis. If all elements are kept this
    is a sort, otherwise top-k. The order is ascending unless `descending` is set. In both directions equal elements
    keep their order, 0.0 and -0.0 are equal, and NaN is greater than all numbers, as in numpy's sort and onnxruntime's
    TopK. To sort other data along, a compute reads it at `indices`.

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
