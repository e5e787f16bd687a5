"""`topi.guard`: a choice between two values that evaluates only one of them."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, region_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.topi.index_space import YieldOp


@irdl_op_definition
class GuardOp(IRDLOperation):
    """Evaluates the first region if the condition holds, otherwise the second, and has its value.

    In contrast to `arith.select`, only one region is evaluated: a read in the first region may be out of bounds if the
    condition is false.

    - C1: both regions end in `topi.yield` of one value of the result's type.

    ```mlir
    func.func @clip(%x: tensor<4xf32>, %m: tensor<4xi1>) -> tensor<4xf32> {
      %r = topi.compute "where" [%i : 4] : tensor<4xf32> {
        %p = topi.read %m[%i] : tensor<4xi1>
        %v = topi.guard (%p) -> f32 {
          %a = topi.read %x[%i] : tensor<4xf32>
          topi.yield %a : f32
        } else {
          %one = arith.constant 1.0 : f32
          topi.yield %one : f32
        }
        topi.yield %v : f32
      }
      func.return %r : tensor<4xf32>
    }
    ```
    """

    name = "topi.guard"

    condition = operand_def(i1)
    value = result_def()
    then_region = region_def("single_block")
    else_region = region_def("single_block")

    traits = traits_def(Pure())

    def __init__(self, condition: SSAValue, result_type: Attribute, then_region: Region, else_region: Region):
        super().__init__(operands=[condition], result_types=[result_type], regions=[then_region, else_region])

    def verify_(self) -> None:
        """Checks C1."""
        for region in (self.then_region, self.else_region):
            last = region.block.last_op
            types = [value.type for value in last.values] if isinstance(last, YieldOp) else []
            if types != [self.value.type]:
                raise VerifyException(
                    f"[topi.guard C1] a region yields [{', '.join(map(str, types))}], the result is {self.value.type}"
                )

    @classmethod
    def parse(cls, parser: Parser) -> GuardOp:
        """Parses `(%p) -> type {…} else {…}`."""
        parser.parse_punctuation("(")
        condition = parser.parse_operand(i1)
        parser.parse_punctuation(")")
        parser.parse_punctuation("->")
        result_type = parser.parse_type()
        then_region = parser.parse_region()
        parser.parse_keyword("else")
        else_region = parser.parse_region()
        op = cls(condition, result_type, then_region, else_region)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        """Prints `(%p) -> type {…} else {…}`."""
        printer.print_string(" (")
        printer.print_ssa_value(self.condition)
        printer.print_string(") -> ")
        printer.print_attribute(self.value.type)
        printer.print_string(" ")
        printer.print_region(self.then_region, print_empty_block=False)
        printer.print_string(" else ")
        printer.print_region(self.else_region, print_empty_block=False)
        printer.print_op_attributes(self.attributes)
