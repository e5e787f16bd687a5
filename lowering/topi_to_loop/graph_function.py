"""The graph function at the loop level: kernels are called with the buffers of their results, constants are weights."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from xrelay.lowering.topi_to_loop.graph_regions import RegionLowering


class GraphLowering(RegionLowering):
    """Lowers a function that calls kernels. What it returns without having computed it, a kernel copies."""

    def __init__(self, function: func.FuncOp, copy_kernel: Callable[[MemRefType], str]):
        """Prepare the rewriting of `function`; `copy_kernel` names the kernel that copies a buffer of a type."""
        super().__init__(function)
        self._copy_kernel = copy_kernel

    def copy_buffer(self, source: SSAValue, target: SSAValue, place: Operation) -> None:
        """Adds the call of a kernel that copies one buffer to another."""
        kernel = self._copy_kernel(SSAValue.get(target, type=MemRefType).type)
        self._add(func.CallOp(kernel, [source, target], []), place)
