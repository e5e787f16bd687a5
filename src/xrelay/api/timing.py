"""Where the time of a compilation went."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from xrelay.passes.instruments.time_tree import TimeTree


@dataclass
class KernelCounts:
    """How many kernels of a model were compiled, found in the cache, and equal to one of these."""

    compiled: int = 0
    found: int = 0
    equal: int = 0
    by_workers: int = 0
    """How many of those compiled came from other processes."""


@dataclass(frozen=True)
class CompileTiming:
    """The steps of a compilation, its kernels, and how the time is shared, in seconds.

    Kernels are not counted where the module stayed whole.
    """

    clock: TimeTree
    kernels: KernelCounts
    llvm: float
    """What LLVM took for kernels, summed over threads, beside what else went on."""
    waiting: float
    """For how long the compilation waited for LLVM, or for processes that help."""

    @property
    def total(self) -> float:
        """The seconds of all steps."""
        return self.clock.root.seconds

    @property
    def python(self) -> float:
        """The seconds in which the compilation itself worked."""
        return self.total - self.waiting

    def report(self) -> str:
        """The table of the steps, a line about kernels and one about shares."""
        counts = self.kernels
        return (
            f"{self.clock.report()}"
            f"kernels: {counts.compiled} compiled, {counts.by_workers} of them by other processes, "
            f"{counts.found} found, {counts.equal} equal to others\n"
            f"seconds: {self.python:.3f} Python, {self.waiting:.3f} waiting, {self.llvm:.3f} LLVM beside\n"
        )

    def as_data(self) -> dict[str, object]:
        """The same for JSON."""
        shares = {"python": self.python, "waiting": self.waiting, "llvm": self.llvm}
        return {"steps": self.clock.root.as_data(), "kernels": asdict(self.kernels), "seconds": shares}
