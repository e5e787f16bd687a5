"""Named operations against independent definitions, at every level from topi to lowered loops."""

from __future__ import annotations

import numpy as np
import pytest
from support.kernels.topi_levels import check, forms, module_of, tensor
from support.kernels.topi_oracles import block_channels, block_weight, conv2d, pool2d, softmax, unblock_channels
from xdsl.dialects.builtin import f32, i8, i32

from xrelay.dialects.topi import (
    BatchMatmulOp,
    Conv1dNcwcOp,
    Conv2dNchwcOp,
    Conv2dNchwOp,
    Conv3dNcdhwcOp,
    MatmulOp,
    Pool2dOp,
    SoftmaxOp,
)

RNG = np.random.default_rng(7)


def random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    ("data", "weight", "options"),
    [
        ((1, 3, 6, 18), (4, 3, 3, 3), {"padding": (1, 1, 1, 1)}),
        ((2, 2, 7, 7), (3, 2, 3, 2), {"strides": (2, 1), "padding": (1, 0, 0, 1)}),
        ((1, 4, 9, 9), (8, 1, 3, 3), {"groups": 4, "dilation": (2, 1)}),
        ((1, 4, 5, 5), (6, 2, 1, 1), {"groups": 2, "strides": (2, 2)}),
        ((1, 3, 1, 1), (5, 3, 1, 1), {}),
    ],
)
def test_conv2d_nchw(data: tuple[int, ...], weight: tuple[int, ...], options: dict) -> None:
    x, w = random(*data), random(*weight)
    expected = conv2d(x, w, **options)
    result = tensor(*expected.shape, element=f32)
    inputs = [tensor(*data, element=f32), tensor(*weight, element=f32)]
    check(module_of(inputs, lambda args: [Conv2dNchwOp(*args, result, **options)]), [x, w], expected)


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("data", "weight", "inner", "outer", "options"),
    [
        ((1, 8, 5, 6), (16, 8, 3, 3), 4, 8, {"padding": (1, 1, 1, 1)}),
        ((1, 3, 9, 9), (16, 3, 5, 5), 3, 8, {"strides": (2, 2), "padding": (2, 2, 2, 2)}),
        ((2, 16, 3, 3), (32, 16, 1, 1), 16, 16, {}),
        ((1, 8, 1, 1), (24, 8, 1, 1), 8, 8, {}),
        ((1, 8, 4, 17), (8, 8, 1, 1), 8, 8, {}),
        ((1, 8, 5, 5), (16, 4, 3, 3), 4, 8, {"groups": 2}),
        ((1, 5, 4, 4), (7, 5, 2, 2), 5, 7, {"dilation": (2, 2)}),
    ],
)
def test_conv2d_nchwc(data: tuple[int, ...], weight: tuple[int, ...], inner: int, outer: int, options: dict) -> None:
    x, w = random(*data), random(*weight)
    expected = block_channels(conv2d(x, w, **options), outer)
    blocked = [block_channels(x, inner), block_weight(w, inner, outer)]
    inputs = [tensor(*array.shape, element=f32) for array in blocked]
    result = tensor(*expected.shape, element=f32)
    check(module_of(inputs, lambda args: [Conv2dNchwcOp(*args, result, **options)]), blocked, expected)


@pytest.mark.parametrize("groups", [1, 16])
def test_conv1d_ncwc(groups: int) -> None:
    x, w = random(2, 16, 1, 19), random(16, 16 // groups, 1, 3)
    options = {"strides": (2,), "padding": (1, 1), "dilation": (2,), "groups": groups}
    image_options = {"strides": (1, 2), "padding": (0, 1, 0, 1), "dilation": (1, 2), "groups": groups}
    expected = block_channels(conv2d(x, w, **image_options), 8)[:, :, 0]
    inner = 8 if groups == 1 else 1
    blocked = [block_channels(x, 8)[:, :, 0], block_weight(w, inner, 8)[:, :, 0]]
    inputs = [tensor(*array.shape, element=f32) for array in blocked]
    result = tensor(*expected.shape, element=f32)
    check(module_of(inputs, lambda args: [Conv1dNcwcOp(*args, result, **options)]), blocked, expected)


def test_conv3d_ncdhwc() -> None:
    x, w = random(1, 8, 5, 4, 6), random(16, 8, 3, 2, 3)
    planes = [sum(conv2d(x[:, :, z + d], w[:, :, d]) for d in range(3)) for z in range(3)]
    expected = np.stack([block_channels(plane, 8) for plane in planes], axis=2)
    image = np.stack([block_channels(x[:, :, z], 8) for z in range(5)], axis=2)
    weight = np.stack([block_weight(w[:, :, z], 8, 8) for z in range(3)], axis=2)
    inputs = [tensor(*array.shape, element=f32) for array in (image, weight)]
    result = tensor(*expected.shape, element=f32)
    check(module_of(inputs, lambda args: [Conv3dNcdhwcOp(*args, result)]), [image, weight], expected)


def test_depthwise_conv2d_nchwc() -> None:
    x, w = random(1, 16, 6, 15), random(16, 1, 3, 3)
    expected = block_channels(conv2d(x, w, padding=(1, 1, 1, 1), groups=16), 8)
    blocked = [block_channels(x, 8), block_weight(w, 1, 8)]
    inputs = [tensor(*array.shape, element=f32) for array in blocked]
    result = tensor(*expected.shape, element=f32)
    options = {"padding": (1, 1, 1, 1), "groups": 16}
    check(module_of(inputs, lambda args: [Conv2dNchwcOp(*args, result, **options)]), blocked, expected)


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    ("rows", "depth", "columns", "block"),
    [
        ((5,), 9, 12, None), ((1,), 9, 12, None), ((7,), 12, 64, 16), ((1,), 12, 48, 16),
        ((7,), 12, 61, 16), ((1,), 5, 17, 16), ((3, 4), 6, 33, 8),
        ((2, 3), 8, 16, 8), ((6,), 5, 21, 7), ((13,), 4, 16, 16), ((3,), 6, 5, 1), ((), 6, 32, 16),
        ((), 6, 32, None), ((40, 1), 5, 24, None), ((40, 1), 5, 24, 8), ((3, 20, 2), 5, 24, 8),
    ],
)  # fmt: skip
def test_matmul(rows: tuple[int, ...], depth: int, columns: int, block: int | None) -> None:
    x, w = random(*rows, depth), random(columns, depth)
    expected = x.astype(np.float64) @ w.T
    packed = w
    if block is not None:
        rows_of_zeros = np.zeros((-columns % block, depth), np.float32)
        blocks = np.concatenate([w, rows_of_zeros]).reshape(-1, block, depth)
        packed = np.ascontiguousarray(blocks.transpose(0, 2, 1))
    inputs = [tensor(*array.shape, element=f32) for array in (x, packed)]
    result = tensor(*expected.shape, element=f32)
    check(module_of(inputs, lambda args: [MatmulOp(*args, result)]), [x, packed], expected)


STACKS = [
    ((), (), 7, 9, 21), ((), (), 1, 12, 1), ((3,), (3,), 13, 8, 37), ((2, 1), (3,), 5, 4, 33), ((), (4,), 18, 6, 5),
    ((4,), (), 20, 3, 70), ((2,), (1,), 4, 0, 6), ((0,), (1,), 4, 3, 6), ((1, 2), (2, 2), 33, 17, 19),
    ((), (), 1, 5, 80),
]  # fmt: skip


@pytest.mark.grid(14)
@pytest.mark.parametrize("flips", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize(("left", "right", "rows", "depth", "columns"), STACKS)
def test_batch_matmul(
    left: tuple[int, ...], right: tuple[int, ...], rows: int, depth: int, columns: int, flips: tuple[bool, bool]
) -> None:
    x, y = random(*left, rows, depth), random(*right, depth, columns)
    expected = x.astype(np.float64) @ y
    given = [np.ascontiguousarray(m.swapaxes(-1, -2)) if flip else m for m, flip in zip((x, y), flips, strict=True)]
    inputs = [tensor(*array.shape, element=f32) for array in given]
    result = tensor(*expected.shape, element=f32)
    options = {"transpose_left": flips[0], "transpose_right": flips[1]}
    check(module_of(inputs, lambda args: [BatchMatmulOp(*args, result, **options)]), given, expected)


@pytest.mark.parametrize(("transpose_left", "transpose_right"), [(False, True), (True, False)])
def test_a_matrix_times_itself(*, transpose_left: bool, transpose_right: bool) -> None:
    x = random(20, 20)
    left, right = (x.T if flip else x for flip in (transpose_left, transpose_right))
    type = tensor(20, 20, element=f32)
    options = {"transpose_left": transpose_left, "transpose_right": transpose_right}
    module = module_of([type], lambda args: [BatchMatmulOp(args[0], args[0], type, **options)])
    check(module, [x], left.astype(np.float64) @ right)


def test_products_of_integers_are_summed_in_a_wider_type() -> None:
    x, w = (RNG.integers(-128, 128, shape).astype(np.int8) for shape in ((4, 20), (6, 20)))
    expected = x.astype(np.int32) @ w.astype(np.int32).T
    inputs = [tensor(4, 20, element=i8), tensor(6, 20, element=i8)]
    module = module_of(inputs, lambda args: [MatmulOp(*args, tensor(4, 6, element=i32))])
    for form, (actual,) in forms(module, [x, w]):
        np.testing.assert_array_equal(actual, expected, err_msg=form)


@pytest.mark.grid(6)
@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize("block", [None, 4])
@pytest.mark.parametrize(
    ("size", "kernel", "outputs", "options"),
    [
        ((7, 7), (3, 3), (4, 4), {"strides": (2, 2), "padding": (1, 1, 1, 1)}),
        ((8, 8), (3, 3), (4, 4), {"strides": (2, 2)}),  # the last window is partly outside
        ((6, 9), (2, 2), (5, 8), {}),
        ((7, 7), (7, 7), (1, 1), {}),
        ((7, 6), (2, 3), (7, 4), {"dilation": (2, 2), "padding": (0, 1, 2, 1)}),
        ((8, 8), (3, 3), (5, 5), {"strides": (2, 2), "padding": (1, 1, 1, 1), "count_include_pad": True}),
    ],
)
def test_pool2d(
    kind: str,
    block: int | None,
    size: tuple[int, int],
    kernel: tuple[int, int],
    outputs: tuple[int, int],
    options: dict,
) -> None:
    x = random(1, 8, *size)
    expected = pool2d(x, kind, kernel, outputs, **options)
    given = x if block is None else block_channels(x, block)
    wanted = expected if block is None else block_channels(expected, block)
    result = tensor(*wanted.shape, element=f32)
    module = module_of(
        [tensor(*given.shape, element=f32)], lambda args: [Pool2dOp(args[0], result, kind, kernel, **options)]
    )
    check(module, [given], wanted)


@pytest.mark.grid(2)
@pytest.mark.parametrize(
    ("shape", "axis"), [((4, 40), 1), ((1, 37), 1), ((2, 5, 3, 8), 1), ((6, 20), 0), ((10,), 0), ((3, 1), 1)]
)
def test_softmax(shape: tuple[int, ...], axis: int) -> None:
    x = random(*shape) * 10
    type = tensor(*shape, element=f32)
    check(module_of([type], lambda args: [SoftmaxOp(args[0], axis, type)]), [x], softmax(x, axis))


def test_softmax_of_large_values_does_not_overflow() -> None:
    x = np.array([[1000.0, 999.0, -1000.0]], np.float32)
    type = tensor(1, 3, element=f32)
    check(module_of([type], lambda args: [SoftmaxOp(args[0], 1, type)]), [x], softmax(x, 1))


def test_blocking_is_undone() -> None:
    x = random(2, 12, 3, 4)
    np.testing.assert_array_equal(unblock_channels(block_channels(x, 4)), x)
