"""`relay.image.grid_sample`: native code and the intermediate levels against relay, and relay against onnxruntime."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from fuzz.onnx_oracles import onnxruntime_outputs
from numpy.typing import NDArray
from onnx import helper
from support.levels import check_levels, check_native, outputs, program
from support.onnx_models import model, value

from xrelay.dialects.relay.ops.image.grid import PADDINGS, SAMPLINGS
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

RNG = np.random.default_rng(21)
MLIR = {"float32": "f32", "float16": "f16", "float64": "f64", "uint8": "ui8", "int64": "i64", "bool": "i1"}


def grids(*shape: int) -> NDArray[Any]:
    """Positions inside and outside, some on elements and edges, and a few that are not finite or huge."""
    grid = RNG.uniform(-1.8, 1.8, shape).astype(np.float32)
    grid.flat[:6] = [-1, 1, 0, np.nan, np.inf, -1e30]
    return grid


def text(data: NDArray[Any], grid: NDArray[Any], **words: Any) -> tuple[str, str]:
    types = [f"tensor<{'x'.join(map(str, each.shape))}x{MLIR[str(each.dtype)]}>" for each in (data, grid)]
    given = ", ".join(
        f"{name} = {word if isinstance(word, str) else str(word).lower()}" for name, word in words.items()
    )
    return (
        f"%x: {types[0]}, %g: {types[1]}",
        f"%y = relay.image.grid_sample(%x, %g) {{{given}}} : ({types[0]}, {types[1]}) -> U",
    )


def check(data: NDArray[Any], grid: NDArray[Any], **words: Any) -> None:
    signature, body = text(data, grid, **words)
    check_native(program(signature, "%y", body), [data, grid])
    check_levels(program(signature, "%y", body), [data, grid])


@pytest.mark.grid(9)
@pytest.mark.parametrize(("method", "padding", "aligned"), list(product(SAMPLINGS, PADDINGS, (True, False))))
def test_every_method_and_padding(method: str, padding: str, aligned: bool) -> None:
    words = {"method": f'"{method}"', "padding_mode": f'"{padding}"', "align_corners": aligned}
    for extents in ((4, 5), (1, 3)):
        check(RNG.standard_normal((2, 3, *extents)).astype(np.float32), grids(2, 2, 3, 5), **words)


@pytest.mark.grid(6)
@pytest.mark.parametrize("dtype", [name for name in MLIR if name != "bool"])
def test_dtypes(dtype: str) -> None:
    data = (RNG.uniform(0, 200, (1, 2, 4, 5))).astype(dtype)
    check(data, grids(1, 2, 3, 5), method='"bicubic"', padding_mode='"reflection"')
    if dtype == "float64":
        check(data, grids(1, 2, 3, 5).astype(np.float64))


@pytest.mark.parametrize("channels", [8, 11])
def test_channels_that_share_indices(channels: int) -> None:
    """Eight channels share the indices of a vector; the rest of eleven has a partial group."""
    check(RNG.standard_normal((2, channels, 4, 5)).astype(np.float32), grids(2, 2, 3, 37))


def test_booleans_and_volumes_and_no_places() -> None:
    check(np.asarray(RNG.uniform(0, 1, (1, 2, 4, 5)) < 0.5), grids(1, 2, 3, 5), method='"nearest"')
    volume = RNG.standard_normal((1, 2, 3, 4, 5)).astype(np.float32)
    check(volume, grids(1, 3, 2, 3, 2), layout='"NCDHW"', padding_mode='"border"')
    check(volume[0], np.zeros((2, 2, 0, 3), np.float32))


def test_names() -> None:
    data, grid = RNG.standard_normal((2, 3, 4, 5)).astype(np.float32), grids(2, 2, 3, 5)
    types = "tensor<?x3x?x?xf32, #relay.dims<n, h, w>>", "tensor<?x2x?x?xf32, #relay.dims<n, a, b>>"
    body = f"%y = relay.image.grid_sample(%x, %g) : ({types[0]}, {types[1]}) -> U"
    module = program(f"%x: {types[0]}, %g: {types[1]}", "%y", body)
    (expected,) = outputs(program(*_with_result(text(data, grid))), [data, grid])
    np.testing.assert_array_equal(outputs(module, [data, grid])[0], expected)
    check_native(module, [data, grid])


def _with_result(parts: tuple[str, str]) -> tuple[str, str, str]:
    return parts[0], "%y", parts[1]


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("mode", "padding", "aligned"), list(product(("nearest", "linear", "cubic"), PADDINGS, (0, 1)))
)
def test_onnx(mode: str, padding: str, aligned: int) -> None:
    node = helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=padding, align_corners=aligned)
    data = RNG.standard_normal((1, 2, 4, 3)).astype(np.float32)
    grid = RNG.uniform(-1.5, 1.5, (1, 3, 4, 2)).astype(np.float32)
    proto = model([node], [value("x", data.shape), value("g", grid.shape)], ["y"], opset=20)
    expected = onnxruntime_outputs(proto, {"x": data, "g": grid})
    assert expected is not None
    (found,) = run_relay(import_onnx(proto), [data, grid])
    np.testing.assert_allclose(found, expected[0], rtol=1e-4, atol=1e-5)
