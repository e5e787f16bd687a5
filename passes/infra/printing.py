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
from xrelay.runtime.digests import content_key


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
    _TextPrinter(stream, generic=generic, debuginfo=debuginfo).print_op(module)
    return stream.getvalue()


def module_digest_text(module: ModuleOp) -> str:
    """Returns a text that identifies the module: its text, with a digest in place of each long attribute.

    Each attribute object is printed once, so the length is linear in the number of objects: attributes that share
    parts, as aliases in a text do, may print as text of exponential length. Weights are names and keys, as in the text.
    """
    bracket_function_results(module)
    stream = StringIO()
    _DigestPrinter(stream, generic=False, debuginfo=False).print_op(module)
    return stream.getvalue()


_LONG: Final = 256
"""The characters from which on a digest replaces an attribute."""
_PLAIN: Final = re.compile(rb"[ !#-\[\]-~]*")
"""Bytes that stand for themselves in a string."""


class _TextPrinter(Printer):
    """Prints a string in one piece, and each type once: who compiles prints all kernels, to know them again."""

    def __init__(self, stream: StringIO, *, generic: bool, debuginfo: bool):
        super().__init__(stream=stream, print_generic_format=generic, print_debuginfo=debuginfo)
        self._text = stream
        self._types: dict[int, tuple[Attribute, str]] = {}

    def print_bytes_literal(self, bytestring: bytes) -> None:
        """A string; what does not stand for itself is written byte by byte."""
        if _PLAIN.fullmatch(bytestring) is None:
            super().print_bytes_literal(bytestring)
        else:
            self.print_string(f'"{bytestring.decode("ascii")}"')

    def print_attribute(self, attribute: Attribute) -> None:
        """An attribute; a type is copied from where the same object was printed before."""
        known = self._types.get(id(attribute))
        if known is not None:
            self.print_string(known[1])
        elif not isinstance(attribute, TypeAttribute):
            super().print_attribute(attribute)
        else:
            start = self._text.tell()
            super().print_attribute(attribute)
            self._text.seek(start)
            self._types[id(attribute)] = attribute, self._text.read()


class _DigestPrinter(_TextPrinter):
    """Prints each attribute object once, and a digest in place of a long one."""

    def print_attribute(self, attribute: Attribute) -> None:
        """An attribute, in at most `_LONG` characters."""
        known = self._types.get(id(attribute))
        if known is None:
            start = self._text.tell()
            Printer.print_attribute(self, attribute)
            self._text.seek(start)
            text = self._text.read()
            known = attribute, text if len(text) <= _LONG else f"#{content_key([text])}"
            self._types[id(attribute)] = known
            self._text.seek(start)
            self._text.truncate()
        self.print_string(known[1])
