"""`relay.yield`, and checks of the ops whose regions it ends."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, traits_def
from xdsl.traits import IsTerminator, OpTrait, Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.relay.core.compatible import compatible
from xrelay.dialects.shared.types import is_complete


class EndsInYield(OpTrait):
    """Each region of the op is one block that ends in `relay.yield`, which yields the region's value.

    The op verifies this with `verify_yield`.
    """


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The value of a region of `relay.if`, `relay.loop`, `relay.fn` or `relay.fused`.

    Constraints:
    - C1: the parent op has the trait `EndsInYield`, as these ops do.
    - It is the last op of the region (C2 of the parent op).

    Example:
    ```mlir
    %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
      relay.yield %x : tensor<4xf32>
    } else {
      relay.yield %y : tensor<4xf32>
    }
    ```

    """

    name = "relay.yield"

    value = operand_def()

    assembly_format = "$value attr-dict `:` type($value)"

    traits = traits_def(IsTerminator(), Pure())

    def __init__(self, value: SSAValue | Operation):
        super().__init__(operands=[value])

    def verify_(self) -> None:
        """Checks C1."""
        around = self.parent_op()
        if around is not None and not around.has_trait(EndsInYield):
            place = f"[{self.name} C1] the parent is '{around.name}'"
            raise VerifyException(f"{place}; it must be relay.if, relay.loop, relay.fn or relay.fused")


def yielded(region: Region) -> SSAValue:
    """Returns the value that a region yields."""
    last = region.block.last_op
    if not isinstance(last, YieldOp):
        raise VerifyException("a region must end in relay.yield")
    return last.value


def verify_yield(op: IRDLOperation, region: Region, type: Attribute, *, arguments: int | None = None) -> None:
    """Checks that `region` ends in a `relay.yield` of `type` (C2, C3 of the parent op)."""
    last = region.block.last_op
    if not isinstance(last, YieldOp):
        raise VerifyException(f"[{op.name} C2] a region must end in relay.yield")
    if arguments is not None and len(region.block.args) != arguments:
        raise VerifyException(f"[{op.name} C2] a region has {len(region.block.args)} arguments, must have {arguments}")
    found = last.value.type
    if is_complete(found) and is_complete(type) and not compatible(found, type):
        raise VerifyException(f"[{op.name} C3] a region yields {found}, the result is {type}")
