"""`loop.load`, `loop.store` and `loop.weight`: buffers of a kernel, and accesses to them; `loop.checked_index`."""

from __future__ import annotations

from typing import Self

from typing_extensions import override
from xdsl.dialects.builtin import AffineMapAttr, IndexType, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xrelay.dialects.loop.base import CheckedOp, cached_on_op, memref_type
from xrelay.dialects.shared.checked_index import CheckedIndex
from xrelay.dialects.upstream.signless import signless
from xrelay.index_algebra.value_map import ValueMap, parse_affine_exprs, print_affine_exprs


@irdl_op_definition
class LoadOp(CheckedOp):
    """Reads one element of a buffer at affine expressions of index values.

    A non-affine index is computed by other ops and used as an index value.

    - C1: as many index expressions as the buffer has dimensions
    - C2: as many operands as the map has dimensions, and no symbols
    - C3: every index that is determined by the extents of loops and variables is in bounds, unless the access is
      inside a `scf.if`
    - C4: the scalar has the signless type of the buffer's elements

    ```mlir
    func.func @f(%X: memref<8x8xf32>, %i: index) -> f32 {
      %x = loop.load %X[%i * 2 + 1, %i] : memref<8x8xf32>
      func.return %x : f32
    }
    ```
    """

    name = "loop.load"

    memref = operand_def(MemRefType.constr())
    index_operands = var_operand_def(IndexType)
    map_attr = prop_def(AffineMapAttr, prop_name="map")
    result = result_def()

    traits = traits_def(MemoryReadEffect())

    def __init__(self, memref: SSAValue, index: ValueMap):
        # Built with `Operation.__init__`, here and in `StoreOp`: the constructor spends most of its time sorting
        # arguments.
        Operation.__init__(
            self,
            operands=(memref, *index.operands),
            properties={"map": index.attr()},
            result_types=(signless(memref_type(memref).element_type),),
        )

    @property
    def scalar(self) -> SSAValue:
        """The value that is read."""
        return self.result

    @property
    def buffer_type(self) -> MemRefType:
        """The type of the buffer."""
        return memref_type(self.memref)

    @property
    def index(self) -> ValueMap:
        """The index expressions."""
        return cached_on_op(self, (self.map_attr, self._operands), _index_of_load)

    @index.setter
    def index(self, value: ValueMap) -> None:
        self.map_attr = value.attr()
        self.operands = (self._operands[0], *value.operands)

    @override
    @classmethod
    def parse(cls, parser: Parser) -> Self:
        memref, index, attributes = _parse_access(parser)
        op = cls(memref, index)
        op.attributes |= attributes
        return op

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_access(printer, self)


@irdl_op_definition
class StoreOp(CheckedOp):
    """Writes one element of a buffer at affine expressions of index values.

    - C1: as many index expressions as the buffer has dimensions
    - C2: as many operands as the map has dimensions, and no symbols
    - C3: every index that is determined by the extents of loops and variables is in bounds, unless the access is
      inside a `scf.if`
    - C4: the scalar has the signless type of the buffer's elements

    ```mlir
    func.func @f(%X: memref<8xf32>, %i: index, %v: f32) {
      loop.store %v, %X[%i - 1] : memref<8xf32>
      func.return
    }
    ```
    """

    name = "loop.store"

    value = operand_def()
    memref = operand_def(MemRefType.constr())
    index_operands = var_operand_def(IndexType)
    map_attr = prop_def(AffineMapAttr, prop_name="map")

    traits = traits_def(MemoryWriteEffect())

    def __init__(self, value: SSAValue, memref: SSAValue, index: ValueMap):
        Operation.__init__(self, operands=(value, memref, *index.operands), properties={"map": index.attr()})

    @property
    def scalar(self) -> SSAValue:
        """The value that is written."""
        return self.value

    @property
    def buffer_type(self) -> MemRefType:
        """The type of the buffer."""
        return memref_type(self.memref)

    @property
    def index(self) -> ValueMap:
        """The index expressions."""
        return cached_on_op(self, (self.map_attr, self._operands), _index_of_store)

    @index.setter
    def index(self, value: ValueMap) -> None:
        self.map_attr = value.attr()
        self.operands = (*self._operands[:2], *value.operands)

    @override
    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        memref, index, attributes = _parse_access(parser)
        element = memref_type(memref).element_type
        op = cls(parser.resolve_operand(value, signless(element)), memref, index)
        op.attributes |= attributes
        return op

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        _print_access(printer, self)


@irdl_op_definition
class WeightOp(IRDLOperation):
    """The buffer of a constant of the model, identified by an attribute. The buffer is never written.

    ```mlir
    func.func @f() {
      %w = loop.weight "conv1.w" : memref<64x3x7x7xf32>
      func.return
    }
    ```
    """

    name = "loop.weight"

    weight = prop_def(Attribute)
    result = result_def(MemRefType)

    assembly_format = "$weight attr-dict `:` type($result)"
    traits = traits_def(Pure())

    def __init__(self, weight: Attribute, result_type: MemRefType):
        Operation.__init__(self, properties={"weight": weight}, result_types=(result_type,))


# The operands of the map are the last operands; xDSL recomputes their range from the op's definition at each access.


def _index_of_load(load: LoadOp) -> ValueMap:
    return ValueMap.from_attr(load.map_attr, tuple(load.operands)[1:])


def _index_of_store(store: StoreOp) -> ValueMap:
    return ValueMap.from_attr(store.map_attr, tuple(store.operands)[2:])


def _parse_access(parser: Parser) -> tuple[SSAValue, ValueMap, dict[str, Attribute]]:
    """Parses `%X[…] attributes : memref<…>`."""
    memref = parser.parse_unresolved_operand()
    index = parse_affine_exprs(parser)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    position = parser.pos
    parsed = parser.parse_type()
    if not isa(parsed, MemRefType):
        parser.raise_error("an access needs a memref type", position)
    return parser.resolve_operand(memref, parsed), index, attributes


def _print_access(printer: Printer, op: LoadOp | StoreOp) -> None:
    memref = op.memref
    printer.print_ssa_value(memref)
    print_affine_exprs(printer, op.map_attr.data.results, tuple(op.index_operands))
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_attribute(memref.type)


@irdl_op_definition
class CheckedIndexOp(CheckedIndex):
    """An index in `[0, size)`: the operand itself after a check; with `from_end` negative operands count from the end.

    The kernel fails if the operand is outside of `[0, size)`, or of `[-size, size)` with `from_end`; ops after the
    check do not run then.

    - C1: the size is a nonnegative number or an `index` value

    ```mlir
    func.func @f(%X: memref<8xf32>, %i: index) -> f32 {
      %k = loop.checked_index %i of 8 from_end
      %x = loop.load %X[%k] : memref<8xf32>
      func.return %x : f32
    }
    ```
    """

    name = "loop.checked_index"

    def verify_(self) -> None:
        """Checks C1."""
        super().verify_()
        if self.dynamic_size is None and not isinstance(self.extent, int):
            raise VerifyException(f"[loop.checked_index C1] size {self.extent} is not an integer")
