"""The campaigns of `make fuzz`: a few cases of each, and the classification of findings."""

from __future__ import annotations

import numpy as np
import pytest
from fuzz.agreement import disturbed, excused
from fuzz.campaigns import CAMPAIGNS
from fuzz.damaged_bodies import check
from fuzz.finding import Finding, signature
from fuzz.relay_instances import random_instance
from fuzz.rounded_runs import run_rounded
from fuzz.special_values import Array
from onnx import helper
from support.examples import examples
from support.onnx_models import model, value

import xrelay
from xrelay.dialects.relay.ops.algorithm.sort import SortOp
from xrelay.interpreters.relay import run_relay


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_first_cases_find_nothing(name: str) -> None:
    for seed in range(examples(1, more=2)):
        CAMPAIGNS[name].function()(seed)


def test_drawn_properties_are_of_their_kind() -> None:
    """Result dtypes of a shape are drawn as integers and floats, those of indices only from the permitted types."""
    modules = [random_instance(np.random.default_rng(seed), "shape_of") for seed in range(60)]
    assert any("-> tensor<2xi8>" in str(module) for module in modules)
    assert any("-> tensor<2xf" in str(module) for module in modules)
    modules = [random_instance(np.random.default_rng(seed), "argsort") for seed in range(120)]
    assert any("dtype = f64" in str(module) for module in modules)
    assert not any("dtype = i8" in str(module) or "dtype = bf16" in str(module) for module in modules)


def test_rows_that_are_searched_ascend() -> None:
    """Positions in rows that are sorted in descending order, or along another axis, are undefined."""
    modules = [random_instance(np.random.default_rng(seed), "searchsorted") for seed in range(100)]
    sorts = {str(op) for module in modules if module for op in module.walk() if isinstance(op, SortOp)}
    assert len(sorts) > 1
    assert not any("axis" in text or "is_ascend" in text for text in sorts)


def test_a_drawn_sort_has_properties_of_its_own() -> None:
    """No other op depends on it."""
    modules = [random_instance(np.random.default_rng(seed), "sort") for seed in range(60)]
    assert any("is_ascend" in str(module) for module in modules)


@pytest.mark.parametrize("seed", [7700724, 7700805])
def test_uses_that_mean_nothing_are_not_drawn(seed: int) -> None:
    """A negative float converted to unsigned integers, and a search in a row that does not ascend."""
    CAMPAIGNS["operators"].function()(seed)


@pytest.mark.parametrize("seed", [31000439, 31000732])
def test_uses_of_operators_that_were_found(seed: int) -> None:
    """An enormous extent next to an extent of 0, and a class index outside of a row."""
    CAMPAIGNS["operators"].function()(seed)


def test_quotients_that_are_no_numbers_are_not_compared() -> None:
    CAMPAIGNS["nodes"].function()(31000476)


def test_inputs_of_a_damaged_body_become_text_where_there_is_something_to_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = model([helper.make_node("Relu", ["x"], ["y"])], [value("x", (1,))], ["y"])
    written: list[object] = []

    class Input(list[int]):
        def __repr__(self) -> str:
            written.append(self)
            return "input"

    check(body, [Input()])
    assert not written

    def fails(data: bytes) -> None:
        raise IndexError("place")

    monkeypatch.setattr("fuzz.damaged_bodies.import_onnx", fails)
    with pytest.raises(Finding, match="IndexError from a damaged model: place") as caught:
        check(body, [Input()])
    assert caught.value.files["inputs.txt"] == b"[input]"


def test_findings_that_differ_in_numbers_and_names_are_one() -> None:
    first = Finding("wrong", "output 'y' at (0, 3): 1.5e-3, not 2.0")
    second = Finding("wrong", "output 'z' at (1, 0): -7, not 0x1f\nmore")
    assert first.signature == second.signature == "wrong: output '…' at (#, #): #, not #"
    assert signature("symbols { (a.1, { f, g }) } are missing") != signature("symbols are missing")


GELU = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = relay.nn.gelu(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}"""
NORM = """func.func @main(%x: tensor<1x2xf16>, %f: tensor<2xf16>) -> tensor<1x2xf64> {
  %t = relay.nn.batch_norm(%x, %f, %f, %f, %f) : (tensor<1x2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>,
    tensor<2xf16>) -> tuple<tensor<1x2xf16>, tensor<2xf16>, tensor<2xf16>>
  %h = relay.tuple_get_item(%t) {index = 0}
    : (tuple<tensor<1x2xf16>, tensor<2xf16>, tensor<2xf16>>) -> tensor<1x2xf16>
  %y = relay.cast(%h) {dtype = f64} : (tensor<1x2xf16>) -> tensor<1x2xf64>
  func.return %y : tensor<1x2xf64>
}"""
QUOTIENT = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %t = relay.trunc(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = relay.subtract(%x, %t) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %y = relay.divide(%x, %z) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}"""
REVERSED = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = relay.reverse(%x) {axis = 0} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}"""


@pytest.mark.parametrize(
    ("program", "inputs", "excuses", "blames"),
    [
        (GELU, [np.array([-4, -14.1], np.float32)], [1 + 3e-4, 0], [1 + 3e-2, 1]),
        (NORM, [np.array([[3, 5]], np.float16), np.array([1, 2], np.float16)], [1 + 2**-9, 1 - 2**-9], [1.1, 1]),
        (QUOTIENT, [np.array([3, 2.5], np.float32)], [-1, 1], [1, 1 + 1e-3]),
        (REVERSED, [np.array([3, 5], np.float32)], [1 + 1e-5, 1], [1 + 5e-4, 1]),
    ],
)
def test_differences_are_excused_that_rounding_on_the_way_makes(
    program: str, inputs: list[Array], excuses: list[float], blames: list[float]
) -> None:
    """Differences of the size of intermediate roundings are excused.

    Near -1, 1 + erf(x) keeps few digits, and beyond none; a half is rounded as an f16, whatever its later type; a
    difference of 0 may have either sign.
    """
    module = xrelay.parse(program)
    (expected,) = run_relay(module, inputs)

    def rounded(k: int) -> list[Array]:
        return run_rounded(module, inputs, k)

    def disturbed_run(k: int) -> list[Array]:
        return run_relay(module, [disturbed(np.random.default_rng(k), array) for array in inputs])

    for factors, answer in ((excuses, True), (blames, False)):
        found = (expected.astype(np.float64) * factors).astype(expected.dtype)
        assert excused([found], [expected], disturbed_run, rounded) is answer


def test_a_step_that_one_rounding_in_twenty_takes_is_excused_and_twice_the_step_is_not() -> None:
    below = np.zeros(4, np.float32)

    def rounded(k: int) -> list[Array]:
        return [below + np.float32(k % 20 == 19)]

    for found, answer in ((1.0, True), (2.0, False)):
        assert excused([below + np.float32(found)], [below], lambda k: [below], rounded) is answer
