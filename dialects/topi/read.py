"""Ops inside the body of a compute: `topi.read`, `topi.index`, `topi.in_bounds` and `topi.checked_index`."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, DenseArrayBase, IndexType, IntegerType, TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.checked_index import CheckedIndex
from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.dialects.shared.extents import ExtentsAttr, extents_attr, extents_of, parse_extent
from xrelay.dialects.topi.index_map import (
    IndexMap,
    Place,
    index_map,
    index_ranges,
    last_of,
    parse_index,
    print_index,
    stored,
)
from xrelay.dialects.topi.index_space import BodyOp, GuardOp
from xrelay.dialects.topi.shapes import shape_of, tensor_type
from xrelay.dialects.upstream.signless import signless
from xrelay.index_algebra.affine_bounds import Below, Box, bounds, linear_form
from xrelay.index_algebra.dims import Dim, DimExpr, Shape
from xrelay.index_algebra.value_map import Space, ValueMap


class IndexedOp(IRDLOperation, ABC):
    """An op with affine expressions of index values and named dimensions.

    - C1: the index map has one dimension per index operand, and one symbol per named dimension that it uses.
    """

    indices = var_operand_def(IndexType)
    access = prop_def(AffineMapAttr)
    symbols = opt_prop_def(DimsAttr)

    traits = traits_def(Pure())

    @property
    def index(self) -> IndexMap:
        """The index expressions, over index values and named dimensions."""
        return index_map(self.access, self.indices, self.symbols)

    @property
    def exprs(self) -> tuple[AffineExpr, ...]:
        """The index expressions, over the positions of `indices` and `symbols`."""
        return self.access.data.results

    def verify_(self) -> None:
        """Checks C1."""
        access, dims = self.access.data, len(self.symbols.data) if self.symbols is not None else 0
        if access.num_symbols != dims or access.num_dims != len(self.indices):
            raise VerifyException(
                f"[{self.name} C1] index map {access} needs {access.num_dims} dimensions and "
                f"{access.num_symbols} symbols, {len(self.indices)} index operands and {dims} named dimensions found"
            )


@irdl_op_definition
class ReadOp(IndexedOp):
    """Reads one element of a tensor, at affine expressions of index values.

    An index value is a variable of the compute or a computed index, which expresses gathers: an element that was read,
    either from a tensor of indices or converted by `arith.index_cast`. It must be in bounds; an index that depends on
    inputs of the model is clipped before, or checked by `topi.checked_index`.

    - C1: the index map has one dimension per index operand, and one symbol per named dimension that it uses.
    - C2: one index expression per dimension of the tensor.
    - C3: the result has the tensor's element type.
    - C4: expressions that are affine in the variables are in bounds, unless a `topi.guard` surrounds the read.
    - C5: the op is in the body of a `topi.compute`, `topi.scan` or `topi.scatter`.

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
    element = result_def()

    def __init__(self, tensor: SSAValue, exprs: Sequence[AffineExpr], values: Sequence[Place]):
        """Reads `tensor` at `exprs`, whose dimensions are positions in `values`."""
        access, indices, symbols = stored(ValueMap.make(exprs, values))
        element = signless(tensor.type.element_type) if isinstance(tensor.type, TensorType) else tensor.type
        properties: dict[str, Attribute] = {"access": access}
        if symbols is not None:
            properties["symbols"] = symbols
        # Built with `Operation.__init__`: the constructor spends most of its time sorting arguments.
        Operation.__init__(self, operands=(tensor, *indices), properties=properties, result_types=(element,))

    def verify_(self) -> None:
        """Checks C1 to C5."""
        super().verify_()
        tensor = tensor_type(self.tensor)
        shape = shape_of(self.tensor)
        if len(self.exprs) != len(shape):
            raise VerifyException(
                f"[topi.read C2] {len(self.exprs)} index expressions for {tensor} of rank {len(shape)}"
            )
        if self.element.type != signless(tensor.element_type):
            scalar = signless(tensor.element_type)
            raise VerifyException(f"[topi.read C3] result {self.element.type} differs from element type {scalar}")
        self._verify_place(shape)

    def _verify_place(self, shape: Sequence[Dim]) -> None:
        parent = self.parent_op()
        if parent is None:
            return
        guarded = False
        while parent is not None and not isinstance(parent, BodyOp):
            guarded |= isinstance(parent, GuardOp)
            parent = parent.parent_op()
        if parent is None:
            raise VerifyException("[topi.read C5] outside of a topi.compute")
        if guarded or 0 in (*parent.spatial, *parent.reduction):
            return
        index = self.index
        space = Space(index.operands)
        box = index_ranges(space)
        for axis, (expr, size) in enumerate(zip(index.exprs, shape, strict=True)):
            limits = bounds(expr, box) if _bounds_are_exact(expr, space, box) else None
            if limits and (limits[0] < 0 or (isinstance(size, int) and limits[1] >= size)):
                self._refuse(axis, *limits)
            last = last_of(index[axis]) if isinstance(size, DimExpr) else None
            if last is not None and isinstance(beyond := last - size, int) and beyond >= 0:
                self._refuse(axis, 0, last)

    def _refuse(self, axis: int, first: Dim, last: Dim) -> None:
        raise VerifyException(
            f"[topi.read C4] index {axis} runs from {first} to {last}, outside of {self.tensor.type}; "
            "surround the read with topi.guard"
        )

    @classmethod
    def parse(cls, parser: Parser) -> ReadOp:
        """Parses `%x[%i, %j + 1] : tensor<…>`."""
        tensor = parser.parse_unresolved_operand()
        index = parse_index(parser)
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
        print_index(printer, self.index)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.tensor.type)


def _bounds_are_exact(expr: AffineExpr, space: Space[Place], box: Box) -> bool:
    """Whether interval bounds are exact: all variables have static extents, and none occurs in two terms."""
    dims = [dim for atom, _ in linear_form(expr, box).terms for dim in atom.used_dims()]
    known = (isinstance(space.values[dim], SSAValue) and not isinstance(box[dim], Below) for dim in dims)
    return len(dims) == len(set(dims)) and all(known)


@irdl_op_definition
class IndexOp(IndexedOp):
    """The value of one affine expression of index values, for conditions and for results that are indices.

    - C1: the index map has one dimension per index operand, and one symbol per named dimension that it uses.
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

    value = result_def(IndexType)

    def __init__(self, expr: Sequence[AffineExpr], values: Sequence[Place]):
        """The value of the one expression in `expr`, whose dimensions are positions in `values`."""
        access, indices, symbols = stored(ValueMap.make(expr, values))
        super().__init__(
            operands=[indices], properties={"access": access, "symbols": symbols}, result_types=[IndexType()]
        )

    def verify_(self) -> None:
        """Checks C1 and C2."""
        super().verify_()
        if len(self.exprs) != 1:
            raise VerifyException(f"[topi.index C2] expected one expression, found {len(self.exprs)}")

    @classmethod
    def parse(cls, parser: Parser) -> IndexOp:
        """Parses `[%i * 2 + 1]`."""
        index = parse_index(parser)
        op = cls(index.exprs, index.operands)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        """Prints `[%i * 2 + 1]`."""
        printer.print_string(" ")
        print_index(printer, self.index)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class InBoundsOp(IndexedOp):
    """True if every expression is in its range: `0 <= expression < size`.

    Used as the condition of padding; its affine form lets a schedule split the loop at the borders.

    - C1: the index map has one dimension per index operand, and one symbol per named dimension that it uses.
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

    sizes = prop_def(DenseArrayBase[IntegerType] | ExtentsAttr)
    inside = result_def(i1)

    def __init__(self, exprs: Sequence[AffineExpr], sizes: Sequence[Dim], values: Sequence[Place]):
        """Whether each of `exprs`, whose dimensions are positions in `values`, is nonnegative and below its size."""
        access, indices, symbols = stored(ValueMap.make(exprs, values))
        super().__init__(
            operands=[indices],
            properties={"access": access, "symbols": symbols, "sizes": extents_attr(sizes)},
            result_types=[i1],
        )

    @property
    def limits(self) -> Shape:
        """The size of each expression's range."""
        return extents_of(self.sizes)

    def verify_(self) -> None:
        """Checks C1 and C2."""
        super().verify_()
        if len(self.limits) != len(self.exprs):
            raise VerifyException(f"[topi.in_bounds C2] {len(self.exprs)} expressions, {len(self.limits)} sizes")

    @classmethod
    def parse(cls, parser: Parser) -> InBoundsOp:
        """Parses `[%i - 1] of [4]`."""
        index = parse_index(parser)
        parser.parse_keyword("of")
        sizes = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_extent(parser, "a size"))
        op = cls(index.exprs, sizes, index.operands)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        """Prints `[%i - 1] of [4]`."""
        printer.print_string(" ")
        print_index(printer, self.index)
        printer.print_string(f" of [{', '.join(map(str, self.limits))}]")
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class CheckedIndexOp(CheckedIndex):
    """An index in `[0, size)`: the operand itself after a check; with `from_end` negative operands count from the end.

    The program fails if the operand is outside of `[0, size)`, or of `[-size, size)` with `from_end`; the error names
    the source node and the value. A compute that contains this op is inlined only if all its elements are read.

    - C1: the size is a nonnegative number or a dimension.

    ```mlir
    func.func @take(%x: tensor<9xf32>, %at: tensor<4xi32>) -> tensor<4xf32> {
      %r = topi.compute "take" [%i : 4] : tensor<4xf32> {
        %a = topi.read %at[%i] : tensor<4xi32>
        %k = arith.index_cast %a : i32 to index
        %c = topi.checked_index %k of 9 from_end
        %v = topi.read %x[%c] : tensor<9xf32>
        topi.yield %v : f32
      }
      func.return %r : tensor<4xf32>
    }
    ```
    """

    name = "topi.checked_index"

    def verify_(self) -> None:
        """Checks C1."""
        super().verify_()
        if self.dynamic_size is not None:
            raise VerifyException("[topi.checked_index C1] the size is a value, not a number or a dimension")
