"""Nodes on dynamic extents with constant settings: interpreter and native code equal onnxruntime at each size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from fuzz.onnx_oracles import onnxruntime_outputs
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import helper
from support.examples import examples
from support.onnx_models import Dims, model, value

from xrelay.api.compile import compile
from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

LAST = np.iinfo(np.int64).max


def single(
    op: str, shape: Dims, *settings: Sequence[Any], dtype: Any = np.int64, opset: int = 17, **attributes: Any
) -> onnx.ModelProto:
    """A model of one node of `x`, whose other inputs are constants."""
    constants = {f"c{index}": np.array(setting, dtype) for index, setting in enumerate(settings)}
    node = helper.make_node(op, ["x", *constants], ["y"], name="the_node", **attributes)
    proto = model([node], [value("x", shape)], ["y"], initializers=constants, opset=opset)
    proto.ir_version = 8
    return proto


def check(proto: onnx.ModelProto, shapes: Sequence[tuple[int, ...]], *, native: bool = True) -> None:
    module, compiled = import_onnx(proto), compile(proto, cache=False) if native else None
    for shape in shapes:
        x = np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)
        (expected,) = wanted(proto, x)
        (meant,) = run_relay(module, [x])
        np.testing.assert_allclose(np.asarray(meant), expected, rtol=1e-5, atol=1e-6, strict=True)
        if compiled is not None:
            np.testing.assert_allclose(compiled.run([x])[0], expected, rtol=1e-5, atol=1e-6, strict=True)


def wanted(proto: onnx.ModelProto, x: NDArray[np.float32]) -> list[NDArray[Any]]:
    outputs = onnxruntime_outputs(proto, {"x": x})
    assert outputs is not None
    return outputs


@pytest.mark.grid(7)
@pytest.mark.parametrize(
    "proto",
    [
        single("Slice", ("n", 16, "h"), [8], [16], [1]),
        single("Slice", ("n", 16, "h"), [0], [2], [1], opset=10),
        single("Slice", ("n", 16, "h"), [1, 1], [LAST, 9], [0, 1], [2, 3]),
        single("Slice", ("n", 16, "h"), [-2], [LAST], [2]),
        single("Slice", ("n", 16, "h"), [0, 0], [-1, -1], [-1, 0]),
        single("Slice", ("n", 16, "h"), [0], [LAST], [2]),
        single("Slice", ("n", 16, "h"), [-1], [-LAST], [0], [-1]),
        single("Slice", ("n", 16, "h"), [-LAST - 1, LAST], [LAST, -LAST - 1], [0, 2], [1, -2]),
        single("Slice", ("n", 16, "h"), opset=9, starts=[1, -3], ends=[3, LAST], axes=[0, 2]),
        single("Flatten", ("n", 16, "h"), axis=0),
        single("Flatten", ("n", 16, "h"), axis=2),
        single("Flatten", ("n", 16, "h"), axis=3),
        single("Flatten", ("n", "h", "w", 2, "d"), axis=-2),
        single("Softmax", ("n", 4, "h"), opset=11, axis=1),
        single("LogSoftmax", ("n", "h", "w"), opset=11, axis=1),
        single("Hardmax", ("n", 4, "h"), opset=11, axis=1),
        single("LayerNormalization", ("n", 4, 3), np.arange(12).reshape(4, 3), dtype=np.float32, axis=1),
        single("Expand", ("n", 1, "h"), [2, 1, 3, 1]),
        single("Expand", ("n", "h"), [5, 1, 1]),
        single("Pad", ("n", "h"), [0, -1, 1, 2], opset=13),
        single("Pad", ("n", "h"), [-1, 1, -1, -2], opset=13, mode="edge"),
        single("Pad", ("n", "h"), [1, 2, 0, 5], opset=19, mode="wrap"),
        single("Pad", ("n", "h"), [0, 2, 0, 5], opset=19, mode="wrap"),
        single("EyeLike", ("n", "h"), k=-1),
        single("EyeLike", ("n", 2), k=2),
    ],
    ids=lambda proto: "-".join(
        (proto.graph.node[0].op_type, *(str(tuple(a.ints) or a.i or a.s) for a in proto.graph.node[0].attribute))
    ),
)
def test_settings_that_are_constants(proto: onnx.ModelProto) -> None:
    dims = [dim.dim_value for dim in proto.graph.input[0].type.tensor_type.shape.dim]
    shapes = [tuple(extent or size + axis for axis, extent in enumerate(dims)) for size in (3, 4, 7)]
    check(proto, shapes)


def test_axes_that_are_not_padded_are_not_wrapped() -> None:
    module = import_onnx(single("Pad", ("n", "h"), [0, 2, 0, 5], opset=19, mode="wrap"))
    assert str(module).count("relay.arange") == 1


BOUND = st.integers(-6, 6) | st.sampled_from([LAST, -LAST, LAST - 1])


@settings(max_examples=examples(25))
@given(st.tuples(BOUND, BOUND, st.integers(1, 4)), st.tuples(BOUND, BOUND, st.integers(1, 4)))
def test_any_constant_bounds_of_open_axes(rows: tuple[int, int, int], columns: tuple[int, int, int]) -> None:
    starts, ends, steps = zip(rows, columns, strict=True)
    proto = single("Slice", ("n", "m"), starts, ends, [0, 1], steps)
    check(proto, [(size, 5 - size) for size in range(6)], native=False)


@pytest.mark.parametrize(("opset", "rows"), [(13, (0, 3, 6)), (18, (0, 4, 6, 7))])
def test_even_parts_of_an_open_axis(opset: int, rows: Sequence[int]) -> None:
    attributes = {"num_outputs": 3} if opset >= 18 else {}
    node = helper.make_node("Split", ["x"], ["a", "b", "c"], name="the_node", **attributes)
    proto = model([node], [value("x", ("n", 2))], ["a", "b", "c"], opset=opset)
    proto.ir_version = 8
    module, compiled = import_onnx(proto), compile(proto, cache=False)
    for count in rows:
        x = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
        size = -(-count // 3)
        expected = [x[:size], x[size : 2 * size], x[2 * size :]]
        for found in (run_relay(module, [x]), compiled.run([x])):
            for ours, part in zip(found, expected, strict=True):
                np.testing.assert_array_equal(ours, part, strict=True)
    with pytest.raises(XRelayError, match="the_node"):
        compiled.run([np.zeros((4 if opset == 13 else 1, 2), np.float32)])


@pytest.mark.parametrize(("opset", "axis"), [(9, 1), (21, 0)])
def test_none_of_the_greatest(opset: int, axis: int) -> None:
    """TopK with k = 0 keeps no elements of an axis, whatever its extent."""
    setting, attribute = ([], {"k": 0}) if opset < 10 else ([[0]], {})
    proto = single("TopK", ("n", "m"), *setting, opset=opset, axis=axis, **attribute)
    proto.graph.node[0].output.append("places")
    proto.graph.output.append(value("places", ("a", "b"), onnx.TensorProto.INT64))
    compiled = compile(proto, cache=False)
    for shape in ((3, 5), (0, 5), (1, 0)):
        values, places = compiled.run([np.ones(shape, np.float32)])
        assert values.shape == places.shape == tuple(0 if at == axis else extent for at, extent in enumerate(shape))
        assert (values.dtype, places.dtype) == (np.float32, np.int64)


@pytest.mark.parametrize(("axis", "k"), [(1, 3), (2, 12)])
def test_greatest_of_open_extents(axis: int, k: int) -> None:
    proto = single("TopK", ("n", "m", "p"), [k], axis=axis, opset=18)
    proto.graph.node[0].output.append("places")
    proto.graph.output.append(value("places", ("a", "b", "c"), onnx.TensorProto.INT64))
    compiled = compile(proto, cache=False)
    for shape in ((2, 3, 12), (1, 40, 20), (3, 5, 400), (0, 4, 12)):
        x = np.random.default_rng(7).integers(0, 20, shape).astype(np.float32)
        values, places = compiled.run([x])
        order = np.take(np.argsort(-x, axis, kind="stable"), range(k), axis)
        np.testing.assert_array_equal(places, order)
        np.testing.assert_array_equal(values, np.take_along_axis(x, order, axis))


def test_scale_and_bias_of_groups_of_open_channels() -> None:
    proto = single("GroupNormalization", ("n", "c", "w"), [1, 3], [-1, 2], dtype=np.float32, opset=18, num_groups=2)
    check(proto, [(2, 4, 3), (1, 2, 1), (1, 6, 5)])


def test_blocks_of_pixels_after_each_channel() -> None:
    proto = single("SpaceToDepth", ("n", "c", "h", "w"), blocksize=2, mode="CRD")
    x = np.arange(144, dtype=np.float32).reshape(2, 3, 4, 6)
    expected = x.reshape(2, 3, 2, 2, 3, 2).transpose(0, 1, 3, 5, 2, 4).reshape(2, 12, 2, 3)
    for found in run_relay(import_onnx(proto), [x])[0], compile(proto, cache=False).run([x])[0]:
        np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("node", [single("Relu", ("n", "m")), single("Softmax", (1 << 45, "m"))])
def test_many_rows_without_columns(node: onnx.ModelProto) -> None:
    x = np.empty((1 << 45, 0), np.float32)
    assert compile(node, cache=False).run([x])[0].shape == x.shape
