"""Names in a text of IR, and which definition each use refers to: `%value`, `@symbol`, `^block`, `#alias`, `!alias`.

The text need not be valid, since it is being edited. A value belongs to the innermost braces around its definition. A
use refers to the last definition before it in the braces around the use, or in a dataflow function to one after it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(
    r"""(?P<skipped>//[^\n]*|"(?:[^"\\\n]|\\.)*")|(?P<name>[%@^#!][\w$.-]+)(?P<part>:\d+|\#\d+)?|(?P<open>[{(\[])|(?P<close>[})\]])"""
)
_SYMBOL_DEFINITION: Final = re.compile(
    r"\b(?:(?:func\.func|llvm\.func|memref\.global|relay\.fused)\s+(?:private\s+)?|llvm\.mlir\.global\s+[\w\s]*)$"
)
_MORE_RESULTS: Final = re.compile(r"(?:\s*,\s*%[\w$.-]+(?::\d+)?)*\s*=(?!=)")
_EARLIER_RESULTS: Final = re.compile(r"\s*(?:%[\w$.-]+(?::\d+)?\s*,\s*)*")
_COUNTER: Final = re.compile(r'\b(?:(?:for|along)\s+(?:"[^"]*"\s*)?|rec\(|relay\.loop\()$')
_TYPE_OR_VALUE: Final = re.compile(r"\s*(?::(?!:)|=(?!=))")
_FIRST_IN_BRACKET: Final = re.compile(r"[(\[,]\s*$")
_SUCCESSOR: Final = re.compile(r"\S.*\^[\w$.-]+$")


@dataclass(frozen=True)
class Name:
    """An occurrence of a name, from `start` to `end` in the text."""

    text: str
    start: int
    end: int
    braces: tuple[int, ...]
    """The positions of the open braces around it, outermost first."""
    is_definition: bool


class Names:
    """The names of a text in order."""

    def __init__(self, text: str):
        self.text = text
        self._found = list(self._scan())
        self._starts = [name.start for name in self._found]

    def _scan(self) -> Iterator[Name]:
        brackets: list[int] = []
        for token in _TOKEN.finditer(self.text):
            if token["open"]:
                brackets.append(token.start())
            elif token["close"]:
                del brackets[-1:]
            elif token["name"]:
                start, end = token.span("name")
                braces = tuple(place for place in brackets if self.text[place] == "{")
                yield Name(token["name"], start, end, braces, self._defines(token, brackets[-1] if brackets else 0))

    def _line_before(self, position: int) -> str:
        return self.text[self.text.rfind("\n", 0, position) + 1 : position]

    def _defines(self, token: re.Match[str], bracket: int) -> bool:
        """Whether an occurrence is a definition, from the text around it and the innermost open bracket."""
        line, end = self._line_before(token.start()), token.end()
        match token["name"][0]:
            case "%":
                is_result = _MORE_RESULTS.match(self.text, end) and _EARLIER_RESULTS.fullmatch(line)
                return bool(is_result or _COUNTER.search(line)) or self._is_argument(token, bracket)
            case "@":
                return _SYMBOL_DEFINITION.search(line) is not None
            case "^":
                return not line.strip() and re.compile(r"\s*[:(]").match(self.text, end) is not None
            case _:
                return not line and re.compile(r"\s*=").match(self.text, end) is not None

    def _is_argument(self, token: re.Match[str], bracket: int) -> bool:
        """Whether a value is the argument of a function, block or region: `(%x: T`, `[%i : 4`, `(%a = %b`."""
        if self.text[bracket] not in "([" or token["part"]:
            return False
        before = self.text[max(bracket, token.start() - 80) : token.start()]
        is_first = _FIRST_IN_BRACKET.search(before) is not None
        is_successor = _SUCCESSOR.search(self._line_before(bracket)) is not None
        return is_first and not is_successor and _TYPE_OR_VALUE.match(self.text, token.end()) is not None

    def at(self, position: int) -> Name | None:
        """Returns the name at a position, which may be directly after it."""
        number = bisect_right(self._starts, position) - 1
        if number < 0:
            return None
        name = self._found[number]
        return name if position <= name.end else None

    def definition(self, use: Name) -> Name | None:
        """Returns the definition that a use refers to, or None."""
        if use.is_definition:
            return use
        named = [name for name in self._found if name.text == use.text and name.is_definition]
        if use.text[0] in "@#!":
            return named[0] if named else None
        visible = [name for name in named if name.braces == use.braces[: len(name.braces)] or self._heads(name, use)]
        before = [name for name in visible if name.start < use.start]
        return before[-1] if before else visible[0] if visible else None

    def _heads(self, argument: Name, use: Name) -> bool:
        """Whether an argument is declared before the brace of a region that contains the use."""
        depth = len(argument.braces)
        return len(use.braces) > depth and argument.braces == use.braces[:depth]

    def references(self, name: Name) -> list[Name]:
        """Returns the definition of a name and all its uses, in order."""
        target = self.definition(name)
        same = [other for other in self._found if other.text == name.text]
        return [other for other in same if self.definition(other) == target]

    def definitions(self) -> list[Name]:
        """Returns the definitions of all names, in order."""
        return [name for name in self._found if name.is_definition]

    def symbols(self) -> list[Name]:
        """Returns the definitions of symbols."""
        return [name for name in self.definitions() if name.text[0] == "@"]
