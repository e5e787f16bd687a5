"""From text to module: parsing with the source location of every op, and errors of the project's own family."""

from __future__ import annotations

from bisect import bisect_right
from difflib import get_close_matches
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError as XdslParseError
from xdsl.utils.exceptions import UnregisteredConstructException, VerifyException

from xrelay.dialects import dialect_thunks, with_replaced
from xrelay.errors import ParseError
from xrelay.passes.infra.hex_floats import HexFloatParser


def full_context() -> Context:
    """A context that knows xDSL's dialects and xrelay's, each imported when a text first mentions it."""
    ctx = Context()
    for name, thunk in with_replaced(get_all_dialects()).items():
        ctx.register_dialect(name, thunk)
    for name, thunk in dialect_thunks().items():
        ctx.register_dialect(name, thunk)
    return ctx


class LocatingParser(HexFloatParser):
    """xDSL's parser, which also gives each op the place where its text begins, unless the text says `loc(…)`.

    `line_offset` is the number of lines of the file before this piece of it.
    """

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0):
        super().__init__(ctx, text, name)
        self._file = StringAttr(name)
        self.line_offset = line_offset
        self._op_start = 0
        self._line_starts = [0, *(i + 1 for i, char in enumerate(text) if char == "\n")]

    def parse_operation(self) -> Operation:
        """Parse one operation and note where it began."""
        start = self._op_start = self.pos
        op = super().parse_operation()
        if op.location is UNKNOWN_LOC:
            line = bisect_right(self._line_starts, start)
            column = start - self._line_starts[line - 1] + 1
            op.location = FileLineColLoc(self._file, IntAttr(line + self.line_offset), IntAttr(column))
        return op

    def _get_op_by_name(self, name: str) -> type[Operation]:
        """The op class of a name; the error points at the op and offers the closest known name."""
        known = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if known is not None:
            return known
        close = get_close_matches(name, [op.name for op in self.ctx.loaded_ops], n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        self.raise_error(f"operation {name} is not registered{hint}", self._op_start, self._op_start + 1)


def parse_module(ctx: Context, text: str, name: str, *, line_offset: int = 0, implicit_module: bool = True) -> ModuleOp:
    """The module that `text` denotes, unverified.

    Raises `ParseError` with `name:line:col` for text that is not IR, that mentions unknown ops or types, whose
    attributes break their own rules, or whose regions nest deeper than the recursive parser of xDSL can follow.
    """
    parser = LocatingParser(ctx, text, name, line_offset)
    try:
        return parser.parse_module(implicit_module)
    except XdslParseError as error:
        place = error.span.get_location()
        raise ParseError(one_line(error.msg), location=f"{name}:{place.line + line_offset}:{place.col}") from error
    except RecursionError as error:
        raise ParseError(
            "regions or attributes are nested too deeply", location=_here(parser), help="split the function"
        ) from error
    except (VerifyException, UnregisteredConstructException, ValueError) as error:
        raise ParseError(one_line(str(error)), location=_here(parser)) from error


def read_module(ctx: Context, path: Path) -> ModuleOp:
    """The module in a text file, unverified; raises `ParseError` also for a file that cannot be read as text."""
    return parse_module(ctx, read_text(path), str(path))


def read_text(path: Path) -> str:
    """The content of a text file; `ParseError` when there is none or it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ParseError(f"byte {error.start} is not UTF-8 text", location=str(path)) from error
    except OSError as error:
        raise ParseError(f"cannot read the file: {error.strerror}", location=str(path)) from error


def one_line(message: str) -> str:
    """A message with its line breaks and runs of blanks folded into single blanks."""
    return " ".join(message.split())


def _here(parser: LocatingParser) -> str:
    """The place that the parser has reached."""
    place = parser.lexer.input
    line_start = place.get_start_of_line(parser.pos)
    line = place.content.count("\n", 0, line_start) + 1 + parser.line_offset
    return f"{place.name}:{line}:{parser.pos - line_start + 1}"
