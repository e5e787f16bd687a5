"""Quantised operators: exact integers, rounding, saturation, zero points of every form, at static and dynamic sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from fuzz.onnx_oracles import onnxruntime_outputs
from numpy.typing import NDArray
from onnx import TensorProto, helper
from support.onnx_models import model, value
from support.onnx_networks.network import Style
from support.onnx_networks.quantised import QUANTISED, quantised_pairs

from xrelay import transform
from xrelay.api.compile import compile
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]
RNG = np.random.default_rng(5)


def node_model(
    op: str, inputs: Sequence[Array | None], opset: int = 21, *, first: str | int | None = None, **attributes: Any
) -> onnx.ModelProto:
    """A model of one node whose inputs are the model's; `first` is the first extent of the first input."""
    names = ["" if array is None else f"i{number}" for number, array in enumerate(inputs)]
    given = [
        value(name, array.shape, helper.np_dtype_to_tensor_dtype(array.dtype))
        for name, array in zip(names, inputs, strict=True)
        if array is not None
    ]
    if first is not None:
        given[0].type.tensor_type.shape.dim[0].dim_param = str(first)
    return model([helper.make_node(op, names, ["y"], **attributes)], given, ["y"], opset=opset)


def both(proto: onnx.ModelProto, inputs: Sequence[Array | None]) -> list[Array]:
    arrays = [array for array in inputs if array is not None]
    return [run_relay(import_onnx(proto), arrays)[0], compile(proto, cache=False, threads=1).run(arrays)[0]]


def integers(dtype: str, shape: Sequence[int]) -> Array:
    limits = np.iinfo(dtype)
    return RNG.integers(limits.min, limits.max, tuple(shape), endpoint=True).astype(dtype)


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", ["uint8", "int8", "uint16", "int16"])
@pytest.mark.parametrize("kind", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_quantizing_rounds_to_even_and_saturates(name: str, kind: type[Any]) -> None:
    limits = np.iinfo(name)
    zero = np.array(limits.max // 2, name)
    x = np.array([-np.inf, -1e4, -2.5, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 3, 1e4, np.inf]).astype(kind)
    scale = np.array(0.5, kind)
    whole = np.rint((x / scale).astype(np.float64)) + int(zero)
    expected = np.clip(whole, limits.min, limits.max).astype(name)
    for first in (None, "n"):
        for found in both(node_model("QuantizeLinear", [x, scale, zero], first=first), [x, scale, zero]):
            np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize(
    ("shape", "attributes"),
    [((), {}), ((1,), {"axis": 0}), ((3,), {}), ((5,), {"axis": -1}), ((2, 3, 3), {"axis": 2, "block_size": 2})],
)
def test_there_and_back_with_scales_of_every_form(shape: tuple[int, ...], attributes: dict[str, int]) -> None:
    x = np.asarray(RNG.normal(size=(2, 3, 5)), np.float32)
    scale, zero = np.asarray(RNG.random(shape) + 0.1, np.float32), integers("int8", shape)
    wide_scale, wide_zero = (_spread(each, shape, attributes) for each in (scale, zero.astype(np.int32)))
    quantised = np.clip(np.rint(x / wide_scale) + wide_zero, -128, 127).astype(np.int8)
    for found in both(node_model("QuantizeLinear", [x, scale, zero], **attributes), [x, scale, zero]):
        np.testing.assert_array_equal(found, quantised, strict=True)
    expected = ((quantised.astype(np.int32) - wide_zero) * wide_scale).astype(np.float32)
    for found in both(node_model("DequantizeLinear", [quantised, scale, zero], **attributes), [quantised, scale, zero]):
        np.testing.assert_array_equal(found, expected, strict=True)


def test_an_axis_of_no_places_has_no_scales() -> None:
    none = np.zeros(0, np.float32)
    held = {"s": none, "z": none.astype(np.int8)}
    node = helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])
    proto = model([node], [value("x", (2, 0, 3))], ["y"], initializers=held, opset=21)
    for found in both(proto, [np.zeros((2, 0, 3), np.float32)]):
        assert (found.shape, found.dtype) == ((2, 0, 3), np.int8)


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_what_is_no_number_becomes_the_zero_point(kind: type[Any]) -> None:
    x, scale, zero = np.array([np.nan, 0, 1, -1]).astype(kind), np.array(0, kind), np.array(-3, np.int8)
    for found in both(node_model("QuantizeLinear", [x, scale, zero]), [x, scale, zero]):
        np.testing.assert_array_equal(found, np.array([-3, -3, 127, -128], np.int8), strict=True)


def _spread(array: Array, shape: tuple[int, ...], attributes: dict[str, int]) -> Array:
    if "block_size" in attributes:
        return np.repeat(array, 2, 2)[:, :, :5]
    return array.reshape(3, 1) if shape == (3,) else array


@pytest.mark.parametrize(
    ("inputs", "opset", "attributes", "words"),
    [
        ([(2, 3), (3,)], 10, {}, r"input #1 of shape \(3\): one number is expected"),
        ([(2, 3), (2,)], 13, {}, r"3 for the places along axis 1"),
        ([(2, 3), (2, 3)], 13, {}, r"input #1 of shape \(2, 3\)"),
        ([(2, 3), (2, 3)], 21, {"block_size": 2}, r"\(2, 2\) is expected"),
        ([(2, 3), ()], 21, {"output_dtype": TensorProto.INT4}, "output 'y': element type int4 is not supported"),
        ([(2, 3), ()], 21, {"output_dtype": TensorProto.FLOAT8E5M2}, "output 'y': element type float8_e5m2 is not"),
        ([(2, 3), ()], 21, {"output_dtype": TensorProto.STRING}, "STRING, which is not supported"),
        ([(2, 3), ()], 21, {"output_dtype": TensorProto.FLOAT}, "must be an integer, found float32"),
        ([(2, 3), (3,)], 21, {"axis": 2}, "'axis' has the illegal value 2"),
    ],
)
def test_forms_that_are_refused(
    inputs: list[tuple[int, ...]], opset: int, attributes: dict[str, int], words: str
) -> None:
    arrays = [np.ones(shape, np.float32) for shape in inputs]
    with pytest.raises(ModelImportError, match=words):
        import_onnx(node_model("QuantizeLinear", arrays, opset, **attributes))


ZEROS: list[tuple[tuple[int, ...] | None, tuple[int, ...] | None]] = [
    (None, None),
    ((), (1,)),
    ((4,), (3,)),
    ((2, 4, 1), (2, 1, 3)),
]


@pytest.mark.grid(4)
@pytest.mark.parametrize(("rows", "columns"), ZEROS)
@pytest.mark.parametrize(("left", "right"), [("uint8", "int8"), ("int8", "int8"), ("uint8", "uint8")])
def test_products_of_integers(
    left: str, right: str, rows: tuple[int, ...] | None, columns: tuple[int, ...] | None
) -> None:
    inputs = [
        integers(left, (2, 4, 7)),
        integers(right, (2, 7, 3)),
        None if rows is None else integers(left, rows),
        None if columns is None else integers(right, columns),
    ]
    a, b, za, zb = (0 if array is None else array.astype(np.int32) for array in inputs)
    za = za[:, None] if rows == (4,) and not isinstance(za, int) else za
    expected = np.asarray(np.matmul(np.subtract(a, za), np.subtract(b, zb)), np.int32)
    for found in both(node_model("MatMulInteger", inputs, first="n"), inputs):
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("attributes", [{}, {"group": 2, "pads": [1, 0, 2, 1], "strides": [2, 1]}])
def test_convolutions_pad_by_the_zero_point(attributes: dict[str, Any]) -> None:
    groups = attributes.get("group", 1)
    x, w = integers("uint8", (2, 4, 5, 6)), integers("uint8", (6, 4 // groups, 3, 2))
    inputs = [x, w, np.array(200, np.uint8), np.array(7, np.uint8)]
    proto = node_model("ConvInteger", inputs, 10, **attributes)
    theirs = onnxruntime_outputs(proto, {f"i{number}": array for number, array in enumerate(inputs)})
    assert theirs is not None
    for found in both(proto, inputs):
        np.testing.assert_array_equal(found, theirs[0], strict=True)


@pytest.mark.parametrize("filters", [(), (6,)])
def test_quantised_convolution_is_onnxruntimes(filters: tuple[int, ...]) -> None:
    # Weights of 7 bits: without VNNI onnxruntime adds two products in 16 bits, which would saturate for 8 bits.
    x, w = integers("uint8", (2, 4, 5, 6)), integers("int8", (6, 4, 3, 2)) // 2
    w_scale = np.asarray(RNG.random(filters) + 0.5, np.float32)
    bias = RNG.integers(-5000, 5000, 6).astype(np.int32)
    numbers = [np.array(0.02, np.float32), np.array(3, np.uint8), np.array(6.5, np.float32), np.array(128, np.uint8)]
    inputs = [x, numbers[0], numbers[1], w, w_scale, np.zeros(filters, np.int8), numbers[2], numbers[3], bias]
    proto = node_model("QLinearConv", inputs, 10, pads=[1, 1, 1, 1])
    theirs = onnxruntime_outputs(proto, {f"i{number}": array for number, array in enumerate(inputs)})
    assert theirs is not None
    for found in both(proto, inputs):
        assert found.dtype == np.uint8
        assert np.abs(found.astype(np.int32) - theirs[0].astype(np.int32)).max() <= 1  # a tie, scaled in another order
        assert np.mean(found == theirs[0]) > 0.99


@pytest.mark.parametrize("style", list(Style), ids=lambda style: style.name)
def test_a_network_of_pairs_runs_on_integers(style: Style) -> None:
    network = next(each for each in QUANTISED if each.build is quantised_pairs)
    proto, inputs = network.proto(style, network.sizes[0]), network.arrays(network.sizes[0])
    module = transform.FakeQuantizationToInteger()(transform.InferType()(import_onnx(proto)))
    text = str(module)
    assert text.count("relay.qnn.conv2d") == 2
    assert "relay.nn.conv2d" not in text
    plain = compile(proto, cache=False, threads=1).run(list(inputs.values()))[0]
    found = compile(proto, cache=False, threads=1, integers=True).run(list(inputs.values()))[0]
    assert np.abs(found - plain).max() <= 0.02 * np.abs(plain).max()


def test_small_constants_stay_quantised_and_are_known() -> None:
    """A clip with quantised bounds, and a scale for a few filters."""
    nodes = [
        helper.make_node("DequantizeLinear", ["bound", "scale"], ["high"]),
        helper.make_node("Clip", ["x", "", "high"], ["c"]),
        helper.make_node("DequantizeLinear", ["w", "scale"], ["f"]),
        helper.make_node("MatMul", ["c", "f"], ["y"]),
    ]
    constants = {"bound": np.array(6, np.int8), "scale": np.array(0.5, np.float32), "w": integers("int8", (2, 2))}
    proto = model(nodes, [value("x", (1, 2))], ["y"], initializers=constants, opset=13)
    text = str(import_onnx(proto))
    assert "a_max = 3.0" in text
    assert "relay.qnn.dequantize(%w" in text
    x = np.array([[2.0, 9.0]], np.float32)
    for found in both(proto, [x]):
        np.testing.assert_array_equal(found, np.minimum(x, 3) @ (constants["w"] * np.float32(0.5)))


def test_a_network_of_quantised_and_dequantised_values() -> None:
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["f"], axis=0),
        helper.make_node("MatMul", ["d", "f"], ["m"]),
        helper.make_node("QuantizeLinear", ["m", "ms", "mz"], ["y"]),
    ]
    constants = {
        "w": integers("int8", (6, 5)),
        "ws": np.asarray(RNG.random(6) * 0.1, np.float32),
        "wz": np.zeros(6, np.int8),
        "ms": np.array(0.25, np.float32),
        "mz": np.array(100, np.uint8),
    }
    proto = model(nodes, [value("x", ("n", 6))], ["y"], initializers=constants, opset=13)
    x = np.asarray(RNG.normal(size=(7, 6)), np.float32)
    theirs = onnxruntime_outputs(proto, {"x": x})
    assert theirs is not None
    for found in both(proto, [x]):
        assert found.dtype == np.uint8
        assert np.abs(found.astype(np.int32) - theirs[0].astype(np.int32)).max() <= 1  # a tie, summed in another order
