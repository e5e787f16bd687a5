"""`IOBinding`: inputs and outputs that are bound to memory before a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import DTypeLike, NDArray

from xrelay.errors import did_you_mean
from xrelay.onnxruntime.errors import InvalidArgument
from xrelay.onnxruntime.signature import NodeArg
from xrelay.onnxruntime.values import OrtValue, array_at, check_device
from xrelay.runtime.lists import Listed


class _Session(Protocol):
    """The part of a session that has the names of its inputs and outputs."""

    def get_inputs(self) -> list[NodeArg]: ...

    def get_overridable_initializers(self) -> list[NodeArg]: ...

    def get_outputs(self) -> list[NodeArg]: ...


class IOBinding:
    """The bound inputs and outputs of runs of a session.

    Results are copied to the memory of bound outputs. A bound output without memory is a new array in each run.
    All methods that bind raise `InvalidArgument` for a name that the session does not have.
    """

    def __init__(self, session: _Session):
        """Creates a binding without inputs and outputs."""
        self._input_names = [each.name for each in (*session.get_inputs(), *session.get_overridable_initializers())]
        self._output_names = [each.name for each in session.get_outputs()]
        self.inputs: dict[str, OrtValue] = {}
        """The bound inputs by name."""
        self.outputs: dict[str, OrtValue | None] = {}
        """The bound outputs by name; `None` is an output without memory."""
        self._results: list[OrtValue] = []

    def bind_cpu_input(self, name: str, arr_on_cpu: NDArray[Any]) -> None:
        """Binds an input to an array, which is read in each run."""
        self.bind_ortvalue_input(name, OrtValue(arr_on_cpu))

    def bind_input(
        self,
        name: str,
        device_type: str,
        device_id: int,
        element_type: DTypeLike | int,
        shape: Sequence[int],
        buffer_ptr: int,
    ) -> None:
        """Binds an input to the memory at an address."""
        check_device(device_type)
        self.bind_ortvalue_input(name, OrtValue(array_at(buffer_ptr, shape, element_type)))

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Binds an input to a value."""
        _check_name("input", name, self._input_names)
        self.inputs[name] = ortvalue

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: DTypeLike | int | None = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Binds an output to the memory at an address, or to new memory in each run."""
        check_device(device_type)
        _check_name("output", name, self._output_names)
        if buffer_ptr is None:
            self.outputs[name] = None
            return
        if element_type is None or shape is None:
            raise InvalidArgument("the memory of an output needs element_type and shape")
        self.bind_ortvalue_output(name, OrtValue(array_at(buffer_ptr, shape, element_type)))

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Binds an output to the memory of a value."""
        _check_name("output", name, self._output_names)
        self.outputs[name] = ortvalue

    def store(self, values: Sequence[OrtValue]) -> None:
        """Stores the results of a run, in the order of `outputs`. Raises `InvalidArgument` if one does not fit."""
        self._results = []
        for value, bound in zip(values, self.outputs.values(), strict=True):
            if bound is not None:
                bound.update_inplace(value)
            self._results.append(value if bound is None else bound)

    def get_outputs(self) -> list[OrtValue]:
        """Returns the results of the last run, in the order in which the outputs were bound."""
        return list(self._results)

    def copy_outputs_to_cpu(self) -> list[Listed]:
        """Returns the results of the last run as arrays."""
        return [value.to_python() for value in self._results]

    def clear_binding_inputs(self) -> None:
        """Removes all inputs."""
        self.inputs = {}

    def clear_binding_outputs(self) -> None:
        """Removes all outputs and results."""
        self.outputs, self._results = {}, []

    def synchronize_inputs(self) -> None:
        """Does nothing, because the memory is that of the CPU."""

    def synchronize_outputs(self) -> None:
        """Does nothing, because a run ends after its results are stored."""


def _check_name(kind: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        hint = did_you_mean(name, names, f"the {kind}s are {', '.join(names)}")
        raise InvalidArgument(f"the model has no {kind} '{name}'", help=hint)
