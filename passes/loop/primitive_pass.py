"""What the passes `loop-split`, `loop-fuse`, … have in common: one primitive on the kernels that have its loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelay.dialects.loop import SchedulePrimitive, Tail
from xrelay.errors import PassError
from xrelay.passes.loop.primitives import apply_primitive
from xrelay.passes.loop.primitives.nest import blocks_of, loops_of
from xrelay.passes.loop.schedule import kernels_of


@dataclass(frozen=True, kw_only=True)
class PrimitivePass(ModulePass, ABC):
    """Apply one primitive to every kernel that has the loops and blocks it names, or to `kernel` alone.

    `ScheduleError` where it is not legal; `PassError` where no kernel has them.
    """

    name = "loop-primitive"

    kernel: str | None = field(default=None, metadata={"help": "the only kernel to change, by symbol name"})

    @abstractmethod
    def primitive(self) -> SchedulePrimitive:
        """The primitive with the pass's options."""

    @abstractmethod
    def subjects(self) -> tuple[str, ...]:
        """The names of loops and blocks that a kernel must have to be meant."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Apply the primitive to each kernel that is meant."""
        kernels = [kernel for kernel in kernels_of(op) if self._is_meant(kernel)]
        if not kernels:
            wanted = ", ".join(repr(name) for name in self.subjects())
            place = "no kernel" if self.kernel is None else f"@{self.kernel}, if it is a kernel,"
            raise PassError(f"{self.name}: {place} has {wanted}", help="name loops and blocks as in the text")
        for kernel in kernels:
            apply_primitive(kernel, self.primitive())

    def _is_meant(self, kernel: func.FuncOp) -> bool:
        if self.kernel is not None:
            return kernel.sym_name.data == self.kernel
        return set(self.subjects()) <= loops_of(kernel).keys() | blocks_of(kernel).keys()


def parse_tail(text: str) -> Tail:
    """The tail that an option names."""
    if text not in list(Tail):
        raise PassError(f"no tail is called {text!r}", help="use peel, mask or overlap")
    return Tail(text)
