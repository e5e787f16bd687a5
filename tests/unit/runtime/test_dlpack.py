"""Arrays of other libraries are passed in and out without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import xrelay
from xrelay import relay
from xrelay.errors import InputError
from xrelay.runtime.arena import address_of
from xrelay.runtime.inputs import InputSpec
from xrelay.runtime.metadata import TensorSpec

CPU, CUDA = (1, 0), (2, 0)


class Exporter:
    """An array of a library that only supports DLPack."""

    def __init__(self, array: NDArray[Any], device: tuple[int, int] = CPU):
        self._array, self._device = array, device

    def __dlpack__(self, **options: Any) -> Any:
        if self._device != CPU:
            raise BufferError("it is not on the CPU")
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


def test_inputs_are_read_where_they_lie() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    found = InputSpec(TensorSpec("x", "float32", (2, 3))).array(Exporter(array))
    assert address_of(found) == address_of(array)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(3, 2).T,
        np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::2],
        np.arange(6, dtype=np.float32)[::-1].reshape(2, 3),
        np.broadcast_to(np.float32(3), (2, 3)),
        np.arange(7, dtype=np.float32)[1:].reshape(2, 3),
    ],
    ids=["transposed", "strided", "reversed", "broadcast", "shifted"],
)
@pytest.mark.parametrize("by", [Exporter, np.asarray])
def test_layouts(array: NDArray[Any], by: Any) -> None:
    x = relay.var("x", shape=(2, 3))
    (found,) = xrelay.compile(relay.Module.from_expr(relay.Function([x], x + x))).run([by(array)])
    np.testing.assert_array_equal(found, array + array)


def test_a_model_runs_on_exporters_and_its_outputs_are_exporters() -> None:
    x, s = relay.var("x", shape=(2, 3)), relay.var("s", shape=(), dtype="float32")
    model = xrelay.compile(relay.Module.from_expr(relay.Function([x, s], x * s)))
    array = np.ones((2, 3), np.float32)
    array.flags.writeable = False
    (found,) = model.run({"x": array, "s": Exporter(np.full((), 2, np.float32))})
    again = np.from_dlpack(found)
    assert address_of(again) == address_of(found)
    np.testing.assert_array_equal(again, 2 * array)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (Exporter(np.zeros((2, 3), np.float32), CUDA), "expected float32\\[2, 3\\], got a value"),
        (Exporter(np.zeros((2, 3))), "got float64\\[2, 3\\]; help: convert it"),
        (Exporter(np.zeros(3, np.float32)), "got float32\\[3\\]"),
        (Exporter(np.zeros((2, 3), np.complex64)), "of dtype complex64"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(value: Exporter, reason: str) -> None:
    with pytest.raises(InputError, match=f"input 'x': .*{reason}") as caught:
        InputSpec(TensorSpec("x", "float32", (2, 3))).array(value)
    assert "\n" not in str(caught.value)
