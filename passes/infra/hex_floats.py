"""Parsing of hexadecimal floats inside `dense<…>`, the syntax of infinities and NaNs.

xDSL 0.74 prints `dense<0xFF800000> : vector<4xf32>` for minus infinity, as upstream does, but parses the digits as the
integer 4286578688: a maximum with that initial value is silently wrong. `HexFloatParser` parses them as bits.
"""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat, ComplexType, IndexType, IntegerType
from xdsl.parser import AttrParser, Parser
from xdsl.utils.hints import isa


class HexFloatParser(Parser):
    """xDSL's parser, which also parses hexadecimal elements of dense float attributes as bits."""

    _Element = AttrParser._TensorLiteralElement

    class _HexElement(_Element):
        """A hexadecimal element: an integer, or the bits of a float."""

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

    def _parse_tensor_literal_element(self) -> AttrParser._TensorLiteralElement:
        """Parses one element, and records whether it was hexadecimal."""
        hexadecimal = self._current_token.text[:2] in ("0x", "0X")
        element = super()._parse_tensor_literal_element()
        return self._HexElement(element.is_negative, element.value, element.span) if hexadecimal else element
