"""`topi.compute`: how one element of a result is computed, over an index space; and `topi.yield`."""

from __future__ import annotations

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
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.upstream.signless import signless


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a region of `topi.compute` or `topi.guard` and gives its values.

    - C1: stands in a `topi.compute` or a `topi.guard`, which check number and types of the values.

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
        if parent is not None and parent.name not in ("topi.compute", "topi.guard"):
            raise VerifyException(f"[topi.yield C1] stands in {parent.name}")

    @classmethod
    def of(cls, *values: SSAValue) -> YieldOp:
        """Yields `values`."""
        return cls.build(operands=[values])


@irdl_op_definition
class ComputeOp(IRDLOperation):
    """Computes every element of its results from one scalar body over an index space.

    The *spatial* variables number the elements: for each point of their box the results get the element at that
    point. Without reduction variables the body yields the elements. With them, the body is a fold: it runs for every
    point of the reduction box in row-major order, gets the accumulators as block arguments (`init` gives their first
    values) and yields their next values; the last ones are the elements. Several accumulators make several results
    (argmax keeps a value and an index, Welford three); what is made of them afterwards (the mean's division) is another
    compute. Tensors are read from outside the body at any index by `topi.read`.

    The label names the computation in loops, schedules and reports; names of index variables become names of loops.

    - C1: no extent is negative; the block arguments are one index per extent, then one accumulator per `init`.
    - C2: at least one result; each is a tensor whose shape is the spatial extents.
    - C3: with reduction variables one `init` per result, of its element type; without them no `init`.
    - C4: the body ends in `topi.yield` of one value per result, of its element type.

    ```mlir
    func.func @row_sums(%x: tensor<4x8xf32>) -> tensor<4xf32> {
      %r = topi.compute "sum" [%i : 4] reduce [%k : 8] init [%acc = 0.0 : f32] : tensor<4xf32> {
        %a = topi.read %x[%i, %k] : tensor<4x8xf32>
        %s = arith.addf %acc, %a : f32
        topi.yield %s : f32
      }
      func.return %r : tensor<4xf32>
    }
    ```
    """

    name = "topi.compute"

    label = prop_def(StringAttr)
    extents = prop_def(DenseArrayBase[IntegerType])
    reduce_extents = prop_def(DenseArrayBase[IntegerType])
    init = prop_def(ArrayAttr[FloatAttr | IntegerAttr])
    tensors = var_result_def(TensorType)
    body = region_def("single_block")

    traits = traits_def(Pure())

    def __init__(
        self,
        label: str,
        extents: Sequence[int],
        reduce_extents: Sequence[int],
        init: Sequence[FloatAttr | IntegerAttr],
        result_types: Sequence[Attribute],
        body: Region,
    ):
        super().__init__(
            properties={
                "label": StringAttr(label),
                "extents": DenseArrayBase.from_list(i64, list(extents)),
                "reduce_extents": DenseArrayBase.from_list(i64, list(reduce_extents)),
                "init": ArrayAttr(init),
            },
            result_types=[result_types],
            regions=[body],
        )

    @property
    def spatial(self) -> tuple[int, ...]:
        """The extents of the spatial variables: the shape of every result."""
        return tuple(self.extents.iter_values())

    @property
    def reduction(self) -> tuple[int, ...]:
        """The extents of the reduction variables; empty where there is no reduction."""
        return tuple(self.reduce_extents.iter_values())

    @property
    def spatial_vars(self) -> tuple[BlockArgument, ...]:
        """The block arguments that number the elements."""
        return tuple(self.body.block.args[: len(self.extents)])

    @property
    def reduce_vars(self) -> tuple[BlockArgument, ...]:
        """The block arguments that run over the reduction box."""
        first = len(self.extents)
        return tuple(self.body.block.args[first : first + len(self.reduce_extents)])

    @property
    def accumulators(self) -> tuple[BlockArgument, ...]:
        """The block arguments that hold the accumulators, one per `init`."""
        return tuple(self.body.block.args[len(self.extents) + len(self.reduce_extents) :])

    @property
    def yielded(self) -> tuple[SSAValue, ...]:
        """What the body yields."""
        last = self.body.block.last_op
        return tuple(last.operands) if isinstance(last, YieldOp) else ()

    def verify_(self) -> None:
        """Checks C1 to C4."""
        self._verify_variables()
        self._verify_results()
        self._verify_yield()

    def _verify_variables(self) -> None:
        extents = self.spatial + self.reduction
        if any(extent < 0 for extent in extents):
            raise VerifyException(f"[topi.compute C1] extent {min(extents)} is negative")
        expected = (*(IndexType() for _ in extents), *(attr.type for attr in self.init))
        actual = tuple(arg.type for arg in self.body.block.args)
        if actual != expected:
            raise VerifyException(
                f"[topi.compute C1] body takes ({', '.join(map(str, actual))}), "
                f"the variables and accumulators are ({', '.join(map(str, expected))})"
            )

    def _verify_results(self) -> None:
        if not self.tensors:
            raise VerifyException("[topi.compute C2] no result; at least one tensor is computed")
        for result in self.tensors:
            if result.type.get_shape() != self.spatial:
                raise VerifyException(
                    f"[topi.compute C2] result {result.type} does not have the shape of the index space "
                    f"{list(self.spatial)}"
                )
        expected = [signless(t.element_type) for t in self._tensor_types()] if self.reduction else []
        actual = [attr.type for attr in self.init]
        if actual != expected:
            raise VerifyException(
                f"[topi.compute C3] init has types [{', '.join(map(str, actual))}], "
                f"the reduction needs [{', '.join(map(str, expected))}]"
            )

    def _verify_yield(self) -> None:
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException(f"[topi.compute C4] body ends in {last.name if last else 'nothing'}, not topi.yield")
        expected = [signless(t.element_type) for t in self._tensor_types()]
        actual = [value.type for value in last.values]
        if actual != expected:
            raise VerifyException(
                f"[topi.compute C4] body yields [{', '.join(map(str, actual))}], "
                f"the results hold [{', '.join(map(str, expected))}]"
            )

    def _tensor_types(self) -> list[TensorType[Attribute]]:
        return [result.type for result in self.tensors]

    @classmethod
    def parse(cls, parser: Parser) -> ComputeOp:
        """Parses the text form shown in the class."""
        label = parser.parse_str_literal(" naming the computation")
        spatial = _parse_variables(parser)
        reduction = _parse_variables(parser) if parser.parse_optional_keyword("reduce") else []
        init = _parse_accumulators(parser) if parser.parse_optional_keyword("init") else []
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        arguments = [argument for argument, _ in (*spatial, *reduction, *init)]
        body = parser.parse_region(arguments)
        op = cls(label, [e for _, e in spatial], [e for _, e in reduction], [a for _, a in init], types, body)
        if attributes:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        """Prints the text form shown in the class; names inside the body are its own."""
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        printer.enter_scope()
        _print_variables(printer, " [", self.spatial_vars, self.spatial)
        if self.reduction or self.init.data:
            _print_variables(printer, " reduce [", self.reduce_vars, self.reduction)
            printer.print_string(" init [")
            printer.print_list(list(zip(self.accumulators, self.init, strict=True)), lambda p: _print_init(printer, *p))
            printer.print_string("]")
        printer.print_string(" : ")
        printer.print_list(self.result_types, printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
        printer.exit_scope()


def _parse_variables(parser: Parser) -> list[tuple[Parser.Argument, int]]:
    """Parses `[%n : 1, %c : 64]`."""

    def variable() -> tuple[Parser.Argument, int]:
        name = parser.parse_argument(expect_type=False)
        parser.parse_punctuation(":")
        if parser.parse_optional_punctuation("?"):
            parser.raise_error(f"index variable {name.name.text} has extent '?': topi needs static extents")
        return name.resolve(IndexType()), parser.parse_integer(allow_boolean=False)

    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, variable)


def _parse_accumulators(parser: Parser) -> list[tuple[Parser.Argument, FloatAttr | IntegerAttr]]:
    """Parses `[%acc = 0.0 : f32]`."""

    def accumulator() -> tuple[Parser.Argument, FloatAttr | IntegerAttr]:
        name = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        position = parser.pos
        value = parser.parse_attribute()
        if not isinstance(value, FloatAttr | IntegerAttr):
            parser.raise_error(f"initial value {value} is not an integer or float", position)
        return name.resolve(value.type), value

    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, accumulator)


def _print_variables(
    printer: Printer, opening: str, variables: Sequence[BlockArgument], extents: Sequence[int]
) -> None:
    def variable(pair: tuple[BlockArgument, int]) -> None:
        printer.print_block_argument(pair[0], print_type=False)
        printer.print_string(f" : {pair[1]}")

    printer.print_string(opening)
    printer.print_list(list(zip(variables, extents, strict=True)), variable)
    printer.print_string("]")


def _print_init(printer: Printer, variable: BlockArgument, value: FloatAttr | IntegerAttr) -> None:
    printer.print_block_argument(variable, print_type=False)
    printer.print_string(" = ")
    printer.print_attribute(value)
