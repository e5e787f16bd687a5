"""xDSL's parser with source locations, scopes, and errors at the wrong token."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AnyTensorType,
    AnyUnrankedTensorType,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import AttributeInvT, Block, Operation, Region, SSAValue
from xdsl.parser import AttrParser, ForwardDeclaredValue, Parser, ParserState, UnresolvedOperand
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.dialects.shared.types import shape_of
from xrelay.errors import closest, did_you_mean
from xrelay.passes.infra.lexer import LinearLexer
from xrelay.passes.infra.literal_parser import LiteralParser

_UNREGISTERED: Final = re.compile(r"'([\w.]+)' is not registered")
"""xDSL's message about an unknown attribute or type."""


class LocatingParser(LiteralParser):
    """Sets the location of each op to the beginning of its text, unless the text has `loc(…)`.

    A region of an op that is isolated from above is a scope of its own: outer values are not visible in it, their names
    may be reused, and a value that is undefined at its end is an error at its first use. `line_offset` is the number of
    lines of the file before this text.
    """

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0):
        AttrParser.__init__(self, ParserState(LinearLexer(Input(text, name))), ctx)
        self.ssa_values = {}
        self.blocks = {}
        self.forward_block_references = defaultdict(list)
        self.forward_ssa_references = {}
        self.line_offset = line_offset
        self.notes: list[tuple[str, str]] = []
        """Notes to the raised error: messages, each with its location."""
        self._name = name
        self._file = StringAttr(name)
        self._op_start = 0
        self._isolated = False
        self._regions: list[int] = []
        """The positions of the regions that are being parsed."""
        self._first_uses: dict[str, Span] = {}
        self._definitions: dict[SSAValue, Span] = {}
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(self, position: int) -> tuple[int, int]:
        """Returns line and column of a position in the text, counted from 1."""
        line = bisect_right(self._line_starts, position)
        return line + self.line_offset, position - self._line_starts[line - 1] + 1

    def location(self, position: int) -> str:
        """Returns `name:line:col` of a position in the text."""
        line, column = self.place(position)
        return f"{self._name}:{line}:{column}"

    @property
    def reached(self) -> int:
        """The position of the current token, or the end of the previous token if that is on another line.

        So a missing token at the end of a line is reported there, and not on the next line.
        """
        end = self._end_before(self.pos)
        return self.pos if end is None or self.place(end)[0] == self.place(self.pos)[0] else end

    def _end_before(self, position: int) -> int | None:
        """Returns the end of the last token of this op before a position; None if the op begins there."""
        lexer = LinearLexer(self.lexer.input)
        lexer.pos, end = self._op_start, None
        try:
            while (token := lexer.lex()).span.start < position:
                end = token.span.end
        except ParseError:  # the body of an unregistered attribute may contain any text
            return None
        return end

    def raise_error(self, msg: str, at_position: int | Span | None = None, end_position: int | None = None) -> NoReturn:
        """Raises xDSL's `ParseError` at a position, by default or for the current token at `reached`.

        An unknown attribute or type gets the closest known name. A missing element type gets the token that was found.
        """
        if (unknown := _UNREGISTERED.fullmatch(msg)) is not None:
            msg = f"{msg}{self._similar_attribute(unknown[1])}"
        if msg == "Expected shape type.":
            msg = f"expected an element type such as f32, found {self._current_token.text!r}"
        if isinstance(at_position, Span) and at_position is not self._current_token.span:
            raise ParseError(at_position, msg)
        start = at_position if isinstance(at_position, int) else self.reached
        raise ParseError(Span(start, start if end_position is None else end_position, self.lexer.input), msg)

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """Parses the whole text; with `allow_implicit_module`, top-level ops are wrapped in a module."""
        ops: list[Operation] = []
        while (kind := self._current_token.kind) is not MLIRTokenKind.EOF:
            if kind in (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT):
                self._parse_alias_def()
            elif kind is MLIRTokenKind.FILE_METADATA_BEGIN:
                self._parse_file_metadata_dictionary()
            else:
                ops.append(self._parse_top_level_operation())
        if not ops:
            self.raise_error("the text contains no operation", 0)
        self._raise_undefined({})
        if len(ops) == 1 and isinstance(ops[0], ModuleOp):
            return ops[0]
        if not allow_implicit_module:
            self.raise_error("expected one builtin.module", 0)
        return ModuleOp(ops)

    def _parse_top_level_operation(self) -> Operation:
        """Parses an operation; anything else is an error."""
        op = self.parse_optional_operation()
        if op is None:
            self.raise_error(f"expected an operation, found {self._current_token.text!r}", self.pos)
        return op

    def parse_operation(self) -> Operation:
        """Parses one operation and sets its location."""
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
        """Raises an error for an operand that a region of the op defines; xDSL leaves its placeholder in the op."""
        if not any(isinstance(operand, ForwardDeclaredValue) for operand in op.operands):
            return
        undefined = {value for values in self.forward_ssa_references.values() for value in values.values()}
        if any(isinstance(operand, ForwardDeclaredValue) and operand not in undefined for operand in op.operands):
            self.raise_error(f"{op.name} uses a value that is defined in its own region", start)

    def _parse_block(self) -> Block:
        """Parses a block and records its position, also if it was referenced before."""
        label = self._current_token.span
        if self._current_token.kind is MLIRTokenKind.EOF:
            self.notes.append(("the region begins here", self.location(self._regions[-1])))
            self.raise_error("expected '}' at the end of a region, found the end of the text")
        if self._current_token.kind is not MLIRTokenKind.CARET_IDENT:
            self.raise_error(f"expected an operation or '}}', found {label.text!r}", self.pos)
        block = super()._parse_block()
        self.blocks[label.text[1:]] = (block, label)
        return block

    def parse_optional_region(self, arguments: Iterable[Parser.Argument] | None = None) -> Region | None:
        """Parses a region, if there is one; a region of an isolated op is a scope."""
        arguments = None if arguments is None else tuple(arguments)  # xDSL 0.75 accepts only a sequence
        self._regions.append(self.pos)
        region = self._parse_scope(arguments)
        self._regions.pop()
        return region

    def _parse_scope(self, arguments: tuple[Parser.Argument, ...] | None) -> Region | None:
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
        """Returns the value of an operand; records the first use of a value that is not defined yet."""
        if operand.operand_name not in self.ssa_values:
            self._first_uses.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)

    def resolve_operands(
        self, args: Sequence[UnresolvedOperand], input_types: Sequence[AttributeInvT], error_pos: int
    ) -> Sequence[SSAValue[AttributeInvT]]:
        """Returns the values of operands; raises an error unless there is a type for each."""
        if len(args) != len(input_types):
            self.raise_error(f"the op has {len(args)} operands, and types for {len(input_types)}", error_pos)
        return [self.resolve_operand(operand, type) for operand, type in zip(args, input_types, strict=True)]

    def _raise_undefined(self, outside: Mapping[str, object]) -> None:
        """Raises an error for the first value that is used and not defined; `outside` may have a value of that name."""
        if not self.forward_ssa_references:
            return
        name = min(self.forward_ssa_references, key=lambda name: self._first_uses[name].start)
        message = f"the value %{name} is not defined"
        if name in outside:
            message += "; it is defined outside of this isolated region"
        self.raise_error(message, self._first_uses[name])

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        """Registers a definition; a duplicate is an error, with a note at the first definition."""
        if (known := self.ssa_values.get(name)) is not None:
            if known and known[0] in self._definitions:
                self.notes.append(("the first definition", self.location(self._definitions[known[0]].start)))
            self.raise_error(f"the value %{name} is already defined", span)
        self._definitions.update(dict.fromkeys(values, span))
        super()._register_ssa_definition(name, values, span)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        """Returns the op class with a name; the error is located at the op and suggests the closest known name."""
        known = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if known is not None:
            self._isolated = known.has_trait(IsolatedFromAbove, value_if_unregistered=False)
            return known
        hint = did_you_mean(name, (op.name for op in self.ctx.loaded_ops), "") or self._similar_dialect(name)
        message = f"operation {name} is not registered" + (f"; {hint}" if hint else "")
        self.raise_error(message, self._op_start, self._op_start + 1)

    def _similar_attribute(self, name: str) -> str:
        """Returns the hint about an unknown attribute or type."""
        dialect, _, rest = name.partition(".")
        similar = name if dialect in self.ctx.registered_dialect_names else f"{self._closest_dialect(dialect)}.{rest}"
        self.ctx.get_optional_attr(similar)  # loads the dialect
        hint = did_you_mean(similar, (each.name for each in (*self.ctx.loaded_attrs, *self.ctx.loaded_types)), "")
        return hint and f"; {hint}"

    def _closest_dialect(self, name: str) -> str | None:
        return closest(name, self.ctx.registered_dialect_names)

    def _similar_dialect(self, name: str) -> str:
        """Returns the hint about an op of an unknown dialect: the op of the closest dialect, if that has it."""
        dialect, _, rest = name.partition(".")
        if dialect in self.ctx.registered_dialect_names:
            return ""
        close = self._closest_dialect(dialect)
        if close is not None and self.ctx.get_optional_op(f"{close}.{rest}") is not None:
            return f"did you mean '{close}.{rest}'?"
        return f"no dialect is called '{dialect}'" + ("" if close is None else f"; did you mean '{close}'?")

    def _parse_tensor_attrs(self) -> AnyTensorType | AnyUnrankedTensorType:
        """Parses a tensor type; names of dimensions must fit its dynamic extents."""
        type = super()._parse_tensor_attrs()
        if isinstance(type, TensorType) and isinstance(type.encoding, DimsAttr):
            shape_of(type)
        return type
