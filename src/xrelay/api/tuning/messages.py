"""The messages between `tune` and the process that measures schedules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from xrelay.target.host import HostFacts


@dataclass(frozen=True)
class TuningTask:
    """The first message to the process: the target of all kernels, and LLVM's facts about this machine."""

    target: str
    host: HostFacts


@dataclass(frozen=True)
class TuningJob:
    """A further message: a kernel as the text of its module, and the texts of the schedules to measure."""

    kernel: str
    opt_level: int
    schedules: tuple[str, ...]
    weights: tuple[bool, ...]
    """Whether each input is a weight of the model."""


@dataclass(frozen=True)
class TuningAnswer:
    """An answer to a job: first one for each schedule that is compiled or has failed, and at last one with times."""

    nanoseconds: tuple[int, ...] = ()
    """The least time of each schedule, 0 for those that have failed; empty in the first answers."""

    def message(self) -> Mapping[str, object]:
        """Returns the answer in the form of JSON."""
        return asdict(self)
