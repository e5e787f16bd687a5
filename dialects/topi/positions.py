"""`topi.positions`: where a condition holds, as a list whose length the data decides."""

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
    """The row-major positions of the elements of `mask` that are true, ascending, and how many there are.

    This is how an output of data-dependent length begins: `positions` has room for all elements, `count` says how many
    it holds, and behind those it is zero. What is found there is read at the positions by computes, up to `count`.

    - C1: the mask is of i1.
    - C2: positions are a list of i64 with as many places as the mask has elements.
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
