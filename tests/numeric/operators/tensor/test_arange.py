"""`relay.arange` in the interpreter and native code, against Python's and numpy's ranges."""

from __future__ import annotations

import numpy as np
import pytest

from xrelay.api.compile import compile
from xrelay.dialects.shared.types import shape_of
from xrelay.errors import InterpreterError
from xrelay.index_algebra.dims import symbol
from xrelay.interpreters.relay import apply_op, run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
@pytest.mark.parametrize(("start", "stop", "step"), [(0, 7, 1), (2, 9, 3), (5, 5, 1), (9, 2, 1), (0, 1, 7)])
def test_integers(dtype: type, start: int, stop: int, step: int) -> None:
    found = apply_op("arange", *(np.array(each, dtype) for each in (start, stop, step)))
    assert found.dtype == dtype
    assert found.tolist() == list(range(start, stop, step))


@pytest.mark.parametrize(("start", "stop", "step"), [(0.0, 1.0, 0.25), (1.0, -1.0, -0.75), (0.5, 0.25, 1.0)])
def test_floats(start: float, stop: float, step: float) -> None:
    found = apply_op("arange", *(np.array(each, np.float32) for each in (start, stop, step)))
    np.testing.assert_array_equal(found, np.arange(start, stop, step, np.float32))


@pytest.mark.parametrize("step", [0.0, np.nan, np.inf])
def test_a_step_without_a_number_of_elements(step: float) -> None:
    with pytest.raises(InterpreterError, match=rf"by {step} "):
        apply_op("arange", *(np.array(each, np.float32) for each in (0, 1, step)))


@pytest.mark.parametrize(("bounds", "count"), [((0, 100, 1), 100), ((100, -3, -7), 15), ((3, 3, 2), 0)])
def test_known_bounds_make_a_known_extent_that_native_code_has(bounds: tuple[int, int, int], count: int) -> None:
    constants = "\n".join(
        f"  %{name} = relay.constant dense<{value}> : tensor<i64>" for name, value in zip("abc", bounds, strict=True)
    )
    text = f"""
func.func @main(%x: tensor<i64>) -> !relay.incomplete {{
{constants}
  %r = relay.arange(%a, %b, %c) : (tensor<i64>, tensor<i64>, tensor<i64>) -> !relay.incomplete
  %y = relay.add(%r, %x) : (!relay.incomplete, tensor<i64>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}}
"""
    module = parse_module(full_context(), text, "arange.mlir")
    expected = [each + 5 for each in range(*bounds)]
    assert len(expected) == count
    assert run_relay(module, [np.array(5)])[0].tolist() == expected
    assert compile(module, cache=False).run([np.array(5)])[0].tolist() == expected


def test_a_named_extent_counts_its_range() -> None:
    text = """
func.func @main(%x: tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete {
  %a = relay.constant dense<0> : tensor<i64>
  %c = relay.constant dense<1> : tensor<i64>
  %s = relay.ndarray_size(%x) : (tensor<?xf32, #relay.dims<n>>) -> tensor<i64>
  %r = relay.arange(%a, %s, %c) : (tensor<i64>, tensor<i64>, tensor<i64>) -> !relay.incomplete
  func.return %r : !relay.incomplete
}
"""
    module = parse_module(full_context(), text, "arange.mlir")
    infer_types(module)
    function = next(iter(module.body.block.ops))
    assert shape_of(function.properties["function_type"].outputs.data[0]) == (symbol("n"),)  # pyright: ignore
    assert run_relay(module, [np.zeros(3, np.float32)])[0].tolist() == [0, 1, 2]
