"""`relay.image.resize1d` to `resize3d` and `dyn.image.resize`: native code and intermediate levels against relay."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.levels import check_levels, check_native, graph_of, outputs, program
from support.op_cases import OpCase

from xrelay.api.compile import compile
from xrelay.dialects.relay.core.resampling import COORDINATES, METHODS, ROUNDINGS
from xrelay.errors import XRelayError

RNG = np.random.default_rng(5)


def normal(shape: tuple[int, ...]) -> NDArray[Any]:
    return RNG.standard_normal(shape).astype(np.float32)


def check(case: OpCase, data: NDArray[Any]) -> None:
    check_levels(graph_of(case), [data])
    check_native(graph_of(case), [data])


@pytest.mark.grid(26)
@pytest.mark.parametrize(("method", "coordinates"), list(product(METHODS, COORDINATES)))
@pytest.mark.parametrize(("shape", "size"), [((2, 3, 5, 4), (7, 3)), ((1, 1, 1, 3), (4, 1)), ((1, 2, 8, 6), (3, 18))])
def test_every_rule_of_places(shape: Any, size: Any, method: str, coordinates: str) -> None:
    attributes: dict[str, Any] = {"size": size, "method": method, "coordinate_transformation_mode": coordinates}
    if coordinates == "tf_crop_and_resize":
        attributes |= {"roi": [-0.2, 0.1, 0.8, 1.4], "extrapolation_value": 7.5}
    check(OpCase("image.resize2d", [shape], attributes), normal(shape))


@pytest.mark.grid(4)
@pytest.mark.parametrize(("rounding", "coordinates"), list(product(ROUNDINGS, ("half_pixel", "asymmetric"))))
def test_every_rounding(rounding: str, coordinates: str) -> None:
    attributes: dict[str, Any] = {
        "size": (6,),
        "method": "nearest_neighbor",
        "rounding_method": rounding,
        "coordinate_transformation_mode": coordinates,
    }
    for extent in (3, 4, 12):
        data = np.arange(extent, dtype=np.float32).reshape(1, 1, extent)
        check(OpCase("image.resize1d", [data.shape], attributes), data)


def test_two_linear_axes_are_one_sum_of_four_products() -> None:
    data = normal((1, 2, 9, 7))
    case = OpCase("image.resize2d", [data.shape], {"size": (18, 14)})
    rows, columns = (np.clip((np.arange(2 * n) + 0.5) / 2 - 0.5, 0, n - 1) for n in (9, 7))
    total = np.zeros((1, 2, 18, 14), np.float32)
    for row, column in product((0, 1), repeat=2):
        chosen, weights = [], []
        for places, step in ((rows, row), (columns, column)):
            last, above = places == places[-1], places % 1
            chosen.append(np.minimum(np.floor(places).astype(int) + step, int(places[-1])))
            weights.append(np.where(last, 0.5, above if step else 1 - above).astype(np.float32))
        total = total + np.outer(*weights) * data[:, :, chosen[0]][:, :, :, chosen[1]]
    for found in (outputs(graph_of(case), [data])[0], compile(graph_of(case), cache=False).run([data])[0]):
        np.testing.assert_array_equal(found, total)


@pytest.mark.grid(6)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "dtype",
    ["float16", "bfloat16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"],
)
def test_every_dtype(dtype: str, method: str) -> None:
    case = OpCase("image.resize2d", [(1, 2, 3, 4)], {"size": (4, 9), "method": method}, dtype=dtype)
    data = case.inputs()[0]
    if data.dtype.kind in "iu":
        limits = np.iinfo(data.dtype)
        data.flat[:6] = [limits.min, limits.max, limits.max, limits.min, limits.min, limits.max]
    check(case, data)


def test_a_constant_image_stays_constant() -> None:
    case = OpCase("image.resize2d", [(1, 1, 5, 7)], {"size": (13, 11), "method": "linear"}, dtype="uint8")
    data = np.full((1, 1, 5, 7), 201, np.uint8)
    np.testing.assert_array_equal(outputs(graph_of(case), [data])[0], np.full((1, 1, 13, 11), 201, np.uint8))


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("op", "shape", "attributes"),
    [
        ("image.resize1d", (2, 6, 3), {"size": (4,), "layout": "NWC"}),
        ("image.resize2d", (1, 5, 4, 3), {"size": (3, 8), "layout": "NHWC", "method": "cubic", "cubic_exclude": 1}),
        ("image.resize2d", (1, 2, 5, 4, 8), {"size": (3, 8), "layout": "NCHW8c"}),
        ("image.resize3d", (1, 2, 3, 4, 5), {"size": (2, 8, 5), "method": "cubic", "cubic_alpha": -0.75}),
        ("image.resize2d", (1, 2, 3, 4), {"size": (0, 4)}),
        ("image.resize2d", (0, 2, 3, 4), {"size": (2, 4)}),
        ("image.resize2d", (1, 2, 3, 4), {"size": (3, 4), "out_dtype": "int8"}),
        ("image.resize2d", (1, 2, 3, 4), {"size": (5, 2), "out_dtype": "float16"}),
    ],
)
def test_layouts_and_edges(op: str, shape: Any, attributes: dict[str, Any]) -> None:
    check(OpCase(op, [shape], attributes), 9 * normal(shape))


def test_what_is_no_number_becomes_a_legal_integer() -> None:
    case = OpCase("image.resize1d", [(1, 1, 4)], {"size": (8,), "out_dtype": "int8"})
    check(case, np.array([[[np.nan, np.inf, -np.inf, 3e38]]], np.float32))


@pytest.mark.parametrize("method", METHODS)
def test_an_axis_that_keeps_its_extent_is_left_alone(method: str) -> None:
    """Next to an infinity, a weight of 0 would yield NaN."""
    data = normal((1, 2, 4, 3))
    data[0, 0, 1, 2] = np.inf
    check(OpCase("image.resize2d", [data.shape], {"size": (4, 7), "method": method}), data)
    same = outputs(graph_of(OpCase("image.resize2d", [data.shape], {"size": (4, 3), "method": method})), [data])[0]
    np.testing.assert_array_equal(same, data)


DYNAMIC = """
%y = relay.dyn.image.resize(%x, %s, %c, %r) {{axes = [1, 2], method = "{method}", antialias = {antialias},
    cubic_exclude = {exclude}, coordinate_transformation_mode = "{mode}", extrapolation_value = -4.0}}
    : (tensor<2x?x?xf32, #relay.dims<h, w>>, tensor<2xi64>, tensor<2xf32>, tensor<4xf32>) -> U
"""
SIGNATURE = "%x: tensor<2x?x?xf32, #relay.dims<h, w>>, %s: tensor<2xi64>, %c: tensor<2xf32>, %r: tensor<4xf32>"


def given(extents: Any, sizes: Any, scales: Any, region: Any = (0, 0, 1, 1)) -> list[NDArray[Any]]:
    return [normal((2, *extents)), np.array(sizes), np.array(scales, np.float32), np.array(region, np.float32)]


@pytest.mark.grid(28)
@pytest.mark.parametrize("mode", COORDINATES)
@pytest.mark.parametrize(
    ("method", "antialias", "exclude"),
    [("nearest_neighbor", 0, 0), ("linear", 0, 0), ("linear", 1, 0), ("cubic", 0, 1), ("cubic", 1, 0), ("cubic", 1, 1)],
)
def test_sizes_scales_and_regions_of_the_run(method: str, antialias: int, exclude: int, mode: str) -> None:
    text = DYNAMIC.format(method=method, antialias=["false", "true"][antialias], exclude=exclude, mode=mode)
    module = program(SIGNATURE, "%y", text)
    model = compile(module, cache=False, threads=1)
    for inputs in (
        given((5, 6), (3, 9), (0, 0)),
        given((5, 6), (3, 9), (0.6, 1.5), (0.1, -0.3, 0.7, 1.2)),
        given((9, 1), (2, 1), (0.3, 1)),
        given((1, 7), (0, 2), (0.5, 0.3)),
        given((2, 3), (4, 3), (np.nan, -1), (np.nan, 0, np.inf, 1)),
    ):
        (expected,) = outputs(module, inputs)
        (found,) = model.run(inputs)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_axes_count_from_the_end_too() -> None:
    text = DYNAMIC.format(method="linear", antialias="false", exclude=0, mode="half_pixel")
    inputs = given((5, 6), (3, 9), (0.6, 1.5))
    (expected,) = outputs(program(SIGNATURE, "%y", text), inputs)
    module = program(SIGNATURE, "%y", text.replace("[1, 2]", "[-2, -1]"))
    for (found,) in (outputs(module, inputs), compile(module, cache=False, threads=1).run(inputs)):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_a_negative_size_is_an_error_of_the_run() -> None:
    module = program(SIGNATURE, "%y", DYNAMIC.format(method="linear", antialias="false", exclude=0, mode="half_pixel"))
    inputs = given((2, 3), (1, -2), (0, 0))
    with pytest.raises(XRelayError, match="size 1 is -2"):
        outputs(module, inputs)
    with pytest.raises(XRelayError, match="size 1 is -2"):
        compile(module, cache=False, threads=1).run(inputs)
