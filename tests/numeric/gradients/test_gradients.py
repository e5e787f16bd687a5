"""The gradient rule of each operator against central differences, in the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from support.gradients import Array, check_gradient, weighted_sum

from xrelay import relay
from xrelay.api.compile import compile
from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.ops.tensor.reduce import VarianceOp
from xrelay.interpreters.relay import run_relay
from xrelay.relay.expr import view

RNG = np.random.default_rng(3)


class Case(NamedTuple):
    """The function to differentiate, and its inputs."""

    build: Callable[..., relay.Expr]
    inputs: tuple[Array, ...]


def near(low: float, high: float, *shape: int) -> Array:
    """Numbers between `low` and `high`."""
    return RNG.uniform(low, high, shape)


def apart(*shape: int) -> Array:
    """Numbers that are not close to each other or to 0, in random order."""
    count = int(np.prod(shape, dtype=int))
    return (RNG.permutation(count) - count / 2 + 0.3).reshape(shape)


def indices(extent: int, *shape: int) -> Array:
    """Indices of an axis."""
    return RNG.integers(0, extent, shape)


def of(name: str, *inputs: Array, **attributes: AttributeValue) -> Case:
    """The operator called `name`."""
    return Case(partial(relay.op_function(name), **attributes), inputs)


def joined(name: str, *inputs: Array, **attributes: AttributeValue) -> Case:
    """An operator on a tuple."""

    def build(*tensors: relay.Expr) -> relay.Expr:
        return relay.op_function(name)(list(tensors), **attributes)

    return Case(build, inputs)


def padded(data: Array, width: tuple[tuple[int, int], ...], mode: str) -> Case:
    """Padding that repeats elements."""
    return Case(lambda x: relay.nn.pad(x, width, 0.0, mode), (data,))


def squared(name: str, *inputs: Array, field: int | None = None, **attributes: AttributeValue) -> Case:
    """The sum of the squares of a result with dynamic extents."""

    def build(*tensors: relay.Expr) -> relay.Expr:
        found = relay.op_function(name)(*tensors, **attributes)
        found = found if field is None else found[field]
        return relay.sum(relay.multiply(found, found))

    return Case(build, inputs)


def about(data: relay.Expr, mean: relay.Expr) -> relay.Expr:
    """The variance about numbers that need not be the means."""
    return view(VarianceOp.call(data.ssa_value, mean.ssa_value, axis=[1]).result)


def count_up(start: relay.Expr, stop: relay.Expr, step: relay.Expr) -> relay.Expr:
    """The four numbers from `start` on."""
    return relay.reshape(relay.arange(start, stop, step, "float64"), newshape=[4])


def sparse(*shape: int) -> Callable[..., relay.Expr]:
    """A dense tensor of the given shape, from positions, values and a default."""
    return lambda places, values, default: relay.sparse_to_dense(places, shape, values, default)


def drawn(name: str, first: relay.Expr, second: relay.Expr) -> relay.Expr:
    """The sum of the squares of random numbers with two parameters."""
    key = relay.const(np.arange(10, dtype=np.uint64))
    numbers = getattr(relay.random, name)(key, (3, 4), "float64", first, second)[1]
    return relay.sum(relay.multiply(numbers, numbers))


def framed(size: int, hop: int, length: int, **attributes: bool) -> Callable[..., relay.Expr]:
    """Fourier transforms of frames of a signal."""
    return lambda data, window: relay.stft(data, size, hop, length, window, **attributes)


def resized(data: relay.Expr, size: relay.Expr, last: int = 3) -> relay.Expr:
    """The sum of the squares of an image resized to a dynamic size."""
    scale, region = relay.const([1.5, 0.0], "float32"), relay.const(np.zeros(4, np.float32))
    found = relay.op_function("dyn.image.resize")(data, size, scale, region, axes=[2, last])
    return relay.sum(relay.multiply(found, found))


def one_hot(places: relay.Expr, on: relay.Expr, off: relay.Expr) -> relay.Expr:
    """Four rows of `on` and `off`."""
    return relay.one_hot(places, on, off, depth=4, axis=0)


CASES: dict[str, Case] = {
    "add": of("add", near(-1, 1, 3, 1), near(-1, 1, 2, 3, 4)),
    "subtract": of("subtract", near(-1, 1, 3, 4), near(-1, 1, 1, 4)),
    "multiply": of("multiply", near(-1, 1, 4), near(-1, 1, 3, 1)),
    "divide": of("divide", near(-1, 1, 3, 1), near(0.5, 2, 2, 1, 4)),
    "power": of("power", near(0.5, 2, 3, 1), near(-1, 2, 3, 4)),
    "maximum": of("maximum", apart(3, 4), near(-1, 1, 4)),
    "minimum": of("minimum", apart(3, 4), near(-1, 1, 4)),
    **{
        name: of(name, near(low, high, 3, 2))
        for name, (low, high) in {
            "copy": (-1, 1),
            "negative": (-1, 1),
            "exp": (-1, 1),
            "log": (0.5, 2),
            "log2": (0.5, 2),
            "log10": (0.5, 2),
            "sqrt": (0.5, 2),
            "rsqrt": (0.5, 2),
            "sigmoid": (-2, 2),
            "tanh": (-2, 2),
            "erf": (-2, 2),
            "sin": (-3, 3),
            "cos": (-3, 3),
            "tan": (-1, 1),
            "sinh": (-2, 2),
            "cosh": (-2, 2),
            "asin": (-0.8, 0.8),
            "acos": (-0.8, 0.8),
            "atan": (-2, 2),
            "asinh": (-2, 2),
            "acosh": (1.5, 3),
            "atanh": (-0.8, 0.8),
            "floor": (0.1, 0.9),
            "sign": (0.1, 0.9),
            "annotation.stop_fusion": (-1, 1),
            "annotation.checkpoint": (-1, 1),
        }.items()
    },
    "abs": of("abs", apart(3, 4)),
    "relu": of("nn.relu", apart(3, 4)),
    "clip": of("clip", apart(3, 4), a_min=-3.0, a_max=2.0),
    "greater": of("greater", apart(3, 4), near(-0.1, 0.1, 4)),
    "where": of("where", indices(2, 3, 1).astype(bool), near(-1, 1, 4), near(-1, 1, 2, 3, 4)),
    **{
        f"{name} {label}": of(name, data, **attributes)
        for name, data in {
            "sum": apart(2, 3, 4),
            "mean": apart(2, 3, 4),
            "max": apart(2, 3, 4),
            "min": apart(2, 3, 4),
        }.items()
        for label, attributes in {
            "all": {},
            "axes": {"axis": [0, -1]},
            "kept": {"axis": [1], "keepdims": True},
            "excluded": {"axis": [1], "exclude": True},
        }.items()
    },
    "prod": of("prod", near(0.5, 2, 3, 4), axis=[1]),
    "prod of one zero": of("prod", np.array([[0.0, 2.0, 3.0], [1.5, 0.5, 2.0]]), axis=[1]),
    "prod of zeros": of("prod", np.array([[0.0, 2.0, 0.0], [1.5, 0.5, 2.0]])),
    "variance": of("variance", near(-1, 1, 2, 5), axis=[1]),
    "variance unbiased": of("variance", near(-1, 1, 4, 2), axis=0, unbiased=True, keepdims=True),
    "variance of another mean": Case(about, (near(-1, 1, 2, 5), near(-1, 1, 2, 1))),
    "std": of("std", near(-1, 1, 2, 5), axis=[1]),
    "cast": of("cast", near(-1, 1, 3, 2), dtype="float64"),
    "cast_like": of("cast_like", near(-1, 1, 3, 2), near(-1, 1, 1)),
    "reshape": of("reshape", near(-1, 1, 3, 4), newshape=[2, 6]),
    "reshape_like": of("reshape_like", near(-1, 1, 3, 4), near(-1, 1, 6, 2)),
    "reverse_reshape": of("contrib_reverse_reshape", near(-1, 1, 3, 4, 5), newshape=[-1, 0]),
    "squeeze": of("squeeze", near(-1, 1, 2, 1, 3, 1)),
    "expand_dims": of("expand_dims", near(-1, 1, 2, 3), axis=1, num_newaxis=2),
    "transpose": of("transpose", near(-1, 1, 2, 3, 4)),
    "transpose axes": of("transpose", near(-1, 1, 2, 3, 4), axes=[1, -1, 0]),
    "broadcast_to": of("broadcast_to", near(-1, 1, 3, 1), shape=[2, 3, 4]),
    "broadcast_to_like": of("broadcast_to_like", near(-1, 1, 3, 1), near(-1, 1, 2, 3, 4)),
    "collapse_sum_like": of("collapse_sum_like", near(-1, 1, 2, 3, 4), near(-1, 1, 3, 1)),
    "tile": of("tile", near(-1, 1, 2, 3), reps=[2, 1, 3]),
    "tile fewer": of("tile", near(-1, 1, 2, 3), reps=[2]),
    "repeat": of("repeat", near(-1, 1, 2, 3), repeats=3, axis=-1),
    "reverse": of("reverse", near(-1, 1, 2, 3), axis=1),
    "reverse_sequence": of("reverse_sequence", near(-1, 1, 3, 2), np.array([2, 3]), seq_axis=0, batch_axis=1),
    "sequence_mask": of("sequence_mask", near(-1, 1, 3, 2), np.array([2, 1]), mask_value=7.0),
    "cumprod": of("cumprod", near(0.5, 2, 3, 4), axis=1),
    "cumprod exclusive": of("cumprod", near(0.5, 2, 3, 4), axis=-2, exclusive=True),
    "cumprod flat": of("cumprod", near(0.5, 2, 3, 4)),
    "cumprod of zeros": of("cumprod", np.array([[0.5, 0.0, 2.0, 0.0, 1.5], [0.0, 3.0, 1.5, 2.0, 0.5]]), axis=1),
    "cumprod of zeros exclusive": of("cumprod", np.array([0.5, 2.0, 0.0, 3.0, 0.0, 1.5]), axis=0, exclusive=True),
    "mod": of("mod", np.array([[7.5, -5.25, 3.125]]), np.array([2.0, 1.5, -1.25])),
    "floor_mod": of("floor_mod", np.array([[7.25, -5.25, 3.125]]), np.array([[2.0], [1.5]])),
    "floor_divide": of("floor_divide", np.array([7.5, -5.25]), np.array([2.0, 1.5])),
    "trilu": of("trilu", near(-1, 1, 3, 4), np.array(1), upper=False),
    "cumsum": of("cumsum", near(-1, 1, 3, 4), axis=1),
    "cumsum exclusive": of("cumsum", near(-1, 1, 3, 4), axis=-2, exclusive=True),
    "cumsum flat": of("cumsum", near(-1, 1, 3, 4)),
    "strided_slice": of("strided_slice", near(-1, 1, 4, 8), begin=[1, 7], end=[3, -9], strides=[1, -2]),
    "strided_slice size": of("strided_slice", near(-1, 1, 4, 8), begin=[1, 2], end=[-1, 3], slice_mode="size"),
    "strided_slice axes": of("strided_slice", near(-1, 1, 2, 4, 8), begin=[1], end=[8], strides=[3], axes=[-1]),
    "strided_slice of nothing": of("strided_slice", near(-1, 1, 4), begin=[2], end=[2]),
    "slice_like": of("slice_like", near(-1, 1, 4, 5), near(-1, 1, 2, 3)),
    "split": of("split", near(-1, 1, 2, 6), indices_or_sections=3, axis=1),
    "split places": of("split", near(-1, 1, 7), indices_or_sections=[2, 5]),
    "concatenate": joined("concatenate", near(-1, 1, 2, 1), near(-1, 1, 2, 3), near(-1, 1, 2, 2), axis=-1),
    "stack": joined("stack", near(-1, 1, 2, 3), near(-1, 1, 2, 3), axis=1),
    "take": of("take", near(-1, 1, 3, 4, 5), indices(4, 2, 3), axis=1),
    "take flat": of("take", near(-1, 1, 3, 4), indices(12, 5)),
    "take one": of("take", near(-1, 1, 3, 4), np.array(2), axis=-1),
    "take clip": of("take", near(-1, 1, 3), np.array([-2, 0, 5]), axis=0),
    "take wrap": of("take", near(-1, 1, 3), np.array([-2, 0, 5]), axis=0, mode="wrap"),
    "take raise": of("take", near(-1, 1, 3), np.array([-2, 0, 0]), axis=0, mode="raise"),
    "gather": of("gather", near(-1, 1, 3, 4), indices(3, 2, 4), axis=0),
    "gather_nd": of("gather_nd", near(-1, 1, 2, 3, 2), np.array([[0, 1, 1], [0, 2, 2]])),
    "scatter_nd": of("scatter_nd", near(-1, 1, 3, 2), np.array([[0, 2, 2]]), near(-1, 1, 3, 2), mode="add"),
    **{
        f"scatter_nd {mode}": of(
            "scatter_nd", near(0.5, 1, 3, 2), np.array([[0, 2, -1]]), near(0.5, 1, 3, 2) * [[1], [1], [3]], mode=mode
        )
        for mode in ("update", "mul", "max")
    },
    **{
        f"scatter_elements {mode}": of(
            "scatter_elements",
            near(0.5, 1, 3, 4),
            np.array([[0, 2, 2], [1, -4, 1]]),
            near(0.5, 1, 2, 3) * [1, 3, 0.25],
            axis=1,
            reduction=mode,
        )
        for mode in ("update", "add", "mul", "min", "max")
    },
    "scatter_elements of zeros": of(
        "scatter_elements",
        np.array([0.0, 2.0, 3.0, 0.0]),
        np.array([1, 1, 2, 2, 3]),
        np.array([0.0, 1.5, 0.0, 0.0, 0.5]),
        reduction="mul",
    ),
    "strided_set": of(
        "strided_set", near(-1, 1, 4, 8), near(-1, 1, 2, 3), np.array([1, 7]), np.array([3, 0]), np.array([1, -2])
    ),
    "matrix_set_diag": of("matrix_set_diag", near(-1, 1, 2, 3, 4), near(-1, 1, 2, 3)),
    "matrix_set_diag several": of("matrix_set_diag", near(-1, 1, 3, 4), near(-1, 1, 3, 3), k=(-1, 1)),
    "adv_index": joined("adv_index", near(-1, 1, 4, 3, 2), indices(4, 2, 1), np.array([0, -1, 2, 0, 1])),
    "meshgrid": joined("meshgrid", near(-1, 1, 3), near(-1, 1), near(-1, 1, 2), indexing="xy"),
    "sliding_window": of("sliding_window", near(-1, 1, 2, 4, 7), axis=1, window_shape=[2, 3], strides=[1, 2]),
    "pad edge": padded(near(-1, 1, 2, 3), ((1, 2), (0, 3)), "edge"),
    "pad reflect": padded(near(-1, 1, 2, 4), ((0, 1), (2, 3)), "reflect"),
    "mirror_pad": of("nn.mirror_pad", near(-1, 1, 2, 3), pad_width=[0, 1, 2, 3]),
    "fifo_buffer": of("nn.fifo_buffer", near(-1, 1, 2, 2), near(-1, 1, 2, 5), axis=1),
    "dilate": of("nn.dilate", near(-1, 1, 2, 3), strides=[2, 3], dilation_value=0.5),
    "depth_to_space": of("nn.depth_to_space", near(-1, 1, 1, 8, 2, 3), block_size=2, mode="CRD"),
    "space_to_depth": of("nn.space_to_depth", near(-1, 1, 1, 2, 4, 6), block_size=2),
    "batch_to_space": of("nn.batch_to_space_nd", near(-1, 1, 4, 2, 3), block_shape=[2, 2], crops=[0, 1, 1, 0]),
    "space_to_batch": of(
        "nn.space_to_batch_nd", near(-1, 1, 1, 3, 5), block_shape=[2, 2], paddings=[0, 1, 1, 0], pad_value=0.5
    ),
    "yolo_reorg": of("vision.yolo_reorg", near(-1, 1, 1, 4, 4, 6), stride=2),
    "compress": squared("compress", near(-1, 1, 3, 4), np.array([True, False, True, False]), axis=1),
    **{
        f"einsum {equation}": joined("einsum", *(near(-1, 1, *shape) for shape in shapes), equation=equation)
        for equation, shapes in {
            "ij,jk->ik": [(2, 3), (3, 4)],
            "bij,jk,k": [(2, 3, 4), (4, 2), (2,)],
            "...ij,...jk->...ik": [(2, 1, 2, 3), (5, 3, 2)],
            "ij,kj->k": [(2, 3), (4, 3)],
            "ij,ij->i": [(2, 3), (2, 1)],
            "ii->i": [(3, 3)],
            "iji,kj->k": [(2, 3, 2), (1, 1)],
            "ii->": [(3, 3)],
            "a->": [(3,)],
        }.items()
    },
    "dyn.strided_slice": squared(
        "dyn.strided_slice", near(-1, 1, 4, 5), np.array([3, 1]), np.array([0, 9]), np.array([-2, 1])
    ),
    "dyn.tile": squared("dyn.tile", near(-1, 1, 2, 3), np.array([2, 3])),
    "dyn.pad": squared("dyn.nn.pad", near(-1, 1, 2, 3), np.array([[1, 0], [0, 2]]), near(-1, 1)),
    "dyn.topk": squared("dyn.topk", near(-1, 1, 2, 5), np.array([3]), field=0, dtype="int64"),
    "dyn.resize": Case(resized, (near(-1, 1, 1, 2, 4, 5), np.array([6, 3]))),
    "dyn.resize axis from the end": Case(partial(resized, last=-1), (near(-1, 1, 1, 2, 4, 5), np.array([6, 3]))),
    "sparse_to_dense": Case(sparse(4, 3), (np.array([[0, 1], [3, 2], [0, 1]]), near(-1, 1, 3), near(-1, 1))),
    "sparse_to_dense of one": Case(sparse(4), (np.array([2, 0]), near(-1, 1), near(-1, 1))),
    "dyn.sparse_to_dense": squared(
        "dyn.sparse_to_dense", np.array([[0, 1], [3, 2]]), np.array([4, 3]), near(-1, 1, 2), near(-1, 1)
    ),
    "random.uniform": Case(partial(drawn, "uniform"), (np.array(-1.5), np.array(2.5))),
    "random.normal": Case(partial(drawn, "normal"), (np.array(-1.5), np.array(2.5))),
    "dft": of("dft", near(-1, 1, 2, 5), near(-1, 1, 2, 5)),
    "dft inverse": of("dft", near(-1, 1, 2, 4), near(-1, 1, 2, 4), inverse=True),
    "stft": Case(framed(4, 2, 3, onesided=True), (near(-1, 1, 2, 9), near(-1, 1, 3))),
    "stft whole": Case(framed(4, 3, 4, normalized=True, onesided=False), (near(-1, 1, 11), near(-1, 1, 4))),
    "dilation2d": of(
        "image.dilation2d",
        near(-1, 1, 1, 2, 6, 7),
        near(-1, 1, 2, 3, 2),
        padding=(1, 0, 1, 1),
        strides=(2, 1),
        dilations=(1, 2),
    ),
    "dilation2d channels last": of(
        "image.dilation2d", near(-1, 1, 2, 4, 5, 2), near(-1, 1, 2, 2, 2), data_layout="NHWC", kernel_layout="HWI"
    ),
    "affine_grid": of("image.affine_grid", near(-1, 1, 2, 2, 3), target_shape=[3, 4]),
    "resize1d": of("image.resize1d", near(-1, 1, 1, 2, 5), size=[8]),
    **{
        f"resize2d {method} {mode}": of(
            "image.resize2d", near(-1, 1, 1, 2, 4, 5), size=[7, 3], method=method, coordinate_transformation_mode=mode
        )
        for method in ("nearest_neighbor", "linear", "cubic")
        for mode in ("half_pixel", "align_corners", "asymmetric")
    },
    "resize2d region": of(
        "image.resize2d",
        near(-1, 1, 1, 4, 5, 2),
        size=[3, 6],
        layout="NHWC",
        roi=[0.2, -0.1, 0.9, 1.2],
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=0.5,
    ),
    "resize3d": of("image.resize3d", near(-1, 1, 1, 2, 2, 3, 4), size=[4, 3, 6]),
    "upsampling": of("nn.upsampling", near(-1, 1, 1, 2, 3, 4), scale_h=2.0, scale_w=1.5, method="bilinear"),
    "upsampling nearest": of("nn.upsampling", near(-1, 1, 1, 3, 4, 2), scale_h=2.0, scale_w=3.0, layout="NHWC"),
    "upsampling3d": of("nn.upsampling3d", near(-1, 1, 1, 2, 2, 3, 4), scale_d=2.0, scale_h=2.0, scale_w=2.0),
    "lrn": of("nn.lrn", near(-1, 1, 2, 7, 3), size=5, alpha=0.5),
    "lrn even": of("nn.lrn", near(-1, 1, 2, 3, 5), size=4, axis=-1, alpha=0.5, beta=0.6, bias=1.0),
    "lrn beyond the axis": of("nn.lrn", near(-1, 1, 2, 3, 5), size=1 << 40, alpha=float(1 << 39)),
    "lrn beyond one end": of("nn.lrn", near(-1, 1, 2, 3, 5), size=6, alpha=0.5),
    "one_hot": Case(one_hot, (indices(5, 3), near(0, 1), near(0, 1))),
    "full": of("full", near(-1, 1), shape=[2, 3]),
    "full_like": of("full_like", near(-1, 1, 2, 3), near(-1, 1)),
    "arange": Case(count_up, (np.array(2.5), np.array(9.4), np.array(1.8))),
    "collapse_sum_to": Case(lambda x: relay.collapse_sum_to(x, (3, 1)), (near(-1, 1, 2, 3, 4),)),
    "gelu": of("nn.gelu", near(-2, 2, 3, 2)),
    "leaky_relu": of("nn.leaky_relu", apart(3, 2), alpha=0.1),
}


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", CASES)
def test_rule(name: str) -> None:
    case = CASES[name]
    shapes = [(each.shape, str(each.dtype)) for each in case.inputs]
    params = [relay.var(f"x{number}", shape=shape, dtype=dtype) for number, (shape, dtype) in enumerate(shapes)]
    check_gradient(relay.Function(params, case.build(*params)), case.inputs)


NATIVE = (
    "scatter_elements update",
    "cumprod of zeros",
    "strided_set",
    "mirror_pad",
    "einsum iji,kj->k",
    "dyn.pad",
    "lrn",
)


@pytest.mark.grid(6)
@pytest.mark.parametrize("name", [*NATIVE, "resize2d cubic asymmetric", "dyn.resize", "dyn.tile", "compress"])
def test_native_code_has_the_same_gradients(name: str) -> None:
    case = CASES[name]
    params = [relay.var(f"x{n}", shape=each.shape, dtype=str(each.dtype)) for n, each in enumerate(case.inputs)]
    module = relay.IRModule.from_expr(relay.transform.gradient(relay.Function(params, case.build(*params))))
    found = compile(module, cache=False).run(case.inputs)
    for own, wanted in zip(found, run_relay(module, list(case.inputs)), strict=True):
        np.testing.assert_allclose(own, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", ["cumprod", "scatter_elements mul", "einsum ii->i", "upsampling", "lrn", "meshgrid"])
def test_gradients_have_gradients(name: str) -> None:
    case = CASES[name]
    params = [relay.var(f"x{n}", shape=each.shape, dtype=str(each.dtype)) for n, each in enumerate(case.inputs)]
    square = weighted_sum(case.build(*params), np.random.default_rng(7))
    once = relay.transform.gradient(relay.Function(params, relay.multiply(square, square)), mode="first_order")
    slopes = [once.body[1][n] for n, each in enumerate(case.inputs) if each.dtype.kind == "f"]
    total = relay.sum(relay.multiply(slopes[0], slopes[0]))
    check_gradient(relay.Function(once.params, total), case.inputs)
