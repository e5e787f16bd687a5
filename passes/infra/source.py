"""Parsing of modules, with the source location of every op, and errors of the project's own classes."""

from __future__ import annotations

import os
import struct
import traceback
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.utils.exceptions import MultipleSpansParseError, UnregisteredConstructException, VerifyException
from xdsl.utils.exceptions import ParseError as XdslParseError

from xrelay.dialects import dialect_thunks, with_replaced
from xrelay.dialects.upstream.checks import is_upstream
from xrelay.errors import InputError, ParseError, XRelayError, one_line
from xrelay.passes.infra.gc_pause import gc_pause
from xrelay.passes.infra.locating_parser import LocatingParser
from xrelay.passes.infra.printing import bracket_function_results


def full_context() -> Context:
    """Returns a context with xDSL's dialects and xrelay's, each imported when a text first uses it."""
    ctx = Context()
    for name, thunk in _upstream_dialects().items():
        ctx.register_dialect(name, thunk)
    for name, thunk in dialect_thunks().items():
        ctx.register_dialect(name, thunk)
    return ctx


@cache
def _upstream_dialects() -> Mapping[str, Callable[[], Dialect]]:
    """Returns the thunks that import xDSL's dialects, by name; cached, since xDSL takes a millisecond for it."""
    return with_replaced(get_all_dialects())


def parse_module(ctx: Context, text: str, name: str, *, line_offset: int = 0, implicit_module: bool = True) -> ModuleOp:
    """Returns the module in `text`, unverified.

    Raises `ParseError` with `name:line:col` for invalid syntax, unknown ops or types, attributes that violate their own
    constraints, and regions nested too deeply for xDSL's recursive parser.
    """
    parser: LocatingParser | None = None
    try:
        with gc_pause():
            parser = LocatingParser(ctx, text, name, line_offset)
            module = parser.parse_module(implicit_module)
            bracket_function_results(module)
            return module
    except XdslParseError as error:
        place = error.span.get_location()
        failure = ParseError(one_line(error.msg), location=f"{name}:{place.line + line_offset}:{place.col}")
        _add_notes(failure, parser, error)
        raise failure from error
    except RecursionError as error:
        message, hint = "regions or attributes are nested too deeply", "split the function"
        raise ParseError(message, location=_reached(parser, name), help=hint) from error
    except MemoryError as error:
        raise ParseError("the text needs more memory than is available", location=_reached(parser, name)) from error
    except (ArithmeticError, struct.error) as error:
        raise ParseError("a number does not fit its type", location=_reached(parser, name)) from error
    except (VerifyException, UnregisteredConstructException, ValueError, NotImplementedError) as error:
        raise ParseError(one_line(str(error)), location=_reached(parser, name)) from error
    except XRelayError as error:
        if error.location is not None:
            raise
        raise ParseError(error.message, location=_reached(parser, name), help=error.help) from error
    except Exception as error:
        raise ParseError(_unforeseen(error), location=_reached(parser, name)) from error


def _unforeseen(error: Exception) -> str:
    """Returns the message for an exception that a parser raised by accident.

    Parsers of xDSL's dialects index and assert as if the text were complete: their exceptions mean that it is not.
    """
    classes = (frame.f_locals.get("cls") for frame, _ in traceback.walk_tb(error.__traceback__))
    ours_or_theirs = [cls for cls in classes if isinstance(cls, type) and issubclass(cls, Operation | Attribute)]
    innermost = ours_or_theirs[-1] if ours_or_theirs else None
    if innermost is not None and is_upstream(innermost):
        return f"this is not the syntax of {innermost.name}: a part is missing, of another kind, or out of range"
    return f"the parser failed on the text, {type(error).__name__}: {one_line(str(error))}"


def _add_notes(failure: ParseError, parser: LocatingParser | None, error: XdslParseError) -> None:
    """Adds the other locations of an error."""
    for message, location in parser.notes if parser is not None else ():
        failure.add_place(message, location)
    if parser is not None and isinstance(error, MultipleSpansParseError):
        for span, message in error.refs:
            failure.add_place(message if message is not None else "the first one", parser.location(span.start))


def read_module(ctx: Context, path: Path, check: Callable[[ModuleOp, os.stat_result], None] | None = None) -> ModuleOp:
    """Returns the module in a text file, unverified; raises `ParseError` also if the file cannot be read as text.

    `check` is called with the module and the status of the file that was read.
    """
    text, status = _read(path)
    module = parse_module(ctx, text, str(path))
    if check is not None:
        check(module, status)
    return module


def read_text(path: Path) -> str:
    """Returns the content of a text file; raises `ParseError` if it does not exist or is not UTF-8."""
    return _read(path)[0]


def _read(path: Path) -> tuple[str, os.stat_result]:
    """Returns the content of a text file, and the status of the file that was read."""
    try:
        with path.open("rb") as file:
            return decode_text(file.read(), str(path)), os.fstat(file.fileno())
    except OSError as error:
        raise ParseError(f"cannot read the file: {error.strerror}", location=str(path)) from error


def write_text(path: Path, text: str, *, makes_folder: bool = False) -> None:
    """Writes a text file, and no file if UTF-8 cannot encode the text; raises `InputError` if writing fails."""
    content = text.encode()
    try:
        if makes_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise InputError(f"cannot write the file: {error.strerror}", location=str(path)) from error


def decode_text(content: bytes, name: str) -> str:
    """Decodes UTF-8 and normalises line ends to line feeds; raises `ParseError` at the first invalid byte."""
    try:
        return content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        message = f"the byte 0x{content[error.start]:02x} is not UTF-8 text"
        help = "`xrelay import` writes the text of an ONNX model" if name.endswith(".onnx") else None
        raise ParseError(message, location=f"{name}:{line}:{column}", help=help) from error


def _reached(parser: LocatingParser | None, name: str) -> str:
    """Returns the location that the parser has reached."""
    return parser.location(parser.reached) if parser is not None else f"{name}:1:1"
