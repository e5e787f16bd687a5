"""The timing of a compilation."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from xrelay.passes.instruments.timing import TimeTree


@dataclass
class KernelCounts:
    """The numbers of a model's kernels that were compiled, found in the cache, and equal to another kernel."""

    compiled: int = 0
    found: int = 0
    equal: int = 0
    by_workers: int = 0
    """The number of compiled kernels that workers lowered."""


@dataclass(frozen=True)
class CompileTiming:
    """The steps of a compilation, its kernels, and the shares of its time in seconds.

    Kernels are not counted if the module was compiled as a whole.
    """

    clock: TimeTree
    kernels: KernelCounts
    llvm: float
    """The time of LLVM for kernels, summed over threads that ran in parallel to other work."""
    waiting: float
    """The time the compilation waited for LLVM or for workers."""

    @property
    def total(self) -> float:
        """The seconds of all steps."""
        return self.clock.root.seconds

    @property
    def python(self) -> float:
        """The seconds in which the compilation itself worked."""
        return self.total - self.waiting

    def report(self) -> str:
        """Returns the table of the steps, a line about kernels and a line about shares."""
        counts = self.kernels
        return (
            f"{self.clock.report()}"
            f"kernels: {counts.compiled} compiled, {counts.by_workers} of them by other processes, "
            f"{counts.found} found, {counts.equal} equal to others\n"
            f"seconds: {self.python:.3f} Python, {self.waiting:.3f} waiting, {self.llvm:.3f} LLVM beside\n"
        )

    def as_data(self) -> dict[str, object]:
        """Returns the same data for JSON."""
        shares = {"python": self.python, "waiting": self.waiting, "llvm": self.llvm}
        return {"steps": self.clock.root.as_data(), "kernels": asdict(self.kernels), "seconds": shares}
