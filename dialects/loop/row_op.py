"""Ops of the loop level that process a whole row of buffers, as statements of a block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.loop.checked_op import CheckedOp


class RowOp(CheckedOp, ABC):
    """Base of the ops that process one row; rows write to disjoint memory, so they may run in any order."""

    @property
    @abstractmethod
    def numbers(self) -> Sequence[SSAValue]:
        """The index values that select the row."""

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
        """The number of elements of a row; `None` if unknown."""
