"""Parsing of `affine_map<(d0, d1) -> (d0 * d1)>`: products, quotients and remainders of two dimensions or symbols.

xDSL's parser accepts only constants on the right side; the maps of loop accesses, in generic form, have both.
"""

from __future__ import annotations

from xdsl.ir.affine import AffineBinaryOpKind, AffineExpr, AffineMap
from xdsl.parser.affine_parser import AffineParser
from xdsl.utils.mlir_lexer import MLIRToken

from xrelay.index_algebra.linear_form import binary
from xrelay.passes.infra.literal_parser import HexFloatParser

_KINDS = {kind.get_token(): kind for kind in AffineBinaryOpKind}


class _SemiAffineParser(AffineParser):
    """xDSL's parser of affine maps, extended to operations on any two expressions."""

    def _create_binop_expr(self, lhs: AffineExpr, rhs: AffineExpr, binop: MLIRToken) -> AffineExpr:
        kind = _KINDS.get(binop.text)
        return super()._create_binop_expr(lhs, rhs, binop) if kind is None else binary(kind, lhs, rhs)


class SemiAffineMapParser(HexFloatParser):
    """Parses affine maps with products and quotients of any two expressions."""

    def parse_affine_map(self) -> AffineMap:
        """Parses `(d0, d1) -> (d0 * d1)`."""
        return _SemiAffineParser(self._parser_state).parse_affine_map()
