"""`PassStack` stores the values of an instrument between `run_before_pass` and `run_after_pass`."""

from __future__ import annotations

from typing import Generic, TypeVar

from xrelay.passes.infra.pass_info import PassInfo

T = TypeVar("T")


class PassStack(Generic[T]):
    """A value for each running pass, innermost last.

    A pass that fails has no `run_after_pass`; if its caller continues, `pop` drops the value of the failed pass.
    """

    def __init__(self) -> None:
        self._open: list[tuple[PassInfo, T]] = []

    def __len__(self) -> int:
        return len(self._open)

    @property
    def innermost_item(self) -> tuple[PassInfo, T] | None:
        """The pass that began last and its value, or None if no pass is running."""
        return self._open[-1] if self._open else None

    @property
    def innermost(self) -> T | None:
        """The value of the pass that began last, or None if no pass is running."""
        return self._open[-1][1] if self._open else None

    def push(self, info: PassInfo, value: T) -> None:
        """Pushes the value of a pass that begins."""
        self._open.append((info, value))

    def fill(self, value: T) -> None:
        """Sets the value of every running pass."""
        self._open = [(info, value) for info, _ in self._open]

    def pop(self, info: PassInfo) -> T:
        """Pops and returns the value of a pass that ends; raises `KeyError` for a pass that did not begin."""
        while self._open:
            known, value = self._open.pop()
            if known == info:
                return value
        raise KeyError(info.name)

    def clear(self) -> None:
        """Removes all passes."""
        self._open.clear()
