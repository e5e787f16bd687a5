"""Text form of affine expressions over SSA values: `%oh * 2 + %kh - 1`, `(%f floordiv 4) mod 3`, `%i * %n + %j`.

xDSL's own parser accepts such expressions only inside square brackets; bindings of block variables have none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Generic

from typing_extensions import TypeVar
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.parser import Parser
from xdsl.printer import Printer

from xrelay.index_algebra.affine_products import binary, times
from xrelay.index_algebra.value_map import Space, ValueMap

OperandT = TypeVar("OperandT", bound=Hashable)

_WORDS = {
    "floordiv": AffineBinaryOpKind.FloorDiv,
    "ceildiv": AffineBinaryOpKind.CeilDiv,
    "mod": AffineBinaryOpKind.Mod,
}


class AffineReader(ABC, Generic[OperandT]):
    """Parses affine expressions; a subclass defines the syntax of a dimension."""

    def __init__(self, parser: Parser):
        self.parser = parser
        self.space = Space[OperandT]()

    @abstractmethod
    def operand(self) -> AffineExpr | None:
        """Parse a dimension; `None` if something else follows."""

    def exprs(self) -> ValueMap[OperandT]:
        """Parse `[e0, e1, …]`."""
        exprs = self.parser.parse_comma_separated_list(self.parser.Delimiter.SQUARE, self.sum)
        return ValueMap.make(exprs, self.space.values)

    def sum(self) -> AffineExpr:
        """Parse one expression."""
        left = self._product()
        while True:
            if self.parser.parse_optional_punctuation("+") is not None:
                left = left + self._product()
            elif self.parser.parse_optional_punctuation("-") is not None:
                left = left - self._product()
            else:
                return left

    def _product(self) -> AffineExpr:
        left = self._primary()
        while True:
            position = self.parser.pos
            if self.parser.parse_optional_punctuation("*") is not None:
                left = times(left, self._primary())
            elif (word := self.parser.parse_optional_keyword_in(_WORDS)) is not None:
                divisor = self._primary()
                if isinstance(divisor, AffineConstantExpr) and divisor.value < 1:
                    self.parser.raise_error(f"'{word}' needs a positive divisor, got {divisor.value}", position)
                left = binary(_WORDS[word], left, divisor)
            else:
                return left

    def _primary(self) -> AffineExpr:
        if self.parser.parse_optional_punctuation("(") is not None:
            inner = self.sum()
            self.parser.parse_punctuation(")")
            return inner
        if self.parser.parse_optional_punctuation("-") is not None:
            return -self._primary()
        operand = self.operand()
        if operand is not None:
            return operand
        return AffineConstantExpr(self.parser.parse_integer(allow_boolean=False, allow_negative=False))


class _ValueReader(AffineReader[SSAValue]):
    """Reads expressions over SSA values."""

    def operand(self) -> AffineExpr | None:
        """Parse `%i`."""
        operand = self.parser.parse_optional_unresolved_operand()
        if operand is None:
            return None
        return AffineDimExpr(self.space.position(self.parser.resolve_operand(operand, IndexType())))


def parse_affine_exprs(parser: Parser) -> ValueMap:
    """Parse `[e0, e1, …]`."""
    return _ValueReader(parser).exprs()


def parse_affine_expr(parser: Parser) -> ValueMap:
    """Parse one expression without brackets."""
    reader = _ValueReader(parser)
    return ValueMap.make((reader.sum(),), reader.space.values)


def print_affine_exprs(printer: Printer, exprs: Sequence[AffineExpr], operands: Sequence[SSAValue]) -> None:
    """Print `[e0, e1, …]`."""
    print_exprs(printer, exprs, lambda position: printer.print_ssa_value(operands[position]))


def print_exprs(printer: Printer, exprs: Sequence[AffineExpr], print_operand: Callable[[int], object]) -> None:
    """Print `[e0, e1, …]`; `print_operand` prints a dimension by its position."""
    with printer.in_square_brackets():
        printer.print_list(exprs, lambda expr: _print(printer, expr, print_operand, parenthesise=False))


def print_affine_expr(printer: Printer, expr: AffineExpr, operands: Sequence[SSAValue]) -> None:
    """Print one expression, with parentheses only if the meaning needs them."""
    _print(printer, expr, lambda position: printer.print_ssa_value(operands[position]), parenthesise=False)


def _print(printer: Printer, expr: AffineExpr, operand: Callable[[int], object], *, parenthesise: bool) -> None:
    match expr:
        case AffineConstantExpr(value=value):
            printer.print_string(str(value))
        case AffineDimExpr(position=position):
            operand(position)
        case AffineBinaryOpExpr() if parenthesise:
            printer.print_string("(")
            _print(printer, expr, operand, parenthesise=False)
            printer.print_string(")")
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
            _print(printer, lhs, operand, parenthesise=False)
            _print_addend(printer, rhs, operand)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            _print(printer, lhs, operand, parenthesise=_is_sum(lhs))
            printer.print_string(f" {kind.get_token()} ")
            _print(printer, rhs, operand, parenthesise=isinstance(rhs, AffineBinaryOpExpr))
        case _:
            raise ValueError(f"an affine expression over values cannot contain {expr}")


def _print_addend(printer: Printer, expr: AffineExpr, operand: Callable[[int], object]) -> None:
    """Print an addend of a sum; a negative constant or coefficient becomes a subtraction."""
    match expr:
        case AffineConstantExpr(value=value) if value < 0:
            printer.print_string(f" - {-value}")
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=AffineConstantExpr(value=value)) if value < 0:
            printer.print_string(" - ")
            _print(printer, lhs * -value, operand, parenthesise=_is_sum(lhs))
        case _:
            printer.print_string(" + ")
            _print(printer, expr, operand, parenthesise=False)


def _is_sum(expr: AffineExpr) -> bool:
    return isinstance(expr, AffineBinaryOpExpr) and expr.kind is AffineBinaryOpKind.Add
