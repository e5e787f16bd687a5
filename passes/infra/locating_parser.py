"""xDSL's parser with source locations, scopes, and errors at the place that is wrong."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import AttributeInvT, Block, Operation, Region, SSAValue
from xdsl.parser import AttrParser, ForwardDeclaredValue, Parser, ParserState, UnresolvedOperand
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from xrelay.errors import did_you_mean
from xrelay.passes.infra.lexer import LinearLexer
from xrelay.passes.infra.literal_parser import LiteralParser


class LocatingParser(LiteralParser):
    """Gives each op the place where its text begins, unless the text says `loc(…)`.

    A region of an op that is isolated from above is a scope of its own: values of outside are not visible in it, their
    names may be used again, and a value that is not defined when it ends is an error where it is used first.
    `line_offset` is the number of lines of the file before this piece of it.
    """

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0):
        AttrParser.__init__(self, ParserState(LinearLexer(Input(text, name))), ctx)
        self.ssa_values = {}
        self.blocks = {}
        self.forward_block_references = defaultdict(list)
        self.forward_ssa_references = {}
        self.line_offset = line_offset
        self.notes: list[tuple[str, str]] = []
        """Notes to the error that was raised: messages, each with its place."""
        self._name = name
        self._file = StringAttr(name)
        self._op_start = 0
        self._isolated = False
        self._first_uses: dict[str, Span] = {}
        self._definitions: dict[SSAValue, Span] = {}
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(self, position: int) -> tuple[int, int]:
        """Line and column of a position in the text, counted from 1."""
        line = bisect_right(self._line_starts, position)
        return line + self.line_offset, position - self._line_starts[line - 1] + 1

    def location(self, position: int) -> str:
        """`name:line:col` of a position in the text."""
        line, column = self.place(position)
        return f"{self._name}:{line}:{column}"

    @property
    def reached(self) -> int:
        """The place that the parser has reached: its token, or the end of the one before where that is on another line.

        What is missing at the end of a line is reported there, and not in the line below.
        """
        end = self._end_before(self.pos)
        return self.pos if end is None or self.place(end)[0] == self.place(self.pos)[0] else end

    def _end_before(self, position: int) -> int | None:
        """The end of the last token of this op before a position; `None` where the op begins there."""
        lexer = LinearLexer(self.lexer.input)
        lexer.pos, end = self._op_start, None
        try:
            while (token := lexer.lex()).span.start < position:
                end = token.span.end
        except ParseError:  # the body of an unregistered attribute may hold anything
            return None
        return end

    def raise_error(self, msg: str, at_position: int | Span | None = None, end_position: int | None = None) -> NoReturn:
        """Raise xDSL's `ParseError` at a place; without one, or for the token at hand, at the place that is reached."""
        if isinstance(at_position, Span) and at_position is not self._current_token.span:
            raise ParseError(at_position, msg)
        start = at_position if isinstance(at_position, int) else self.reached
        raise ParseError(Span(start, start if end_position is None else end_position, self.lexer.input), msg)

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """Parse the whole text; ops that stand in no module get one where that is allowed."""
        ops: list[Operation] = []
        while (kind := self._current_token.kind) is not MLIRTokenKind.EOF:
            if kind in (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT):
                self._parse_alias_def()
            elif kind is MLIRTokenKind.FILE_METADATA_BEGIN:
                self._parse_file_metadata_dictionary()
            else:
                ops.append(self._parse_top_level_operation())
        if not ops:
            self.raise_error("the text holds no operation", 0)
        self._raise_undefined({})
        if len(ops) == 1 and isinstance(ops[0], ModuleOp):
            return ops[0]
        if not allow_implicit_module:
            self.raise_error("expected one builtin.module", 0)
        return ModuleOp(ops)

    def _parse_top_level_operation(self) -> Operation:
        """Parse an operation; anything else is an error."""
        op = self.parse_optional_operation()
        if op is None:
            self.raise_error(f"expected an operation, found {self._current_token.text!r}", self.pos)
        return op

    def parse_operation(self) -> Operation:
        """Parse one operation and note where it began."""
        start = self._op_start = self.pos
        isolated = self._isolated
        op = super().parse_operation()
        self._isolated = isolated
        if op.regions:
            self._check_operands(op, start)
        if op.location is UNKNOWN_LOC:
            line, column = self.place(start)
            op.location = FileLineColLoc(self._file, IntAttr(line), IntAttr(column))
        return op

    def _check_operands(self, op: Operation, start: int) -> None:
        """Raise the error of an operand that a region of the op defines; xDSL leaves its placeholder in the op."""
        if not any(isinstance(operand, ForwardDeclaredValue) for operand in op.operands):
            return
        undefined = {value for values in self.forward_ssa_references.values() for value in values.values()}
        if any(isinstance(operand, ForwardDeclaredValue) and operand not in undefined for operand in op.operands):
            self.raise_error(f"{op.name} uses a value that is defined in its own region", start)

    def _parse_block(self) -> Block:
        """Parse a block and note its place, also that of one which was referred to before."""
        label = self._current_token.span
        block = super()._parse_block()
        self.blocks[label.text[1:]] = (block, label)
        return block

    def parse_optional_region(self, arguments: Iterable[Parser.Argument] | None = None) -> Region | None:
        """Parse a region, if there is one; that of an isolated op is a scope."""
        arguments = None if arguments is None else tuple(arguments)  # xDSL 0.75 takes a sequence only
        if not self._isolated:
            return super().parse_optional_region(arguments)
        self._isolated = False
        visible, referenced, used = self.ssa_values, self.forward_ssa_references, self._first_uses
        self.ssa_values, self.forward_ssa_references, self._first_uses = {}, {}, {}
        region = super().parse_optional_region(arguments)
        self._raise_undefined(visible)
        self.ssa_values, self.forward_ssa_references, self._first_uses = visible, referenced, used
        self._isolated = True
        return region

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue[AttributeInvT]:
        """The value of an operand; the first use of one that is not defined yet is noted."""
        if operand.operand_name not in self.ssa_values:
            self._first_uses.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)

    def _raise_undefined(self, outside: Mapping[str, object]) -> None:
        """Raise the error of the first value that is used and not defined; one `outside` may have its name."""
        if not self.forward_ssa_references:
            return
        name = min(self.forward_ssa_references, key=lambda name: self._first_uses[name].start)
        message = f"the value %{name} is not defined"
        if name in outside:
            message += "; it is defined outside, where this region sees nothing"
        self.raise_error(message, self._first_uses[name])

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        """Register a definition; one that exists is an error, with a note where."""
        if (known := self.ssa_values.get(name)) is not None:
            if known and known[0] in self._definitions:
                self.notes.append(("the first definition", self.location(self._definitions[known[0]].start)))
            self.raise_error(f"the value %{name} is already defined", span)
        self._definitions.update(dict.fromkeys(values, span))
        super()._register_ssa_definition(name, values, span)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        """The op class of a name; the error points at the op and offers the closest known name."""
        known = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if known is not None:
            self._isolated = known.has_trait(IsolatedFromAbove, value_if_unregistered=False)
            return known
        hint = did_you_mean(name, (op.name for op in self.ctx.loaded_ops), "")
        message = f"operation {name} is not registered" + (f"; {hint}" if hint else "")
        self.raise_error(message, self._op_start, self._op_start + 1)
