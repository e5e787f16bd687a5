"""Gradients through narrow types that cannot represent the bounds, extents or counts of a rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.pass_checks import apply
from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder
from xrelay.dialects.relay.ops.nn.activation import ReluOp
from xrelay.errors import PassError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.gradient.rule_table import differentiates, gradient_rule
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

Array = NDArray[Any]


def gradients(op: str, types: Sequence[str], *inputs: Array) -> list[Array]:
    """The gradients of the operands of `op`, for an output gradient of ones."""
    names = [f"%x{number}" for number, _ in enumerate(types)]
    parameters = ", ".join(f"{name}: {type}" for name, type in zip(names, types, strict=True))
    name, _, attributes = op.partition(" ")
    call = f"relay.{name}({', '.join(names)}) {attributes} : ({', '.join(types)}) -> !relay.incomplete"
    text = f"func.func @main({parameters}) -> !relay.incomplete {{ %y = {call} func.return %y : !relay.incomplete }}"
    module = parse_module(full_context(), text, "narrow.mlir")
    infer_types(module)
    changed = apply(module, "relay-first-order-gradient")
    return [np.asarray(each) for each in run_relay(changed, list(inputs))][-len(inputs) :]


@pytest.mark.parametrize(
    ("dtype", "element", "low", "high", "data", "expected"),
    [
        (np.uint8, "ui8", -5.0, 300.0, [0, 7, 255], [1, 1, 1]),
        (np.uint8, "ui8", 256.0, 300.0, [0, 7, 255], [0, 0, 1]),
        (np.uint8, "ui8", -9.0, -1.0, [0, 7, 255], [1, 0, 0]),
        (np.int8, "i8", -1.5, 1e10, [-3, -1, 127], [0, 1, 1]),
        (np.int64, "i64", -1e30, 1e30, [-(2**63), 0, 2**63 - 1], [1, 1, 1]),
        (np.float16, "f16", -1.0, 1e6, [-3, -1, 60000], [0, 1, 1]),
    ],
)
def test_a_bound_that_the_type_lacks_is_the_last_number(
    dtype: type[np.generic], element: str, low: float, high: float, data: list[int], expected: list[int]
) -> None:
    op = f"clip {{a_min = {low:.6e}, a_max = {high:.6e}}}"
    (found,) = gradients(op, [f"tensor<3x{element}>"], np.array(data, dtype))
    assert found.tolist() == expected


@pytest.mark.parametrize("extents", ["300", "?"])
def test_equal_elements_are_counted_beyond_the_type(extents: str) -> None:
    type = f"tensor<{extents}xi8{', #relay.dims<n>' if extents == '?' else ''}>"
    # 256 elements share a gradient of 1, which is 0 in integers; as an i8, their count would be 0.
    (found,) = gradients("max", [type], np.repeat(np.array([1, 0], np.int8), [256, 44]))
    assert found.tolist() == [0] * 300


@pytest.mark.parametrize("extents", ["70000", "?"])
def test_a_mean_of_halves_is_shared_by_more_elements_than_halves_count(extents: str) -> None:
    type = f"tensor<{extents}xf16{', #relay.dims<n>' if extents == '?' else ''}>"
    (found,) = gradients("mean", [type], np.ones(70000, np.float16))
    assert found.tolist() == [float(np.float16(1 / 70000))] * 70000


def test_the_greatest_of_no_integers_divides_nothing() -> None:
    (found,) = gradients("max", ["tensor<?xi32, #relay.dims<n>>"], np.zeros(0, np.int32))
    assert found.shape == (0,)


@pytest.mark.parametrize(
    ("element", "dtype", "least"), [("f32", np.float32, -np.inf), ("i8", np.int8, -128), ("ui8", np.uint8, 0)]
)
@pytest.mark.parametrize(("row", "expected"), [([], []), ([0, 0], [1, 0]), ([0, 2], [0, 1])])
def test_the_greatest_of_an_image_of_any_size(
    element: str, dtype: type[np.generic], least: float, row: list[int], expected: list[int]
) -> None:
    data = np.array([[[each or least for each in row]]], dtype)
    (found,) = gradients("nn.global_max_pool1d", [f"tensor<1x1x?x{element}, #relay.dims<n>>"], data)
    assert found.tolist() == [[expected]]


@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_narrow_indices_into_a_long_axis(mode: str) -> None:
    data, at = np.zeros(300, np.float32), np.array([0, 200, 200], np.uint8)
    types = ["tensor<300xf32>", "tensor<3xui8>"]
    found = gradients(f'take {{axis = 0, mode = "{mode}"}}', types, data, at)[0]
    assert found.nonzero()[0].tolist() == [0, 200]
    assert found[200] == 2


def test_a_region_that_no_crop_asks_for_has_no_part_in_the_gradient() -> None:
    attributes = 'size = [4], roi = [0.5], layout = "NCW", method = "linear"'
    (found,) = gradients(f"image.resize1d {{{attributes}}}", ["tensor<1x1x2xf32>"], np.ones((1, 1, 2), np.float32))
    assert found.sum() == pytest.approx(4)


def test_a_rule_that_needs_what_the_type_lacks_is_told_so(request: pytest.FixtureRequest) -> None:
    def large(op: ReluOp, gradient: SSAValue, emit: GradientBuilder) -> list[SSAValue]:
        return [emit.op("multiply", gradient, 300)]

    own = gradient_rule(ReluOp)
    assert own is not None
    differentiates(ReluOp)(large)
    request.addfinalizer(lambda: differentiates(ReluOp)(own))
    with pytest.raises(
        PassError, match=r"relay\.nn\.relu cannot be differentiated: its rule needs 300, which no i8 is"
    ):
        gradients("nn.relu", ["tensor<3xi8>"], np.ones(3, np.int8))
    (found,) = gradients("nn.relu", ["tensor<3xi16>"], np.ones(3, np.int16))
    assert found.tolist() == [300] * 3
