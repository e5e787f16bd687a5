"""`CompiledModel`, a model ready to run, and `load`, which reads one from a file."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from numpy.typing import NDArray

from xrelay.api.versions.versions import Versions
from xrelay.arguments import checked_integer, checked_path, checked_shapes, checked_sizes
from xrelay.errors import InputError
from xrelay.forking import forks_wait
from xrelay.runtime.arena import address_of
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.cores import check_num_threads, default_num_threads
from xrelay.runtime.inputs import InputBinder, is_mapping
from xrelay.runtime.lists import FunctionHandle, Listed
from xrelay.runtime.memory import RunLimits, check_memory_limit
from xrelay.runtime.metadata import TensorSpec
from xrelay.runtime.running import checked_timeout
from xrelay.shortage import reporting_shortage

if TYPE_CHECKING:
    from xrelay.api.build_artifact import CompileTiming
    from xrelay.api.profiling.profile import Profile
    from xrelay.runtime.executable import Executable, Plan
    from xrelay.runtime.memory import MemoryNeeds


class CompiledModel:
    """A compiled model.

    `run` may be called by several threads at once. Inputs that are contiguous arrays are read in place; outputs are new
    arrays that belong to the caller. Native code is loaded by the first call, so a model compiled for another CPU can
    still be saved and exported.
    """

    def __init__(
        self,
        artifact: Artifact,
        *,
        num_threads: int | None = None,
        memory_limit: int | None = None,
        timing: CompileTiming | None = None,
        versions: Versions | None = None,
    ):
        """Creates a model from its artifact. `num_threads` is the maximum per call (default: the available cores).

        `memory_limit` and `timing` are the properties of these names. `versions` are those in the artifact, or others
        of the same model.
        """
        self._artifact, self._timing = artifact, timing
        self._binder = InputBinder(artifact.metadata.inputs)
        self._versions = Versions(artifact) if versions is None and artifact.versions else versions
        self._dynamic_buffers = artifact.metadata.dynamic_buffers
        self._num_threads = default_num_threads() if num_threads is None else check_num_threads(num_threads)
        self._memory_limit = check_memory_limit(memory_limit)
        self._functions = [CompiledModel(each) for each in artifact.functions]
        """For each output that is a function, the model that calls it."""
        self._takes_functions = any(spec.is_function for spec in artifact.metadata.inputs)
        self._owner = object()
        """Identifies the model that returned a function; the models that call its functions share it."""
        self._executable: Executable | None = None
        self._loading = threading.Lock()

    @property
    def artifact(self) -> Artifact:
        """Object code, tables and weights."""
        return self._artifact

    @property
    def timing(self) -> CompileTiming | None:
        """The compile timing; `None` for a model from a file or from the cache."""
        return self._timing

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Name, dtype and shape of each input, in order; a dynamic extent is its text, such as `n`."""
        return self._artifact.metadata.inputs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """Name, dtype and shape of each output, in order.

        A dynamic extent is its name; a data-dependent extent with an upper bound is the bound.
        """
        return self._artifact.metadata.outputs

    @property
    def input_names(self) -> list[str]:
        """The names of the inputs, in order."""
        return list(self._binder.names)

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs, in order."""
        return [spec.name for spec in self.outputs]

    @property
    def num_threads(self) -> int:
        """The maximum number of threads per call; 1 runs everything on the calling thread."""
        return self._num_threads

    @num_threads.setter
    def num_threads(self, threads: int) -> None:
        self._num_threads = check_num_threads(threads)

    @property
    def memory_limit(self) -> int | None:
        """The maximum number of bytes that a call may allocate, without inputs, outputs of static shape and weights.

        `None` is no limit. A call that needs more raises `ExecutionError` before it allocates: once the size of its
        arena is known, or when it creates a buffer of data-dependent size or a frame of a recursion. Elements of lists
        count as buffers, and the allocations of kernels count once per thread.
        """
        return self._memory_limit

    @memory_limit.setter
    def memory_limit(self, limit: int | None) -> None:
        self._memory_limit = check_memory_limit(limit)

    def run(
        self,
        inputs: Mapping[str, object] | Sequence[object] = (),
        *,
        out: Sequence[NDArray[Any]] | None = None,
        timeout: float | None = None,
    ) -> list[Listed]:
        """Runs the model; returns the outputs in order. Inputs are by name (`{"data": x}`) or in order (`[x]`).

        An output is an array, a list for a sequence, a value or `None` for an optional, or a `CompiledFunction`.

        Arrays must have the dtype and shape of the input; lists of numbers take its dtype. Dynamic extents are taken
        from the arrays, which must agree on the size of each name. `out` are arrays for the outputs, in order: of their
        dtype and shape, contiguous, and overlapping neither the inputs nor each other. `InputError` names the input or
        output, the expected and the actual value; `ExecutionError` names the source node that failed.

        A run ends with `ExecutionError` after `timeout` seconds or `cancel()`, and with `KeyboardInterrupt` on Ctrl-C.
        This is checked in each iteration of a loop or recursion, and before each kernel if the model has more than
        sixteen. A kernel that has started runs to its end, and a run of less than 2 ms may do so too. The model can be
        run again at once.
        """
        limit = None if timeout is None else checked_timeout(timeout)
        arrays = self._arrays(inputs)
        executable = self._executable
        if executable is None or (plan := executable.constant) is None:
            executable, plan = self._chosen(arrays)
        return self._run(executable, plan, arrays, out, limit)

    def profile(self, inputs: Mapping[str, object] | Sequence[object] = (), *, runs: int = 10) -> Profile:
        """Measures the time that a run on `inputs` spends in each kernel; returns the fastest of `runs` traced runs.

        `inputs` are as in `run`. Traced and plain runs alternate. The first profile on a machine measures its roofline,
        for about a second. Other runs of the model are not affected. Raises the errors of `run`, and `InputError`
        unless `runs` is a positive integer.
        """
        from xrelay.api.profiling.profile import profile_runs

        if checked_integer("runs", runs) < 1:
            raise InputError(f"runs is {runs}", help="pass a positive integer")
        arrays = self._arrays(inputs)
        executable, plan = self._chosen(arrays)

        def run(traced: Executable) -> None:
            self._run(traced, plan, arrays, None, None)

        with reporting_shortage():
            return profile_runs(executable.artifact, executable, run, runs=runs, threads=self._num_threads)

    def cancel(self) -> None:
        """Ends the runs of other threads with `ExecutionError`, at the points described in `run`.

        A model without loops runs to its end if it has few kernels, or if its kernels take less than 2 ms.
        """
        if self._executable is not None:
            self._executable.cancel()
        if self._versions is not None:
            self._versions.cancel()

    def memory(self, sizes: Mapping[str, int] | None = None) -> int:
        """Returns the peak bytes of a call, without inputs, outputs and weights, for `sizes` of the named dimensions.

        This is the `peak` of `memory_needs`, which also lists what is not counted.
        """
        return self.memory_needs(sizes).peak

    def memory_needs(self, sizes: Mapping[str, int] | None = None) -> MemoryNeeds:
        """Returns the parts of `memory`: arena, dynamic buffers, and allocations of kernels, once and per thread.

        Versions for certain sizes are not considered. A buffer of data-dependent size counts with its upper bound. If
        it has none, as for sequences and recursions, `not_counted` names it. `memory_limit` bounds the total.

        The names are those in `inputs`; numbers have replaced dimensions of the program that have only one legal size.
        Raises `InputError` unless exactly these names have sizes, and `ExecutionError` if the sizes fail a check of the
        model.
        """
        executable = self._executable if self._executable is not None else self._load()
        plan = executable.plan_at(checked_sizes(sizes))
        return replace(plan.memory, threads=self._num_threads)

    def __call__(self, /, *inputs: object, **named: object) -> list[Listed]:
        """Same as `run`, with the inputs as arguments: `model(x, y)`, `model(data=x)`, `model({"data": x})`."""
        return self.run(call_inputs(inputs, named))

    def specialize(self, shapes: Mapping[str, Sequence[int] | int]) -> None:
        """Compiles a version of the model for certain sizes, which runs with these sizes use from then on.

        `shapes` are as in `compile`, and fix every named dimension: `{"data": (1, 3, 224, 224)}`, or by its name,
        `{"n": 8}`. The version is kept, also in saved files. It is as fast as a model that is compiled for the sizes,
        and results may differ by rounding from those of the model for all sizes.

        Raises the errors of `compile` for wrong names and for sizes that the model refuses. Raises `InputError` if the
        model has no named dimensions, returns functions, is from a saved file, or was compiled from bytes or an ONNX
        model in memory, and if its program has changed.
        """
        if self._versions is None:
            help = "compile the program with named dimensions, from a file or a module"
            raise InputError(
                "the model cannot be compiled for other sizes", location=self._artifact.metadata.name, help=help
            )
        self._versions.specialize(checked_shapes(shapes))

    def save(self, path: str | Path) -> None:
        """Writes the model to one file that `xrelay.load` reads, with the versions that `specialize` made."""
        kept = self._artifact.versions if self._versions is None else self._versions.kept()
        replace(self._artifact, versions=kept).save(checked_path("path", path))

    def export(self, path: str | Path, *, header: str | Path, name: str | None = None) -> list[Path]:
        """Writes an object file, a C header for it, and the weights (`.weights`) next to the object file.

        Returns the paths of the files.

        The header documents and declares everything a C program needs; see `xrelay.runtime.c_export`. `name` is the
        prefix of all C functions and defaults to the name of the header: models of different names link into one
        program.
        """
        from xrelay.runtime.c_export import export_c

        return export_c(self._artifact, checked_path("path", path), checked_path("header", header), name=name)

    def __copy__(self) -> CompiledModel:
        """Returns a model with the same code and weights, which are immutable, and its own threads and limit."""
        return type(self)(
            self._artifact,
            num_threads=self._num_threads,
            memory_limit=self._memory_limit,
            timing=self._timing,
            versions=self._versions,
        )

    def __deepcopy__(self, memo: dict[int, object]) -> CompiledModel:
        """Same as `copy.copy`."""
        return self.__copy__()

    def __reduce__(self) -> NoReturn:
        """Raises `InputError`: unpickling native code would execute code from an untrusted source."""
        raise InputError("a compiled model cannot be pickled", help="use save(path) and load(path)")

    def __repr__(self) -> str:
        inputs = ", ".join(f"{spec.name}: {spec}" for spec in self.inputs)
        outputs = ", ".join(f"{spec.name}: {spec}" for spec in self.outputs)
        return f"<CompiledModel {self._artifact.metadata.name}({inputs}) -> ({outputs})>"

    def _repr_html_(self) -> str:
        """Returns the inputs, outputs and kernels as HTML, for notebooks."""
        from xrelay.api.notebook import model_html

        return model_html(self._artifact.metadata, self.inputs, self.outputs)

    def _arrays(self, inputs: Mapping[str, object] | Sequence[object]) -> list[NDArray[Any]]:
        """Returns the inputs in order, in native form."""
        if self._takes_functions:
            inputs = self._with_own_functions(inputs)
        if is_mapping(inputs):
            return self._binder.from_mapping(inputs)
        if isinstance(inputs, (list, tuple)):
            return self._binder.from_sequence(inputs)
        kind = type(inputs).__name__
        raise InputError(f"the inputs must be a dict or a list, found {kind}", help="pass [x] for a single input")

    def _chosen(self, arrays: Sequence[NDArray[Any]]) -> tuple[Executable, Plan]:
        """Returns the code for inputs of these shapes, that of a version if there is one, and its plan."""
        executable = self._executable
        if executable is None:
            executable = self._load()
        plan = executable.constant
        if plan is None:
            sizes = executable.sizes(arrays)
            version = None if self._versions is None else self._versions.at(sizes)
            executable = executable if version is None else version
            plan = executable.plan(sizes)
        return executable, plan

    def _run(
        self,
        executable: Executable,
        plan: Plan,
        arrays: list[NDArray[Any]],
        out: Sequence[NDArray[Any]] | None,
        timeout: float | None,
    ) -> list[Listed]:
        results: list[Listed] = [*(plan.new_outputs() if out is None else self._check_out(plan, out, arrays))]
        pointers = [address_of(array) for array in (*arrays, *results)]
        limits = RunLimits(self._num_threads, self._memory_limit, timeout)
        buffers = executable.call(plan, pointers, limits)
        if buffers:
            for number, array in zip(executable.dynamic_buffers, buffers, strict=True):
                results.insert(number, array)
        if self._functions:
            self._wrap_functions(results)
        return results

    def _wrap_functions(self, results: list[Listed]) -> None:
        """Replaces the outputs that are functions by objects that call them."""
        for number, function in zip(self._artifact.metadata.functions, self._callable(), strict=True):
            (type,) = self.outputs[number].functions
            results[number] = CompiledFunction(FunctionHandle(results[number], type, self._owner), function)

    def _callable(self) -> list[CompiledModel]:
        """Returns the models that call this model's functions, with its thread count, memory limit and owner."""
        for function in self._functions:
            function._num_threads, function._memory_limit = self._num_threads, self._memory_limit
            function._owner = self._owner
        return self._functions

    def _with_own_functions(
        self, inputs: Mapping[str, object] | Sequence[object]
    ) -> Mapping[str, object] | Sequence[object]:
        """Returns the inputs with functions in native form. Raises `InputError` for a function of another model."""

        def own(value: object) -> object:
            if not isinstance(value, CompiledFunction):
                return value
            if value.given.owner is not self._owner:
                raise InputError(
                    "the input is a function of another model", help="pass a function that the same model returned"
                )
            return value.given

        if is_mapping(inputs):
            return {name: own(value) for name, value in inputs.items()}
        return [own(value) for value in inputs] if isinstance(inputs, (list, tuple)) else inputs

    def _check_out(self, plan: Plan, out: Sequence[NDArray[Any]], arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Checks the arrays that a caller passed for the outputs, and returns them."""
        if self._dynamic_buffers:
            raise InputError("out= needs outputs whose shapes depend only on the input shapes", help="run without out=")
        return plan.check_outputs(self._artifact.metadata.outputs, out, arrays)

    def _load(self) -> Executable:
        with reporting_shortage(), forks_wait(), self._loading:
            if self._executable is None:
                from xrelay.runtime.executable import Executable

                self._executable = Executable(self._artifact)
            return self._executable


class CompiledFunction:
    """A function that a compiled model returned, with its captured values; called like a model.

    Its captured values are freed with it. It stays valid when the model runs again or is deleted. A parameter that is a
    function takes a `CompiledFunction` that the same model, or one of its functions, returned.
    """

    def __init__(self, given: FunctionHandle, model: CompiledModel):
        """Wraps the function `given`, which is the first input of `model`."""
        self.given = given
        """The handle of the function in native code."""
        self._model = model

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Name, dtype and shape of each parameter, in order."""
        return self._model.inputs[1:]

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """Name, dtype and shape of the result, or of each field of a tuple."""
        return self._model.outputs

    def run(
        self, inputs: Mapping[str, object] | Sequence[object] = (), *, timeout: float | None = None
    ) -> list[Listed]:
        """Calls the function with arguments by name or in order, as in `CompiledModel.run`."""
        if is_mapping(inputs):
            return self._model.run({self._model.input_names[0]: self.given.function, **inputs}, timeout=timeout)
        if not isinstance(inputs, (list, tuple)):
            kind = type(inputs).__name__
            raise InputError(f"the inputs must be a dict or a list, found {kind}", help="pass [x] for a single input")
        if len(inputs) != len(self.inputs):
            raise InputError(f"the function takes {len(self.inputs)} inputs, got {len(inputs)}")
        return self._model.run([self.given.function, *inputs], timeout=timeout)

    def cancel(self) -> None:
        """Ends the runs of all functions from the same output, as in `CompiledModel.cancel`."""
        self._model.cancel()

    def __call__(self, /, *inputs: object, **named: object) -> list[Listed]:
        """Same as `run`, with the inputs as arguments."""
        return self.run(call_inputs(inputs, named))

    def __repr__(self) -> str:
        inputs = ", ".join(f"{spec.name}: {spec}" for spec in self.inputs)
        outputs = ", ".join(f"{spec.name}: {spec}" for spec in self.outputs)
        return f"<CompiledFunction ({inputs}) -> ({outputs})>"


def call_inputs(inputs: Sequence[object], named: Mapping[str, object]) -> Mapping[str, object] | Sequence[object]:
    """Returns call arguments in order or by name; a single mapping is by name. Raises `InputError` for a mixture."""
    if inputs and named:
        raise InputError("inputs are passed both by position and by name", help="pass all by position or all by name")
    if len(inputs) == 1 and is_mapping(inputs[0]):
        return inputs[0]
    return named if named else inputs


def load(
    path: str | PathLike[str],
    *,
    num_threads: int | None = None,
    verify: bool = False,
    mmap: bool | None = None,
    trust: bool = False,
    memory_limit: int | None = None,
) -> CompiledModel:
    """Loads a model from a file written by `CompiledModel.save`; `memory_limit` is as in `CompiledModel`.

    Code and tables are checked against their digest. Weights are checked once, again after a change of the file, and on
    each load with `verify`. Up to 64 MiB of weights are copied to memory, and more are mapped from the file; `mmap`
    overrides the choice. A mapped file may be replaced, but must not be modified or truncated while the model is alive.

    Raises `ArtifactError` if the file is damaged, of another version or ABI, compiled for an incompatible CPU, or
    writable by users other than the caller and root; `trust` loads such a writable file anyway.
    """
    place, limit = checked_path("path", path), check_memory_limit(memory_limit)
    with reporting_shortage(), forks_wait():
        artifact = Artifact.load(place, verify=verify, mmap=mmap, trust=trust)
    return CompiledModel(artifact, num_threads=num_threads, memory_limit=limit)
