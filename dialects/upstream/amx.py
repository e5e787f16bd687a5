"""The ops of MLIR's amx dialect that multiply tiles of bytes and of bf16, in MLIR's syntax.

A tile is a value of up to 16 rows of up to 64 bytes in a tile register of Intel's AMX. LLVM allocates the registers and
configures their shapes once for each function. A stride is the distance of two rows in memory, in elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, TypeAlias

from typing_extensions import override
from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    Float32Type,
    IndexType,
    IntAttr,
    IntegerType,
    MemRefType,
    UnitAttr,
    bf16,
    f32,
    i8,
    i32,
)
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

MAX_ROWS, MAX_ROW_BYTES = 16, 64
"""The greatest number of rows of a tile, and of bytes of a row."""

TileElement: TypeAlias = IntegerType | BFloat16Type | Float32Type
"""The type of an element of a tile."""


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute):
    """A tile of `rows` x `columns` integers, bf16 or f32.

    C1: there are 1 to 16 rows, each of at most 64 bytes, a multiple of 4.

    ```mlir
    %0 = "test.op"() : () -> !amx.tile<16x64xi8>
    ```
    """

    name = "amx.tile"

    shape: ArrayAttr[IntAttr]
    element_type: TileElement

    @staticmethod
    def of(rows: int, columns: int, element: TileElement) -> TileType:
        """Returns the type of tiles of this size."""
        return TileType(ArrayAttr([IntAttr(rows), IntAttr(columns)]), element)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.shape.data[0].data

    @property
    def columns(self) -> int:
        """The number of elements of a row."""
        return self.shape.data[1].data

    @property
    def element_bytes(self) -> int:
        """The number of bytes of an element."""
        return self.element_type.bitwidth // 8

    @property
    def row_bytes(self) -> int:
        """The number of bytes of a row."""
        return self.columns * self.element_type.bitwidth // 8

    @override
    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape, element = parser.parse_ranked_shape()
        return [ArrayAttr([IntAttr(extent) for extent in shape]), element]

    @override
    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.rows}x{self.columns}x{self.element_type}>")

    @override
    def verify(self) -> None:
        rows, *others = [extent.data for extent in self.shape.data] or [0]
        if not 1 <= rows <= MAX_ROWS or len(others) != 1 or not 4 <= self.row_bytes <= MAX_ROW_BYTES:
            raise VerifyException(f"[{self.name} C1] no tile has {rows} rows of {others} {self.element_type}")
        if self.row_bytes % 4 != 0:
            raise VerifyException(f"[{self.name} C1] a row has {self.row_bytes} bytes, which 4 does not divide")


def tile_type(value: SSAValue) -> TileType:
    """Returns the type of a tile."""
    return SSAValue.get(value, type=TileType).type


@irdl_op_definition
class TileZeroOp(IRDLOperation):
    """A tile of zeros, in a register of its own: a copy of a tile takes a store and a load.

    ```mlir
    %0 = amx.tile_zero : !amx.tile<16x16xi32>
    ```
    """

    name = "amx.tile_zero"

    res = result_def(TileType)

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "attr-dict `:` type($res)"

    def __init__(self, type_: TileType):
        super().__init__(result_types=[type_])


@irdl_op_definition
class TileLoadOp(IRDLOperation):
    """Loads a tile whose first element is `base[indices]`; row `r` begins `r * stride` elements after it.

    ```mlir
    %m, %i, %s = "test.op"() : () -> (memref<128x64xi8>, index, index)
    %0 = amx.tile_load %m[%i, %i], %s : memref<128x64xi8> into !amx.tile<16x64xi8>
    ```
    """

    name = "amx.tile_load"

    base = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    stride = operand_def(IndexType())
    res = result_def(TileType)

    traits = traits_def(MemoryReadEffect())
    assembly_format = "$base `[` $indices `]` `,` $stride attr-dict `:` type($base) `into` type($res)"

    def __init__(self, base: SSAValue, indices: Sequence[SSAValue], stride: SSAValue, type_: TileType):
        super().__init__(operands=[base, indices, stride], result_types=[type_])


@irdl_op_definition
class TileStoreOp(IRDLOperation):
    """Stores a tile from `base[indices]` on; row `r` begins `r * stride` elements after it.

    ```mlir
    %m, %i, %s, %t = "test.op"() : () -> (memref<32x32xi32>, index, index, !amx.tile<16x16xi32>)
    amx.tile_store %m[%i, %i], %t, %s : memref<32x32xi32>, !amx.tile<16x16xi32>
    ```
    """

    name = "amx.tile_store"

    base = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    val = operand_def(TileType)
    stride = operand_def(IndexType())

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$base `[` $indices `]` `,` $val `,` $stride attr-dict `:` type($base) `,` type($val)"

    def __init__(self, value: SSAValue, base: SSAValue, indices: Sequence[SSAValue], stride: SSAValue):
        super().__init__(operands=[base, indices, value, stride])


@irdl_op_definition
class TileMulIOp(IRDLOperation):
    """Adds the product of two matrices of bytes to a matrix of i32.

    Four neighbouring bytes of a row of `lhs` are multiplied with four neighbouring bytes of a row of `rhs`:
    `res[i, j] = acc[i, j] + Σ lhs[i, 4 k + t] * rhs[k, 4 j + t]`. Bytes with `zext` are unsigned, the others signed.

    C1: the shapes are `m x 4k`, `k x 4n` and `m x n`, and the accumulator and the result have the same type.

    ```mlir
    %a, %b, %c = "test.op"() : () -> (!amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>)
    %0 = amx.tile_muli %a zext, %b, %c : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
    ```
    """

    name = "amx.tile_muli"

    lhs = operand_def(TileType)
    rhs = operand_def(TileType)
    acc = operand_def(TileType)
    zext_lhs = opt_prop_def(UnitAttr, prop_name="isZextLhs")
    zext_rhs = opt_prop_def(UnitAttr, prop_name="isZextRhs")
    res = result_def(TileType)

    traits = traits_def(Pure())

    def __init__(self, lhs: SSAValue, rhs: SSAValue, acc: SSAValue, *, zext_lhs: bool = False, zext_rhs: bool = False):
        flags = {"isZextLhs": zext_lhs, "isZextRhs": zext_rhs}
        super().__init__(
            operands=[lhs, rhs, acc],
            result_types=[acc.type],
            properties={name: UnitAttr() for name, is_set in flags.items() if is_set},
        )

    @override
    def print(self, printer: Printer) -> None:
        for position, (operand, flag) in enumerate(((self.lhs, self.zext_lhs), (self.rhs, self.zext_rhs))):
            printer.print_string(", " if position else " ")
            printer.print_ssa_value(operand)
            printer.print_string("" if flag is None else " zext")
        printer.print_string(", ")
        printer.print_ssa_value(self.acc)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self.operand_types, printer.print_attribute)

    @override
    @classmethod
    def parse(cls, parser: Parser) -> Self:
        lhs, zext_lhs = parser.parse_unresolved_operand(), parser.parse_optional_keyword("zext") is not None
        parser.parse_punctuation(",")
        rhs, zext_rhs = parser.parse_unresolved_operand(), parser.parse_optional_keyword("zext") is not None
        parser.parse_punctuation(",")
        acc = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        operands = parser.resolve_operands([lhs, rhs, acc], types, parser.pos)
        op = cls(*operands, zext_lhs=zext_lhs, zext_rhs=zext_rhs)
        op.attributes |= attributes
        return op

    def verify_(self) -> None:
        """Checks C1."""
        lhs, rhs, acc = tile_type(self.lhs), tile_type(self.rhs), tile_type(self.acc)
        fits = (acc.rows, 4 * rhs.rows, 4 * acc.columns) == (lhs.rows, lhs.columns, rhs.columns)
        elements = (lhs.element_type, rhs.element_type, acc.element_type) == (i8, i8, i32)
        if not fits or not elements or self.res.type != acc:
            raise VerifyException(f"[{self.name} C1] {lhs} times {rhs} does not have the type {acc}")


SUMS = VarConstraint("SUMS", base(TileType))
"""The type of an accumulator and of the result."""


@irdl_op_definition
class TileMulFOp(IRDLOperation):
    """Adds the product of two matrices of bf16 to a matrix of f32.

    Two neighbouring numbers of a row of `lhs` are multiplied with two neighbouring numbers of a row of `rhs`:
    `res[i, j] = acc[i, j] + Σ lhs[i, 2 k + t] * rhs[k, 2 j + t]`. Denormal numbers count as zero.

    C1: the shapes are `m x 2k`, `k x 2n` and `m x n`, of bf16, bf16 and f32.

    ```mlir
    %a, %b, %c = "test.op"() : () -> (!amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>)
    %0 = amx.tile_mulf %a, %b, %c : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
    ```
    """

    name = "amx.tile_mulf"

    lhs = operand_def(TileType)
    rhs = operand_def(TileType)
    acc = operand_def(SUMS)
    res = result_def(SUMS)

    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue, acc: SSAValue):
        super().__init__(operands=[lhs, rhs, acc], result_types=[acc.type])

    def verify_(self) -> None:
        """Checks C1."""
        lhs, rhs, acc = tile_type(self.lhs), tile_type(self.rhs), tile_type(self.acc)
        fits = (acc.rows, 2 * rhs.rows, 2 * acc.columns) == (lhs.rows, lhs.columns, rhs.columns)
        elements = (lhs.element_type, rhs.element_type, acc.element_type) == (bf16, bf16, f32)
        if not fits or not elements:
            raise VerifyException(f"[{self.name} C1] {lhs} times {rhs} does not have the type {acc}")


AMX = Dialect("amx", [TileZeroOp, TileLoadOp, TileStoreOp, TileMulIOp, TileMulFOp], [TileType])
"""The dialect, registered in `xrelay.dialects.ALL_DIALECTS`."""
