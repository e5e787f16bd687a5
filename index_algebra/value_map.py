"""Affine expressions over SSA values, for accesses, bindings and tile bases, and their text.

In the IR they are an `AffineMapAttr` with as many dimensions as operands. `ValueMap` is the same as a Python value in
canonical form: each operand occurs once, and operands are numbered in order of first appearance. The text form is
`%oh * 2 + %kh - 1`, `(%f floordiv 4) mod 3`, `%i * %n + %j`; xDSL's own parser accepts such expressions only inside
square brackets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Generic, overload

from typing_extensions import TypeVar
from xdsl.dialects.builtin import AffineMapAttr, IndexType
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from xrelay.index_algebra.affine_bounds import Box, simplify, substitute
from xrelay.index_algebra.linear_form import binary, const, dim, times

OperandT = TypeVar("OperandT", bound=Hashable, default=SSAValue)
"""An operand: an SSA value, or at the topi level also a named dimension."""

GivenT = TypeVar("GivenT", bound=Hashable)

_SIMPLE: Final[frozenset[type[AffineExpr]]] = frozenset({AffineDimExpr, AffineConstantExpr})


@dataclass(frozen=True)
class ValueMap(Generic[OperandT]):
    """`exprs[k]` over dimensions, where dimension `d` is `operands[d]`. Build it with `ValueMap.make`."""

    exprs: tuple[AffineExpr, ...]
    operands: tuple[OperandT, ...]

    @overload
    @staticmethod
    def make(exprs: Iterable[AffineExpr], operands: Sequence[SSAValue]) -> ValueMap: ...

    @overload
    @staticmethod
    def make(exprs: Iterable[AffineExpr], operands: Sequence[GivenT]) -> ValueMap[GivenT]: ...

    @staticmethod
    def make(exprs: Iterable[AffineExpr], operands: Sequence[GivenT]) -> ValueMap[GivenT]:
        """The canonical map: equal operands merged, unused ones dropped, the rest numbered by first appearance."""
        if len(operands) < 2 or len(set(operands)) == len(operands):
            return _numbered(exprs, operands)
        merged = dict.fromkeys(operands)
        numbers = {value: number for number, value in enumerate(merged)}
        positions = {position: numbers[value] for position, value in enumerate(operands)}
        return _numbered([_renumber(expr, positions) for expr in exprs], tuple(merged))

    @staticmethod
    def from_attr(attr: AffineMapAttr, operands: Sequence[SSAValue]) -> ValueMap:
        """The map of an op; its symbols become dimensions after the others."""
        dims = attr.data.num_dims
        exprs = attr.data.results
        if attr.data.num_symbols:
            exprs = tuple(symbols_as_dims(expr, dims) for expr in exprs)
        return ValueMap.make(exprs, operands)

    @staticmethod
    def identity(values: Sequence[SSAValue]) -> ValueMap:
        """One expression per value: the value itself."""
        if len(values) == 1:
            return ValueMap((dim(0),), tuple(values))
        return ValueMap.make([dim(k) for k in range(len(values))], values)

    @staticmethod
    def constant(*values: int) -> ValueMap:
        """Constant expressions, without operands."""
        return _constant(values)

    def attr(self) -> AffineMapAttr:
        """The attribute that an op stores in addition to `operands`."""
        return AffineMapAttr(AffineMap(len(self.operands), 0, self.exprs))

    def __len__(self) -> int:
        return len(self.exprs)

    def __getitem__(self, position: int) -> ValueMap[OperandT]:
        """The map that consists of the expression at `position`."""
        return self._single_maps[position]

    @cached_property
    def _single_maps(self) -> tuple[ValueMap[OperandT], ...]:
        """The expressions as maps of one; cached, since analyses of bindings and indices use them often."""
        return tuple([self._single_map(expr) for expr in self.exprs])

    def _single_map(self, expr: AffineExpr) -> ValueMap[OperandT]:
        if type(expr) is AffineDimExpr:
            return ValueMap((dim(0),), (self.operands[expr.position],))
        return _numbered((expr,), self.operands)

    @cached_property
    def is_simple(self) -> bool:
        """Whether every expression is an operand or a constant."""
        return {type(expr) for expr in self.exprs} <= _SIMPLE

    def select(self, positions: Iterable[int]) -> ValueMap[OperandT]:
        """The map with the expressions at `positions`, in that order."""
        return _numbered([self.exprs[p] for p in positions], self.operands)

    def substitute(self, replacements: Mapping[OperandT, ValueMap[OperandT]]) -> ValueMap[OperandT]:
        """The map with each operand in `replacements` replaced by the only expression of its `ValueMap`."""
        if len(self.exprs) == 1 and type(only := self.exprs[0]) is AffineDimExpr:
            return replacements.get(self.operands[only.position], self)
        given = [(d, new) for d, value in enumerate(self.operands) if (new := replacements.get(value)) is not None]
        if not given:
            return self
        space = Space(self.operands)
        mapping = {d: space.lift(new)[0] for d, new in given}
        return _numbered([substitute(expr, mapping) for expr in self.exprs], space.values)

    def plus(self, other: ValueMap[OperandT] | int, factor: int = 1) -> ValueMap[OperandT]:
        """`self + other * factor`, for maps of one expression; not simplified."""
        if not isinstance(other, int) and type(only := other.exprs[0]) is AffineConstantExpr:
            other = only.value
        if isinstance(other, int):
            return ValueMap((self.exprs[0] + other * factor,), self.operands)
        space = Space(self.operands)
        (added,) = space.lift(other)
        summand = added if factor == 1 else times(added, const(factor))
        return _numbered([binary(AffineBinaryOpKind.Add, self.exprs[0], summand)], space.values)

    def size(self, sizes: Mapping[OperandT, int] | None = None) -> int:
        """The size of the longest expression; an operand counts as `sizes` specifies, or as 1."""
        weights = [1 if sizes is None else sizes.get(value, 1) for value in self.operands]
        return max((_size(expr, weights) for expr in self.exprs), default=0)

    def simplified(self, box: Mapping[OperandT, tuple[int, int] | None] | None = None) -> ValueMap[OperandT]:
        """The map with every expression simplified; `box` has the intervals of operands, None if unknown."""
        if self.is_simple:
            return self
        intervals: Box = () if box is None else [box.get(value) for value in self.operands]
        return _numbered([simplify(expr, intervals) for expr in self.exprs], self.operands)


class Space(Generic[OperandT]):
    """A growing list of values, over which expressions of several maps are rewritten."""

    values: list[OperandT]
    _positions: dict[OperandT, int]

    def __init__(self, values: Iterable[OperandT] | None = None):
        self.values = [] if values is None else list(dict.fromkeys(values))
        self._positions = {value: position for position, value in enumerate(self.values)}

    def position(self, value: OperandT) -> int:
        """The dimension of `value`, appended if new."""
        position = self._positions.setdefault(value, len(self.values))
        if position == len(self.values):
            self.values.append(value)
        return position

    def lift(self, value_map: ValueMap[OperandT]) -> tuple[AffineExpr, ...]:
        """The expressions of `value_map` over this space."""
        if len(value_map.exprs) == 1 and type(only := value_map.exprs[0]) is AffineDimExpr:
            return (dim(self.position(value_map.operands[only.position])),)
        renaming = {d: dim(self.position(value)) for d, value in enumerate(value_map.operands)}
        return tuple([substitute(expr, renaming) for expr in value_map.exprs])


def join_maps(maps: Sequence[ValueMap[GivenT]]) -> ValueMap[GivenT]:
    """One map with the expressions of all, over the union of their operands."""
    space = Space[GivenT]()
    return _numbered([expr for value_map in maps for expr in space.lift(value_map)], space.values)


@lru_cache(maxsize=4096)
def _constant(values: tuple[int, ...]) -> ValueMap:
    return ValueMap(tuple([const(value) for value in values]), ())


def symbols_as_dims(expr: AffineExpr, dims: int) -> AffineExpr:
    """`expr` with symbol `s` replaced by dimension `dims + s`."""
    match expr:
        case AffineSymExpr(position=position):
            return AffineDimExpr(dims + position)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            return AffineBinaryOpExpr(kind, symbols_as_dims(lhs, dims), symbols_as_dims(rhs, dims))
        case _:
            return expr


def _size(expr: AffineExpr, weights: Sequence[int]) -> int:
    if type(expr) is AffineDimExpr:
        return weights[expr.position]
    if type(expr) is AffineBinaryOpExpr:
        return 1 + _size(expr.lhs, weights) + _size(expr.rhs, weights)
    return 1


def _numbered(exprs: Iterable[AffineExpr], operands: Sequence[GivenT]) -> ValueMap[GivenT]:
    """The canonical map of expressions over operands that differ from each other."""
    # Positions are compared instead of operands: the hash of an SSA value takes longer than the rest of a visit.
    kept: dict[int, int] = {}
    # A list is faster than a generator for the usual one to four expressions.
    renumbered = tuple([_renumber(expr, kept) for expr in exprs])
    return ValueMap(renumbered, tuple([operands[position] for position in kept]))


def _renumber(expr: AffineExpr, kept: dict[int, int]) -> AffineExpr:
    """`expr` with each dimension replaced by its number in `kept`; new dimensions get the next numbers."""
    # A hot path: exact types, since `isinstance` of an abstract class is ten times slower, and canonical expressions
    # are returned as they are.
    if type(expr) is AffineDimExpr:
        position = kept.setdefault(expr.position, len(kept))
        return expr if position == expr.position else dim(position)
    if type(expr) is AffineBinaryOpExpr:
        lhs, rhs = _renumber(expr.lhs, kept), _renumber(expr.rhs, kept)
        return expr if lhs is expr.lhs and rhs is expr.rhs else AffineBinaryOpExpr(expr.kind, lhs, rhs)
    return expr


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
        """Parses a dimension; `None` if something else follows."""

    def exprs(self) -> ValueMap[OperandT]:
        """Parses `[e0, e1, …]`."""
        exprs = self.parser.parse_comma_separated_list(self.parser.Delimiter.SQUARE, self.sum)
        return ValueMap.make(exprs, self.space.values)

    def sum(self) -> AffineExpr:
        """Parses one expression."""
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
        """Parses `%i`."""
        operand = self.parser.parse_optional_unresolved_operand()
        if operand is None:
            return None
        return AffineDimExpr(self.space.position(self.parser.resolve_operand(operand, IndexType())))


def parse_affine_exprs(parser: Parser) -> ValueMap:
    """Parses `[e0, e1, …]`."""
    return _ValueReader(parser).exprs()


def parse_affine_expr(parser: Parser) -> ValueMap:
    """Parses one expression without brackets."""
    reader = _ValueReader(parser)
    return ValueMap.make((reader.sum(),), reader.space.values)


def print_affine_exprs(printer: Printer, exprs: Sequence[AffineExpr], operands: Sequence[SSAValue]) -> None:
    """Prints `[e0, e1, …]`."""
    print_exprs(printer, exprs, lambda position: printer.print_ssa_value(operands[position]))


def print_exprs(printer: Printer, exprs: Sequence[AffineExpr], print_operand: Callable[[int], object]) -> None:
    """Prints `[e0, e1, …]`; `print_operand` prints a dimension by its position."""
    with printer.in_square_brackets():
        printer.print_list(exprs, lambda expr: _print(printer, expr, print_operand, parenthesise=False))


def print_affine_expr(printer: Printer, expr: AffineExpr, operands: Sequence[SSAValue]) -> None:
    """Prints one expression, with parentheses only if the meaning needs them."""
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
    """Prints an addend of a sum; a negative constant or coefficient becomes a subtraction."""
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
