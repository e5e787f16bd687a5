"""Unique in the interpreter: behaviour that onnx's cases do not cover."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.onnx_models import model, value

from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

OUTPUTS = ["y", "at", "back", "counts"]


@pytest.mark.parametrize("is_sorted", [0, 1])
@pytest.mark.parametrize(("shape", "axis"), [((5, 2), 0), ((2, 6), -1), ((2, 5, 2), 1), ((0, 3), 0), ((3, 0), 0)])
def test_unique_slices(shape: tuple[int, ...], axis: int, is_sorted: int) -> None:
    x = np.random.default_rng(1).integers(0, 2, shape)
    node = helper.make_node("Unique", ["x"], OUTPUTS, axis=axis, sorted=is_sorted)
    proto = model([node], [value("x", shape, TensorProto.INT64)], OUTPUTS)
    found, at, back, counts = run_relay(import_onnx(proto), [x])
    slices = [each.tobytes() for each in np.moveaxis(x, axis, 0)]
    first = sorted({slices.index(each) for each in slices})
    if is_sorted:
        first.sort(key=lambda place: tuple(np.take(x, place, axis).reshape(-1)))
    np.testing.assert_array_equal(at, np.array(first, np.int64), strict=True)
    np.testing.assert_array_equal(found, np.take(x, first, axis) if first else np.zeros_like(x))
    np.testing.assert_array_equal(back, [first.index(slices.index(each)) for each in slices])
    np.testing.assert_array_equal(counts, [slices.count(slices[place]) for place in first])
