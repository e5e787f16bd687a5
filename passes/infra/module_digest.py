"""Texts that identify modules, with a length linear in the number of attribute objects."""

from __future__ import annotations

from io import StringIO
from typing import Final

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from xrelay.passes.infra.printing import TextPrinter, bracket_function_results
from xrelay.runtime.digests import content_key

_MAX_ATTRIBUTE_LENGTH: Final = 256
"""The maximum length of an attribute that is not replaced with a digest."""


def module_digest_text(module: ModuleOp) -> str:
    """Returns the text of a module with a digest for each long attribute.

    Each attribute object is printed once: attributes that share parts, like aliases in a text, may print as text of
    exponential length. Weights are names and keys, as in the text.
    """
    bracket_function_results(module)
    stream = StringIO()
    _DigestPrinter(stream, generic=False, debuginfo=False).print_op(module)
    return stream.getvalue()


class _DigestPrinter(TextPrinter):
    """Prints each attribute object once, and a digest for a long one."""

    def print_attribute(self, attribute: Attribute) -> None:
        """Prints an attribute in at most `_MAX_ATTRIBUTE_LENGTH` characters."""
        known = self.printed.get(id(attribute))
        if known is None:
            start = self.text.tell()
            self.print_whole_attribute(attribute)
            self.text.seek(start)
            text = self.text.read()
            known = attribute, text if len(text) <= _MAX_ATTRIBUTE_LENGTH else f"#{content_key([text])}"
            self.printed[id(attribute)] = known
            self.text.seek(start)
            self.text.truncate()
        self.print_string(known[1])
