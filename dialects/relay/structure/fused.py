"""`relay.fused`: a group of ops that become one kernel."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.relay.core import assembly_format
from xrelay.dialects.relay.core.compatible import compatible
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.structure.yields import EndsInYield, verify_yield
from xrelay.dialects.shared.types import is_complete

_PATTERNS = {kind.relay_name: kind for kind in OpPatternKind}


@irdl_op_definition
class FusedOp(IRDLOperation):
    """A fused group, which becomes one kernel: its region computes one value from its parameters only.

    `anchor` is Relay's name of the heavy op of the group, `pattern` that of the group's fusion pattern, such as
    "kOutEWiseFusable"; both are optional. The op's location is the fused location of the group's ops.

    Constraints:
    - C1: there are as many operands as parameters.
    - C2: the region is one block that ends in `relay.yield`.
    - C3: the region yields the result's type.
    - C4: each operand has the type of its parameter.
    - C5: `pattern`, if given, is the name of a fusion pattern.
    - The region uses no outside value (isolated from above).

    Example:
    ```mlir
    %r = relay.fused @fused_relu(%p = %x : tensor<4xf32>) -> tensor<4xf32> attributes {pattern = "kElemWise"} {
      %y = relay.nn.relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
      relay.yield %y : tensor<4xf32>
    }
    ```

    """

    name = "relay.fused"

    arguments = var_operand_def()
    result = result_def()
    body = region_def("single_block")

    group_name = prop_def(StringAttr)
    anchor = opt_prop_def(StringAttr)
    pattern = opt_prop_def(StringAttr)

    traits = traits_def(Pure(), IsolatedFromAbove(), EndsInYield())

    def __init__(
        self,
        group_name: str,
        arguments: Sequence[SSAValue | Operation],
        result_type: Attribute,
        body: Region,
        *,
        anchor: str | None = None,
        pattern: OpPatternKind | None = None,
    ):
        super().__init__(
            operands=[arguments],
            result_types=[result_type],
            regions=[body],
            properties={
                "group_name": StringAttr(group_name),
                "anchor": None if anchor is None else StringAttr(anchor),
                "pattern": None if pattern is None else StringAttr(pattern.relay_name),
            },
        )

    @property
    def fusion_pattern(self) -> OpPatternKind | None:
        """The group's fusion pattern, or None if it is not specified."""
        return None if self.pattern is None else _PATTERNS[self.pattern.data]

    def verify_(self) -> None:
        """Checks C1 to C5."""
        parameters = self.body.block.args
        if len(parameters) != len(self.arguments):
            raise VerifyException(
                f"[{self.name} C1] {len(self.arguments)} operands for {len(parameters)} parameters of {self.group_name}"
            )
        verify_yield(self, self.body, self.result.type)
        for parameter, argument in zip(parameters, self.arguments, strict=True):
            known = is_complete(parameter.type) and is_complete(argument.type)
            if known and not compatible(parameter.type, argument.type):
                raise VerifyException(
                    f"[{self.name} C4] operand #{parameter.index} is {argument.type}, its parameter {parameter.type}"
                )
        if self.pattern is not None and self.pattern.data not in _PATTERNS:
            raise VerifyException(
                f"[{self.name} C5] unknown fusion pattern {self.pattern}; help: use one of {', '.join(_PATTERNS)}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> FusedOp:
        """Parses `@name(%p = %x : T, …) -> T attributes {…} {…}`."""
        group_name = parser.parse_symbol_name()
        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_pair(parser))
        parser.parse_punctuation("->")
        result_type = parser.parse_type()
        attributes = assembly_format.parse_attributes_keyword(parser)
        region = parser.parse_region([parameter for parameter, _ in pairs])
        properties = {name: attributes.pop(name) for name in ("anchor", "pattern") if name in attributes}
        return cls.create(
            operands=[argument for _, argument in pairs],
            result_types=[result_type],
            properties={"group_name": group_name} | properties,
            attributes=attributes,
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        """Prints the syntax that `parse` reads."""
        printer.print_string(" ")
        printer.print_symbol_name(self.group_name.data)
        with printer.in_parens():
            pairs = zip(self.body.block.args, self.arguments, strict=True)
            printer.print_list(pairs, lambda pair: _print_pair(printer, *pair))
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)
        shown = {name: value for name, value in self.properties.items() if name != "group_name"}
        assembly_format.print_attributes_keyword(printer, shown | self.attributes)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def _parse_pair(parser: Parser) -> tuple[Parser.Argument, SSAValue]:
    parameter = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    argument = assembly_format.parse_typed_operand(parser)
    return parameter.resolve(argument.type), argument


def _print_pair(printer: Printer, parameter: SSAValue, argument: SSAValue) -> None:
    printer.print_ssa_value(parameter)
    printer.print_string(" = ")
    assembly_format.print_typed(printer, argument)
