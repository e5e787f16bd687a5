"""`loop.checked_index`: an index that depends on inputs of the model, checked at run time."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.checked_index import CheckedIndex


@irdl_op_definition
class CheckedIndexOp(CheckedIndex):
    """An index in `[0, size)`: the operand itself after a check; with `from_end` negative operands count from the end.

    The kernel fails if the operand is outside of `[0, size)`, or of `[-size, size)` with `from_end`; ops after the
    check do not run then.

    - C1: the size is a nonnegative number or an `index` value

    ```mlir
    func.func @f(%X: memref<8xf32>, %i: index) -> f32 {
      %k = loop.checked_index %i of 8 from_end
      %x = loop.load %X[%k] : memref<8xf32>
      func.return %x : f32
    }
    ```
    """

    name = "loop.checked_index"

    def verify_(self) -> None:
        """Checks C1."""
        super().verify_()
        if self.dynamic_size is None and not isinstance(self.extent, int):
            raise VerifyException(f"[loop.checked_index C1] size {self.extent} is not an integer")
