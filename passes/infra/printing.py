"""Printing of programs to text and to files."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Final

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, TypeAttribute
from xdsl.printer import Printer

from xrelay.errors import PassError
from xrelay.passes.infra.function_results import bracket_function_results


def save_module(path: Path, module: ModuleOp, *, generic: bool = False) -> None:
    """Writes the module to a file, and creates its folder; raises `PassError` if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(print_module(module, generic=generic) + "\n", encoding="utf-8")
    except OSError as error:
        raise PassError(f"cannot write {path}: {error.strerror}") from error


def print_module(module: ModuleOp, *, generic: bool = False, debuginfo: bool = False) -> str:
    """Returns the module as text, in custom or generic form, with or without locations."""
    bracket_function_results(module)
    stream = StringIO()
    TextPrinter(stream, generic=generic, debuginfo=debuginfo).print_op(module)
    return stream.getvalue()


_PLAIN: Final = re.compile(rb"[ !#-\[\]-~]*")
"""Bytes that need no escapes in a string."""


class TextPrinter(Printer):
    """A faster printer: prints a string in one piece, and each type once. Compilation prints all kernels."""

    def __init__(self, stream: StringIO, *, generic: bool, debuginfo: bool):
        super().__init__(stream=stream, print_generic_format=generic, print_debuginfo=debuginfo)
        self.text = stream
        self.printed: dict[int, tuple[Attribute, str]] = {}

    def print_bytes_literal(self, bytestring: bytes) -> None:
        """Prints a string, byte by byte only if it needs escapes."""
        if _PLAIN.fullmatch(bytestring) is None:
            super().print_bytes_literal(bytestring)
        else:
            self.print_string(f'"{bytestring.decode("ascii")}"')

    def print_attribute(self, attribute: Attribute) -> None:
        """Prints an attribute; the text of a type is cached by object."""
        known = self.printed.get(id(attribute))
        if known is not None:
            self.print_string(known[1])
        elif not isinstance(attribute, TypeAttribute):
            super().print_attribute(attribute)
        else:
            start = self.text.tell()
            super().print_attribute(attribute)
            self.text.seek(start)
            self.printed[id(attribute)] = attribute, self.text.read()
