"""A loaded model, whose native entry several threads may call at once."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from xrelay.errors import ExecutionError
from xrelay.runtime.abi import (
    ENTRY_SYMBOL,
    PARALLEL_FOR_SYMBOL,
    PLAN_SYMBOL,
    RELEASE_SYMBOL,
    Context,
    Noted,
    Reason,
    describe_allocation,
    describe_failure,
)
from xrelay.runtime.arena import Pool, address_of
from xrelay.runtime.artifact import Artifact, check_machine
from xrelay.runtime.dynamic_buffers import DynamicBufferReader
from xrelay.runtime.limits import RunLimits
from xrelay.runtime.lists import Listed
from xrelay.runtime.memory import BESIDE_ARENA, MemoryNeeds
from xrelay.runtime.named_sizes import SizeBinder
from xrelay.runtime.native import NativeLibrary
from xrelay.runtime.plan import Dims, Frame, Plan, PlanCache, Sizes
from xrelay.runtime.running import SHORT, Running, cancelled
from xrelay.runtime.thread_pool import thread_pool

_POINTER = ctypes.c_void_p


class Executable:
    """Native code of an artifact, loaded and ready to call.

    Each call uses a frame from a pool, so calls of several threads run in parallel; the GIL is released while native
    code runs. Raises `ArtifactError` or `ExecutionError` if the code cannot run on this machine.
    """

    constant: Plan | None = None
    """The plan of every call; `None` if it depends on the sizes of named dimensions."""

    def __init__(self, artifact: Artifact):
        """Loads the artifact's code into this process."""
        metadata = artifact.metadata
        check_machine(metadata, metadata.name)
        imports = {PARALLEL_FOR_SYMBOL: thread_pool().parallel_for}
        exports = [
            ENTRY_SYMBOL,
            *([PLAN_SYMBOL] if metadata.dims else []),
            *([RELEASE_SYMBOL] if metadata.dynamic_buffers else []),
        ]
        self._library = NativeLibrary.load(artifact.objects, exports=exports, imports=imports)
        self._entry = ctypes.CFUNCTYPE(ctypes.c_int32, _POINTER, _POINTER)(self._library.address(ENTRY_SYMBOL))
        self._artifact = artifact  # keeps the weights alive
        self._polls, self._straight, self._running = metadata.polls, metadata.straight, Running()
        self._dynamic_buffers = DynamicBufferReader([metadata.outputs[number] for number in metadata.dynamic_buffers])
        if metadata.dynamic_buffers:
            self._release = ctypes.CFUNCTYPE(None, _POINTER)(self._library.address(RELEASE_SYMBOL))
        self._leading = len(metadata.inputs) + len(metadata.written)
        self._weights = [address_of(array) for array in artifact.weights]
        if not metadata.dims:
            self.constant = self._plan_of(metadata.arena_size, (), metadata.memory.sizes, None)
            return
        prototype = ctypes.CFUNCTYPE(ctypes.c_int32, _POINTER, _POINTER, _POINTER)
        self._plan_entry = prototype(self._library.address(PLAN_SYMBOL))
        self._binder = SizeBinder(metadata.inputs, metadata.dims)
        self._plans = PlanCache(self._compute_plan)

    def plan(self, arrays: Sequence[NDArray[Any]]) -> Plan:
        """Returns the plan of a call with these inputs.

        Raises `InputError` if their extents disagree, and `ExecutionError` if they fail a check of the model.
        """
        return self.constant if self.constant is not None else self._plans.get(self._binder.bind(arrays))

    def plan_at(self, sizes: Mapping[str, int]) -> Plan:
        """Returns the plan for these sizes of the named dimensions. Raises `InputError` unless each has one."""
        return self.constant if self.constant is not None else self._plans.get(self._binder.checked(sizes))

    def call(self, plan: Plan, pointers: list[int], limits: RunLimits) -> list[Listed]:
        """Runs the model on the addresses of the inputs and outputs; returns the outputs that are dynamic buffers.

        Time limits apply to models that poll for cancellation. Raises an `ExecutionError` that names the source node if
        native code reports a failure.
        """
        if limits.memory is not None:
            limits.check_arena(plan.arena_size, self._artifact.metadata.name)
        frame = plan.frames.acquire()
        try:
            frame.args[: self._leading] = pointers
            frame.context.status = frame.context.noted = 0
            frame.context.num_threads = limits.num_threads
            frame.context.buffer_limit = limits.buffer_limit(plan.arena_size)
            if self._polls and not (plan.is_short and limits.seconds is None):
                status = self._call_polling(frame, plan, limits.seconds)
            else:
                status = self._entry(frame.context_address, frame.args_address)
            if status == 0:
                status = frame.context.status
            if status != 0:
                raise self._error(status, frame.context, plan.sizes, limits.exceeded(frame.context, plan.arena_size))
            return self._dynamic_buffers.read(list(frame.values))
        finally:
            if frame.context.buffers is not None:
                self._release(frame.context_address)
            plan.frames.release(frame)

    def cancel(self) -> None:
        """Ends all current runs at their next poll."""
        self._running.end_all()

    def _call_polling(self, frame: Frame, plan: Plan, timeout: float | None) -> int:
        """Calls native code that polls; raises `ExecutionError` if it was ended. Marks `plan` if its runs are short."""

        def entry() -> int:
            return self._entry(frame.context_address, frame.args_address)

        start = perf_counter()
        status, run = self._running.call(entry, frame.context, timeout)
        if self._straight and status == 0 and perf_counter() - start < SHORT:
            plan.is_short = True
        if status == Reason.CANCELLED:
            raise cancelled(run, self._artifact.metadata.name)
        return status

    def _compute_plan(self, sizes: Sizes) -> Plan:
        """Calls native code for the plan of these sizes."""
        metadata = self._artifact.metadata
        extents = [extent for spec in metadata.written for extent in spec.shape if isinstance(extent, str)]
        dims = (ctypes.c_int64 * len(sizes))(*sizes)
        needed = (ctypes.c_int64 * (1 + len(extents) + len(BESIDE_ARENA)))()
        context = Context()
        status = self._plan_entry(*(ctypes.addressof(place) for place in (context, dims, needed)))
        if status != 0:
            raise self._error(status, context, dict(zip(metadata.dims, sizes, strict=True)))
        others = 1 + len(extents)
        return self._plan_of(needed[0], needed[1:others], needed[others:], dims, sizes)

    def _plan_of(
        self, arena_size: int, extents: Sequence[int], others: Sequence[int], dims: Dims | None, sizes: Sizes = ()
    ) -> Plan:
        """Returns a plan for an arena size, the dynamic extents of the outputs, and the sizes `BESIDE_ARENA`."""
        metadata, known = self._artifact.metadata, iter(extents)
        outputs = [
            (tuple(next(known) if isinstance(e, str) else e for e in spec.shape), spec.numpy_dtype)
            for spec in metadata.written
        ]
        leading, weights, num_values = self._leading, self._weights, self._dynamic_buffers.count
        frames = Pool(lambda: Frame(leading, weights, arena_size, dims, num_values))
        memory = MemoryNeeds(arena_size, *others, not_counted=metadata.memory.uncounted)
        return Plan(outputs, arena_size, frames, dict(zip(metadata.dims, sizes, strict=True)), memory)

    def _error(
        self, status: int, context: Context, sizes: Mapping[str, int], exceeded: str | None = None
    ) -> ExecutionError:
        """Returns the error of a nonzero status, for these sizes of the named dimensions, or for a limit `exceeded`."""
        reason, number = describe_failure(status, context)
        metadata = self._artifact.metadata
        if reason == Reason.CHECK.text and number is not None and number < len(metadata.checks):
            check = metadata.checks[number]
            sides = (context.low, context.high) if context.noted == Noted.SIDES else None
            text = check.failure(sizes, sides) + describe_allocation(context) if exceeded is None else exceeded
            return ExecutionError(text, location=", ".join(check.sources) or metadata.name)
        named = (*metadata.kernels, *metadata.calls)
        if number is None or number >= len(named):
            return ExecutionError(f"native code failed: {reason}", location=metadata.name)
        kernel = named[number]
        location = ", ".join(kernel.sources) or metadata.name
        if exceeded is not None and reason.startswith(Reason.OUT_OF_MEMORY.text):
            reason = exceeded
        return ExecutionError(f"kernel '{kernel.symbol}' failed: {reason}", location=location)
