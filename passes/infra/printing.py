"""Programs as text, and as files."""

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
    """Write the module into a file, whose folder is made; `PassError` where that cannot be."""
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
"""Bytes that stand for themselves in a string."""


class TextPrinter(Printer):
    """Prints a string in one piece, and each type once: who compiles prints all kernels, to know them again."""

    def __init__(self, stream: StringIO, *, generic: bool, debuginfo: bool):
        super().__init__(stream=stream, print_generic_format=generic, print_debuginfo=debuginfo)
        self.text = stream
        self.printed: dict[int, tuple[Attribute, str]] = {}

    def print_bytes_literal(self, bytestring: bytes) -> None:
        """A string; what does not stand for itself is written byte by byte."""
        if _PLAIN.fullmatch(bytestring) is None:
            super().print_bytes_literal(bytestring)
        else:
            self.print_string(f'"{bytestring.decode("ascii")}"')

    def print_attribute(self, attribute: Attribute) -> None:
        """An attribute; a type is copied from where the same object was printed before."""
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
