"""`memref.prefetch` of upstream's memref dialect, which xDSL lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from typing_extensions import override
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, i32
from xdsl.dialects.memref import MemRef
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.upstream.replacing import replace_ops


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Loads the cache line of an element into a cache, without waiting for it.

    The element may lie outside of the buffer.

    - C1: there is an index for each dimension.
    - C2: the locality is 2 for the L2 cache, or 3 for the L1 cache.

    ```mlir
    %m, %i = "test.op"() : () -> (memref<8x16xf32>, index)
    memref.prefetch %m[%i, %i], read, locality<2>, data : memref<8x16xf32>
    ```
    """

    name = "memref.prefetch"

    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    locality = prop_def(IntegerAttr, prop_name="localityHint")

    def __init__(self, memref: SSAValue, indices: Sequence[SSAValue], locality: int = 2):
        super().__init__(operands=[memref, indices], properties={"localityHint": IntegerAttr(locality, i32)})

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.memref)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_operand)
        printer.print_string(f", read, locality<{self.locality.value.data}>, data")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)

    @override
    @classmethod
    def parse(cls, parser: Parser) -> Self:
        memref = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
        for keyword in ("read", "locality"):
            parser.parse_punctuation(",")
            parser.parse_keyword(keyword)
        with parser.in_angle_brackets():
            locality = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_punctuation(",")
        parser.parse_keyword("data")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        operands = (
            parser.resolve_operand(memref, type_),
            [parser.resolve_operand(each, IndexType()) for each in indices],
        )
        op = cls(*operands, locality)
        op.attributes |= attributes
        return op

    def verify_(self) -> None:
        """Checks C1 and C2."""
        rank = SSAValue.get(self.memref, type=MemRefType).type.get_num_dims()
        if len(self.indices) != rank:
            raise VerifyException(f"[{self.name} C1] {len(self.indices)} indices for {rank} dimensions")
        if self.locality.value.data not in (2, 3):
            raise VerifyException(f"[{self.name} C2] locality {self.locality.value.data} is neither 2 nor 3")


MEMREF = replace_ops(MemRef, [PrefetchOp])
"""xDSL's memref dialect with this op."""
