"""Affine index lists on SSA values: `[%n, %c, %h * 2 + %y - 1]`, their text form and their canonical operands."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

_SUM, _PRODUCT = 10, 20


def canonical_access(
    exprs: Sequence[AffineExpr], operands: Sequence[SSAValue]
) -> tuple[AffineMapAttr, tuple[SSAValue, ...]]:
    """The map and operands with each operand used and listed once, in the order in which the text mentions them.

    `exprs` are over the positions of `operands`. Two accesses that print alike are then equal as attributes too.
    """
    order: dict[SSAValue, AffineExpr] = {}
    replacements: dict[int, AffineExpr] = {}
    for expr in exprs:
        for node in expr.dfs():
            if isinstance(node, AffineDimExpr) and node.position not in replacements:
                value = operands[node.position]
                replacements[node.position] = order.setdefault(value, AffineDimExpr(len(order)))
    table = [replacements.get(i, AffineConstantExpr(0)) for i in range(len(operands))]
    results = tuple(expr.replace_dims_and_symbols(table, ()) for expr in exprs)
    return AffineMapAttr(AffineMap(len(order), 0, results)), tuple(order)


def parse_access(parser: Parser) -> tuple[AffineMapAttr, tuple[SSAValue, ...]]:
    """Parses `[expr, …]` over SSA values of type index."""
    parsed, values = parser.parse_affine_map_of_ssa_ids()
    # The parser numbers values as symbols; accesses here are maps of dimensions.
    dims = [AffineDimExpr(i) for i in range(len(values))]
    exprs = [expr.replace_dims_and_symbols((), dims) for expr in parsed.results]
    return canonical_access(exprs, values)


def print_access(printer: Printer, access: AffineMap, operands: Sequence[SSAValue]) -> None:
    """Prints `[expr, …]` with the SSA names in place of the dimensions."""
    with printer.in_square_brackets():
        printer.print_list(access.results, lambda expr: print_index_expr(printer, expr, operands))


def print_index_expr(printer: Printer, expr: AffineExpr, operands: Sequence[SSAValue], min_precedence: int = 0) -> None:
    """Prints one expression with as few parentheses as its meaning allows, subtractions written as such."""
    match expr:
        case AffineConstantExpr(value=value):
            printer.print_string(str(value))
        case AffineDimExpr(position=position):
            printer.print_ssa_value(operands[position])
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
            with printer.in_parens() if min_precedence > _SUM else nullcontext():
                print_index_expr(printer, lhs, operands, _SUM)
                negated = _negated(rhs)
                printer.print_string(" + " if negated is None else " - ")
                print_index_expr(printer, rhs if negated is None else negated, operands, _SUM + 1)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            with printer.in_parens() if min_precedence > _PRODUCT else nullcontext():
                print_index_expr(printer, lhs, operands, _PRODUCT + 1)
                printer.print_string(f" {kind.get_token()} ")
                print_index_expr(printer, rhs, operands, _PRODUCT + 1)
        case _:
            printer.print_string(str(expr))


def _negated(expr: AffineExpr) -> AffineExpr | None:
    """`-expr` where that is a plainer term than `expr` itself: a negative constant or coefficient."""
    match expr:
        case AffineConstantExpr(value=value) if value < 0:
            return AffineConstantExpr(-value)
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=AffineConstantExpr(value=value)) if value < 0:
            return lhs if value == -1 else AffineBinaryOpExpr(AffineBinaryOpKind.Mul, lhs, AffineConstantExpr(-value))
        case _:
            return None
