"""`topi.checked_index`: an index that inputs of the model decide, checked where the program runs."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.checked_index import CheckedIndex


@irdl_op_definition
class CheckedIndexOp(CheckedIndex):
    """An index in `[0, size)`: the operand itself, which must lie there; with `from_end` negative ones count back.

    The program fails where the operand lies outside of `[0, size)`, with `from_end` of `[-size, size)`; the error names
    the source node and the value. A compute that holds one is inlined only where all its elements are read.

    - C1: the size is a number that is not negative, or a dimension.

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
