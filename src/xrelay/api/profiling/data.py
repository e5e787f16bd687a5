"""The numbers of a profile: the calls and times of kernels in a run of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from xrelay.runtime.call_tracer import TracedCall
from xrelay.runtime.roofline import Roofline

GIGA: Final = 1e9


@dataclass(frozen=True)
class KernelProfile:
    """The calls of a kernel in a run. Kernels with equal code are one."""

    name: str
    sources: tuple[str, ...]
    """The names of the source nodes that the kernel computes."""
    schedule: str
    """A phrase about the schedule; empty for a kernel that was scheduled by hand."""
    calls: int
    seconds: float
    share: float
    """The share of the time of the run."""
    threads: int
    """The number of threads that computed parts of the kernel."""
    operations: int | None
    """The arithmetic operations of all calls; `None` if unknown."""
    bytes: int | None
    """The sizes of the buffers that the calls access; `None` if unknown."""
    expected_seconds: float | None
    """The time that the cost model expects; `None` without an estimate."""
    roofline_share: float | None
    """The least time on this machine's roofline as a share of the measured time; `None` if unknown.

    The peak is that of f32, so a kernel of integers may exceed it. Data in caches of other kernels may exceed 1 too.
    """

    @property
    def gflops(self) -> float | None:
        """Billions of arithmetic operations per second; `None` if unknown."""
        return None if self.operations is None else self.operations / self.seconds / GIGA

    @property
    def gbytes(self) -> float | None:
        """Billions of bytes per second; `None` if unknown."""
        return None if self.bytes is None else self.bytes / self.seconds / GIGA


@dataclass(frozen=True)
class ProfileData:
    """The fastest of several traced runs of a model."""

    model: str
    seconds: float
    """The time of the run, from arrays to arrays."""
    untraced_seconds: float
    """The time of the fastest of as many runs without tracing."""
    threads: int
    """The maximum number of threads of the run."""
    kernels: tuple[KernelProfile, ...]
    """The kernels that were called, by decreasing time."""
    roofline: Roofline
    start: int
    """The start of the run, on the clock of `calls`, in nanoseconds."""
    calls: tuple[TracedCall, ...]
    """The calls of kernels and their parts; `kernel` is a position in `kernels`."""

    @property
    def kernel_seconds(self) -> float:
        """The time of all kernels."""
        return sum(kernel.seconds for kernel in self.kernels)

    @property
    def other_seconds(self) -> float:
        """The time outside of kernels: shapes, control flow, the allocation of outputs, and Python."""
        return self.seconds - self.kernel_seconds

    def as_data(self) -> dict[str, object]:
        """Returns the profile for JSON, without the calls."""
        return {
            "model": self.model,
            "seconds": self.seconds,
            "untraced_seconds": self.untraced_seconds,
            "other_seconds": self.other_seconds,
            "threads": self.threads,
            "roofline": {
                "gflops": self.roofline.operations / GIGA,
                "gbytes": [speed / GIGA for speed in self.roofline.bandwidths],
            },
            "kernels": [
                {
                    **vars(kernel),
                    "sources": list(kernel.sources),
                    "gflops": kernel.gflops,
                    "gbytes": kernel.gbytes,
                }
                for kernel in self.kernels
            ],
        }
