"""Attributes as expressions: constants become values, others select the equivalent `dyn` operator."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import xrelay
from xrelay import relay, transform
from xrelay.errors import ConstraintError, ExecutionError, InterpreterError
from xrelay.interpreters.relay import run_relay

X = relay.var("x", shape=(2, 3, 4))
DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
S = relay.var("s", shape=(3,), dtype="int64")

OPEN: dict[str, tuple[relay.Expr, list[int], np.ndarray]] = {
    "reshape": (relay.reshape(X, S), [4, -1, 2], DATA.reshape(4, 3, 2)),
    "tile": (relay.tile(X, S), [1, 2, 1], np.tile(DATA, (1, 2, 1))),
    "broadcast_to": (
        relay.broadcast_to(relay.sum(X, axis=(0,)), S), [5, 3, 4], np.broadcast_to(DATA.sum(0), (5, 3, 4)),
    ),
    "zeros": (relay.zeros(S, "int32"), [1, 2, 3], np.zeros((1, 2, 3), np.int32)),
    "ones": (relay.ones(shape=S), [1, 2, 3], np.ones((1, 2, 3), np.float32)),
    "full": (relay.full(2.5, S, "float16"), [1, 2, 3], np.full((1, 2, 3), 2.5, np.float16)),
    "strided_slice": (relay.strided_slice(X, S, [2, 3, 4]), [1, 0, 2], DATA[1:, :, 2:]),
    "strided_slice by": (relay.strided_slice(X, [0, 0, 0], [2, 3, 4], S), [1, 2, 3], DATA[:, ::2, ::3]),
    "strided_slice of sizes": (
        relay.strided_slice(X, S, [-1, 2, 2], slice_mode="size"), [0, 1, -2], DATA[:, 1:3, 2:],
    ),
    "strided_slice to sizes": (
        relay.strided_slice(X, [1, 0, -3], S, relay.tile(relay.const([2]), [3]), slice_mode="size"),
        [-1, 9, 2], DATA[1:, :, 1:3],
    ),
    "topk": (relay.topk(X, relay.take(S, 0), ret_type="values"), [2, 0, 0], np.sort(DATA)[..., :1:-1]),
    "topk of all": (
        relay.topk(X, relay.take(S, relay.const([0])), axis=1, ret_type="values", is_ascend=True),
        [0, 0, 0], np.sort(DATA, axis=1),
    ),
    "pad": (
        relay.nn.pad(X, relay.reshape(relay.tile(S, [2]), [3, 2]), 1.0), [1, 0, 2],
        np.pad(DATA, [(1, 0), (2, 1), (0, 2)], constant_values=1),
    ),
    "squeeze": (
        relay.squeeze(relay.reshape(X, (1, 2, 3, 1, 4, 1)), relay.take(S, relay.const([0, 1]))), [-3, 0, 9],
        DATA.reshape(2, 3, 4, 1),
    ),
    "squeeze of one": (relay.squeeze(relay.expand_dims(X, 1), relay.take(S, 0)), [1, 0, 0], DATA),
    "expand_dims": (relay.expand_dims(X, relay.take(S, 0)), [1, 0, 0], DATA[:, None]),
    "expand_dims by several": (relay.expand_dims(X, relay.take(S, 0), 2), [-2, 0, 0], DATA[:, :, None, None]),
    "expand_dims of rank 0": (relay.expand_dims(relay.sum(X), relay.take(S, 0), 2), [0, 0, 0], DATA.sum()[None, None]),
    "resize1d": (
        relay.image.resize1d(X, relay.take(S, relay.const([2])), method="nearest_neighbor",
                             coordinate_transformation_mode="asymmetric"),
        [0, 0, 8], np.repeat(DATA, 2, axis=2),
    ),
    "resize2d": (
        relay.image.resize2d(relay.expand_dims(X, 0), relay.take(S, relay.const([0, 1])), layout="NHWC",
                             coordinate_transformation_mode="asymmetric", method="nearest_neighbor"),
        [4, 6, 0], np.repeat(np.repeat(DATA[None], 2, axis=1), 2, axis=2),
    ),
    "resize2d of floats": (
        relay.image.resize2d(relay.expand_dims(X, 0), relay.cast(relay.take(S, relay.const([0, 1])), "float32"),
                             None, "", "nearest_neighbor", "asymmetric"),
        [6, 8, 0], np.repeat(np.repeat(DATA[None], 2, axis=2), 2, axis=3),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OPEN)
def test_expressions_make_the_operator_dynamic(name: str) -> None:
    result, shape, expected = OPEN[name]
    module = transform.InferType()(relay.IRModule.from_expr(relay.Function([X, S], result)))
    assert "relay.dyn." in str(module)
    inputs = [DATA, np.array(shape)]
    (found,), (native,) = run_relay(module, inputs), xrelay.compile(module, cache=False, threads=1).run(inputs)
    for each in (found, native):
        assert each.dtype == expected.dtype
        np.testing.assert_array_equal(each, expected)


NAMES = {"zeros": "full", "pad": "nn.pad", "resize2d": "image.resize2d"}


@pytest.mark.parametrize(
    "name", ["reshape", "tile", "broadcast_to", "zeros", "full", "strided_slice", "pad", "resize2d"]
)
def test_shapes_that_types_tell_become_static(name: str) -> None:
    """As in Relay's `DynamicToStatic`, after type inference."""
    y = relay.var("y", shape=(4, 3, 2))
    of_y = relay.shape_of(y)
    result = {
        "reshape": relay.reshape(X, of_y),
        "tile": relay.tile(X, of_y),
        "broadcast_to": relay.broadcast_to(relay.const(np.ones((3, 1), np.float32)), of_y),
        "zeros": relay.zeros(of_y, "int64"),
        "full": relay.full(relay.const(1.0), of_y),
        "strided_slice": relay.strided_slice(X, [0, 0, 0], of_y),
        "pad": relay.nn.pad(X, relay.reshape(relay.concatenate([of_y, of_y], 0), [3, 2]), 1.0),
        "resize2d": relay.image.resize2d(relay.expand_dims(X, 0), relay.strided_slice(of_y, [0], [2]), layout="NHWC"),
    }[name]
    module = relay.IRModule.from_expr(relay.Function([X, y], result))
    text = str(transform.Sequential([transform.InferType(), transform.DynamicToStatic()])(module))
    assert f"relay.{NAMES.get(name, name)}(" in text
    assert "dyn." not in text
    assert str(transform.DynamicToStatic()(relay.IRModule.from_expr(relay.Function([X, y], result)))) == text


def test_constants_are_values() -> None:
    c = relay.const(np.array([4, -1]))
    image = relay.var("i", shape=(1, 1, 4, 4))
    pairs = [
        (relay.reshape(X, c), relay.reshape(X, [4, -1])),
        (relay.topk(X, relay.const(2)), relay.topk(X, 2)),
        (relay.expand_dims(X, relay.const(1)), relay.expand_dims(X, 1)),
        (relay.nn.upsampling(image, relay.const(2.0), 2.0), relay.nn.upsampling(image, 2.0, 2.0)),
        (relay.image.resize2d(image, relay.const(np.array([8, 8]))), relay.image.resize2d(image, [8, 8])),
    ]
    for one, other in pairs:
        parameters = relay.analysis.free_vars(one)
        assert str(relay.Function(parameters, one)) == str(relay.Function(parameters, other))


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "no such form": (lambda: relay.transpose(X, S), "C0] attribute 'axes' must be known"),
    "more axes than there are": (
        lambda: relay.squeeze(relay.sum(X, 0), S),
        "squeeze C1] axes are a tensor of type tensor<3xi64> for data of",
    ),
    "a matrix of axes": (lambda: relay.squeeze(X, relay.reshape(S, (1, 3))), "squeeze C1] axes are a tensor"),
    "a negative number of axes": (lambda: relay.expand_dims(X, relay.take(S, 0), -1), "C2] num_newaxis must be a"),
    "another attribute": (lambda: relay.topk(X, 2, relay.take(S, 0)), "C0] attribute 'axis' must be known"),
    "axes": (lambda: relay.strided_slice(X, S, S, axes=[0, 1, 2]), "axes are not supported"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_to_be_known(name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises(ConstraintError) as caught:
        make()
    assert message in caught.value.message or message in str(caught.value)


CLASSES = np.array([[0, 2, 1], [5, -1, 3]], np.int32)


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("dtype", [None, "float32"])
def test_one_hot_of_as_many_classes_as_the_data_tell(axis: int, dtype: str | None) -> None:
    indices, depth = relay.var("indices", shape=(2, 3), dtype="int32"), relay.var("depth", shape=(), dtype="int32")
    values = [relay.const(7, "int32" if dtype is None else dtype), relay.const(-1, "int32" if dtype is None else dtype)]
    result = relay.one_hot(indices, *values, depth, axis, dtype)
    module = transform.InferType()(relay.IRModule.from_expr(relay.Function([indices, depth], result)))
    on = np.moveaxis(np.where(CLASSES[..., None] == np.arange(4), 7, -1), -1, axis)
    inputs = [CLASSES, np.array(4, np.int32)]
    (found,), (native,) = run_relay(module, inputs), xrelay.compile(module, cache=False, threads=1).run(inputs)
    for each in (found, native):
        assert each.dtype == ("int32" if dtype is None else dtype)
        np.testing.assert_array_equal(each, on)


def test_axes_that_types_tell() -> None:
    """An axis that is a static extent becomes that number, and the operator becomes static."""
    axis = relay.take(relay.shape_of(relay.var("y", shape=(1, 2))), relay.const(0))
    assert "dyn" not in str(relay.squeeze(relay.expand_dims(X, axis), axis))


@pytest.mark.parametrize("axes", [[1, 0], [0, 0], [0, 4], [-5, 2]])
def test_axes_that_do_not_fit(axes: list[int]) -> None:
    """An axis whose extent is not 1, a repeated axis, and axes out of range."""
    data, a = relay.reshape(X, (1, 6, 1, 4)), relay.var("a", shape=(2,), dtype="int64")
    module = relay.IRModule.from_expr(relay.Function([X, a], relay.squeeze(data, a)))
    for run in (partial(run_relay, module), xrelay.compile(module, cache=False, threads=1).run):
        with pytest.raises((InterpreterError, ExecutionError), match="-2"):
            run([DATA, np.array(axes)])


@pytest.mark.parametrize("axis", [4, -5])
def test_a_place_that_no_axis_can_have(axis: int) -> None:
    a = relay.var("a", shape=(), dtype="int64")
    module = relay.IRModule.from_expr(relay.Function([X, a], relay.expand_dims(X, a)))
    for run in (partial(run_relay, module), xrelay.compile(module, cache=False, threads=1).run):
        with pytest.raises((InterpreterError, ExecutionError), match="-2"):
            run([DATA, np.array(axis)])


def test_what_dynamic_forms_refuse() -> None:
    indices, one = relay.var("indices", shape=(2,), dtype="int32"), relay.const(1.0)
    with pytest.raises(ConstraintError, match=r"one_hot C4\] axis 2 is out of range for rank 2"):
        relay.one_hot(indices, one, one, relay.take(S, 0), 2)
    with pytest.raises(ConstraintError, match=r"resize2d C1\] a size that is an expression requires the layout NCHW"):
        relay.image.resize2d(relay.expand_dims(X, 0), relay.take(S, relay.const([0, 1])), layout="NCHW2c")
