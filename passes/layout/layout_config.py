"""`LayoutConfig`, which exempts single convolutions from `relay-convert-layout`.

    with transform.LayoutConfig(skip_layers=[0]):
        module = transform.ConvertLayout({"nn.conv2d": ["NHWC", "default"]})(module)

The first and the last layers of a network are often faster in the layout that they have. The convolutions that the pass
would convert are numbered from 0 in program order, including deformable convolutions.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Self

_ENTERED: ContextVar[tuple[LayoutConfig, ...]] = ContextVar("layout configs", default=())


class LayoutConfig:
    """The convolutions that keep their layout inside a `with` block, in this thread only.

    `skip_layers` are their numbers, `skip_counter` is the number of convolutions so far. Blocks nest: the innermost is
    used.
    """

    def __init__(self, skip_layers: Sequence[int] | None = None):
        self.skip_layers = list(skip_layers) if skip_layers is not None else []
        self.skip_counter = 0

    @staticmethod
    def innermost() -> LayoutConfig | None:
        """Returns the innermost entered config, or `None`."""
        return next(reversed(_ENTERED.get()), None)

    def check_skip(self) -> bool:
        """Returns whether to skip the next convolution, and counts it."""
        skip = self.skip_counter in self.skip_layers
        self.skip_counter += 1
        return skip

    def reset(self) -> None:
        """Resets the counter and skips no convolutions."""
        self.skip_counter, self.skip_layers = 0, []

    def __enter__(self) -> Self:
        """Enters the config."""
        _ENTERED.set((*_ENTERED.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leaves the config."""
        _ENTERED.set(_ENTERED.get()[:-1])
