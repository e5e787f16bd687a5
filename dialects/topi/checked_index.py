"""`topi.checked_index`: an index that depends on inputs of the model, checked at run time."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.checked_index import CheckedIndex


@irdl_op_definition
class CheckedIndexOp(CheckedIndex):
    """An index in `[0, size)`: the operand itself after a check; with `from_end` negative operands count from the end.

    The program fails if the operand is outside of `[0, size)`, or of `[-size, size)` with `from_end`; the error names
    the source node and the value. A compute that contains this op is inlined only if all its elements are read.

    - C1: the size is a nonnegative number or a dimension.

    ```mlir
    func.func @take(%x: tensor<9xf32>, %at: tensor<4xi32>) -> tensor<4xf32> {
      %r = topi.compute "take" [%i : 4] : tensor<4xf32> {
        %a = topi.read %at[%i] : tensor<4xi32>
        %k = arith.index_cast %a : i32 to index
        %c = topi.checked_index %k of 9 from_end
        %v = topi.read %x[%c] : tensor<9xf32>
        topi.yield %v : f32
      }
      func.return %r : tensor<4xf32>
    }
    ```
    """

    name = "topi.checked_index"

    def verify_(self) -> None:
        """Checks C1."""
        super().verify_()
        if self.dynamic_size is not None:
            raise VerifyException("[topi.checked_index C1] the size is a value, not a number or a dimension")
