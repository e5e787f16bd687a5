"""Text form of affine expressions over SSA values: `%oh * 2 + %kh - 1`, `(%f floordiv 4) mod 3`, `%i * %n + %j`.

xDSL's own parser reads such expressions only inside square brackets; bindings of block variables have none.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.parser import Parser
from xdsl.printer import Printer

from xrelay.index_algebra.affine_products import binary, times
from xrelay.index_algebra.value_map import Space, ValueMap

_WORDS = {
    "floordiv": AffineBinaryOpKind.FloorDiv,
    "ceildiv": AffineBinaryOpKind.CeilDiv,
    "mod": AffineBinaryOpKind.Mod,
}


def parse_affine_exprs(parser: Parser) -> ValueMap:
    """Parse `[e0, e1, …]`."""
    space = Space()
    exprs = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_sum(parser, space))
    return ValueMap.make(exprs, space.values)


def parse_affine_expr(parser: Parser) -> ValueMap:
    """Parse one expression without brackets."""
    space = Space()
    return ValueMap.make((_parse_sum(parser, space),), space.values)


def print_affine_exprs(printer: Printer, exprs: Sequence[AffineExpr], operands: Sequence[SSAValue]) -> None:
    """Print `[e0, e1, …]`."""
    with printer.in_square_brackets():
        printer.print_list(exprs, lambda expr: print_affine_expr(printer, expr, operands))


def print_affine_expr(printer: Printer, expr: AffineExpr, operands: Sequence[SSAValue]) -> None:
    """Print one expression, with parentheses only where the meaning needs them."""
    _print(printer, expr, operands, parenthesise=False)


def _parse_sum(parser: Parser, space: Space) -> AffineExpr:
    left = _parse_product(parser, space)
    while True:
        if parser.parse_optional_punctuation("+") is not None:
            left = left + _parse_product(parser, space)
        elif parser.parse_optional_punctuation("-") is not None:
            left = left - _parse_product(parser, space)
        else:
            return left


def _parse_product(parser: Parser, space: Space) -> AffineExpr:
    left = _parse_primary(parser, space)
    while True:
        position = parser.pos
        if parser.parse_optional_punctuation("*") is not None:
            left = times(left, _parse_primary(parser, space))
        elif (word := parser.parse_optional_keyword_in(_WORDS)) is not None:
            divisor = _parse_primary(parser, space)
            if isinstance(divisor, AffineConstantExpr) and divisor.value < 1:
                parser.raise_error(f"'{word}' needs a positive divisor, got {divisor.value}", position)
            left = binary(_WORDS[word], left, divisor)
        else:
            return left


def _parse_primary(parser: Parser, space: Space) -> AffineExpr:
    if parser.parse_optional_punctuation("(") is not None:
        inner = _parse_sum(parser, space)
        parser.parse_punctuation(")")
        return inner
    if parser.parse_optional_punctuation("-") is not None:
        return -_parse_primary(parser, space)
    operand = parser.parse_optional_unresolved_operand()
    if operand is not None:
        return AffineDimExpr(space.position(parser.resolve_operand(operand, IndexType())))
    return AffineConstantExpr(parser.parse_integer(allow_boolean=False, allow_negative=False))


def _print(printer: Printer, expr: AffineExpr, operands: Sequence[SSAValue], *, parenthesise: bool) -> None:
    match expr:
        case AffineConstantExpr(value=value):
            printer.print_string(str(value))
        case AffineDimExpr(position=position):
            printer.print_ssa_value(operands[position])
        case AffineBinaryOpExpr() if parenthesise:
            printer.print_string("(")
            _print(printer, expr, operands, parenthesise=False)
            printer.print_string(")")
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
            _print(printer, lhs, operands, parenthesise=False)
            _print_addend(printer, rhs, operands)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            _print(printer, lhs, operands, parenthesise=_is_sum(lhs))
            printer.print_string(f" {kind.get_token()} ")
            _print(printer, rhs, operands, parenthesise=isinstance(rhs, AffineBinaryOpExpr))
        case _:
            raise ValueError(f"an affine expression over values has no {expr}")


def _print_addend(printer: Printer, expr: AffineExpr, operands: Sequence[SSAValue]) -> None:
    """A negative constant or coefficient is printed as a subtraction."""
    match expr:
        case AffineConstantExpr(value=value) if value < 0:
            printer.print_string(f" - {-value}")
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=AffineConstantExpr(value=value)) if value < 0:
            printer.print_string(" - ")
            _print(printer, lhs * -value, operands, parenthesise=_is_sum(lhs))
        case _:
            printer.print_string(" + ")
            _print(printer, expr, operands, parenthesise=False)


def _is_sum(expr: AffineExpr) -> bool:
    return isinstance(expr, AffineBinaryOpExpr) and expr.kind is AffineBinaryOpKind.Add
