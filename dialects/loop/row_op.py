"""Ops of the loop level that work on a whole row of buffers, as statements of a block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.loop.checked_op import CheckedOp


class RowOp(CheckedOp, ABC):
    """Base of the ops that read and write one row; each row has what it writes to itself, so their order is free."""

    @property
    @abstractmethod
    def numbers(self) -> Sequence[SSAValue]:
        """The index values that number the row."""

    @property
    @abstractmethod
    def read_buffers(self) -> Sequence[SSAValue]:
        """The buffers that are only read."""

    @property
    @abstractmethod
    def writes(self) -> Sequence[SSAValue]:
        """The buffers that are stored to."""

    @property
    @abstractmethod
    def length(self) -> int | SSAValue | None:
        """How many elements a row has; `None` where no value says it."""
