"""`topi.positions`: the positions at which a condition holds, as a list of data-dependent length."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType, i1, i64
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.types import tensor_type as typed
from xrelay.dialects.topi.shapes import shape_of, tensor_type
from xrelay.index_algebra.dims import product


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
