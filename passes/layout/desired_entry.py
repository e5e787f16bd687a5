"""An entry of the option `desired-layouts` of `relay-convert-layout`: an operator with its layouts, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xrelay.dialects.relay.layout.layout import Layout, LayoutError
from xrelay.errors import PassError

NAME = "relay-convert-layout"
DEFAULT = "default"


def place_of(index: int, operator: str, layouts: Sequence[str]) -> str:
    """Returns the position of an entry, for messages."""
    return f"{NAME}: desired-layouts[{index}] {':'.join([operator, *layouts])!r}"


@dataclass(frozen=True)
class DesiredEntry:
    """The requested layouts, in the order of the operator's operands."""

    place: str
    """The position of the entry, for messages."""
    layouts: list[str]

    def at_most(self, most: int) -> None:
        """Raises `PassError` unless there are 1 to `most` layouts."""
        if not 1 <= len(self.layouts) <= most:
            what = "1 layout" if most == 1 else f"1 to {most} layouts"
            raise PassError(f"{self.place}: expected {what}, found {len(self.layouts)}")

    def layout(self, index: int, axes: str, split: str = "") -> Layout:
        """Returns layout `index`; raises `PassError` if it is invalid, or has or splits other axes than these."""
        text = self.layouts[index]
        try:
            layout = Layout.parse(text)
        except LayoutError as error:
            raise PassError(f"{self.place}: {error.message}", help=error.help) from error
        if sorted(layout.primal) != sorted(axes):
            raise PassError(f"{self.place}: layout {text} does not have the axes {axes}")
        strange = [axis for axis in layout.axes if axis.factor is not None and axis.letter not in split]
        if strange:
            which = f"only {' and '.join(split)} may be split" if split else "no axis may be split"
            raise PassError(f"{self.place}: layout {text} splits {strange[0].letter}; {which}")
        return layout

    def optional(self, index: int, axes: str, split: str = "") -> Layout | None:
        """Like `layout`, but returns None if the layout is omitted or `default`."""
        given = self.layouts[index] if index < len(self.layouts) else DEFAULT
        return None if given == DEFAULT else self.layout(index, axes, split)

    def one_of(self, index: int, layouts: Sequence[str]) -> Layout:
        """Returns layout `index`; raises `PassError` unless it is one of `layouts`."""
        text = self.layouts[index]
        if text not in layouts:
            raise PassError(f"{self.place}: the layout {text} is not {' or '.join(layouts)}")
        return Layout.parse(text)
