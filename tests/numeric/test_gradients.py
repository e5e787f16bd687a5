"""The gradient rule of each operator against central differences, in the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from support.gradients import Array, check_gradient

from xrelay import relay
from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.ops.tensor_variance import VarianceOp
from xrelay.relay.expr import view

RNG = np.random.default_rng(3)


class Case(NamedTuple):
    """What is differentiated, and where."""

    build: Callable[..., relay.Expr]
    inputs: tuple[Array, ...]


def near(low: float, high: float, *shape: int) -> Array:
    """Numbers between `low` and `high`."""
    return RNG.uniform(low, high, shape)


def apart(*shape: int) -> Array:
    """Numbers no two of which are near each other, and none near 0, in an order by chance."""
    count = int(np.prod(shape, dtype=int))
    return (RNG.permutation(count) - count / 2 + 0.3).reshape(shape)


def indices(extent: int, *shape: int) -> Array:
    """Indices of an axis."""
    return RNG.integers(0, extent, shape)


def of(name: str, *inputs: Array, **attributes: AttributeValue) -> Case:
    """The operator called `name`."""
    return Case(partial(relay.op_function(name), **attributes), inputs)


def joined(name: str, *inputs: Array, axis: int) -> Case:
    """An operator on a tuple."""

    def build(*tensors: relay.Expr) -> relay.Expr:
        return relay.op_function(name)(list(tensors), axis=axis)

    return Case(build, inputs)


def about(data: relay.Expr, mean: relay.Expr) -> relay.Expr:
    """The variance about numbers that need not be the means."""
    return view(VarianceOp.call(data.ssa_value, mean.ssa_value, axis=[1]).result)


def count_up(start: relay.Expr, stop: relay.Expr, step: relay.Expr) -> relay.Expr:
    """The four numbers from `start` on."""
    return relay.reshape(relay.arange(start, stop, step, "float64"), newshape=[4])


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
