"""Progress of an interpreter: the calls in the entry function that have run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation

from xrelay.dialects.relay.structure.call import NamedCallOp, callee_name

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with the number of finished calls, the number of all calls, and the name of the callee that starts."""


class CallProgress:
    """Reports each call in the body of the entry function before it runs; calls in branches and loops are left out."""

    def __init__(self, report: Progress | None):
        self._report = report
        self._numbers: dict[Operation, int] = {}

    def enter(self, function: FuncOp) -> None:
        """Sets the entry function."""
        calls = (op for op in function.body.block.ops if isinstance(op, CallOp | NamedCallOp))
        self._numbers = {op: number for number, op in enumerate(calls)}

    def start(self, op: CallOp | NamedCallOp) -> None:
        """Reports that a call starts."""
        if self._report is not None and op in self._numbers:
            self._report(self._numbers[op], len(self._numbers), callee_name(op))
