"""A loaded model, whose native entry several threads may call at once."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from xrelay import environment
from xrelay.errors import DimensionError, ExecutionError, InputError, did_you_mean
from xrelay.forking import forks_wait
from xrelay.runtime.abi import (
    ENTRY_SYMBOL,
    MAX_EXTENT,
    PARALLEL_FOR_SYMBOL,
    PLAN_SYMBOL,
    RELEASE_SYMBOL,
    Context,
    ContextWord,
    Reason,
    describe_allocation,
    describe_failure,
)
from xrelay.runtime.arena import OutputMemory, Pool, address_of, aligned_bytes
from xrelay.runtime.artifact import Artifact, check_machine
from xrelay.runtime.dim_text import evaluate, names_in, solved_sizes
from xrelay.runtime.lists import DynamicBufferReader, Listed
from xrelay.runtime.memory import BESIDE_ARENA, MemoryNeeds, RunLimits
from xrelay.runtime.metadata import TensorSpec
from xrelay.runtime.object_code.native_library import NativeLibrary
from xrelay.runtime.object_code.perf_map import add_to_perf_map, mapped_functions
from xrelay.runtime.running import MIN_CANCELLABLE_SECONDS, Running, cancelled_error
from xrelay.runtime.thread_pool import thread_pool

if TYPE_CHECKING:
    from xrelay.runtime.call_tracer import CallTracer

Shaped: TypeAlias = tuple[tuple[int, ...], np.dtype[Any]]
Sizes: TypeAlias = tuple[int, ...]
"""Sizes of named dimensions, in the order of the model's table."""

Dims: TypeAlias = "ctypes.Array[ctypes.c_int64]"
"""`Sizes` as an array for native code."""

MAX_PLANS: Final = 8
"""The number of plans that a model keeps."""
_MAX_SHAPES: Final = 64
"""The number of tuples of shapes whose sizes a model keeps."""


class Frame:
    """The memory of one call: context, argument array and arena, with all constant arguments filled in."""

    def __init__(self, num_leading: int, weights: Sequence[int], arena_size: int, dims: Dims | None, num_values: int):
        """Allocates the arena; `dims` are the sizes of named dimensions, if the model has any.

        `num_values` is the number of values that a run stores for its dynamic buffers.
        """
        self.arena, self.dims, self.values = aligned_bytes(arena_size), dims, (ctypes.c_int64 * num_values)()
        behind = [each for each in (self.values if num_values else None, dims) if each is not None]
        trailing = [*weights, address_of(self.arena), *map(ctypes.addressof, behind)]
        self.args = (ctypes.c_void_p * (num_leading + len(trailing)))(*[None] * num_leading, *trailing)
        self.context = Context()
        self.args_address = ctypes.addressof(self.args)
        self.context_address = ctypes.addressof(self.context)


@dataclass(eq=False)
class Plan:
    """The shapes and dtypes of the outputs, and the memory of a call, for certain sizes of named dimensions.

    `outputs` does not include dynamic buffers. Each call uses a frame from the pool `frames`.
    """

    outputs: Sequence[Shaped]
    arena_size: int
    frames: Pool[Frame]
    sizes: Mapping[str, int]
    memory: MemoryNeeds
    """The memory of a call with one thread."""
    output_memory: OutputMemory
    is_short: bool = False
    """Whether runs are too short to need polling (see `running.py`)."""

    def new_outputs(self) -> list[NDArray[Any]]:
        """Returns arrays for the outputs. Raises `ExecutionError` if allocation fails."""
        try:
            return [self.output_memory.allocate(number, *output) for number, output in enumerate(self.outputs)]
        except (MemoryError, ValueError) as error:
            raise ExecutionError(f"cannot allocate the outputs: {error}", help="use a smaller batch") from error

    def check_outputs(
        self, specs: Sequence[TensorSpec], given: Sequence[object], inputs: Sequence[NDArray[Any]]
    ) -> list[NDArray[Any]]:
        """Returns the arrays that a caller passed for the outputs. Raises `InputError` if one does not fit its output.

        They must be writeable, contiguous, of the right dtype and shape, and overlap neither an input nor each other.
        """
        if isinstance(given, np.ndarray | Mapping | str) or not hasattr(given, "__len__"):
            raise InputError(f"out takes a list of arrays, got {type(given).__name__}", help="write out=[y]")
        if len(given) != len(specs):
            raise InputError(f"out has {len(given)} arrays, the model has {len(specs)} outputs")
        taken = list(inputs)
        for spec, array, (shape, dtype) in zip(specs, given, self.outputs, strict=True):
            expected = TensorSpec(spec.name, spec.dtype, shape)
            if not isinstance(array, np.ndarray):
                raise InputError(f"output '{spec.name}': expected {expected}, got {type(array).__name__}")
            fault = _fault(array, shape, dtype, taken)
            if fault is not None:
                raise InputError(f"output '{spec.name}': expected {expected}, got {fault}")
            taken.append(array)
        return taken[len(inputs) :]


class PlanCache:
    """The most recently created plans. Older ones are dropped, with their arenas."""

    def __init__(self, make: Callable[[Sizes], Plan]):
        """Creates an empty cache; `make` creates a plan."""
        self._make = make
        self._plans: dict[Sizes, Plan] = {}
        self._lock = threading.Lock()

    def get(self, sizes: Sizes) -> Plan:
        """Returns the plan for these sizes. Raises the errors of its creation."""
        found = self._plans.get(sizes)
        if found is not None:
            return found
        made = self._make(sizes)
        with forks_wait(is_short=True), self._lock:
            while len(self._plans) >= MAX_PLANS:
                del self._plans[next(iter(self._plans))]
            return self._plans.setdefault(sizes, made)


def _fault(array: NDArray[Any], shape: tuple[int, ...], dtype: np.dtype[Any], taken: list[NDArray[Any]]) -> str | None:
    """Returns the reason why an array cannot be used for an output, or `None`."""
    if array.shape != shape or array.dtype != dtype:
        return str(TensorSpec("", str(array.dtype), array.shape))
    if not (array.flags.c_contiguous and array.flags.aligned and array.flags.writeable):
        return "a read-only or non-contiguous array"
    if any(np.may_share_memory(array, other) for other in taken):
        return "an array that overlaps an input or another output"
    return None


class SizeBinder:
    """Derives the size of each name, and checks all extents against these sizes."""

    def __init__(self, inputs: Sequence[TensorSpec], names: Sequence[str]):
        """Prepares for arrays of these inputs; `names` determine the order of the sizes."""
        self.names = tuple(names)
        self._inputs = inputs
        self._open = [number for number, spec in enumerate(inputs) if not spec.containers and spec.is_open]
        self._known: dict[tuple[tuple[int, ...], ...], Sizes] = {}
        """The sizes for the shapes of the inputs in `_open`."""
        self._axes = [
            (number, axis, extent)
            for number, spec in enumerate(inputs)
            if not spec.containers
            for axis, extent in enumerate(spec.shape)
            if isinstance(extent, str)
        ]

    def bind(self, arrays: Sequence[NDArray[Any]]) -> Sizes:
        """Returns the sizes, in the order of the names.

        The first extent that is a linear function of a single name determines its size. Raises an `InputError` that
        names the input whose extents disagree with the sizes.
        """
        shapes = tuple([arrays[number].shape for number in self._open])
        known = self._known.get(shapes)
        if known is None:
            known = self._bound(arrays)
            if len(self._known) >= _MAX_SHAPES:
                self._known.clear()
            self._known[shapes] = known
        return known

    def _bound(self, arrays: Sequence[NDArray[Any]]) -> Sizes:
        sizes = solved_sizes((text, arrays[number].shape[axis]) for number, axis, text in self._axes)
        for number, axis, text in self._axes:
            if self._value(text, sizes) != arrays[number].shape[axis]:
                raise self._mismatch(number, arrays[number], sizes)
        return self.checked(sizes)

    def checked(self, sizes: Mapping[str, int]) -> Sizes:
        """Returns the sizes in order.

        Raises `InputError` unless exactly the names have sizes, from 0 to `MAX_EXTENT`.
        """
        help = f"pass the sizes of {', '.join(self.names)}" if self.names else "its sizes are constant: pass none"
        for name in sizes:
            if name not in self.names:
                raise InputError(f"the model has no dimension '{name}'", help=did_you_mean(name, self.names, help))
        for name in self.names:
            if name not in sizes:
                raise InputError(f"the dimension {name} has no size", help=help)
            if not 0 <= sizes[name] <= MAX_EXTENT:
                raise InputError(f"the dimension {name} is {sizes[name]}, the range is 0 to {MAX_EXTENT}", help=help)
        return tuple(sizes[name] for name in self.names)

    def _value(self, text: str, sizes: Mapping[str, int]) -> int | None:
        """Returns the extent for these sizes; `None` if it has no value or a name has no size."""
        if (size := sizes.get(text)) is not None:
            return size
        try:
            return evaluate(text, sizes) if all(name in sizes for name in names_in([text])) else None
        except DimensionError:
            return None

    def _mismatch(self, number: int, array: NDArray[Any], sizes: Mapping[str, int]) -> InputError:
        spec = self._inputs[number]
        got = TensorSpec(spec.name, str(array.dtype), array.shape)
        named = names_in(extent for extent in spec.shape if isinstance(extent, str))
        known = ", ".join(f"{name} = {sizes[name]}" for name in named if name in sizes)
        known_text = f" with {known}" if known else ""
        return InputError(f"input '{spec.name}': expected {spec}{known_text}, got {got}")


_POINTER = ctypes.c_void_p


class Executable:
    """Native code of an artifact, loaded and ready to call.

    Each call uses a frame from a pool, so calls of several threads run in parallel; the GIL is released while native
    code runs. Raises `ArtifactError` or `ExecutionError` if the code cannot run on this machine.
    """

    constant: Plan | None = None
    """The plan of every call; `None` if it depends on the sizes of named dimensions."""

    def __init__(self, artifact: Artifact, tracer: CallTracer | None = None):
        """Loads the artifact's code into this process; `tracer` records the kernel calls of all runs."""
        metadata = artifact.metadata
        check_machine(metadata, metadata.name)
        imports = {PARALLEL_FOR_SYMBOL: thread_pool().parallel_for}
        exports = [
            ENTRY_SYMBOL,
            *([PLAN_SYMBOL] if metadata.dims else []),
            *([RELEASE_SYMBOL] if metadata.dynamic_buffers else []),
        ]
        mapped = mapped_functions(artifact.objects) if environment.perf_map() else {}
        link = NativeLibrary.load if tracer is None else tracer.link
        self._library = link(artifact.objects, exports=list(dict.fromkeys([*exports, *mapped])), imports=imports)
        if mapped:
            add_to_perf_map(self._library, mapped, metadata)
        self._entry = ctypes.CFUNCTYPE(ctypes.c_int32, _POINTER, _POINTER)(self._library.address(ENTRY_SYMBOL))
        self.artifact = artifact  # a reference that keeps the weights alive
        self._polls, self._straight, self._running = metadata.polls, metadata.straight, Running()
        self.dynamic_buffers = metadata.dynamic_buffers
        self._dynamic_buffers = DynamicBufferReader([metadata.outputs[number] for number in metadata.dynamic_buffers])
        if metadata.dynamic_buffers:
            self._release = ctypes.CFUNCTYPE(None, _POINTER)(self._library.address(RELEASE_SYMBOL))
        self._leading = len(metadata.inputs) + len(metadata.written)
        self._output_memory = OutputMemory(len(metadata.written))
        self._weights = [address_of(array) for array in artifact.weights]
        self._binder = SizeBinder(metadata.inputs, metadata.dims)
        if not metadata.dims:
            self.constant = self._plan_of(metadata.arena_size, (), metadata.memory.sizes, None)
            return
        prototype = ctypes.CFUNCTYPE(ctypes.c_int32, _POINTER, _POINTER, _POINTER)
        self._plan_entry = prototype(self._library.address(PLAN_SYMBOL))
        self._plans = PlanCache(self._compute_plan)

    def sizes(self, arrays: Sequence[NDArray[Any]]) -> Sizes:
        """Returns the sizes of the named dimensions in a call with these inputs; there must be some.

        Raises `InputError` if the extents disagree.
        """
        return self._binder.bind(arrays)

    def plan(self, sizes: Sizes) -> Plan:
        """Returns the plan of a call with these sizes. Raises `ExecutionError` if they fail a check of the model."""
        return self.constant if self.constant is not None else self._plans.get(sizes)

    def plan_at(self, sizes: Mapping[str, int]) -> Plan:
        """Returns the plan for these sizes by name. Raises `InputError` unless exactly the dimensions have sizes."""
        checked = self._binder.checked(sizes)
        return self.constant if self.constant is not None else self._plans.get(checked)

    def call(self, plan: Plan, pointers: list[int], limits: RunLimits) -> list[Listed]:
        """Runs the model on the addresses of the inputs and outputs; returns the outputs that are dynamic buffers.

        Time limits apply to models that poll for cancellation. Raises an `ExecutionError` that names the source node if
        native code reports a failure.
        """
        if limits.memory is not None:
            limits.check_arena(plan.arena_size, self.artifact.metadata.name)
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
        if self._straight and status == 0 and perf_counter() - start < MIN_CANCELLABLE_SECONDS:
            plan.is_short = True
        if status == Reason.CANCELLED:
            raise cancelled_error(run, self.artifact.metadata.name)
        return status

    def _compute_plan(self, sizes: Sizes) -> Plan:
        """Calls native code for the plan of these sizes."""
        metadata = self.artifact.metadata
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
        """Returns the plan for an arena size, dynamic extents of outputs, and memory besides the arena."""
        metadata, known = self.artifact.metadata, iter(extents)
        outputs = [
            (tuple(next(known) if isinstance(e, str) else e for e in spec.shape), spec.numpy_dtype)
            for spec in metadata.written
        ]
        leading, weights, num_values = self._leading, self._weights, self._dynamic_buffers.count
        frames = Pool(lambda: Frame(leading, weights, arena_size, dims, num_values))
        memory = MemoryNeeds(arena_size, *others, not_counted=metadata.memory.uncounted)
        named = dict(zip(metadata.dims, sizes, strict=True))
        return Plan(outputs, arena_size, frames, named, memory, self._output_memory)

    def _error(
        self, status: int, context: Context, sizes: Mapping[str, int], exceeded: str | None = None
    ) -> ExecutionError:
        """Returns the error of a nonzero status, at these sizes of the named dimensions.

        `exceeded` is the message if a limit was exceeded.
        """
        reason, number = describe_failure(status, context)
        metadata = self.artifact.metadata
        if reason == Reason.CHECK.text and number is not None and number < len(metadata.checks):
            check = metadata.checks[number]
            sides = (context.low, context.high) if context.noted == ContextWord.SIDES else None
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
