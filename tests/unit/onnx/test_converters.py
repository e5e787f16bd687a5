"""Converters against onnx's own shape inference, and their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper, shape_inference
from support.onnx_models import conv_model, model, value

from xrelay.api.compile import compile
from xrelay.dialects.shared.types import shape_of
from xrelay.errors import ExecutionError, ModelImportError
from xrelay.frontend.onnx import import_onnx


@pytest.mark.parametrize("auto_pad", ["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("strides", [(1, 1), (2, 3)])
@pytest.mark.parametrize("dilations", [(1, 1), (2, 1)])
def test_conv_windows_agree_with_onnx(auto_pad: str, strides: tuple[int, int], dilations: tuple[int, int]) -> None:
    source = conv_model(data=(1, 3, 11, 12), auto_pad=auto_pad, strides=strides, dilations=dilations)
    inferred = shape_inference.infer_shapes(source, strict_mode=True).graph.output[0].type.tensor_type.shape
    (function,) = import_onnx(source).body.block.ops
    result = function.properties["function_type"].outputs.data[0]  # pyright: ignore
    assert shape_of(result) == tuple(dim.dim_value for dim in inferred.dim)


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"auto_pad": "SIDEWAYS"}, ["'auto_pad'", "'SIDEWAYS'", "SAME_UPPER"]),
        ({"auto_pad": "VALID", "pads": [1, 1, 1, 1]}, ["'pads'", "VALID"]),
        ({"strides": [0, 1]}, ["'strides'", "[0, 1]"]),
        ({"strides": [1]}, ["'strides'", "[1]"]),
        ({"dilations": [1, -1]}, ["'dilations'", "[1, -1]"]),
        ({"pads": [1, 1]}, ["'pads'", "[1, 1]"]),
        ({"pads": [-1, 0, 0, 0]}, ["'pads'", "[-1, 0, 0, 0]"]),
        ({"kernel_shape": [5, 5]}, ["'kernel_shape'", "[5, 5]", "[3, 3]"]),
        ({"group": 0}, ["'group'", "0"]),
        ({"group": 2}, ["C"]),
        ({"group": 1.5}, ["'group'", "INT", "FLOAT"]),
    ],
)
def test_conv_refuses(attributes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ModelImportError) as caught:
        import_onnx(conv_model(**attributes))
    assert "'conv1'" in str(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize(
    ("op", "attributes", "shape"),
    [
        ("Softmax", {"axis": 7}, (2, 3)),
        ("Transpose", {"perm": [0, 0]}, (2, 3)),
        ("Flatten", {"axis": 9}, (2, 3)),
        ("Cast", {"to": 999}, (2, 3)),
        ("MaxPool", {"kernel_shape": [9, 9]}, (1, 1, 4, 4)),
        ("MaxPool", {}, (1, 1, 4, 4)),
        ("MaxPool", {"kernel_shape": [2, 2], "ceil_mode": 3}, (1, 1, 4, 4)),
        ("BatchNormalization", {"training_mode": 1}, (2, 3)),
    ],
)
def test_illegal_attributes_name_the_node(op: str, attributes: dict[str, Any], shape: tuple[int, ...]) -> None:
    node = helper.make_node(op, ["x"], ["y"], name="culprit", **attributes)
    with pytest.raises(ModelImportError, match="culprit"):
        import_onnx(model([node], [value("x", shape)], ["y"]))


def test_native_code_takes_run_time_shapes_and_names_the_node_of_an_impossible_one() -> None:
    node = helper.make_node("Reshape", ["x", "s"], ["y"], name="reshape")
    compiled = compile(import_onnx(model([node], [value("x", (2, 3)), value("s", (2,), 7)], ["y"])), cache=False)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(compiled.run([x, np.array([3, -1])])[0], x.reshape(3, 2), strict=True)
    with pytest.raises(ExecutionError, match=r"^reshape: .*relay\.dyn\.reshape C3.* 6 == .* is 6 == 8"):
        compiled.run([x, np.array([4, 2])])


def test_split_with_uneven_parts() -> None:
    node = helper.make_node("Split", ["x"], ["a", "b", "c"], axis=1, num_outputs=3)
    (function,) = import_onnx(model([node], [value("x", (2, 7))], ["a", "b", "c"], opset=18)).body.block.ops
    shapes = [shape_of(type) for type in function.properties["function_type"].outputs.data]  # pyright: ignore
    assert shapes == [(2, 3), (2, 3), (2, 1)]


def test_gemm_with_everything() -> None:
    node = helper.make_node("Gemm", ["x", "w", "c"], ["y"], alpha=0.5, beta=2.0, transA=1, transB=0)
    constants = {"w": np.zeros((4, 5), np.float32), "c": np.zeros((5,), np.float32)}
    (function,) = import_onnx(model([node], [value("x", (4, 3))], ["y"], initializers=constants)).body.block.ops
    assert shape_of(function.properties["function_type"].outputs.data[0]) == (3, 5)  # pyright: ignore
