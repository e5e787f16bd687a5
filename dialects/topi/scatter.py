"""`topi.scatter`: a tensor with some of its elements updated, at indices that may be computed."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, StringAttr, TensorType, i1
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, BlockArgument, Region, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from xrelay.dialects.shared.extents import extents_attr, negative
from xrelay.dialects.topi.index_map import extent_of
from xrelay.dialects.topi.index_space import BodyOp, YieldOp, parse_variables, print_variables
from xrelay.dialects.topi.shapes import certainly_greater, shape_of, tensor_type
from xrelay.dialects.upstream.signless import signless
from xrelay.index_algebra.dims import Dim


class Combine(StrEnum):
    """The combination of an element with an update of it, by Relay's names."""

    UPDATE = "update"
    """Replaces the element; the last of several updates wins."""

    ADD = "add"
    MUL = "mul"
    MIN = "min"
    MAX = "max"


@irdl_attr_definition
class CombineAttr(EnumAttribute[Combine], SpacedOpaqueSyntaxAttribute):
    """`Combine` as an attribute."""

    name = "topi.combine"


@irdl_op_definition
class ScatterOp(BodyOp):
    """The tensor `into` with updates: one for each point of an index space, in row-major order of the points.

    The body yields the position of an update, one index for each dimension of the tensor, and its value. `update`
    stores the value, so that the last of several updates of one element wins. `add`, `mul`, `min` and `max` combine the
    value with the current element, one update after the other, so the result does not depend on threads or lanes.
    Indices must be in bounds: those that depend on inputs of the model are checked by `topi.checked_index`.

    If a variable is by itself an index of the tensor, points that differ in it update different elements, in any order.
    Loops over such variables may be parallel and vectorised; the other loops stay in order.

    - C1: no extent is negative; the block arguments are one index per extent.
    - C2: the result has the type of the tensor.
    - C3: the body ends in `topi.yield` of one index per dimension of the tensor and a value of its element type.
    - C4: booleans are not added or multiplied.
    - C5: a variable that is by itself an index is in bounds.

    ```mlir
    func.func @histogram(%counts: tensor<8xi32>, %bins: tensor<20xindex>) -> tensor<8xi32> {
      %r = topi.scatter "histogram" [%i : 20] add into %counts : tensor<8xi32> {
        %bin = topi.read %bins[%i] : tensor<20xindex>
        %one = arith.constant 1 : i32
        topi.yield %bin, %one : index, i32
      }
      func.return %r : tensor<8xi32>
    }
    ```
    """

    name = "topi.scatter"

    combine_attr = prop_def(CombineAttr, prop_name="combine")
    into = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, label: str, extents: Sequence[Dim], combine: Combine, into: SSAValue, body: Region):
        super().__init__(
            operands=[into],
            properties={
                "label": StringAttr(label),
                "extents": extents_attr(extents),
                "combine": CombineAttr(combine),
            },
            result_types=[into.type],
            regions=[body],
        )

    @property
    def combine(self) -> Combine:
        """The combination of an element and its update."""
        return self.combine_attr.data

    @property
    def element_type(self) -> Attribute:
        """The element type of the tensor, with its sign."""
        return tensor_type(self.into).element_type

    @property
    def indices(self) -> tuple[SSAValue, ...]:
        """The position of an update."""
        return self.yielded[:-1]

    @property
    def value(self) -> SSAValue:
        """The value of an update."""
        return self.yielded[-1]

    @property
    def apart(self) -> tuple[BlockArgument, ...]:
        """The variables that are by themselves an index: points that differ in one update different elements."""
        return tuple(variable for variable in self.spatial_vars if variable in self.indices)

    def verify_(self) -> None:
        """Checks C1 to C5."""
        if (extent := negative(self.spatial)) is not None:
            raise VerifyException(f"[topi.scatter C1] extent {extent} is negative")
        if self.body.block.arg_types != (IndexType(),) * len(self.spatial):
            types = ", ".join(map(str, self.body.block.arg_types))
            raise VerifyException(f"[topi.scatter C1] body takes ({types}), not {len(self.spatial)} variables")
        if self.result.type != self.into.type:
            raise VerifyException(f"[topi.scatter C2] result {self.result.type} differs from tensor {self.into.type}")
        self._verify_yield()
        if self.combine in (Combine.ADD, Combine.MUL) and self.element_type == i1:
            raise VerifyException(f"[topi.scatter C4] '{self.combine}' is not supported for booleans")
        self._verify_variables()

    def _verify_yield(self) -> None:
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException(f"[topi.scatter C3] body ends in {last.name if last else 'nothing'}, not topi.yield")
        rank = len(tensor_type(self.into).get_shape())
        expected = [*(IndexType() for _ in range(rank)), signless(self.element_type)]
        actual = [value.type for value in last.values]
        if actual != expected:
            raise VerifyException(
                f"[topi.scatter C3] body yields [{', '.join(map(str, actual))}], "
                f"an update of {self.into.type} needs [{', '.join(map(str, expected))}]"
            )

    def _verify_variables(self) -> None:
        if 0 in self.spatial:
            return
        for axis, (index, size) in enumerate(zip(self.indices, shape_of(self.into), strict=True)):
            extent = extent_of(index)
            if extent is not None and certainly_greater(extent, size):
                raise VerifyException(
                    f"[topi.scatter C5] index {axis} runs from 0 to {extent - 1}, outside of {self.into.type}"
                )

    @classmethod
    def parse(cls, parser: Parser) -> ScatterOp:
        """Parses the text form shown in the class."""
        label = parser.parse_str_literal(" naming the computation")
        variables = parse_variables(parser)
        combine = parser.parse_str_enum(Combine)
        parser.parse_keyword("into")
        into = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([argument for argument, _ in variables])
        op = cls(label, [extent for _, extent in variables], combine, parser.resolve_operand(into, type), body)
        if attributes:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        """Prints the text form shown in the class; names inside the body have a scope of their own."""
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        printer.enter_scope()
        print_variables(printer, " [", self.spatial_vars, self.spatial)
        printer.print_string(f" {self.combine} into ")
        printer.print_ssa_value(self.into)
        printer.print_string(" : ")
        printer.print_attribute(self.into.type)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
        printer.exit_scope()
