"""DeformConv against onnx's reference."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import helper
from onnx.reference import ReferenceEvaluator
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

RNG = np.random.default_rng(31)


@pytest.mark.grid(2)
@pytest.mark.parametrize("pads", [[1, 0, 1, 0], [0, 0, 0, 0]])
def test_images_of_open_extents(pads: list[int]) -> None:
    weight = RNG.standard_normal((4, 2, 3, 2)).astype(np.float32)
    words: dict[str, Any] = {"kernel_shape": [3, 2], "group": 2, "offset_group": 2, "strides": [2, 1], "pads": pads}
    node = helper.make_node("DeformConv", ["x", "w", "o", "", "m"], ["y"], **words)
    given = {"x": ("n", 4, "h", "w"), "o": ("n", 24, "a", "b"), "m": ("n", 12, "a", "b")}
    proto = model([node], [value(*each) for each in given.items()], ["y"], initializers={"w": weight}, opset=22)
    compiled, evaluator = compile(proto, cache=False), cast(Any, ReferenceEvaluator(proto))
    for n, h, w in ((1, 7, 8), (2, 3, 2), (0, 5, 5)):
        places = (h + 2 * pads[0] - 3) // 2 + 1, w - 1
        shapes = (n, 4, h, w), (n, 24, *places), (n, 12, *places)
        arrays = [RNG.standard_normal(shape).astype(np.float32) for shape in shapes]
        (expected,) = evaluator.run(None, dict(zip("xom", arrays, strict=True))) if n else (np.empty((0, 4, *places)),)
        for found in run_relay(import_onnx(proto), arrays)[0], compiled.run(arrays)[0]:
            np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-3, atol=1e-4)


def evaluate(shapes: list[tuple[int, ...]], **words: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    names = ["x", "w", "o", "b", "m"][: len(shapes)]
    arrays = {name: RNG.standard_normal(shape).astype(np.float32) for name, shape in zip(names, shapes, strict=True)}
    node = helper.make_node("DeformConv", names, ["y"], **words)
    proto = model([node], [value(name, array.shape) for name, array in arrays.items()], ["y"], opset=22)
    (found,) = run_relay(import_onnx(proto), list(arrays.values()))
    evaluator: Any = ReferenceEvaluator(proto)
    return found, cast(NDArray[Any], evaluator.run(None, arrays)[0])


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ([(2, 3, 5, 6), (4, 3, 2, 3), (2, 12, 4, 4)], {}),
        (
            [(1, 4, 5, 6), (6, 2, 2, 2), (1, 16, 3, 4), (6,), (1, 8, 3, 4)],
            {"group": 2, "offset_group": 2, "strides": [2, 2], "pads": [1, 1, 1, 1]},
        ),
        ([(1, 2, 2, 7), (2, 2, 1, 3), (1, 6, 2, 3), (2,)], {"dilations": [1, 2]}),
    ],
)
def test_against_onnx(shapes: list[tuple[int, ...]], words: dict[str, Any]) -> None:
    found, expected = evaluate(shapes, **words)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


def test_an_image_of_one_row() -> None:
    node = helper.make_node("DeformConv", ["x", "w", "o"], ["y"])
    shapes = {"x": (1, 1, 1, 4), "w": (1, 1, 1, 1), "o": (1, 2, 1, 4)}
    module = import_onnx(model([node], [value(name, shape) for name, shape in shapes.items()], ["y"], opset=22))
    data, weight = np.array([[[[1, 2, 3, 4]]]], np.float32), np.ones((1, 1, 1, 1), np.float32)
    moved = np.array([[[[0, 0.5, -0.25, 1]], [[0, 0, 1, -0.5]]]], np.float32)
    (found,) = run_relay(module, [data, weight, moved])
    np.testing.assert_allclose(found[0, 0, 0], [1, 1, 3, 0], atol=1e-6)


@pytest.mark.parametrize(("shape", "extents"), [((1, 1, 2, 2), (0, 2)), ((1, 1, 0, 2), (2, 2))])
def test_no_places_or_no_taps(shape: tuple[int, ...], extents: tuple[int, int]) -> None:
    shapes = {"x": (1, 1, 3, 3), "w": shape, "o": (1, 2 * shape[2] * shape[3], *extents)}
    node = helper.make_node("DeformConv", ["x", "w", "o"], ["y"])
    module = import_onnx(model([node], [value(name, shape) for name, shape in shapes.items()], ["y"], opset=22))
    (found,) = run_relay(module, [np.ones(shape, np.float32) for shape in shapes.values()])
    assert found.shape == (1, 1, *extents)
    assert not found.any()


@pytest.mark.parametrize(
    ("shapes", "words", "message"),
    [
        ([(1, 2, 5, 5), (2, 2, 2, 2), (1, 6, 4, 4)], {}, "1 groups and 1 offset groups"),
        ([(1, 2, 5, 5), (2, 2, 2, 2), (1, 8, 4, 4)], {"group": 3}, "3 groups"),
        ([(1, 2, 5, 5), (2, 2, 2, 2), (1, 8, 4, 4)], {"pads": [1, 1]}, r"pads \[1, 1\]"),
        ([(1, 2, 5), (2, 2, 2), (1, 2, 4)], {}, "images are expected"),
    ],
)
def test_refusals(shapes: list[tuple[int, ...]], words: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelImportError, match=message):
        evaluate(shapes, **words)
