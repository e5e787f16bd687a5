"""A loaded model: calls the native entry on pointers, several threads at once where the caller has them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from xrelay.errors import ExecutionError
from xrelay.runtime.abi import ENTRY_SYMBOL, PARALLEL_FOR_SYMBOL, Context, describe_failure
from xrelay.runtime.arena import Pool, address_of, aligned_bytes
from xrelay.runtime.artifact import Artifact, check_machine
from xrelay.runtime.native import NativeLibrary
from xrelay.runtime.thread_pool import thread_pool


class _Frame:
    """The memory of one call: context, argument array and arena, with everything constant filled in."""

    def __init__(self, num_leading: int, weights: Sequence[int], arena_size: int):
        self.arena = aligned_bytes(arena_size)
        arguments = ctypes.c_void_p * (num_leading + len(weights) + 1)
        self.args = arguments(*[None] * num_leading, *weights, address_of(self.arena))
        self.context = Context()
        self.args_address = ctypes.addressof(self.args)
        self.context_address = ctypes.addressof(self.context)


class Executable:
    """Native code of an artifact, loaded and ready to call.

    Each call takes a frame from a pool and gives it back, so calls of several threads run side by side; Python's
    lock is free while native code runs. Raises `ArtifactError` or `ExecutionError` where the code cannot run here.
    """

    def __init__(self, artifact: Artifact):
        """Load the artifact's code into this process."""
        metadata = artifact.metadata
        check_machine(metadata, metadata.name)
        imports = {PARALLEL_FOR_SYMBOL: thread_pool().parallel_for}
        self._library = NativeLibrary.load(artifact.objects, exports=[ENTRY_SYMBOL], imports=imports)
        prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
        self._entry = prototype(self._library.address(ENTRY_SYMBOL))
        self._artifact = artifact  # keeps the weights alive
        self._leading = len(metadata.inputs) + len(metadata.outputs)
        self._weights = [address_of(array) for array in artifact.weights]
        self._frames = Pool(self._new_frame)

    def call(self, pointers: list[int], num_threads: int) -> None:
        """Run the model: `pointers` are the addresses of the inputs, then of the outputs.

        Raises `ExecutionError` naming the source node where native code reports a failure.
        """
        frame = self._frames.acquire()
        try:
            frame.args[: self._leading] = pointers
            frame.context.status = frame.context.index_noted = 0
            frame.context.num_threads = num_threads
            status = self._entry(frame.context_address, frame.args_address)
            if status == 0:
                status = frame.context.status
            if status != 0:
                raise self._error(*describe_failure(status, frame.context))
        finally:
            self._frames.release(frame)

    def _new_frame(self) -> _Frame:
        return _Frame(self._leading, self._weights, self._artifact.metadata.arena_size)

    def _error(self, reason: str, number: int | None) -> ExecutionError:
        kernels = self._artifact.metadata.kernels
        if number is None or number >= len(kernels):
            return ExecutionError(f"native code failed: {reason}", location=self._artifact.metadata.name)
        kernel = kernels[number]
        location = ", ".join(kernel.sources) or self._artifact.metadata.name
        return ExecutionError(f"kernel '{kernel.symbol}' failed: {reason}", location=location)
