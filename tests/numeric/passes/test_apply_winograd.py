"""Convolutions by Winograd's algorithm agree with direct ones, in all sizes, on all levels and on several threads."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from xrelay import relay
from xrelay.api.compile import compile
from xrelay.interpreters.relay import run_relay
from xrelay.passes.layout.alter_op_layout import alter_layouts
from xrelay.passes.layout.apply_winograd import apply_winograd

Array = NDArray[np.float32]
PADDINGS = ((0, 0, 0, 0), (1, 1, 1, 1), (2, 0, 1, 3))
SIZES = ((1, 1), (2, 7), (3, 5), (5, 13), (7, 3), (13, 2))
IMAGES = [
    (size, padding)
    for size in SIZES
    for padding in PADDINGS
    if size[0] + padding[0] + padding[2] >= 3 and size[1] + padding[1] + padding[3] >= 3
]
"""Sizes with paddings for which at least one window fits."""


def network(
    shape: tuple[int, ...], filters: int, padding: tuple[int, ...], *, lanes: int = 16, tile: int = 0
) -> tuple[relay.Module, relay.Module, list[Array]]:
    """A convolution with bias, residual and relu; the same in blocks, by Winograd's algorithm; and inputs."""
    random = np.random.default_rng(sum(shape))

    def normal(*extents: int) -> Array:
        return random.standard_normal(extents).astype(np.float32)

    x = relay.var("x", shape=shape)
    conv = relay.nn.conv2d(x, normal(filters, shape[1], 3, 3), padding=padding)
    top, left, bottom, right = padding
    result = (shape[0], filters, shape[2] + top + bottom - 2, shape[3] + left + right - 2)
    rest = relay.var("rest", shape=result)
    y = relay.nn.relu(relay.nn.bias_add(conv, normal(filters)) + rest)
    modules = [relay.transform.InferType()(relay.Module.from_expr(relay.Function([x, rest], y))) for _ in range(2)]
    alter_layouts(modules[1], vector_lanes=lanes)
    assert [remark.applied for remark in apply_winograd(modules[1], tile_size=tile)] == [True]
    return modules[0], modules[1], [normal(*shape), normal(*result)]


def assert_close(found: Array, wanted: Array) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4 * np.abs(wanted).max(), strict=True)


@pytest.mark.grid(6)
@pytest.mark.parametrize("tile", [2, 4])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize(("size", "padding"), IMAGES, ids=str)
def test_sizes(size: tuple[int, int], padding: tuple[int, ...], batch: int, tile: int) -> None:
    module, other, inputs = network((batch, 16, *size), 48, padding, tile=tile)
    (wanted,) = run_relay(module, inputs)
    assert_close(run_relay(other, inputs)[0], wanted)
    assert_close(compile(other, cache=False).run(inputs)[0], wanted)


@pytest.mark.grid(2)
@pytest.mark.parametrize("target", ["cpu -mcpu=haswell -num-threads=1", "cpu -num-threads=2"])
@pytest.mark.parametrize("tile", [2, 4])
def test_blocks_of_tiles(tile: int, target: str) -> None:
    """With small caches there are several blocks of tiles; with threads, several parts of the filters."""
    lanes = 8 if "haswell" in target else 16
    module, other, inputs = network((1, 32, 13, 28), 64, (1, 1, 1, 1), lanes=lanes, tile=tile)
    model = compile(other, target=f"{target} -l2=65536", cache=False)
    assert_close(model.run(inputs)[0], run_relay(module, inputs)[0])


DYNAMIC_SIZES = ((1, 1), (1, 31), (2, 5), (3, 2), (5, 7), (7, 31), (31, 3))
"""Heights and widths with a part of a group of tiles, or with several groups."""


@pytest.mark.grid(6, values=lambda **given: combinations(given.items(), 2))
@pytest.mark.parametrize("target", ["cpu -num-threads=1", "cpu -num-threads=2", "cpu -mcpu=haswell -l2=65536"])
@pytest.mark.parametrize("shape", [("h", "w"), ("h", 7), (5, "w")], ids=str)
@pytest.mark.parametrize("padding", PADDINGS, ids=str)
@pytest.mark.parametrize("tile", [2, 4])
def test_any_height_and_width(tile: int, padding: tuple[int, ...], shape: tuple[int | str, ...], target: str) -> None:
    module, other = dynamic_network(shape, padding, tile)
    model = compile(other, target=target, cache=False, specialize=False)
    for height, width in DYNAMIC_SIZES:
        size = (2, 16, *(own if isinstance(own, int) else new for own, new in zip(shape, (height, width), strict=True)))
        if size[2] + padding[0] + padding[2] < 3 or size[3] + padding[1] + padding[3] < 3:
            continue
        data = np.random.default_rng(height).standard_normal(size).astype(np.float32)
        (wanted,) = run_relay(module, [data])
        assert_close(model.run([data])[0], wanted)
        assert_close(run_relay(other, [data])[0], wanted)


def dynamic_network(
    shape: tuple[int | str, ...], padding: tuple[int, ...], tile: int
) -> tuple[relay.Module, relay.Module]:
    """A convolution of images of some dynamic sizes with relu; and the same by Winograd's algorithm."""
    weight = np.random.default_rng(0).standard_normal((48, 16, 3, 3)).astype(np.float32)
    x = relay.var("x", shape=("n", 16, *shape))
    y = relay.nn.relu(relay.nn.conv2d(x, weight, padding=padding))
    modules = [relay.transform.InferType()(relay.Module.from_expr(relay.Function([x], y))) for _ in range(2)]
    alter_layouts(modules[1], vector_lanes=16)
    assert [remark.applied for remark in apply_winograd(modules[1], tile_size=tile)] == [True]
    return modules[0], modules[1]


@pytest.mark.parametrize("threads", [1, 2])
def test_layers_of_dynamic_size_share_a_kernel(threads: int) -> None:
    x = relay.var("x", shape=(1, 64, relay.Any(), relay.Any()))
    y: relay.Expr = x
    for filters, channels in ((128, 64), (128, 128), (64, 128)):
        weight = np.random.default_rng(filters).standard_normal((filters, channels, 3, 3)).astype(np.float32)
        y = relay.nn.relu(relay.nn.conv2d(y, weight / np.float32(channels), padding=(1, 1)))
    module = relay.Module.from_expr(relay.Function([x], y))
    model = compile(
        module, target=f"cpu -mcpu=x86-64-v4 -l2=2097152 -num-threads={threads}", cache=False, specialize=False
    )
    assert sum("winograd" in kernel.symbol for kernel in model.artifact.metadata.kernels) == 1
    data = np.random.default_rng(1).standard_normal((1, 64, 9, 17)).astype(np.float32)
    assert_close(model.run([data])[0], run_relay(module, [data])[0])


def test_any_batch() -> None:
    x = relay.var("x", shape=(relay.Any(), 16, 9, 9))
    weight = np.random.default_rng(0).standard_normal((16, 16, 3, 3)).astype(np.float32)
    module = relay.transform.InferType()(relay.Module.from_expr(relay.Function([x], relay.nn.conv2d(x, weight))))
    other = relay.transform.InferType()(module)
    alter_layouts(other)
    assert [remark.applied for remark in apply_winograd(other, tile_size=2)] == [True]
    model = compile(other, cache=False, specialize=False)
    for batch in (1, 3):
        data = np.random.default_rng(batch).standard_normal((batch, 16, 9, 9)).astype(np.float32)
        assert_close(model.run([data])[0], run_relay(module, [data])[0])


@pytest.mark.parametrize("tile", [2, 4])
def test_rounding_errors_are_small(tile: int) -> None:
    module, other, inputs = network((1, 64, 16, 16), 64, (1, 1, 1, 1), tile=tile)
    wanted = run_relay(module, inputs)[0]
    error = np.abs(run_relay(other, inputs)[0] - wanted).max() / np.abs(wanted).max()
    assert error < 5e-6


def test_rounding_errors_of_many_channels_are_small() -> None:
    """Sums over 512 channels at once have a mean error of 1.6e-6, partial sums one of 0.9e-6."""
    module, other, inputs = network((1, 512, 8, 8), 16, (1, 1, 1, 1), tile=4)
    wanted = run_relay(module, inputs)[0]
    errors: Array = compile(other, cache=False).run(inputs)[0] - wanted
    assert np.linalg.norm(errors) < 1.2e-6 * np.linalg.norm(wanted)


@pytest.mark.parametrize("value", [np.inf, np.nan], ids=str)
def test_infinite_elements_and_nans_reach_the_results_of_their_tiles_only(value: float) -> None:
    _, other, inputs = network((1, 16, 16, 16), 16, (1, 1, 1, 1), tile=4)
    inputs[0][0, 3, 5, 6] = value
    reached = np.zeros((16, 16), bool)
    reached[4:8, 4:8] = True
    expected = np.broadcast_to(reached, (1, 16, 16, 16))
    for result in (run_relay(other, inputs)[0], compile(other, cache=False).run(inputs)[0]):
        np.testing.assert_array_equal(~np.isfinite(result), expected)


def test_exact_forbids_approximations() -> None:
    x = relay.var("x", shape=(1, 16, 28, 28))
    module = relay.Module.from_expr(relay.Function([x], relay.nn.conv2d(x, np.ones((16, 16, 3, 3), np.float32))))
    models = [compile(module, cache=False, exact=exact) for exact in (False, True)]
    used = [any("winograd" in kernel.symbol for kernel in model.artifact.metadata.kernels) for model in models]
    assert used == [True, False]
