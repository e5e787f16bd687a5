"""The base of convolutions and pools: strides, padding and dilation of a window over height and width."""

from __future__ import annotations

from typing import ClassVar

from xrelay.dialects.relay.core.attribute_values import AttributeValue, ints
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.properties import ints_property
from xrelay.dialects.relay.core.windows import Pads, four_pads, normalize_padding, pair


class SlidingWindowOp(RelayOp):
    """Base of the ops with the properties `strides`, `padding` and `dilation`.

    An op declares them again, as their order is that of Relay's arguments.
    """

    SIZE: ClassVar[str]
    """The property that is the window's size."""

    strides = ints_property(1, 1)
    padding = ints_property(0, 0, 0, 0)
    dilation = ints_property(1, 1)

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accept padding of 1, 2 or 4 numbers and a single number as the window's size."""
        size = attributes.get(cls.SIZE)
        if isinstance(size, int):
            attributes[cls.SIZE] = (size, size)
        return normalize_padding(attributes)

    @property
    def pads(self) -> Pads:
        """The padding as (top, left, bottom, right)."""
        return four_pads(ints(self.padding))

    @property
    def stride_pair(self) -> tuple[int, int]:
        """The strides along height and width."""
        return pair(ints(self.strides))

    @property
    def dilation_pair(self) -> tuple[int, int]:
        """The dilation along height and width."""
        return pair(ints(self.dilation))
