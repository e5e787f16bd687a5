"""The times of a profile for the calls of kernels in a graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from xrelay.api.profiling.data import GIGA, KernelProfile, ProfileData
from xrelay.tools.explore.fused_graph import KERNEL, FusedGraph, GraphNode


@dataclass(frozen=True)
class TimedCall:
    """The time of a call, and the speed of its kernel over all calls; `None` if unknown."""

    seconds: float
    gflops: float | None
    gbytes: float | None
    roofline: float | None
    """The least time on this machine's roofline as a share of the measured time."""
    threads: int


def timed_calls(profile: ProfileData, graph: FusedGraph) -> dict[int, TimedCall]:
    """Returns the times of the graph's kernel nodes by position.

    The calls of a kernel in the run and in the graph are in the same order. A kernel that a loop calls has more calls
    in the run: its nodes then share its time evenly.
    """
    found = _Kernels(profile)
    nodes: defaultdict[int, list[int]] = defaultdict(list)
    for number, node in enumerate(graph.nodes):
        if node.kind == KERNEL and (position := found.position(node)) is not None:
            nodes[position].append(number)
    times: dict[int, TimedCall] = {}
    for position, numbers in nodes.items():
        kernel = profile.kernels[position]
        calls = sorted((call for call in profile.calls if call.kernel == position and not call.is_part),
                       key=lambda call: call.start)  # fmt: skip
        seconds = [(call.end - call.start) / GIGA for call in calls]
        if len(seconds) != len(numbers):
            seconds = [kernel.seconds / len(numbers)] * len(numbers)
        times |= {number: _timed(kernel, each) for number, each in zip(numbers, seconds, strict=True)}
    return times


def _timed(kernel: KernelProfile, seconds: float) -> TimedCall:
    return TimedCall(seconds, kernel.gflops, kernel.gbytes, kernel.roofline_share, kernel.threads)


class _Kernels:
    """The kernels of a profile by name, and by the nodes of the model that they compute."""

    def __init__(self, profile: ProfileData):
        kernels = list(enumerate(profile.kernels))
        self._names: Mapping[str, int] = {name: at for at, kernel in kernels for name in kernel.name.split(" = ")}
        self._sources: Mapping[str, int] = {name: at for at, kernel in kernels for name in kernel.sources}

    def position(self, node: GraphNode) -> int | None:
        """Returns the position of a node's kernel: by its name, or if lowering merged it, by the nodes it computes."""
        if node.name in self._names:
            return self._names[node.name]
        return next((self._sources[name] for name in node.nodes if name in self._sources), None)
