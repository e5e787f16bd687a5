"""`relay.let` and `relay.if`: the scopes in which values are computed.

The attribute `relay.form` of a function specifies the meaning of an op's position:

- `dataflow` (the default): position has no meaning. A pure op runs at most once and only if its value is needed, in
  whatever region it is; so an op before a `relay.if` that only one branch uses runs only in that branch. The value of
  a `relay.let` is computed in the block of the let.
- `bbnf`, basic block normal form: every op is in the innermost block that contains all its uses, and runs when that
  block does.
- `anf`, A-normal form: as bbnf, and every value is bound by a `relay.let`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, TensorType, TupleType, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.relay.core import assembly_format
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import string_property
from xrelay.dialects.relay.layout.behaviour import LayoutAnswer, LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.structure.yields import EndsInYield, verify_yield
from xrelay.dialects.shared.types import Value, is_complete, shape_of


@irdl_op_definition
class LetOp(RelayOp):
    """A value bound to a name: Relay's `let %v = value; …`, whose body is the rest of the block.

    The value is computed in the block of the let, unless it is unused. Fusion and other graph rewrites do not match
    through a let; passes to and from A-normal form create and remove it.

    Constraints:
    - C0: the result has the operand's type.

    Example:
    ```mlir
    %v = relay.let "v" = %e : tensor<4xf32>
    ```

    """

    name = "relay.let"
    PATTERN = OpPatternKind.OPAQUE
    INFERS_FROM_INCOMPLETE = True

    value = operand_def()
    result = result_def()

    variable = string_property()

    traits = traits_def(Pure())

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the value's type."""
        return facts[0]

    def infer_operand_types(self, facts: Facts, result_type: Attribute) -> Sequence[Attribute]:
        """Returns the result's type."""
        return [result_type]

    def evaluate(self, value: Value) -> Value:
        """Returns the operand."""
        return value

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutAnswer:
        """Accepts any layout of the value."""
        if isinstance(self.value.type, TupleType):
            return LayoutRefusal("a let binding of a tuple keeps the layouts of its fields")
        return LayoutDecision((layouts[0],), layouts[0])

    @classmethod
    def parse(cls, parser: Parser) -> LetOp:
        """Parses `"v" = %e : T`, after an optional attribute dictionary."""
        attributes = assembly_format.parse_attributes(parser)
        variable = parser.parse_str_literal(", the variable's name")
        parser.parse_punctuation("=")
        value = assembly_format.parse_typed_operand(parser)
        return cls.create(
            operands=[value],
            result_types=[value.type],
            properties={"variable": StringAttr(variable)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Prints the syntax that `parse` reads."""
        assembly_format.print_attributes(printer, self.attributes)
        printer.print_string(" ")
        printer.print_string_literal(self.variable.data)
        printer.print_string(" = ")
        printer.print_ssa_value(self.value)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class IfOp(IRDLOperation):
    """One of two values: that of the first region if the condition is true, else that of the second.

    Only the chosen region is evaluated. The regions may use outside values.

    Constraints:
    - C1: the condition is a tensor of rank 0 and element type i1.
    - C2: each region is one block without arguments that ends in `relay.yield`.
    - C3: both regions yield the result's type.

    Example:
    ```mlir
    %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
      %n = relay.negative(%x) : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %n : tensor<4xf32>
    } else {
      relay.yield %x : tensor<4xf32>
    }
    ```

    """

    name = "relay.if"

    condition = operand_def()
    result = result_def()
    true_region = region_def("single_block")
    false_region = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect(), EndsInYield())

    def __init__(
        self, condition: SSAValue | Operation, result_type: Attribute, true_region: Region, false_region: Region
    ):
        super().__init__(operands=[condition], result_types=[result_type], regions=[true_region, false_region])

    def verify_(self) -> None:
        """Checks C1 to C3."""
        type = self.condition.type
        if is_complete(type) and not (
            isinstance(type, TensorType) and shape_of(type) == () and type.element_type == i1
        ):
            raise VerifyException(f"[{self.name} C1] the condition must be tensor<i1>, found {type}")
        for region in (self.true_region, self.false_region):
            verify_yield(self, region, self.result.type, arguments=0)

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        """Parses `%c : tensor<i1> -> T {…} else {…}`, with optional `attributes {…}` before the regions."""
        condition = assembly_format.parse_typed_operand(parser)
        parser.parse_punctuation("->")
        result_type = parser.parse_type()
        attributes = assembly_format.parse_attributes_keyword(parser)
        true_region = parser.parse_region()
        parser.parse_keyword("else")
        op = cls(condition, result_type, true_region, parser.parse_region())
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        """Prints the syntax that `parse` reads."""
        printer.print_string(" ")
        assembly_format.print_typed(printer, self.condition)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)
        assembly_format.print_attributes_keyword(printer, self.attributes)
        printer.print_string(" ")
        printer.print_region(self.true_region)
        printer.print_string(" else ")
        printer.print_region(self.false_region)


def outside_closures(op: Operation, home: Block | None) -> Operation:
    """Returns the outermost op below the block `home` that contains `op` and is not a branch, or `op` itself."""
    found, current = op, op
    while current.parent is not home:
        around = current.parent_op()
        if around is None:
            break
        current = around
        if not isinstance(around, IfOp):
            found = around
    return found
