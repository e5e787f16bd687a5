"""Printing of programs to text and to files."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Final

from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, TypeAttribute
from xdsl.printer import Printer

from xrelay.dialects.shared.dense_elements import print_elements
from xrelay.errors import PassError


def dump_module(path: Path, module: ModuleOp, *, generic: bool = False) -> None:
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

    def __init__(self, stream: StringIO, *, generic: bool, debuginfo: bool, no_properties: bool = False):
        """With `no_properties`, properties are printed as attributes."""
        super().__init__(
            stream=stream,
            print_generic_format=generic,
            print_debuginfo=debuginfo,
            print_properties_as_attributes=no_properties,
        )
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
            self.print_whole_attribute(attribute)
        else:
            start = self.text.tell()
            self.print_whole_attribute(attribute)
            self.text.seek(start)
            self.printed[id(attribute)] = attribute, self.text.read()

    def print_whole_attribute(self, attribute: Attribute) -> None:
        """Prints an attribute as xDSL does, but the elements of `dense` attributes with the signs of zeros."""
        if isinstance(attribute, DenseIntOrFPElementsAttr):
            print_elements(attribute, self)
            self.print_string(" : ")
            self.print_attribute(attribute.get_type())
        else:
            super().print_attribute(attribute)


_BRACKETS: Final = ArrayAttr([DictionaryAttr({})])


def bracket_function_results(module: ModuleOp) -> None:
    """Makes functions of `module` that return only a function printable in a form that can be parsed again.

    xDSL prints `-> (T) -> T` for the result `(T) -> T` of a `func.func`, and parses that as a result T and a
    superfluous arrow. If results have attributes, it prints the necessary parentheses, so an empty dictionary is added
    to these functions, and removed from others.
    """
    for block in module.body.blocks:
        for op in block.ops:
            type = op.properties.get("function_type")  # None if the generic form lacks it, which the verifier reports
            if isinstance(op, FuncOp) and isinstance(type, FunctionType) and op.res_attrs in (None, _BRACKETS):
                outputs = type.outputs.data
                op.res_attrs = _BRACKETS if len(outputs) == 1 and isinstance(outputs[0], FunctionType) else None
