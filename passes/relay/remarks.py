"""What a pass did, or did not do, and why: one line about one op."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation

from xrelay.passes.infra.conversion import describe_place


@dataclass(frozen=True)
class Remark:
    """A decision of the pass `pass_name` about the op `op_name` at `place` (a source location or a function)."""

    pass_name: str
    op_name: str
    place: str | None
    applied: bool
    """Whether the pass changed the op; a refusal is a remark too."""
    message: str

    def __str__(self) -> str:
        place = "" if self.place is None else f"{self.place}: "
        return f"{place}remark: {self.pass_name}: {self.op_name}: {self.message}"


class Remarks:
    """The remarks of one run of a pass, in order."""

    def __init__(self, pass_name: str):
        self._pass_name = pass_name
        self.all: list[Remark] = []

    def applied(self, op: Operation, message: str) -> None:
        """Note that `op` was rewritten."""
        self.all.append(Remark(self._pass_name, op.name, describe_place(op), True, message))

    def refused(self, op: Operation, message: str) -> None:
        """Note that `op` was left alone, and why."""
        self.all.append(Remark(self._pass_name, op.name, describe_place(op), False, message))
