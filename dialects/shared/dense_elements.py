"""Questions about the elements of `dense` attributes, and their text."""

from __future__ import annotations

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType
from xdsl.printer import Printer


def is_uniform(value: DenseIntOrFPElementsAttr) -> bool:
    """Whether all elements have the same bytes. For xDSL's `is_splat`, 0.0 equals -0.0, and no NaN another."""
    count, data = len(value), value.data.data
    return count > 0 and data[: len(data) // count] * count == data


def print_elements(value: DenseIntOrFPElementsAttr, printer: Printer) -> None:
    """Prints `dense<…>` without the type: xDSL's text, but zeros of both signs are hexadecimal.

    xDSL prints all of them as the first one.
    """
    data = value.data.data
    if is_uniform(value):
        _shortened(value).print_without_type(printer)
    elif data and not data.strip(b"\x00\x80") and value.is_splat():
        printer.print_string(f'dense<"0x{data.hex().upper()}">')
    else:
        value.print_without_type(printer)


def _shortened(value: DenseIntOrFPElementsAttr) -> DenseIntOrFPElementsAttr:
    """Returns two elements of a uniform `value`, which print the same; all of them for NaNs, which are listed.

    xDSL would compare all elements as numbers of Python.
    """
    if len(value) == 1:
        return value
    data = value.data.data[: 2 * len(value.data.data) // len(value)]
    pair = DenseIntOrFPElementsAttr(TensorType(value.get_element_type(), [2]), BytesAttr(data))
    return pair if pair.is_splat() else value
