"""Parsing of numbers, shapes, affine maps and `dense<…>`: extends and corrects xDSL's parser.

Numbers that no type of the language can hold are errors at the literal. Constants are parsed several times as fast:
xDSL constructs the type constraint anew for each `dense<…>`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyDenseElement,
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    RankedStructure,
)
from xdsl.ir import TypeAttribute
from xdsl.ir.affine import AffineBinaryOpKind, AffineExpr, AffineMap
from xdsl.irdl import AttrConstraint, base
from xdsl.parser import AttrParser, Parser
from xdsl.parser.affine_parser import AffineParser
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.mlir_lexer import MLIRToken

from xrelay.index_algebra.linear_form import binary

DenseType: TypeAlias = RankedStructure[IntegerType | IndexType | AnyFloat | ComplexType]
"""The types of `dense<…>`."""
_KINDS = {kind.get_token(): kind for kind in AffineBinaryOpKind}

MAX_EXTENT = 2**63 - 1
MAX_WIDTH = 2**24 - 1
"""The maximum bits of an integer type, as in upstream."""
TOO_LARGE = "a number too large for its type"
MAX_DENSE_BYTES = 2**28
"""The maximum size of a constant in the text; a splat is also stored in full."""


class _SemiAffineParser(AffineParser):
    """xDSL's parser of affine maps, extended to operations on any two expressions, as in maps of loop accesses."""

    def _create_binop_expr(self, lhs: AffineExpr, rhs: AffineExpr, binop: MLIRToken) -> AffineExpr:
        kind = _KINDS.get(binop.text)
        return super()._create_binop_expr(lhs, rhs, binop) if kind is None else binary(kind, lhs, rhs)


class LiteralParser(Parser):
    """Parses literals, and reports those that no type of the language can hold."""

    _Element = AttrParser._TensorLiteralElement

    class _HexElement(_Element):
        """A hexadecimal element of `dense<…>`: an integer, or the bits of a float.

        xDSL prints `dense<0xFF800000> : vector<4xf32>` for minus infinity, as upstream does, but parses the digits as
        the integer 4286578688: a maximum with that initial value is silently wrong.
        """

        def to_type(
            self, parser: AttrParser, type: AnyFloat | IntegerType | IndexType | ComplexType
        ) -> int | float | bool | tuple[int, int] | tuple[float, float]:
            """Returns the element as a value of `type`."""
            if not isa(type, AnyFloat) or not isinstance(self.value, int):
                return super().to_type(parser, type)
            size = type.compile_time_size
            if self.value >> 8 * size:
                parser.raise_error(f"0x{self.value:X} has more bits than {type}", at_position=self.span)
            (number,) = type.iter_unpack(self.value.to_bytes(size, "little"))
            return number

    def parse_affine_map(self) -> AffineMap:
        """Parses `(d0, d1) -> (d0 * d1)`."""
        return _SemiAffineParser(self._parser_state).parse_affine_map()

    def _parse_tensor_literal_element(self) -> AttrParser._TensorLiteralElement:
        """Parses one element, and records whether it was hexadecimal."""
        is_hexadecimal = self._is_at_hexadecimal
        element = super()._parse_tensor_literal_element()
        return self._HexElement(element.is_negative, element.value, element.span) if is_hexadecimal else element

    @property
    def _is_at_hexadecimal(self) -> bool:
        return self._current_token.text[:2] in ("0x", "0X")

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        """Parses the text after `dense`; numbers that the element type cannot hold are reported at the literal."""
        with self._reporting():
            return super().parse_dense_int_or_fp_elements_attr(type)

    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr | FloatAttr | None:
        """Parses a number and its type; a number that the type cannot hold is reported at the number.

        xDSL 0.74 raises on a decimal beyond the type, 0.75 rounds it to infinity. Infinities must be written as bits.
        """
        start, is_bits = self.pos, self._is_at_hexadecimal
        with self._reporting():
            attribute = super().parse_optional_builtin_int_or_float_attr()
        if isinstance(attribute, FloatAttr) and math.isinf(attribute.value.data) and not is_bits:
            self.raise_error(TOO_LARGE, start, start + 1)
        return attribute

    def parse_shape_dimension(self, allow_dynamic: bool = True) -> int:
        """Parses an extent; an extent of more than 63 bits is reported."""
        start = self.pos
        extent = super().parse_shape_dimension(allow_dynamic)
        if extent > MAX_EXTENT:
            self.raise_error(f"the extent {extent} does not fit 64 bits", start, start + 1)
        return extent

    @contextmanager
    def _reporting(self) -> Generator[None]:
        """Converts Python's exceptions on numbers that do not fit to errors at the beginning of the literal."""
        start = self.pos
        try:
            yield
        except (ArithmeticError, AssertionError, struct.error) as error:
            too_large = isinstance(error, ArithmeticError)
            message = TOO_LARGE if too_large else "the literal does not match its type"
        except (VerifyException, ValueError) as error:
            message = str(error)
        else:
            return
        self.raise_error(message, start, start + 1)

    def _parse_dense_literal_type(self) -> DenseType:
        """Parses the type of a `dense<…>` like xDSL, but with a cached constraint."""
        start = self.pos
        type = self.expect(self.parse_optional_type, "expected the type of the dense attribute")
        if not _dense_type().verifies(type):
            message = f"expected a tensor, vector or memref of integers or floats, found {type}"
            self.raise_error(message, start, start + 1)
        if DYNAMIC_INDEX in type.get_shape():
            self.raise_error(f"a dense attribute has a static shape, found {type}", start, start + 1)
        element = type.get_element_type()
        if math.prod(type.get_shape()) * element.compile_time_size > MAX_DENSE_BYTES:
            self.raise_error(f"a constant of {type} is too large for a text", start, start + 1)
        return type

    def _parse_optional_integer_or_float_type(self) -> TypeAttribute | None:
        """Parses `i32`, `index`, `f32` …; an integer type wider than `MAX_WIDTH` is reported."""
        start = self.pos
        type = super()._parse_optional_integer_or_float_type()
        if isinstance(type, IntegerType) and type.width.data > MAX_WIDTH:
            self.raise_error(f"an integer type has at most {MAX_WIDTH} bits", start, start + 1)
        return type


@cache
def _dense_type() -> AttrConstraint[DenseType]:
    return base(DenseType)
