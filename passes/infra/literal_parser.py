"""Parsing of numbers, shapes and `dense<…>`: failures of xDSL's parser become errors at the literal.

Constants are also parsed several times as fast: xDSL constructs the type constraint anew for each `dense<…>`.
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
from xdsl.irdl import AttrConstraint, base
from xdsl.utils.exceptions import VerifyException

from xrelay.passes.infra.semi_affine_maps import SemiAffineMapParser

DenseType: TypeAlias = RankedStructure[IntegerType | IndexType | AnyFloat | ComplexType]
"""The types of `dense<…>`."""

MAX_EXTENT = 2**63 - 1
MAX_WIDTH = 2**24 - 1
"""The maximum bits of an integer type, as in upstream."""
TOO_LARGE = "a number too large for its type"
MAX_DENSE_BYTES = 2**28
"""The maximum size of a constant in the text; a splat is also stored in full."""


class LiteralParser(SemiAffineMapParser):
    """Parses literals, and reports those that no type of the language can hold."""

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
        start, is_bits = self.pos, self._current_token.text[:2] in ("0x", "0X")
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
