"""The work of a process that compiles kernels for another process, see `worker_process.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import IO

from xdsl.dialects.builtin import ModuleOp

from xrelay.api.kernels.lowering import KernelLowering, LoweredKernel
from xrelay.api.kernels.workers import KernelText, WorkerTask, read_message, worker_identity, write_message
from xrelay.errors import XRelayError
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.instruments.timing import TimeTree
from xrelay.runtime.kernel_work import UNKNOWN_WORK
from xrelay.target.host import set_host_facts
from xrelay.target.target import Target


class KernelWorker:
    """Lowers kernels to LLVM IR with the stages and target of the first message."""

    def __init__(self, task: WorkerTask):
        """Raises classes of `xrelay.errors` if the target is unknown."""
        set_host_facts(task.host)
        target = Target.parse(task.target)
        self._context = full_context()
        self._lowering = KernelLowering(task.stages, target, self._context, TimeTree())
        self.identity = worker_identity(task.stages, target)

    def lower(self, kernel: KernelText) -> LoweredKernel:
        """Returns the answer to a kernel."""
        return lowered_or_failed(self._lowering, parse_module(self._context, kernel.text, kernel.symbol), kernel.symbol)


def lowered_or_failed(lowering: KernelLowering, module: ModuleOp, symbol: str) -> LoweredKernel:
    """Lowers a kernel's module. If this fails, the parent compiles the kernel again and reports its nodes."""
    try:
        return lowering.lower(module, symbol)
    except XRelayError:
        return LoweredKernel(may_fail=False, declaration="", work=UNKNOWN_WORK, texts=())


def begin(requests: IO[bytes], answers: IO[bytes]) -> KernelWorker | None:
    """Answers the first message and returns the worker for it; `None` at the end of input."""
    task = read_message(requests, WorkerTask)
    if task is None:
        return None
    worker = KernelWorker(task)
    write_message(answers, {"identity": worker.identity})
    return worker


def serve(lower: Callable[[KernelText], LoweredKernel], requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answers kernels until the end of input."""
    while (kernel := read_message(requests, KernelText)) is not None:
        write_message(answers, asdict(lower(kernel)))
