"""`PassStack` keeps the values of an instrument between `run_before_pass` and `run_after_pass`."""

from __future__ import annotations

from typing import Generic, TypeVar

from xrelay.passes.infra.pass_info import PassInfo

T = TypeVar("T")


class PassStack(Generic[T]):
    """A value for each pass that is running, innermost last.

    A pass that fails has no `run_after_pass`; where its caller goes on all the same, `pop` drops what it left.
    """

    def __init__(self) -> None:
        self._open: list[tuple[PassInfo, T]] = []

    def __len__(self) -> int:
        return len(self._open)

    @property
    def innermost_item(self) -> tuple[PassInfo, T] | None:
        """The pass that began last, if one is running, and its value."""
        return self._open[-1] if self._open else None

    @property
    def innermost(self) -> T | None:
        """The value of the pass that began last, if one is running."""
        return self._open[-1][1] if self._open else None

    def push(self, info: PassInfo, value: T) -> None:
        """The pass begins."""
        self._open.append((info, value))

    def fill(self, value: T) -> None:
        """Let `value` be that of every pass that is running."""
        self._open = [(info, value) for info, _ in self._open]

    def pop(self, info: PassInfo) -> T:
        """Returns the value of the pass, which ends; `KeyError` for one that did not begin."""
        while self._open:
            known, value = self._open.pop()
            if known == info:
                return value
        raise KeyError(info.name)

    def clear(self) -> None:
        """No pass is running."""
        self._open.clear()
