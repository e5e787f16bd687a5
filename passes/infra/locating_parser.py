"""xDSL's parser with source locations, better errors for unknown ops, and a lexer that cannot be made to hang.

It also reads constants several times as fast: xDSL makes the constraint on the type of each `dense<…>` anew.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from functools import cache
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    UNKNOWN_LOC,
    AnyFloat,
    ComplexType,
    FileLineColLoc,
    IndexType,
    IntAttr,
    IntegerType,
    RankedStructure,
    StringAttr,
)
from xdsl.ir import Operation
from xdsl.irdl import AttrConstraint, base
from xdsl.parser import AttrParser, ParserState
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer

from xrelay.errors import did_you_mean
from xrelay.passes.infra.hex_floats import HexFloatParser

DenseType: TypeAlias = RankedStructure[IntegerType | IndexType | AnyFloat | ComplexType]
"""The types of `dense<…>`."""


class LinearLexer(MLIRLexer):
    """xDSL's lexer with a string pattern that never backtracks: on an unclosed string theirs takes 2^n steps."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


class LocatingParser(HexFloatParser):
    """Gives each op the place where its text begins, unless the text says `loc(…)`.

    `line_offset` is the number of lines of the file before this piece of it.
    """

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0):
        AttrParser.__init__(self, ParserState(LinearLexer(Input(text, name))), ctx)
        self.ssa_values = {}
        self.blocks = {}
        self.forward_block_references = defaultdict(list)
        self.forward_ssa_references = {}
        self.line_offset = line_offset
        self._file = StringAttr(name)
        self._op_start = 0
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(self, position: int) -> tuple[int, int]:
        """Line and column of a position in the text, counted from 1."""
        line = bisect_right(self._line_starts, position)
        return line + self.line_offset, position - self._line_starts[line - 1] + 1

    def parse_operation(self) -> Operation:
        """Parse one operation and note where it began."""
        start = self._op_start = self.pos
        op = super().parse_operation()
        if op.location is UNKNOWN_LOC:
            line, column = self.place(start)
            op.location = FileLineColLoc(self._file, IntAttr(line), IntAttr(column))
        return op

    def _parse_dense_literal_type(self) -> DenseType:
        """Parse the type of a `dense<…>`, as xDSL does, but with a constraint that is made once."""
        type = self.expect(self.parse_optional_type, "expected the type of the dense attribute")
        if not _dense_type().verifies(type):
            self.raise_error(f"expected a tensor, vector or memref of integers or floats, found {type}")
        if DYNAMIC_INDEX in type.get_shape():
            self.raise_error(f"a dense attribute has a static shape, found {type}")
        return type

    def _get_op_by_name(self, name: str) -> type[Operation]:
        """The op class of a name; the error points at the op and offers the closest known name."""
        known = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if known is not None:
            return known
        hint = did_you_mean(name, (op.name for op in self.ctx.loaded_ops), "")
        message = f"operation {name} is not registered" + (f"; {hint}" if hint else "")
        self.raise_error(message, self._op_start, self._op_start + 1)


@cache
def _dense_type() -> AttrConstraint[DenseType]:
    return base(DenseType)
