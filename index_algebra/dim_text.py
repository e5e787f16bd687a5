"""The text of dimensions, composed from the text of their operands: `2 * n + 1`, `n * (m mod 4)`, `max(n, m)`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

WORDS = frozenset({"max", "min", "broadcast", "floordiv", "mod", "broadcastable"})
"""Keywords of expressions and requirements, which cannot be names of dimensions."""


def sum_text(terms: Iterable[tuple[Sequence[str], int]]) -> str:
    """The text of a sum of products; a term is the text of its factors and a non-zero coefficient."""
    text = ""
    for factors, coefficient in terms:
        term = _product_text(factors, abs(coefficient))
        if text:
            text += f" {'-' if coefficient < 0 else '+'} {term}"
        else:
            text = f"-{parenthesised(term)}" if coefficient < 0 else term
    return text


def _product_text(factors: Sequence[str], coefficient: int) -> str:
    if not factors:
        return str(coefficient)
    if len(factors) == 1 and coefficient == 1:
        return factors[0]
    return " * ".join(([str(coefficient)] if coefficient != 1 else []) + [_factor_text(factor) for factor in factors])


def _factor_text(factor: str) -> str:
    """The text of a factor: a name or call without parentheses, a quotient or remainder in parentheses."""
    return factor if factor.isidentifier() or is_call(factor) else f"({factor})"


def is_call(text: str) -> bool:
    """Whether `text` as a whole is one call: `max(n, m)`, but not `max(n, m) mod 4`."""
    name, bracket, _ = text.partition("(")
    if not bracket or not name.isidentifier():
        return False
    depth = 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == ")" and depth == 0:
            return position == len(text) - 1
    return False


def parenthesised(text: str) -> str:
    """`text` as an operand of `floordiv`, `mod` or unary minus."""
    return f"({text})" if (" " in text and not is_call(text)) or text.startswith("-") else text
