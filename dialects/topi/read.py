"""Ops inside the body of a compute: `topi.read`, `topi.index`, `topi.in_bounds` and `topi.guard`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, DenseArrayBase, IndexType, IntegerType, TensorType, i1, i64
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.topi.index_space import BodyOp, YieldOp
from xrelay.dialects.topi.shapes import tensor_type
from xrelay.dialects.upstream.signless import signless
from xrelay.index_algebra.affine_bounds import Box, Interval, bounds, linear_form
from xrelay.index_algebra.affine_syntax import parse_affine_exprs, print_affine_exprs
from xrelay.index_algebra.value_map import ValueMap


def extent_of(value: SSAValue) -> int | None:
    """The extent of an index variable of a compute; None for an index that was computed otherwise."""
    if isinstance(value, BlockArgument) and isinstance(compute := value.block.parent_op(), BodyOp):
        extents = (*compute.spatial, *compute.reduction)
        return extents[value.index] if value.index < len(extents) else None
    return None


def box_of(values: Sequence[SSAValue]) -> list[Interval | None]:
    """The interval of each index value, as far as it is known."""
    return [None if (extent := extent_of(value)) is None else (0, extent - 1) for value in values]


def _verify_operands(op: Operation, access: AffineMapAttr, indices: Sequence[SSAValue]) -> None:
    if access.data.num_symbols or access.data.num_dims != len(indices):
        raise VerifyException(
            f"[{op.name} C1] index map {access.data} needs {access.data.num_dims} dimensions and no symbols, "
            f"{len(indices)} index operands are given"
        )


@irdl_op_definition
class ReadOp(IRDLOperation):
    """Reads one element of a tensor, at affine expressions of index values.

    An index value is a variable of the compute or a computed index, which is how gathers are written: an element that
    was read, of a tensor of indices or by `arith.index_cast`. It must lie inside the tensor; what inputs of the model
    decide is clipped before, or goes through `topi.checked_index`.

    - C1: the index map has one dimension per index operand and no symbols.
    - C2: one index expression per dimension of the tensor.
    - C3: the result has the tensor's element type.
    - C4: where the expressions are affine in the variables and no `topi.guard` surrounds the read, they stay inside the
      tensor.
    - C5: stands in the body of a `topi.compute`, `topi.scan` or `topi.scatter`.

    ```mlir
    func.func @shift(%x: tensor<9xf32>) -> tensor<4xf32> {
      %r = topi.compute "shift" [%i : 4] : tensor<4xf32> {
        %a = topi.read %x[%i * 2 + 1] : tensor<9xf32>
        topi.yield %a : f32
      }
      func.return %r : tensor<4xf32>
    }
    ```
    """

    name = "topi.read"

    tensor = operand_def(TensorType)
    indices = var_operand_def(IndexType)
    access = prop_def(AffineMapAttr)
    element = result_def()

    traits = traits_def(Pure())

    def __init__(self, tensor: SSAValue, exprs: Sequence[AffineExpr], values: Sequence[SSAValue]):
        """Reads `tensor` at `exprs`, whose dimensions number `values`."""
        index = ValueMap.make(exprs, values)
        element = signless(tensor.type.element_type) if isinstance(tensor.type, TensorType) else tensor.type
        super().__init__(operands=[tensor, index.operands], properties={"access": index.attr()}, result_types=[element])

    @property
    def exprs(self) -> tuple[AffineExpr, ...]:
        """The index expressions, over the positions of `indices`."""
        return self.access.data.results

    def verify_(self) -> None:
        """Checks C1 to C5."""
        _verify_operands(self, self.access, self.indices)
        tensor = tensor_type(self.tensor)
        shape = tensor.get_shape()
        if len(self.exprs) != len(shape):
            raise VerifyException(
                f"[topi.read C2] {len(self.exprs)} index expressions for {tensor} of rank {len(shape)}"
            )
        if self.element.type != signless(tensor.element_type):
            scalar = signless(tensor.element_type)
            raise VerifyException(f"[topi.read C3] result {self.element.type} differs from element type {scalar}")
        self._verify_place(shape)

    def _verify_place(self, shape: Sequence[int]) -> None:
        parent = self.parent_op()
        if parent is None:
            return
        guarded = False
        while parent is not None and not isinstance(parent, BodyOp):
            guarded |= isinstance(parent, GuardOp)
            parent = parent.parent_op()
        if parent is None:
            raise VerifyException("[topi.read C5] stands outside of a topi.compute")
        if guarded or 0 in (*parent.spatial, *parent.reduction):
            return
        box = box_of(self.indices)
        for axis, (expr, size) in enumerate(zip(self.exprs, shape, strict=True)):
            limits = bounds(expr, box) if _bounds_are_exact(expr, box) else None
            if limits and (limits[0] < 0 or limits[1] >= size):
                raise VerifyException(
                    f"[topi.read C4] index {axis} runs from {limits[0]} to {limits[1]}, outside of {self.tensor.type}; "
                    "surround the read with topi.guard"
                )

    @classmethod
    def parse(cls, parser: Parser) -> ReadOp:
        """Parses `%x[%i, %j + 1] : tensor<…>`."""
        tensor = parser.parse_unresolved_operand()
        index = parse_affine_exprs(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, TensorType):
            parser.raise_error(f"topi.read reads tensors, not {type}", position)
        op = cls(parser.resolve_operand(tensor, type), index.exprs, index.operands)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Prints `%x[%i, %j + 1] : tensor<…>`."""
        printer.print_string(" ")
        printer.print_ssa_value(self.tensor)
        print_affine_exprs(printer, self.exprs, self.indices)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.tensor.type)


def _bounds_are_exact(expr: AffineExpr, box: Box) -> bool:
    """True where interval bounds are exact: no dimension occurs in two terms."""
    dims = [dim for atom, _ in linear_form(expr, box).terms for dim in atom.used_dims()]
    return len(dims) == len(set(dims))


@irdl_op_definition
class IndexOp(IRDLOperation):
    """The value of one affine expression of index values, for conditions and for results that are indices.

    - C1: the index map has one dimension per index operand and no symbols.
    - C2: exactly one expression.

    ```mlir
    func.func @iota() -> tensor<4xindex> {
      %r = topi.compute "iota" [%i : 4] : tensor<4xindex> {
        %v = topi.index [%i * 2 + 1]
        topi.yield %v : index
      }
      func.return %r : tensor<4xindex>
    }
    ```
    """

    name = "topi.index"

    indices = var_operand_def(IndexType)
    access = prop_def(AffineMapAttr)
    value = result_def(IndexType)

    traits = traits_def(Pure())

    def __init__(self, expr: Sequence[AffineExpr], values: Sequence[SSAValue]):
        """The value of the one expression in `expr`, whose dimensions number `values`."""
        index = ValueMap.make(expr, values)
        super().__init__(operands=[index.operands], properties={"access": index.attr()}, result_types=[IndexType()])

    @property
    def exprs(self) -> tuple[AffineExpr, ...]:
        """The one expression, over the positions of `indices`."""
        return self.access.data.results

    def verify_(self) -> None:
        """Checks C1 and C2."""
        _verify_operands(self, self.access, self.indices)
        if len(self.exprs) != 1:
            raise VerifyException(f"[topi.index C2] {len(self.exprs)} expressions where one is meant")

    @classmethod
    def parse(cls, parser: Parser) -> IndexOp:
        """Parses `[%i * 2 + 1]`."""
        index = parse_affine_exprs(parser)
        op = cls(index.exprs, index.operands)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        """Prints `[%i * 2 + 1]`."""
        printer.print_string(" ")
        print_affine_exprs(printer, self.exprs, self.indices)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class InBoundsOp(IRDLOperation):
    """True where every expression lies in its range: `0 <= expression < size`.

    The condition of padding, kept affine so that a schedule can split the loop at the borders.

    - C1: the index map has one dimension per index operand and no symbols.
    - C2: one size per expression.

    ```mlir
    func.func @pad(%x: tensor<4xf32>) -> tensor<6xf32> {
      %r = topi.compute "pad" [%i : 6] : tensor<6xf32> {
        %inside = topi.in_bounds [%i - 1] of [4]
        %v = topi.guard (%inside) -> f32 {
          %a = topi.read %x[%i - 1] : tensor<4xf32>
          topi.yield %a : f32
        } else {
          %zero = arith.constant 0.0 : f32
          topi.yield %zero : f32
        }
        topi.yield %v : f32
      }
      func.return %r : tensor<6xf32>
    }
    ```
    """

    name = "topi.in_bounds"

    indices = var_operand_def(IndexType)
    access = prop_def(AffineMapAttr)
    sizes = prop_def(DenseArrayBase[IntegerType])
    inside = result_def(i1)

    traits = traits_def(Pure())

    def __init__(self, exprs: Sequence[AffineExpr], sizes: Sequence[int], values: Sequence[SSAValue]):
        """Whether each of `exprs`, whose dimensions number `values`, lies below its size and not below 0."""
        index = ValueMap.make(exprs, values)
        super().__init__(
            operands=[index.operands],
            properties={"access": index.attr(), "sizes": DenseArrayBase.from_list(i64, list(sizes))},
            result_types=[i1],
        )

    @property
    def exprs(self) -> tuple[AffineExpr, ...]:
        """The index expressions, over the positions of `indices`."""
        return self.access.data.results

    @property
    def limits(self) -> tuple[int, ...]:
        """The size of each expression's range."""
        return tuple(self.sizes.iter_values())

    def verify_(self) -> None:
        """Checks C1 and C2."""
        _verify_operands(self, self.access, self.indices)
        if len(self.limits) != len(self.exprs):
            raise VerifyException(f"[topi.in_bounds C2] {len(self.exprs)} expressions, {len(self.limits)} sizes")

    @classmethod
    def parse(cls, parser: Parser) -> InBoundsOp:
        """Parses `[%i - 1] of [4]`."""
        index = parse_affine_exprs(parser)
        parser.parse_keyword("of")
        sizes = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        op = cls(index.exprs, sizes, index.operands)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        """Prints `[%i - 1] of [4]`."""
        printer.print_string(" ")
        print_affine_exprs(printer, self.exprs, self.indices)
        printer.print_string(f" of [{', '.join(map(str, self.limits))}]")
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class GuardOp(IRDLOperation):
    """The first region's value where the condition holds, the second's elsewhere; the other region is not evaluated.

    That is the difference to `arith.select`: a read in the first region may be out of range where the condition is
    false.

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
