"""A name in `shapes` makes a dimension dynamic that has a number in the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.numpy_helper import from_array

import xrelay
from xrelay.errors import InputError, ModelImportError


def flattening(*sizes: int) -> onnx.ModelProto:
    """A Relu of x: [1, 8, 4], and a Reshape to `sizes`."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Reshape", ["a", "sizes"], ["y"], name="flatten"),
    ]
    graph = helper.make_graph(
        nodes,
        "flattening",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 8, 4])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 32])],
        [from_array(np.array(sizes, np.int64), "sizes")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.parametrize("sizes", [(-1, 32), (0, 32)])
def test_batch_is_dynamic(sizes: tuple[int, ...]) -> None:
    model = xrelay.compile(flattening(*sizes), shapes={"x": ("n", 8, 4)})
    assert model.inputs[0].shape == ("n", 8, 4)
    x = np.random.default_rng(0).standard_normal((3, 8, 4)).astype(np.float32)
    np.testing.assert_array_equal(model(x)[0], np.maximum(x, 0).reshape(3, 32))


def test_version_of_opened_dimension(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(flattening(-1, 32).SerializeToString())
    model = xrelay.compile(tmp_path / "m.onnx", shapes={"x": ("n", 8, 4), "n": (1, 4, 2)})
    model.specialize({"x": (2, 8, 4)})
    assert model(np.ones((2, 8, 4), np.float32))[0].shape == (2, 32)
    with pytest.raises(InputError, match="5, the range is 1 to 4"):
        model.specialize({"n": (5, 5, 5)})


def test_node_that_fixes_the_size() -> None:
    with pytest.raises(ModelImportError, match=r"C3.*only n = 1") as caught:
        xrelay.import_onnx(flattening(1, 32), shapes={"x": ("n", 8, 4)})
    assert caught.value.location == "flatten"


def test_names_of_the_model_may_have_one_size() -> None:
    model = flattening(1, 32)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    assert xrelay.import_onnx(model)
