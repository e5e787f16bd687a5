"""Evaluates extents written as text, `2 * n + 1`, for sizes of the names.

The compiler writes such texts. They contain sums and products of names and integers, `floordiv` and `mod`, which round
to minus infinity, `max`, `min` and `broadcast`. `broadcast(n, m)` is m if n is 1, and n otherwise; its operands must be
equal or 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from xrelay.errors import ArtifactError, DimensionError

_TOKEN: Final = re.compile(r"\s*(\d+|[A-Za-z_]\w*|[-+*(),])")
_LINEAR: Final = re.compile(r"(?:(\d+) \* )?([A-Za-z_]\w*)(?: ([+-]) (\d+))?")
_WORDS: Final = frozenset({"floordiv", "mod", "max", "min", "broadcast"})
_MAX_DEPTH: Final = 100


def evaluate(text: str, sizes: Mapping[str, int]) -> int:
    """Returns the value of an extent.

    Raises `DimensionError` if it has none: it divides by 0, or its extents do not broadcast. Raises `ArtifactError` if
    it is malformed or a name has no size.
    """
    if (size := sizes.get(text)) is not None:
        return size  # most extents are a name
    reader = _Reader(text, sizes)
    value = reader.sum(0)
    reader.end()
    return value


def names_in(texts: Iterable[str]) -> list[str]:
    """Returns the names in the texts of extents, sorted."""
    found = {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}
    return sorted(found - _WORDS)


def name_and_size(text: str, extent: int) -> tuple[str, int | None] | None:
    """Solves `text` = `extent` for the only name in a linear `text`; returns the name and its size.

    For `2 * n + 1` and 7, this is n and 3. The size is `None` if no non-negative integer fits. Returns `None` for texts
    of another form.
    """
    match = _LINEAR.fullmatch(text)
    if match is None or match[2] in _WORDS:
        return None
    offset = int(match[4] or 0) * (-1 if match[3] == "-" else 1)
    size, rest = divmod(extent - offset, int(match[1] or 1))
    return match[2], size if not rest and size >= 0 else None


def solved_sizes(extents: Iterable[tuple[int | str, int]]) -> dict[str, int]:
    """Returns the size of each name that an extent determines, from pairs of an extent and its value."""
    sizes: dict[str, int] = {}
    for text, extent in extents:
        name, size = (isinstance(text, str) and name_and_size(text, extent)) or ("", None)
        if size is not None:
            sizes.setdefault(name, size)
    return sizes


class _Reader:
    """A parser that evaluates an expression as it reads."""

    def __init__(self, text: str, sizes: Mapping[str, int]):
        self._text, self._sizes = text, sizes
        self._tokens = _TOKEN.findall(text)
        if _TOKEN.sub("", text).strip():
            raise self._malformed()
        self._tokens.reverse()

    def sum(self, depth: int) -> int:
        if depth > _MAX_DEPTH:
            raise self._malformed()
        value = self._product(depth)
        while (sign := self._accept("+", "-")) is not None:
            term = self._product(depth)
            value += term if sign == "+" else -term
        return value

    def end(self) -> None:
        if self._tokens:
            raise self._malformed()

    def _product(self, depth: int) -> int:
        value = self._atom(depth)
        while (operation := self._accept("*", "floordiv", "mod")) is not None:
            other = self._atom(depth)
            if operation == "*":
                value *= other
            elif other == 0:
                raise DimensionError(f"{self._text} divides by zero")
            else:
                value = value // other if operation == "floordiv" else value % other
        return value

    def _atom(self, depth: int) -> int:
        sign = 1
        while self._accept("-"):
            sign = -sign
        if self._accept("("):
            value = self.sum(depth + 1)
            self._expect(")")
            return sign * value
        token = self._tokens.pop() if self._tokens else ""
        if token.isdigit():
            return sign * int(token)
        if token in _SELECTIONS:
            return sign * self._selection(_SELECTIONS[token], depth)
        if token not in self._sizes:
            raise self._malformed()
        return sign * self._sizes[token]

    def _selection(self, choose: Callable[[list[int]], int | None], depth: int) -> int:
        self._expect("(")
        parts = [self.sum(depth + 1)]
        while self._accept(","):
            parts.append(self.sum(depth + 1))
        self._expect(")")
        value = choose(parts)
        if value is None:
            raise DimensionError(f"{self._text}: {' and '.join(map(str, parts))} do not broadcast")
        return value

    def _accept(self, *wanted: str) -> str | None:
        return self._tokens.pop() if self._tokens and self._tokens[-1] in wanted else None

    def _expect(self, token: str) -> None:
        if self._accept(token) is None:
            raise self._malformed()

    def _malformed(self) -> ArtifactError:
        known = ", ".join(self._sizes) or "none"
        return ArtifactError(f"'{self._text}' is not an extent over the names {known}")


def _broadcast(parts: list[int]) -> int | None:
    others = {part for part in parts if part != 1}
    return others.pop() if len(others) == 1 else (None if others else 1)


_SELECTIONS: Final[Mapping[str, Callable[[list[int]], int | None]]] = {
    "max": max,
    "min": min,
    "broadcast": _broadcast,
}
