"""`relay.fn` and `relay.invoke`: functions as values."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType, UnitAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.relay.core import assembly_format
from xrelay.dialects.relay.core.compatible import compatible
from xrelay.dialects.relay.structure.yields import EndsInYield, verify_yield
from xrelay.dialects.shared.types import IncompleteType, is_complete, with_dims
from xrelay.index_algebra.dims import ANY


@irdl_op_definition
class FnOp(IRDLOperation):
    """A function as a value: a closure, which may use outside values.

    In `rec(%self)` the body refers to the closure itself as `%self`, for recursion.

    Constraints:
    - C1: the result type is a function type with one result.
    - C2: the body is one block that ends in `relay.yield`; its arguments are the parameters, after `%self` if the
      function is recursive.
    - C3: the body yields the function type's result.
    - C4: the parameters have the types of the function type, and `%self` has the function type.

    Example:
    ```mlir
    %f = relay.fn(%a : tensor<f32>) -> tensor<f32> {
      %b = relay.add(%a, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      relay.yield %b : tensor<f32>
    }
    %g = relay.fn rec(%self)(%a : tensor<f32>) -> tensor<f32> {
      %b = relay.invoke %self(%a) : (tensor<f32>) -> tensor<f32>
      relay.yield %b : tensor<f32>
    }
    ```

    """

    name = "relay.fn"

    result = result_def()
    body = region_def("single_block")

    recursive = opt_prop_def(UnitAttr)

    traits = traits_def(Pure(), EndsInYield())

    def __init__(self, type: FunctionType, body: Region, *, recursive: bool = False):
        super().__init__(
            result_types=[type], regions=[body], properties={"recursive": UnitAttr() if recursive else None}
        )

    @property
    def is_recursive(self) -> bool:
        """Whether the body's first argument is the closure itself."""
        return self.recursive is not None

    @property
    def parameters(self) -> tuple[BlockArgument, ...]:
        """The body's arguments without `%self`."""
        return tuple(self.body.block.args)[1 if self.is_recursive else 0 :]

    @property
    def self_argument(self) -> BlockArgument | None:
        """The argument that refers to the closure in a recursive body, or None."""
        return self.body.block.args[0] if self.is_recursive else None

    def verify_(self) -> None:
        """Checks C1 to C4."""
        if self.is_recursive and not self.body.block.args:
            raise VerifyException(f"[{self.name} C2] a recursive body needs an argument for the function")
        type = self.result.type
        if isinstance(type, IncompleteType):
            return
        if not isinstance(type, FunctionType) or len(type.outputs) != 1:
            raise VerifyException(f"[{self.name} C1] the type must be a function type with one result, found {type}")
        verify_yield(self, self.body, type.outputs.data[0])
        found = tuple(argument.type for argument in self.parameters)
        if found != type.inputs.data:
            listed = ", ".join(str(type) for type in found)
            raise VerifyException(f"[{self.name} C4] the parameters have types ({listed}), the function is {type}")
        itself = self.self_argument
        if itself is not None and itself.type != type:
            raise VerifyException(
                f"[{self.name} C4] the argument for the function is {itself.type}, the function is {type}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> FnOp:
        """Parses `rec(%self)(%x : T, …) -> T {…}`, with optional `attributes {…}` before the body."""
        itself = None
        if parser.parse_optional_keyword("rec"):
            with parser.in_parens():
                itself = parser.parse_argument(expect_type=False)
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        parser.parse_punctuation("->")
        type = FunctionType.from_lists([argument.type for argument in arguments], [parser.parse_type()])
        attributes = assembly_format.parse_attributes_keyword(parser)
        block_arguments = arguments if itself is None else [itself.resolve(type), *arguments]
        op = cls(type, parser.parse_region(block_arguments), recursive=itself is not None)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        """Prints the syntax that `parse` reads."""
        itself = self.self_argument
        if itself is not None:
            printer.print_string(" rec(")
            printer.print_ssa_value(itself)
            printer.print_string(")")
        with printer.in_parens():
            printer.print_list(self.parameters, printer.print_block_argument)
        printer.print_string(" -> ")
        type = self.result.type
        printer.print_attribute(type.outputs.data[0] if isinstance(type, FunctionType) else type)
        assembly_format.print_attributes_keyword(printer, self.attributes)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@irdl_op_definition
class InvokeOp(IRDLOperation):
    """A call of a function value.

    Named dimensions of the function's parameters that are not bound around the call are bound to dimensions of the
    arguments. An extent that the function introduces has a new name here, which `relay.binds` lists. The same holds for
    a recursive call: each call binds the parameters anew.

    Constraints:
    - C1: the callee is a function with one result.
    - C2: the arguments have the types of its parameters.
    - C3: the result has its result's type.

    Example:
    ```mlir
    %r = relay.invoke %f(%x) : (tensor<f32>) -> tensor<f32>
    ```

    """

    name = "relay.invoke"

    callee = operand_def()
    arguments = var_operand_def()
    result = result_def()

    # Relay is pure: an unused call may be erased, even if it does not terminate.
    traits = traits_def(Pure())

    def __init__(self, callee: SSAValue | Operation, arguments: Sequence[SSAValue | Operation], result_type: Attribute):
        super().__init__(operands=[callee, arguments], result_types=[result_type])

    @property
    def call_type(self) -> FunctionType:
        """The function type from the types of arguments and result."""
        return FunctionType.from_lists([argument.type for argument in self.arguments], [self.result.type])

    @property
    def closure_around(self) -> FnOp | None:
        """The enclosing closure if this is a recursive call of it, else None."""
        owner = self.callee.owner
        around = owner.parent_op() if isinstance(owner, Block) else None
        return around if isinstance(around, FnOp) and around.self_argument is self.callee else None

    def verify_(self) -> None:
        """Checks C1 to C3."""
        type = self.callee.type if self.closure_around is None else with_dims(self.callee.type, lambda _: ANY)
        if isinstance(type, IncompleteType):
            return
        if not isinstance(type, FunctionType) or len(type.outputs) != 1:
            raise VerifyException(f"[{self.name} C1] the callee must be a function with one result, found {type}")
        if len(type.inputs) != len(self.arguments):
            raise VerifyException(
                f"[{self.name} C2] {len(self.arguments)} arguments for a function of {len(type.inputs)} parameters"
            )
        for index, (parameter, argument) in enumerate(zip(type.inputs, self.arguments, strict=True)):
            if is_complete(parameter) and is_complete(argument.type) and not compatible(parameter, argument.type):
                raise VerifyException(f"[{self.name} C2] argument #{index} is {argument.type}, must be {parameter}")
        wanted, found = type.outputs.data[0], self.result.type
        if is_complete(wanted) and is_complete(found) and not compatible(wanted, found):
            raise VerifyException(f"[{self.name} C3] the result is {found}, the function returns {wanted}")

    @classmethod
    def parse(cls, parser: Parser) -> InvokeOp:
        """Parses `%f(%x, …) : (T, …) -> T`, followed by `of F` if the callee has another type."""
        callee = parser.parse_unresolved_operand()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        attributes = assembly_format.parse_attributes(parser)
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, FunctionType) or len(type.outputs) != 1:
            parser.raise_error("expected a type with one result, e.g. (tensor<4xf32>) -> tensor<4xf32>", position)
        callee_type = parser.parse_type() if parser.parse_optional_keyword("of") else type
        operands = parser.resolve_operands(arguments, type.inputs.data, position)
        op = cls(parser.resolve_operand(callee, callee_type), operands, type.outputs.data[0])
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        """Prints the syntax that `parse` reads."""
        printer.print_string(" ")
        printer.print_ssa_value(self.callee)
        with printer.in_parens():
            printer.print_list(self.arguments, printer.print_ssa_value)
        assembly_format.print_attributes(printer, self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.call_type)
        if self.callee.type != self.call_type:
            printer.print_string(" of ")
            printer.print_attribute(self.callee.type)
