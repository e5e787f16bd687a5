"""The readable syntax of attributes in relay ops: `{strides = [2, 2], channels = 32, epsilon = 1.0e-05}`.

`[2, 2]` is `array<i64: 2, 2>`, `[0.0, 1.0]` is `array<f64: 0.0, 1.0>`, an integer is i64, a number with a decimal point
is f64, `true` is i1. Everything else has xDSL's syntax, such as `["a", {b = 1 : i32}]`. Printed attributes parse to the
same attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from xrelay.dialects.relay.core.attribute_values import FloatArrayAttr, float_array
from xrelay.errors import did_you_mean


def parse_attributes(parser: Parser) -> dict[str, Attribute]:
    """Parses an optional `{name = value, …}`; a name alone is a unit attribute."""
    found: dict[str, Attribute] = {}
    parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, lambda: _parse_entry(parser, found))
    return found


def print_attributes(printer: Printer, attributes: Mapping[str, Attribute]) -> None:
    """Prints ` {name = value, …}`, or nothing for no attributes."""
    if not attributes:
        return
    printer.print_string(" ")
    with printer.in_braces():
        printer.print_list(attributes.items(), lambda entry: _print_entry(printer, *entry))


def parse_attributes_keyword(parser: Parser) -> dict[str, Attribute]:
    """Parses an optional `attributes {…}`."""
    return parse_attributes(parser) if parser.parse_optional_keyword("attributes") else {}


def print_attributes_keyword(printer: Printer, attributes: Mapping[str, Attribute]) -> None:
    """Prints ` attributes {…}`, or nothing for no attributes."""
    if attributes:
        printer.print_string(" attributes")
        print_attributes(printer, attributes)


def parse_typed_operand(parser: Parser) -> SSAValue:
    """Parses `%x : T`."""
    unresolved = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    return parser.resolve_operand(unresolved, parser.parse_type())


def print_typed(printer: Printer, value: SSAValue) -> None:
    """Prints `%x : T`."""
    printer.print_ssa_value(value)
    printer.print_string(" : ")
    printer.print_attribute(value.type)


def unknown_attribute(op: str, attributes: Iterable[str], known: Iterable[str]) -> str | None:
    """Returns the error message for the first unknown attribute, or None.

    Discardable attributes, whose names contain a dot, are always allowed, as in MLIR.
    """
    names = list(known)
    for name in attributes:
        if name not in names and "." not in name:
            hint = did_you_mean(name, names, f"it has {', '.join(names) or 'none'}")
            return f"{op} has no attribute {name!r}; help: {hint}"
    return None


def _parse_entry(parser: Parser, found: dict[str, Attribute]) -> None:
    start = parser.pos
    name = parser.parse_optional_str_literal()
    if name is None:
        name = parser.expect(parser.parse_optional_identifier, "expected an attribute name")
    if name in found:
        parser.raise_error(f"the attribute {name} occurs twice", start, parser.pos)
    found[name] = parse_value(parser) if parser.parse_optional_punctuation("=") else UnitAttr()


def parse_value(parser: Parser) -> Attribute:
    """Parses one attribute value in the readable syntax."""
    items = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_item(parser))
    if items is not None:
        return _list_of(items, parser)
    boolean = parser.parse_optional_boolean()
    if boolean is not None:
        return IntegerAttr(int(boolean), i1)
    item = _parse_item(parser)
    if isinstance(item, Attribute):
        return item
    return IntegerAttr(item, i64) if isinstance(item, int) else FloatAttr(item, f64)


def _parse_item(parser: Parser) -> int | float | Attribute:
    """Parses a number without a type, or any other attribute."""
    # Infinities are printed as hexadecimal bits, which xDSL parses.
    is_in_bits = parser.lexer.input.slice(parser.pos, parser.pos + 2) in ("0x", "0X")
    number = None if is_in_bits else parser.parse_optional_number(allow_boolean=False)
    if number is None:
        return parser.parse_attribute()
    if not parser.parse_optional_punctuation(":"):
        return number
    type = parser.parse_type()
    if isinstance(type, IntegerType | IndexType) and isinstance(number, int):
        return IntegerAttr(number, type)
    if isinstance(type, AnyFloat) and isinstance(number, float):
        return FloatAttr(number, type)
    return parser.raise_error(f"expected a number with a type of its kind, found {number} : {type}")


def _list_of(items: Sequence[int | float | Attribute], parser: Parser) -> Attribute:
    """Returns a dense array for numbers without types, an array attribute for other attributes."""
    numbers = [item for item in items if not isinstance(item, Attribute)]
    others = [item for item in items if isinstance(item, Attribute)]
    if numbers and others:
        parser.raise_error(
            f"expected a type for every number of a list or for no number, found {numbers[0]} without type"
        )
    if others:
        return ArrayAttr(others)
    integers = [number for number in numbers if isinstance(number, int)]
    return DenseArrayBase.from_list(i64, integers) if len(integers) == len(numbers) else float_array(numbers)


def _print_entry(printer: Printer, name: str, value: Attribute) -> None:
    printer.print_identifier_or_string_literal(name)
    if isinstance(value, UnitAttr):
        return
    printer.print_string(" = ")
    print_value(printer, value)


def print_value(printer: Printer, value: Attribute) -> None:
    """Prints one attribute value in the readable syntax."""
    text = _readable(value)
    if text is None:
        printer.print_attribute(value)
    else:
        printer.print_string(text)


def _readable(value: Attribute) -> str | None:
    """Returns the readable text of `value`, or None if it has no readable syntax."""
    if isinstance(value, DenseArrayBase) and value.elt_type == i64:
        integers = cast(DenseArrayBase[IntegerType], value).get_values()
        return "[" + ", ".join(str(integer) for integer in integers) + "]"
    if isinstance(value, DenseArrayBase) and cast(FloatArrayAttr, value).elt_type == f64:
        numbers = cast(FloatArrayAttr, value).get_values()
        is_readable = bool(numbers) and all(map(_is_finite, numbers))
        return "[" + ", ".join(map(_float_text, numbers)) + "]" if is_readable else None
    if isinstance(value, IntegerAttr):
        integer = cast(IntegerAttr[IntegerType | IndexType], value)
        if integer.type == i1:
            return "true" if integer.value.data else "false"
        return str(integer.value.data) if integer.type == i64 else None
    if isinstance(value, FloatAttr):
        number = cast(FloatAttr[AnyFloat], value)
        return _float_text(number.value.data) if number.type == f64 and _is_finite(number.value.data) else None
    return None


def _is_finite(number: float) -> bool:
    return number - number == 0.0


def _float_text(number: float) -> str:
    """Returns the shortest text that parses to the float `number`. MLIR requires a decimal point."""
    text = repr(number)
    mantissa, separator, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return mantissa + separator + exponent
