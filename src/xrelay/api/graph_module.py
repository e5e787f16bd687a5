"""`GraphModule`: Relay's run-time interface to a compiled model."""

from __future__ import annotations

import operator
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from xrelay.api.arrays import Tensor
from xrelay.api.model import CompiledModel
from xrelay.api.param_dict import load_param_dict
from xrelay.errors import InputError, with_article
from xrelay.runtime.inputs import InputBinder
from xrelay.runtime.metadata import OPTIONAL


@dataclass(frozen=True)
class BenchmarkResult:
    """The seconds per call: `results` has the mean of each repeat, the properties summarise them."""

    results: Sequence[float]

    @property
    def mean(self) -> float:
        """The mean."""
        return statistics.fmean(self.results)

    @property
    def median(self) -> float:
        """The median."""
        return statistics.median(self.results)

    @property
    def min(self) -> float:
        """The minimum."""
        return min(self.results)

    @property
    def max(self) -> float:
        """The maximum."""
        return max(self.results)

    @property
    def std(self) -> float:
        """The population standard deviation."""
        return statistics.pstdev(self.results)

    def __str__(self) -> str:
        names = ("mean", "median", "max", "min", "std")
        values = (self.mean, self.median, self.max, self.min, self.std)
        title = "Execution time summary:\n"
        head = " ".join(f"{name + ' (ms)':>12}" for name in names)
        return f"{title}{head}\n" + " ".join(f"{1e3 * value:12.4f}" for value in values)


class GraphModule:
    """Sets inputs one by one, runs the model, and returns outputs by index.

    An object holds one set of inputs and outputs. Use one per thread; they may share the model.
    """

    def __init__(self, model: CompiledModel):
        """Wraps a model. Raises `InputError` if it takes or returns sequences, or takes optionals.

        An optional output is accepted; its value is an ordinary output.
        """
        outputs = [spec for spec in model.outputs if spec.containers != (OPTIONAL,)]
        for spec in (*model.inputs, *outputs):
            if spec.containers:
                raise InputError(
                    f"a GraphModule supports arrays only, '{spec.name}' is {spec}", help="use the model: model.run([…])"
                )
        self._model = model
        self._binder = InputBinder(model.inputs)
        self._values: list[Tensor | None] = [None] * len(model.inputs)
        self._outputs: list[NDArray[Any] | None] | None = None
        metadata = model.artifact.metadata
        self._bound = {*metadata.bound_params, *(spec.name for spec in metadata.weights)} - set(self._binder.names)

    def set_input(self, key: str | int | None = None, value: object = None, /, **params: object) -> None:
        """Copies a value into the input with a name or number, and others by name.

        Arrays of another dtype of the same kind are converted, as in Relay. Names in `params` that were bound when the
        model was compiled are ignored, since the model contains their values. Raises `InputError` for an unknown name
        or a value that does not fit.
        """
        if key is not None:
            self._set(self._number(key), value)
        for name, param in params.items():
            if name not in self._bound:
                self._set(self._number(name), param)

    def load_params(self, params_bytes: bytes | bytearray) -> None:
        """Sets the inputs found in a blob that `save_param_dict` wrote; other parameters are ignored."""
        found = load_param_dict(params_bytes)
        self.set_input(**{name: found[name] for name in self._binder.names if name in found})

    def run(self, /, **inputs: object) -> None:
        """Sets inputs by name and runs the model. Inputs that were not set are zeros, as in Relay.

        Raises `InputError` if an input that was not set has a dynamic extent.
        """
        self.set_input(**inputs)
        values = [self._value(number) for number in range(len(self._values))]
        for name, value in zip(self._binder.names, values, strict=True):
            if value is None:
                raise InputError(f"input '{name}' has not been set", help=f"call set_input('{name}', …) before run")
        self._outputs = self._model.run([value.view(np.ndarray) for value in values if value is not None])

    def get_output(self, index: int, out: NDArray[Any] | None = None) -> Tensor:
        """Returns output `index` of the last run, copied to `out` if that is passed.

        Raises `InputError` for an empty optional.
        """
        if self._outputs is None:
            raise InputError("the model has not run", help="call run() before get_output()")
        number = _check_index(index, len(self._outputs), "output")
        result = self._outputs[number]
        if result is None:
            name = self._model.outputs[number].name
            raise InputError(f"output '{name}' is an optional that has no value in this run")
        if out is None:
            return result.view(Tensor)
        copy_to(out, result)
        return out.view(Tensor)

    def get_num_inputs(self) -> int:
        """Returns the number of inputs."""
        return len(self._values)

    def get_num_outputs(self) -> int:
        """Returns the number of outputs."""
        return len(self._model.outputs)

    def get_input(self, key: str | int) -> Tensor | None:
        """Returns the value of an input by name or number.

        An input that is not set is zeros, or `None` if its shape is dynamic.
        """
        return self._value(self._number(key))

    def get_input_index(self, name: str) -> int:
        """Returns the number of an input, or -1 if there is no input of that name."""
        return self._binder.index.get(name, -1)

    def get_input_info(self) -> tuple[dict[str, tuple[int | str, ...]], dict[str, str]]:
        """Returns the shapes and the dtypes of the inputs by name; a dynamic extent is its text."""
        specs = self._model.inputs
        return {spec.name: spec.shape for spec in specs}, {spec.name: spec.dtype for spec in specs}

    def benchmark(
        self,
        device: object = None,
        func_name: str = "run",
        repeat: int = 5,
        number: int = 5,
        min_repeat_ms: float | None = None,
        end_to_end: bool = False,
        **inputs: object,
    ) -> BenchmarkResult:
        """Times `run`: `repeat` results, each the mean of `number` calls, after one untimed call.

        `min_repeat_ms` raises `number` until a repeat takes that long. `end_to_end` also times setting inputs and
        copying outputs. `device` and `func_name` exist for compatibility with Relay; the function is always `run`.
        """
        if func_name != "run":
            raise InputError(f"benchmark: no function '{func_name}'", help="the function is 'run'")
        self.set_input(**inputs)
        run = partial(self._run_end_to_end, inputs) if end_to_end else self.run
        return benchmark_of(run, repeat, number, min_repeat_ms)

    def _run_end_to_end(self, inputs: Mapping[str, object]) -> None:
        self.run(**inputs)
        for index in range(self.get_num_outputs()):
            self.get_output(index).numpy()

    def _value(self, number: int) -> Tensor | None:
        """Returns the value of an input; an input that was not set becomes zeros if its shape is static."""
        if self._values[number] is None:
            spec = self._model.inputs[number]
            extents = [extent for extent in spec.shape if isinstance(extent, int)]
            if len(extents) == len(spec.shape):
                self._set(number, np.zeros(extents))
        return self._values[number]

    def _set(self, number: int, value: object) -> None:
        self._values[number] = np.array(self._binder.inputs[number].cast(value)).view(Tensor)

    def _number(self, key: str | int) -> int:
        if isinstance(key, str):
            number = self._binder.index.get(key)
            if number is None:
                raise InputError(f"Could not find '{key}' in graph's inputs", help=self._binder.suggest(key))
            return number
        return _check_index(key, len(self._values), "input")


def benchmark_of(
    run: Callable[[], object], repeat: int, number: int, min_repeat_ms: float | None = None
) -> BenchmarkResult:
    """Returns the times of `repeat` repeats, each the mean of `number` calls, after one untimed call.

    `min_repeat_ms` raises `number` until a repeat takes that long.
    """
    if repeat < 1 or number < 1:
        raise InputError(f"benchmark: repeat is {repeat}, number {number}", help="pass positive numbers")
    run()
    while min_repeat_ms is not None and _seconds(run, number) * number * 1e3 < min_repeat_ms:
        number *= 2
    return BenchmarkResult(tuple(_seconds(run, number) for _ in range(repeat)))


def _seconds(run: Callable[[], object], number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        run()
    return (time.perf_counter() - start) / number


def copy_to(out: object, result: NDArray[Any]) -> None:
    """Copies a result to a user's array. Raises `InputError` unless shape and dtype match and it is writeable."""
    expected = f"out: expected {result.dtype}{list(result.shape)}"
    if not isinstance(out, np.ndarray):
        raise InputError(
            f"{expected}, got {with_article(type(out).__name__)}",
            help="pass an array with the shape and dtype of the output",
        )
    if out.shape != result.shape or out.dtype != result.dtype:
        raise InputError(
            f"{expected}, got {out.dtype}{list(out.shape)}", help="pass an array with the shape and dtype of the output"
        )
    if not out.flags.writeable:
        raise InputError(f"{expected}, got a read-only array", help="pass a writable copy")
    out[...] = result


def _check_index(index: object, count: int, kind: str) -> int:
    if not isinstance(index, SupportsIndex):
        raise InputError(f"{kind} {index!r} does not exist", help=f"pass a number from 0 to {count - 1}")
    index = operator.index(index)
    if not 0 <= index < count:
        raise InputError(f"{kind} {index} does not exist", help=f"the model has {count} {kind}s, numbered from 0")
    return index
