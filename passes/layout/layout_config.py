"""`LayoutConfig`, which keeps `relay-convert-layout` from single convolutions.

    with transform.LayoutConfig(skip_layers=[0]):
        module = transform.ConvertLayout({"nn.conv2d": ["NHWC", "default"]})(module)

The first and the last layers of a network are often better off in the layout that they have. Convolutions that the pass
is asked for are numbered from 0 in the order of the program, deformable ones among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Self

_ENTERED: ContextVar[tuple[LayoutConfig, ...]] = ContextVar("layout configs", default=())


class LayoutConfig:
    """The convolutions that keep their layout while a `with` block lasts; this thread alone sees it.

    `skip_layers` are their numbers, `skip_counter` how many there were so far. Blocks nest: the innermost counts.
    """

    def __init__(self, skip_layers: Sequence[int] | None = None):
        self.skip_layers = list(skip_layers) if skip_layers is not None else []
        self.skip_counter = 0

    @staticmethod
    def innermost() -> LayoutConfig | None:
        """The one that was entered last; `None` outside of all."""
        return next(reversed(_ENTERED.get()), None)

    def check_skip(self) -> bool:
        """Whether the next convolution is to be skipped; counts it."""
        skip = self.skip_counter in self.skip_layers
        self.skip_counter += 1
        return skip

    def reset(self) -> None:
        """Begin at 0 again, and skip nothing."""
        self.skip_counter, self.skip_layers = 0, []

    def __enter__(self) -> Self:
        """Enter it."""
        _ENTERED.set((*_ENTERED.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leave it."""
        _ENTERED.set(_ENTERED.get()[:-1])
