"""Resize and Upsample in the interpreter against onnx's reference; their conversion and errors."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, helper
from onnx.reference import ReferenceEvaluator
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

RNG = np.random.default_rng(3)
MODES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
)


def resized(
    shape: tuple[int, ...],
    *,
    opset: int = 19,
    op: str = "Resize",
    dims: Any = None,
    constant: bool = True,
    **given: Any,
) -> tuple[ModelProto, dict[str, Any]]:
    """A model of one node; `roi`, `scales` and `sizes` are inputs of the node, the rest are attributes."""
    arrays = {
        name: np.asarray(given.pop(name), np.int64 if name == "sizes" else np.float32)
        for name in ("roi", "scales", "sizes")
        if name in given
    }
    names = [name if name in arrays else "" for name in ("roi", "scales", "sizes")] if opset > 10 else list(arrays)
    node = helper.make_node(op, ["x", *names], ["y"], name="node", **given)
    data = RNG.standard_normal(shape).astype(np.float32)
    kinds = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in arrays.items()}
    inputs = [value("x", dims or shape)]
    if not constant:
        inputs += [helper.make_tensor_value_info(name, kinds[name], arrays[name].shape) for name in arrays]
    proto = model([node], inputs, ["y"], initializers=arrays if constant else {}, opset=opset)
    return proto, {"x": data} if constant else {"x": data, **arrays}


def reference(proto: ModelProto, feeds: dict[str, Any]) -> NDArray[Any]:
    """The result of onnx's reference."""
    evaluator: Any = ReferenceEvaluator(proto)
    return cast(NDArray[Any], evaluator.run(None, feeds)[0])


def check(proto: ModelProto, feeds: dict[str, Any]) -> str:
    """Compares the result with onnx's; returns the module's text."""
    module = import_onnx(proto)
    (found,) = run_relay(module, list(feeds.values()))
    expected = reference(proto, feeds)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    return str(module)


@pytest.mark.grid(2)
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(("mode", "coordinates"), list(product(("nearest", "linear", "cubic"), MODES)))
def test_modes_by_sizes_and_scales(mode: str, coordinates: str, constant: bool) -> None:
    words: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": coordinates, "constant": constant}
    if coordinates == "tf_crop_and_resize":
        words |= {"roi": [0.1, -0.2, 0.7, 1.3], "extrapolation_value": 5.0}
    several: list[dict[str, Any]] = [{"sizes": [3, 8]}, {"scales": [0.6, 2.5]}, {"scales": [2.0, 0.5]}]
    for given in several:
        check(*resized((1, 2, 5, 4), axes=[2, 3], **words, **given))


@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
def test_roundings(rounding: str) -> None:
    for sizes in ([6], [8], [2], [16]):
        check(*resized((4,), sizes=sizes, nearest_mode=rounding))


@pytest.mark.grid(2)
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("rounding", ["floor", "ceil"])
def test_places_about_the_centre_are_exact(rounding: str, constant: bool) -> None:
    words = {"coordinate_transformation_mode": "half_pixel_symmetric", "nearest_mode": rounding}
    for extent, scale in ((9, Fraction(5, 2)), (10, Fraction(9, 5)), (10, Fraction(3, 5)), (13, Fraction(12, 5))):
        size = int(extent * scale)
        places = [Fraction(extent - 1, 2) + Fraction(2 * o + 1 - size) / (2 * scale) for o in range(size)]
        wanted = [min(max(getattr(math, rounding)(place), 0), extent - 1) for place in places]
        proto, feeds = resized((extent,), scales=[float(scale)], constant=constant, **words)
        feeds["x"] = np.arange(extent, dtype=np.float32)
        for found in (run_relay(import_onnx(proto), [*feeds.values()]), compile(proto).run(feeds)):
            assert found[0].tolist() == wanted


@pytest.mark.grid(2)
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("mode", ["linear", "cubic", "nearest"])
def test_axes_of_scale_one_are_not_moved(mode: str, constant: bool) -> None:
    words = {"coordinate_transformation_mode": "tf_half_pixel_for_nn", "mode": mode, "nearest_mode": "ceil"}
    proto, feeds = resized((1, 3, 4, 5), opset=11, roi=[], scales=[1, 1, 1, 2], constant=constant, **words)
    alone = compile(resized((5,), opset=11, roi=[], scales=[2], constant=constant, **words)[0])
    given = {**feeds, **({} if constant else {"scales": np.float32([2])})}
    rows = [alone.run({**given, "x": row})[0] for row in feeds["x"].reshape(12, 5)]
    for found in (run_relay(import_onnx(proto), [*feeds.values()]), compile(proto).run(feeds)):
        np.testing.assert_allclose(found[0].reshape(12, 10), rows, rtol=1e-6)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("constant", [True, False])
def test_antialias_and_excluded_weights(mode: str, constant: bool) -> None:
    several: list[dict[str, Any]] = [{"sizes": [2, 9]}, {"scales": [0.3, 0.7]}]
    for given in several:
        for outside in (0, 1):
            words: dict[str, Any] = {"mode": mode, "antialias": 1, "exclude_outside": outside}
            check(*resized((7, 6), constant=constant, cubic_coeff_a=-0.5, **words, **given))


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
@pytest.mark.parametrize("constant", [True, False])
def test_the_aspect_is_kept(policy: str, constant: bool) -> None:
    for sizes in ([7, 8], [2, 9]):
        words: dict[str, Any] = {"keep_aspect_ratio_policy": policy, "mode": "linear", "axes": [3, 1]}
        check(*resized((2, 4, 3, 5), constant=constant, sizes=sizes, **words))


def test_what_becomes_of_a_resize() -> None:
    assert "repeat" in check(*resized((1, 2, 3), scales=[1, 1, 2]))
    assert "image.resize1d" in check(*resized((1, 2, 3), scales=[1, 1, 2], mode="linear"))
    assert "image.resize3d" in check(*resized((1, 2, 3, 4, 5), sizes=[1, 2, 6, 4, 1], mode="cubic"))
    crop: dict[str, Any] = {"coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear"}
    assert "image.resize2d" in check(
        *resized((1, 2, 3, 4), sizes=[1, 2, 6, 4], roi=[0, 0, 0.5, 0, 1, 1, 1, 0.5], **crop)
    )
    assert "dyn.image.resize" in check(*resized((4, 4), sizes=[3, 3], mode="linear"))
    assert "resize" not in check(*resized((4, 4), sizes=[4, 4], mode="linear"))


def test_names_stay_names() -> None:
    proto, feeds = resized((2, 3, 4, 6), dims=("n", 3, "h", "w"), scales=[1, 1, 2, 0.5], mode="linear")
    assert "#relay.dims<n, 2 * h, w floordiv 2>" in check(proto, feeds)
    fixed = check(*resized((2, 3, 4, 6), dims=("n", 3, "h", "w"), sizes=[5, 7], axes=[2, 3], mode="linear"))
    assert "relay.image.resize2d" in fixed


@pytest.mark.parametrize(("scales", "repeats"), [([1, 1, 2, 3], 2), ([1, 1, 2, 1], 1), ([1, 1, 2, 1.5], 0)])
def test_named_axes_are_repeated_by_integer_scales(scales: list[float], repeats: int) -> None:
    words: dict[str, Any] = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    text = check(*resized((2, 3, 4, 6), dims=("n", 3, "h", "w"), scales=scales, **words))
    assert text.count("relay.repeat") == repeats
    assert ("dyn.image.resize" in text) == (repeats == 0)


@pytest.mark.parametrize(("opset", "op"), [(9, "Upsample"), (10, "Resize")])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_old_opsets_divide_places_by_the_scale(opset: int, op: str, mode: str) -> None:
    scales = np.array([1, 1, 2, 1.5], np.float32)
    proto, feeds = resized((1, 2, 3, 4), opset=opset, op=op, mode=mode, scales=scales)
    new, _ = resized(
        (1, 2, 3, 4), mode=mode, scales=scales, coordinate_transformation_mode="asymmetric", nearest_mode="floor"
    )
    (found,) = run_relay(import_onnx(proto), list(feeds.values()))
    expected = reference(new, feeds)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_the_first_upsample_has_two_factors() -> None:
    proto, feeds = resized((1, 2, 3, 4), opset=6, op="Upsample", mode="bilinear", height_scale=2.0, width_scale=3.0)
    del proto.graph.node[0].input[1:]
    (found,) = run_relay(import_onnx(proto), list(feeds.values()))
    assert found.shape == (1, 2, 6, 12)
    np.testing.assert_array_equal(found[:, :, ::2, ::3], feeds["x"])


def test_integers_are_rounded_and_clipped() -> None:
    data = np.array([0, 255, 255, 0, 7], np.uint8)
    node = helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode="cubic")
    info = helper.make_tensor_value_info("x", 2, (5,))
    proto = model([node], [info], ["y"], initializers={"s": np.array([13])}, opset=19)
    (found,) = run_relay(import_onnx(proto), [data])
    np.testing.assert_array_equal(found, reference(proto, {"x": data}))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"scales": [0.0, 1]}, "only 2 positive numbers"),
        ({"scales": [np.inf, 1]}, "only 2 positive numbers"),
        ({"scales": [2.0]}, "only 2 positive numbers"),
        ({"sizes": [2, -1]}, r"sizes \[2, -1\] are not supported"),
        ({"sizes": [2**20, 2**20]}, "would take"),
        ({"sizes": [2]}, "2 sizes are expected"),
        ({}, "either scales or sizes"),
        ({"sizes": [2, 2], "scales": [1, 1]}, "either scales or sizes"),
        ({"sizes": [2, 2], "antialias": 1}, "antialias needs mode linear or cubic"),
        ({"sizes": [2, 2], "axes": [0, 2]}, "'axes' has the illegal value"),
        ({"sizes": [2, 2], "coordinate_transformation_mode": "tf_crop_and_resize"}, "a region of 2 axes is 4 numbers"),
        ({"sizes": [2, 2], "mode": "sinc"}, "'mode' has the illegal value"),
    ],
)
def test_refusals(given: dict[str, Any], words: str) -> None:
    proto, _ = resized((5, 12), **given)
    with pytest.raises(ModelImportError, match=words) as caught:
        import_onnx(proto)
    assert "'node'" in str(caught.value)


def test_extents_of_which_nothing_is_known_are_not_equal() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["n"]),
        helper.make_node("Sub", ["n", "one"], ["less"]),
        helper.make_node("Div", ["less", "four"], ["few"]),
        helper.make_node("Div", ["less", "two"], ["many"]),
        helper.make_node("Concat", ["two", "few"], ["shape"], axis=0),
        helper.make_node("Concat", ["two", "many"], ["sizes"], axis=0),
        helper.make_node("Reshape", ["z", "shape"], ["r"]),
        helper.make_node("Resize", ["r", "", "", "sizes"], ["y"]),
    ]
    numbers = {name: np.array([number]) for name, number in (("one", 1), ("two", 2), ("four", 4))}
    proto = model(nodes, [value("x", ("n",)), value("z", ("m",))], ["y"], initializers=numbers, opset=19)
    data = RNG.standard_normal(6).astype(np.float32)
    (found,) = run_relay(import_onnx(proto), [np.zeros(13, np.float32), data])
    np.testing.assert_array_equal(found, np.repeat(data.reshape(2, 3), 2, axis=1))
