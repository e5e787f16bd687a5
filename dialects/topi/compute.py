"""`topi.compute`, `topi.scan` and `topi.scatter`: scalar bodies over an index space, and the analysis of folds.

A compute has the elements of a result, a scan the intermediate values of a fold along one axis, and a scatter updates
elements at indices that may be computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    UnitAttr,
    i1,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, Region, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition, irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from xrelay.dialects.shared.extents import ExtentsAttr, extents_attr, extents_of, negative
from xrelay.dialects.topi.index_map import extent_of
from xrelay.dialects.topi.index_space import (
    BodyOp,
    GuardOp,
    IndexSpaceOp,
    YieldOp,
    parse_accumulators,
    parse_variables,
    print_accumulators,
    print_end,
    print_variables,
)
from xrelay.dialects.topi.shapes import certainly_greater, shape_of, tensor_type
from xrelay.dialects.upstream.signless import signless
from xrelay.index_algebra.dims import Dim, Shape


@irdl_op_definition
class ComputeOp(IndexSpaceOp):
    """Computes every element of its results from one scalar body over an index space.

    The *spatial* variables are the indices of the elements: each point of their box is an element of the results.
    Without reduction variables the body yields the elements. With them, the body is a fold: it runs for every point of
    the reduction box in row-major order, takes the accumulators as block arguments (`init` are their first values) and
    yields their next values; the last values are the elements. Several accumulators produce several results (argmax has
    a value and an index, Welford's variance three); computations on the results (the mean's division) are separate
    computes. `topi.read` reads tensors from outside the body at any index.

    Extents are integers, or expressions over the named dimensions of the function's tensors (`[%i : 2 * n]`).

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

    reduce_extents = prop_def(DenseArrayBase[IntegerType] | ExtentsAttr)

    def __init__(
        self,
        label: str,
        extents: Sequence[Dim],
        reduce_extents: Sequence[Dim],
        init: Sequence[FloatAttr | IntegerAttr],
        result_types: Sequence[Attribute],
        body: Region,
    ):
        # Built with `Operation.__init__`: the constructor spends most of its time sorting arguments.
        Operation.__init__(
            self,
            properties={
                "label": StringAttr(label),
                "extents": extents_attr(extents),
                "reduce_extents": extents_attr(reduce_extents),
                "init": ArrayAttr(init),
            },
            result_types=result_types,
            regions=(body,),
        )

    @property
    def reduction(self) -> Shape:
        """The extents of the reduction variables; empty without a reduction."""
        return extents_of(self.reduce_extents)

    def verify_(self) -> None:
        """Checks C1 to C4."""
        self.verify_variables()
        self.verify_results()
        self.verify_init([signless(element) for element in self.element_types] if self.reduction else [])
        self.verify_yield()

    @classmethod
    def parse(cls, parser: Parser) -> ComputeOp:
        """Parses the text form shown in the class."""
        label = parser.parse_str_literal(" naming the computation")
        spatial = parse_variables(parser)
        reduction = parse_variables(parser) if parser.parse_optional_keyword("reduce") else []
        init = parse_accumulators(parser) if parser.parse_optional_keyword("init") else []
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
        """Prints the text form shown in the class; names inside the body have a scope of their own."""
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        printer.enter_scope()
        print_variables(printer, " [", self.spatial_vars, self.spatial)
        if self.reduction or self.init.data:
            print_variables(printer, " reduce [", self.reduce_vars, self.reduction)
            print_accumulators(printer, self)
        print_end(printer, self)
        printer.exit_scope()


@irdl_op_definition
class ScanOp(IndexSpaceOp):
    """Folds along one axis of an index space and keeps the accumulators at each point.

    For each point of the other axes the body runs for every point of the axis named after `along`, in ascending order,
    or in descending order with `reverse`. It takes the accumulators as block arguments (`init` are their first values)
    and yields their next values. An element of the results is the value that the body yields at its point or, with
    `exclusive`, the accumulator before it. The body may be any function: a scan is never regrouped, so sums of floats
    are rounded in order. Several accumulators produce several results.

    - C1: no extent is negative; the block arguments are one index per extent, then one accumulator per `init`.
    - C2: at least one result; each is a tensor whose shape is the extents.
    - C3: one `init` per result, of its element type.
    - C4: the body ends in `topi.yield` of one value per result, of its element type.
    - C5: the axis is an axis of the index space.

    ```mlir
    func.func @cumulative_sums(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %r = topi.scan "cumsum" [%i : 4, %k : 8] along %k reverse exclusive init [%acc = 0.0 : f32] : tensor<4x8xf32> {
        %a = topi.read %x[%i, %k] : tensor<4x8xf32>
        %s = arith.addf %acc, %a : f32
        topi.yield %s : f32
      }
      func.return %r : tensor<4x8xf32>
    }
    ```
    """

    name = "topi.scan"

    axis = prop_def(IntegerAttr[IntegerType])
    reverse = opt_prop_def(UnitAttr)
    exclusive = opt_prop_def(UnitAttr)

    def __init__(
        self,
        label: str,
        extents: Sequence[Dim],
        axis: int,
        init: Sequence[FloatAttr | IntegerAttr],
        result_types: Sequence[Attribute],
        body: Region,
        *,
        reverse: bool = False,
        exclusive: bool = False,
    ):
        super().__init__(
            properties={
                "label": StringAttr(label),
                "extents": extents_attr(extents),
                "axis": IntegerAttr(axis, i64),
                "init": ArrayAttr(init),
                "reverse": UnitAttr() if reverse else None,
                "exclusive": UnitAttr() if exclusive else None,
            },
            result_types=[result_types],
            regions=[body],
        )

    @property
    def along(self) -> int:
        """The position of the scanned axis."""
        return self.axis.value.data

    @property
    def scan_var(self) -> BlockArgument:
        """The block argument that iterates along the axis."""
        return self.body.block.args[self.along]

    @property
    def others(self) -> tuple[int, ...]:
        """The positions of the axes whose points are scanned independently."""
        return tuple(axis for axis in range(len(self.spatial)) if axis != self.along)

    def verify_(self) -> None:
        """Checks C1 to C5."""
        self.verify_variables()
        if not 0 <= self.along < len(self.spatial):
            raise VerifyException(f"[topi.scan C5] axis {self.along} of an index space of rank {len(self.spatial)}")
        self.verify_results()
        self.verify_init([signless(element) for element in self.element_types])
        self.verify_yield()

    @classmethod
    def parse(cls, parser: Parser) -> ScanOp:
        """Parses the text form shown in the class."""
        label = parser.parse_str_literal(" naming the computation")
        variables = parse_variables(parser)
        parser.parse_keyword("along")
        position = parser.pos
        along = parser.parse_argument(expect_type=False).name.text
        names = [argument.name.text for argument, _ in variables]
        if along not in names:
            parser.raise_error(f"{along} is not one of the variables {', '.join(names)}", position)
        reverse = parser.parse_optional_keyword("reverse") is not None
        exclusive = parser.parse_optional_keyword("exclusive") is not None
        parser.parse_keyword("init")
        init = parse_accumulators(parser)
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([argument for argument, _ in (*variables, *init)])
        extents, first = [extent for _, extent in variables], [value for _, value in init]
        op = cls(label, extents, names.index(along), first, types, body, reverse=reverse, exclusive=exclusive)
        if attributes:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        """Prints the text form shown in the class; names inside the body have a scope of their own."""
        printer.print_string(" ")
        printer.print_string_literal(self.label.data)
        printer.enter_scope()
        print_variables(printer, " [", self.spatial_vars, self.spatial)
        printer.print_string(" along ")
        printer.print_ssa_value(self.scan_var)
        for word, flag in (("reverse", self.reverse), ("exclusive", self.exclusive)):
            if flag is not None:
                printer.print_string(f" {word}")
        print_accumulators(printer, self)
        print_end(printer, self)
        printer.exit_scope()


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

    If a variable without arithmetic is an index of the tensor, points that differ in it update different elements, in
    any order. Loops over such variables may be parallel and vectorised; the other loops stay in order.

    - C1: no extent is negative; the block arguments are one index per extent.
    - C2: the result has the type of the tensor.
    - C3: the body ends in `topi.yield` of one index per dimension of the tensor and a value of its element type.
    - C4: booleans are not added or multiplied.
    - C5: a variable that is an index without arithmetic is in bounds.

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
    def parallel_vars(self) -> tuple[BlockArgument, ...]:
        """The variables that are an index without arithmetic: points that differ in one update different elements."""
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


REGROUPABLE = frozenset(
    f"arith.{name}"
    for name in (
        *("addf", "addi", "mulf", "muli", "maximumf", "minimumf", "maxsi", "minsi", "maxui", "minui"),
        *("andi", "ori", "xori"),
    )
)
"""Operations that a reduction may reorder and regroup; sums and products of floats then round differently."""


@dataclass(frozen=True)
class Combination:
    """`accumulator = operation(accumulator, value)`; the value depends on no accumulator."""

    operation: str
    value: SSAValue


@dataclass(frozen=True)
class Selection:
    """`accumulator = select(condition, candidate, accumulator)` for all accumulators, with one condition.

    No candidate depends on an accumulator; the condition compares candidates with the accumulators.
    """

    condition: SSAValue
    candidates: tuple[SSAValue, ...]


def dependencies(op: IndexSpaceOp) -> dict[SSAValue, frozenset[SSAValue]]:
    """The block arguments on which each value of the body depends."""
    found: dict[SSAValue, frozenset[SSAValue]] = {arg: frozenset([arg]) for arg in op.body.block.args}
    for inner in op.body.walk():
        used = frozenset[SSAValue]().union(*(found.get(operand, frozenset()) for operand in inner.operands))
        if isinstance(inner, GuardOp):
            for nested in inner.walk():
                used = used.union(*(found.get(operand, frozenset()) for operand in nested.operands))
        for result in inner.results:
            found[result] = used
    return found


def combinations(op: IndexSpaceOp) -> list[Combination] | None:
    """The combination of each accumulator; None unless all are regroupable operations on independent values."""
    known, folded = dependencies(op), frozenset[SSAValue](op.accumulators)
    result: list[Combination] = []
    for accumulator, yielded in zip(op.accumulators, op.yielded, strict=True):
        if not isinstance(yielded, OpResult) or yielded.op.name not in REGROUPABLE:
            return None
        operands = list(yielded.op.operands)
        if operands.count(accumulator) != 1:
            return None
        operands.remove(accumulator)
        if not folded.isdisjoint(known.get(operands[0], frozenset())):
            return None
        result.append(Combination(yielded.op.name, operands[0]))
    return result


def selection(op: IndexSpaceOp) -> Selection | None:
    """The condition and candidates of a selecting fold; None for other bodies."""
    known, folded = dependencies(op), frozenset[SSAValue](op.accumulators)
    candidates: list[SSAValue] = []
    conditions: set[SSAValue] = set()
    for accumulator, yielded in zip(op.accumulators, op.yielded, strict=True):
        choice = yielded.op if isinstance(yielded, OpResult) else None
        if not isinstance(choice, arith.SelectOp) or choice.rhs is not accumulator:
            return None
        if not folded.isdisjoint(known.get(choice.lhs, frozenset())):
            return None
        conditions.add(choice.cond)
        candidates.append(choice.lhs)
    return Selection(conditions.pop(), tuple(candidates)) if len(conditions) == 1 else None


def independent_of_accumulators(op: IndexSpaceOp) -> tuple[list[Operation], list[Operation]]:
    """The ops of the body that depend on no accumulator, and the others, both in order and without the terminator."""
    known, folded = dependencies(op), frozenset[SSAValue](op.accumulators)
    independent: list[Operation] = []
    others: list[Operation] = []
    for inner in op.body.block.ops:
        if inner.results:
            (independent if folded.isdisjoint(known[inner.results[0]]) else others).append(inner)
    return independent, others
