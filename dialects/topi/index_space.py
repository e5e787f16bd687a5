"""Base classes of `topi.compute`, `topi.scan` and `topi.scatter`: an index space with a scalar body.

The ops that structure bodies are `topi.yield`, and `topi.guard`, a choice between two values that evaluates only one of
them.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.extents import ExtentsAttr, extents_of, integers, negative, parse_extent
from xrelay.dialects.topi.shapes import shape_list, shape_of
from xrelay.dialects.upstream.signless import signless
from xrelay.index_algebra.dims import Dim, Shape


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a region of `topi.compute`, `topi.scan`, `topi.scatter` or `topi.guard` and returns its values.

    - C1: the parent is a `topi.compute`, `topi.scan`, `topi.scatter` or `topi.guard`, which check number and types of
      the values.

    ```mlir
    func.func @ones() -> tensor<4xf32> {
      %r = topi.compute "ones" [%i : 4] : tensor<4xf32> {
        %one = arith.constant 1.0 : f32
        topi.yield %one : f32
      }
      func.return %r : tensor<4xf32>
    }
    ```
    """

    name = "topi.yield"

    values = var_operand_def()

    traits = traits_def(IsTerminator())

    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def verify_(self) -> None:
        """Checks C1."""
        parent = self.parent_op()
        if parent is not None and parent.name not in ("topi.compute", "topi.scan", "topi.scatter", "topi.guard"):
            raise VerifyException(f"[topi.yield C1] the parent is {parent.name}")

    @classmethod
    def of(cls, *values: SSAValue) -> YieldOp:
        """Yields `values`."""
        return cls.build(operands=[values])


class BodyOp(IRDLOperation, ABC):
    """An op with a scalar body that runs for each point of an index space.

    The arguments of the body begin with the *spatial* variables, which are the coordinates of the point, and those of a
    reduction, if the op has one.
    """

    label = prop_def(StringAttr)
    extents = prop_def(DenseArrayBase[IntegerType] | ExtentsAttr)
    body = region_def("single_block")

    traits = traits_def(Pure())

    @property
    def spatial(self) -> Shape:
        """The extents of the spatial variables."""
        return extents_of(self.extents)

    @property
    def reduction(self) -> Shape:
        """The extents of the reduction variables; empty without a reduction."""
        return ()

    @property
    def known_spatial(self) -> tuple[int, ...]:
        """The extents of the spatial variables, if all are integers; raises `DimensionError` for a named dimension."""
        return integers(self.spatial)

    @property
    def known_reduction(self) -> tuple[int, ...]:
        """The extents of the reduction variables, if all are integers."""
        return integers(self.reduction)

    @property
    def spatial_vars(self) -> tuple[BlockArgument, ...]:
        """The block arguments that are the coordinates of the point."""
        return tuple(self.body.block.args[: len(self.spatial)])

    @property
    def reduce_vars(self) -> tuple[BlockArgument, ...]:
        """The block arguments that iterate over the reduction box."""
        first = len(self.spatial)
        return tuple(self.body.block.args[first : first + len(self.reduction)])

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        """The values that the body yields."""
        last = self.body.block.last_op
        return tuple(last.operands) if isinstance(last, YieldOp) else ()


class IndexSpaceOp(BodyOp, ABC):
    """An op whose results have one element for each point of an index space, computed by a scalar body.

    The arguments of the body are the spatial variables, one for each axis of the results, those of a reduction, if the
    op has one, and the accumulators.
    """

    init = prop_def(ArrayAttr[FloatAttr | IntegerAttr])
    tensors = var_result_def(TensorType)

    @property
    def accumulators(self) -> tuple[BlockArgument, ...]:
        """The block arguments that are the accumulators, one per `init`."""
        return tuple(self.body.block.args[len(self.spatial) + len(self.reduction) :])

    @property
    def element_types(self) -> list[Attribute]:
        """The element type of each result."""
        return [result.type.element_type for result in self.tensors]

    def verify_variables(self) -> None:
        """Checks C1: extents, and the arguments of the body."""
        extents = self.spatial + self.reduction
        if (extent := negative(extents)) is not None:
            raise VerifyException(f"[{self.name} C1] extent {extent} is negative")
        expected = (*(IndexType() for _ in extents), *(attr.type for attr in self.init))
        actual = tuple(arg.type for arg in self.body.block.args)
        if actual != expected:
            raise VerifyException(
                f"[{self.name} C1] body takes ({', '.join(map(str, actual))}), "
                f"the variables and accumulators are ({', '.join(map(str, expected))})"
            )

    def verify_results(self) -> None:
        """Checks C2: the shapes of the results."""
        if not self.tensors:
            raise VerifyException(f"[{self.name} C2] no result; at least one tensor is computed")
        for result in self.tensors:
            if shape_of(result) != self.spatial:
                raise VerifyException(
                    f"[{self.name} C2] result {result.type} does not have the shape of the index space "
                    f"{shape_list(self.spatial)}"
                )

    def verify_init(self, expected: Sequence[Attribute]) -> None:
        """Checks C3: the first values have the types `expected`."""
        actual = [attr.type for attr in self.init]
        if actual != list(expected):
            raise VerifyException(
                f"[{self.name} C3] init has types [{', '.join(map(str, actual))}], "
                f"the reduction needs [{', '.join(map(str, expected))}]"
            )

    def verify_yield(self) -> None:
        """Checks C4: the yielded values."""
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            found = last.name if last else "nothing"
            raise VerifyException(f"[{self.name} C4] body ends in {found}, not topi.yield")
        expected = [signless(element) for element in self.element_types]
        actual = [value.type for value in last.values]
        if actual != expected:
            raise VerifyException(
                f"[{self.name} C4] body yields [{', '.join(map(str, actual))}], "
                f"the results have elements [{', '.join(map(str, expected))}]"
            )


def compute_around(op: Operation) -> BodyOp | None:
    """The compute, scan or scatter whose body contains an op, or None."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, BodyOp):
        parent = parent.parent_op()
    return parent


def parse_variables(parser: Parser) -> list[tuple[Parser.Argument, Dim]]:
    """Parses `[%n : 1, %c : 2 * m]`: names and extents of variables."""

    def variable() -> tuple[Parser.Argument, Dim]:
        name = parser.parse_argument(expect_type=False)
        parser.parse_punctuation(":")
        return name.resolve(IndexType()), parse_extent(parser, f"the extent of index variable {name.name.text}")

    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, variable)


def parse_accumulators(parser: Parser) -> list[tuple[Parser.Argument, FloatAttr | IntegerAttr]]:
    """Parses `[%acc = 0.0 : f32]`: names and first values of accumulators."""

    def accumulator() -> tuple[Parser.Argument, FloatAttr | IntegerAttr]:
        name = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        position = parser.pos
        value = parser.parse_attribute()
        if not isinstance(value, FloatAttr | IntegerAttr):
            parser.raise_error(f"initial value {value} is not an integer or float", position)
        return name.resolve(value.type), value

    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, accumulator)


def print_variables(printer: Printer, opening: str, variables: Sequence[BlockArgument], extents: Sequence[Dim]) -> None:
    """Prints `opening` and variables with their extents."""

    def variable(pair: tuple[BlockArgument, Dim]) -> None:
        printer.print_block_argument(pair[0], print_type=False)
        printer.print_string(f" : {pair[1]}")

    printer.print_string(opening)
    printer.print_list(list(zip(variables, extents, strict=True)), variable)
    printer.print_string("]")


def print_accumulators(printer: Printer, op: IndexSpaceOp) -> None:
    """Prints ` init [%acc = 0.0 : f32]`."""
    printer.print_string(" init [")
    printer.print_list(list(zip(op.accumulators, op.init, strict=True)), lambda p: _print_init(printer, *p))
    printer.print_string("]")


def print_end(printer: Printer, op: IndexSpaceOp) -> None:
    """Prints the types of the results, the attributes and the body."""
    printer.print_string(" : ")
    printer.print_list(op.result_types, printer.print_attribute)
    printer.print_op_attributes(op.attributes, print_keyword=True)
    printer.print_string(" ")
    printer.print_region(op.body, print_entry_block_args=False, print_empty_block=False)


def _print_init(printer: Printer, variable: BlockArgument, value: FloatAttr | IntegerAttr) -> None:
    printer.print_block_argument(variable, print_type=False)
    printer.print_string(" = ")
    printer.print_attribute(value)


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
