"""The work of a process that compiles kernels for another process, see `worker_process.py`."""

from __future__ import annotations

from typing import IO

from xdsl.transforms import get_all_passes

from xrelay.api.kernel_lowering import KernelLowering
from xrelay.api.kernel_workers import read_host, read_message, worker_identity, write_message
from xrelay.errors import XRelayError
from xrelay.lowering.pipelines import Phase, Stage
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.instruments.timing import TimeTree
from xrelay.runtime.json_fields import JsonFields
from xrelay.target.host import set_host_facts
from xrelay.target.target import Target


class KernelWorker:
    """Lowers kernels to LLVM IR with the stages and target of the first message."""

    def __init__(self, task: JsonFields):
        """Raises classes of `xrelay.errors` if the message is not in the form of this version of xrelay."""
        set_host_facts(read_host(task.part("host")))
        stages, target = task.table("stages", _stage), Target.parse(task.text("target"))
        self._context, passes = full_context(), {**get_all_passes(), **pass_thunks()}
        self._lowering = KernelLowering(stages, target, self._context, passes, TimeTree())
        self.identity = worker_identity(stages, target)

    def lower(self, text: str, symbol: str) -> dict[str, object]:
        """Returns the answer to a kernel."""
        lowered = self._lowering.lower(parse_module(self._context, text, symbol), symbol)
        facts = lowered.facts
        return {"texts": lowered.texts, "may_fail": facts.may_fail, "declaration": facts.declaration}


def begin(requests: IO[bytes], answers: IO[bytes]) -> KernelWorker | None:
    """Answers the first message and returns the worker for it; `None` at the end of input."""
    task = read_message(requests)
    if task is None:
        return None
    worker = KernelWorker(task)
    write_message(answers, {"identity": worker.identity})
    return worker


def serve(worker: KernelWorker, requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answers the messages after the first until the end of input."""
    while (kernel := read_message(requests)) is not None:
        try:
            answer = worker.lower(kernel.text("text"), kernel.text("symbol"))
        except XRelayError as error:  # the parent compiles the kernel too, and reports its nodes
            answer = {"error": error.message}
        write_message(answers, answer)


def _stage(row: JsonFields) -> Stage:
    return Stage(Phase[row.text("phase")], row.texts("passes"))
