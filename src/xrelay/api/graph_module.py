"""`GraphModule`: the run-time interface that Relay's users know, on a compiled model."""

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

from xrelay.api.model import CompiledModel
from xrelay.api.param_dict import load_param_dict
from xrelay.api.tensor import Tensor
from xrelay.errors import InputError, with_article
from xrelay.runtime.inputs import InputBinder
from xrelay.runtime.metadata import OPTIONAL


@dataclass(frozen=True)
class BenchmarkResult:
    """Seconds a call took: `results` has one mean for each repeat, the others summarise them."""

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
        """The shortest."""
        return min(self.results)

    @property
    def max(self) -> float:
        """The longest."""
        return max(self.results)

    @property
    def std(self) -> float:
        """The standard deviation of the population."""
        return statistics.pstdev(self.results)

    def __str__(self) -> str:
        names = ("mean", "median", "max", "min", "std")
        values = (self.mean, self.median, self.max, self.min, self.std)
        title = "Execution time summary:\n"
        head = " ".join(f"{name + ' (ms)':>12}" for name in names)
        return f"{title}{head}\n" + " ".join(f"{1e3 * value:12.4f}" for value in values)


class GraphModule:
    """Inputs are set one by one, `run` computes, outputs are fetched.

    One object holds one set of inputs and outputs: give each thread its own, they may share the model.
    """

    def __init__(self, model: CompiledModel):
        """A module on a model; `InputError` if that takes or gives sequences, or takes optionals.

        The value of an optional output is an output like others.
        """
        outputs = [spec for spec in model.outputs if spec.containers != (OPTIONAL,)]
        for spec in (*model.inputs, *outputs):
            if spec.containers:
                raise InputError(
                    f"a GraphModule has arrays alone, '{spec.name}' is {spec}", help="use the model: model.run([…])"
                )
        self._model = model
        self._binder = InputBinder(model.inputs)
        self._values: list[Tensor | None] = [None] * len(model.inputs)
        self._outputs: list[NDArray[Any] | None] | None = None
        metadata = model.artifact.metadata
        self._bound = {*metadata.bound_params, *(spec.name for spec in metadata.weights)} - set(self._binder.names)

    def set_input(self, key: str | int | None = None, value: object = None, /, **params: object) -> None:
        """Copy a value into the input of a name or number, and others by name.

        Arrays of another dtype of the same kind are converted, as Relay does. Among `params`, names of parameters that
        were bound when the model was compiled are passed over: their values are in the model. `InputError` where a
        name is neither, or a value does not fit.
        """
        if key is not None:
            self._set(self._number(key), value)
        for name, param in params.items():
            if name not in self._bound:
                self._set(self._number(name), param)

    def load_params(self, params_bytes: bytes | bytearray) -> None:
        """Set the inputs among the parameters of a blob that `save_param_dict` wrote; others are passed over."""
        found = load_param_dict(params_bytes)
        self.set_input(**{name: found[name] for name in self._binder.names if name in found})

    def run(self, /, **inputs: object) -> None:
        """Sets inputs given by name and computes; an input that has not been set is zeros, as in Relay.

        `InputError` if such an input has an open extent.
        """
        self.set_input(**inputs)
        values = [self._value(number) for number in range(len(self._values))]
        for name, value in zip(self._binder.names, values, strict=True):
            if value is None:
                raise InputError(f"input '{name}' has not been set", help=f"call set_input('{name}', …) before run")
        self._outputs = self._model.run([value.view(np.ndarray) for value in values if value is not None])

    def get_output(self, index: int, out: NDArray[Any] | None = None) -> Tensor:
        """Output number `index` of the last run, copied to `out` if that is given.

        `InputError` for an optional without a value.
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
        """The number of inputs."""
        return len(self._values)

    def get_num_outputs(self) -> int:
        """The number of outputs."""
        return len(self._model.outputs)

    def get_input(self, key: str | int) -> Tensor | None:
        """The value of an input, by name or number, zeros before it is set; `None` if that has an open extent."""
        return self._value(self._number(key))

    def get_input_index(self, name: str) -> int:
        """The number of an input, -1 where there is none of that name."""
        return self._binder.index.get(name, -1)

    def get_input_info(self) -> tuple[dict[str, tuple[int | str, ...]], dict[str, str]]:
        """The shapes and the dtypes of the inputs, by name; an open extent is its text."""
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
        """Time `run`: `repeat` results, each the mean of `number` calls after one that is not counted.

        `min_repeat_ms` raises `number` until a repeat takes that long. With `end_to_end`, setting the inputs and
        copying the outputs is timed too. `device` and `func_name` stand for Relay's; the function is always `run`.
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
        """Returns the value of an input, which is made of zeros if it has not been set and its shape is known."""
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
    """The times of `repeat` times `number` calls, each the mean of its calls, after a call that is not counted.

    `min_repeat_ms` raises `number` until a repeat takes that long.
    """
    if repeat < 1 or number < 1:
        raise InputError(f"benchmark: repeat is {repeat}, number {number}", help="give numbers from 1")
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
    """Copy a result to an array of the user's; `InputError` unless it has room for just that."""
    expected = f"out: expected {result.dtype}{list(result.shape)}"
    if not isinstance(out, np.ndarray):
        raise InputError(f"{expected}, got {with_article(type(out).__name__)}", help="give an array like the output")
    if out.shape != result.shape or out.dtype != result.dtype:
        raise InputError(f"{expected}, got {out.dtype}{list(out.shape)}", help="give an array like the output")
    if not out.flags.writeable:
        raise InputError(f"{expected}, got one that is read-only", help="give a copy of it")
    out[...] = result


def _check_index(index: object, count: int, kind: str) -> int:
    if not isinstance(index, SupportsIndex):
        raise InputError(f"{kind} {index!r} does not exist", help=f"give its number, from 0 to {count - 1}")
    index = operator.index(index)
    if not 0 <= index < count:
        raise InputError(f"{kind} {index} does not exist", help=f"the model has {count} {kind}s, numbered from 0")
    return index
