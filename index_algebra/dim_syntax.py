"""Parser of dimensions: `2 * n + 1`, `(n + 15) floordiv 16`, `broadcast(n, m)`, `?`.

Recursive descent, as in xDSL's own parser; more than `MAX_DEPTH` nested levels are an error.
"""

from __future__ import annotations

from xdsl.parser import AttrParser

from xrelay.errors import DimensionError
from xrelay.index_algebra.dim_expressions import MAX_DEPTH, WORDS, SelectionKind, divide, modulo, select
from xrelay.index_algebra.dims import ANY, Dim, symbol

_SELECTIONS: dict[str, SelectionKind] = {"max": "max", "min": "min", "broadcast": "broadcast"}


def parse_dim(parser: AttrParser) -> Dim:
    """Parses a dimension; reports an error for dimensions that are too large, divide by zero, or do not broadcast."""
    start = parser.pos
    try:
        return _parse_sum(parser, 0)
    except DimensionError as error:
        parser.raise_error(error.message, start, parser.pos)


def _parse_sum(parser: AttrParser, depth: int) -> Dim:
    if depth > MAX_DEPTH:
        parser.raise_error(f"an expression nests more than {MAX_DEPTH} levels deep")
    total = _parse_term(parser, depth)
    while True:
        if parser.parse_optional_punctuation("+"):
            total = total + _parse_term(parser, depth)
        elif parser.parse_optional_punctuation("-"):
            total = total - _parse_term(parser, depth)
        else:
            return total


def _parse_term(parser: AttrParser, depth: int) -> Dim:
    value = _parse_atom(parser, depth)
    while True:
        start = parser.pos
        if parser.parse_optional_punctuation("*"):
            value = value * _parse_atom(parser, depth)
        elif (word := parser.parse_optional_keyword_in(("floordiv", "mod"))) is not None:
            operation = divide if word == "floordiv" else modulo
            try:
                value = operation(value, _parse_atom(parser, depth))
            except DimensionError as error:
                parser.raise_error(error.message, start, parser.pos)
        else:
            return value


def _parse_atom(parser: AttrParser, depth: int) -> Dim:
    sign = 1
    while parser.parse_optional_punctuation("-"):
        sign = -sign
    if parser.parse_optional_punctuation("?"):
        return ANY
    if parser.parse_optional_punctuation("("):
        inner = _parse_sum(parser, depth + 1)
        parser.parse_punctuation(")")
        return sign * inner
    number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    if number is not None:
        return sign * number
    start = parser.pos
    expected = "expected a dimension: a name, an integer, '?' or a parenthesis"
    name = parser.expect(parser.parse_optional_identifier, expected)
    if name in _SELECTIONS:
        return sign * _parse_selection(parser, _SELECTIONS[name], start, depth)
    if name in WORDS:
        parser.raise_error(f"{name!r} is a keyword, not the name of a dimension", start, parser.pos)
    return sign * symbol(name)


def _parse_selection(parser: AttrParser, kind: SelectionKind, start: int, depth: int) -> Dim:
    parts = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_sum(parser, depth + 1))
    if len(parts) < 2:
        parser.raise_error(f"{kind} needs two dimensions or more, found {len(parts)}", start, parser.pos)
    try:
        return select(kind, parts)
    except DimensionError as error:
        parser.raise_error(error.message, start, parser.pos)
