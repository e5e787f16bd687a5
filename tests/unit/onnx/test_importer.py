"""The importer on whole models: names, locations, shapes, and invalid files."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.onnx_models import conv_model, model, value
from xdsl.dialects.builtin import NameLoc, StringAttr
from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.core.size_hints import SizeHint, size_hints
from xrelay.dialects.shared.types import shape_of
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx, load


def main_of(source: onnx.ModelProto, **options: object) -> FuncOp:
    module = import_onnx(source, **options)  # pyright: ignore[reportArgumentType]
    module.verify()
    (function,) = module.body.block.ops
    assert isinstance(function, FuncOp)
    return function


def relu_chain(count: int) -> onnx.ModelProto:
    nodes = [helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"], name=f"relu{i}") for i in range(count)]
    return model(nodes, [value("v0", (2, 3))], [f"v{count}"])


def test_names_of_inputs_outputs_and_locations() -> None:
    function = main_of(conv_model())
    assert function.arg_attrs is not None
    assert function.res_attrs is not None
    assert function.arg_attrs.data[0].data["relay.name"] == StringAttr("x")
    assert function.res_attrs.data[0].data["relay.name"] == StringAttr("y")
    conv = next(op for op in function.walk() if op.name == "relay.nn.conv2d")
    assert isinstance(conv.location, NameLoc)
    assert conv.location.desc == StringAttr("conv1")


def test_named_dimensions_flow_through() -> None:
    function = main_of(conv_model(data=("batch", 3, 8, None)))
    result = function.function_type.outputs.data[0]
    assert [str(dim) for dim in shape_of(result)] == ["batch", "4", "6", "?"]


def test_shapes_fix_dimensions() -> None:
    function = main_of(conv_model(data=("batch", 3, 8, 8)), shapes={"x": (5, 3, 8, 8)})
    assert shape_of(function.function_type.outputs.data[0]) == (5, 4, 6, 6)


def test_extents_without_a_name_are_named_after_input_and_axis() -> None:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
              for name, dims in (("x.1", [None, 4, None]), ("y", ["x_1_0", 4, None]), ("z", None))]  # fmt: skip
    graph = helper.make_graph([helper.make_node("Add", ["x.1", "y"], ["z"])], "g", values[:2], values[2:])
    inputs = main_of(helper.make_model(graph)).function_type.inputs.data
    assert [[str(dim) for dim in shape_of(type)] for type in inputs] == [["?", "4", "x_1_2"], ["x_1_0", "4", "y_2"]]


def test_an_output_may_be_an_input_with_an_unnamed_extent() -> None:
    x, y, z = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
        for name, dims in zip("xyz", ([None, 4], None, None), strict=True)
    )
    nodes = [helper.make_node("Identity", ["x"], ["y"]), helper.make_node("Relu", ["x"], ["z"])]
    main = main_of(helper.make_model(helper.make_graph(nodes, "g", [x], [y, z])))
    assert main.body.block.last_op is not None
    assert main.body.block.last_op.operands[0] is main.args[0]
    assert main.function_type.outputs.data[0] == main.function_type.inputs.data[0]


def test_shapes_tell_sizes_of_dimensions_without_a_name_by_input_and_axis() -> None:
    function = main_of(conv_model(data=("batch", 3, None, None)), shapes={"x_2": (4, 32, 8), "batch": (1, 8, 1)})
    assert [str(dim) for dim in shape_of(function.function_type.inputs.data[0])] == ["batch", "3", "x_2", "x_3"]
    assert size_hints(function) == {"x_2": SizeHint(4, 32, 8), "batch": SizeHint(1, 8, 1)}
    with pytest.raises(ModelImportError, match="'x_1'"):
        main_of(conv_model(data=("batch", 3, None, None)), shapes={"x_1": (1, 8, 1)})


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ({"X": (1, 3, 8, 8)}, ["'X'", "inputs", "'x'"]),
        ({"x": (1, 3, 8)}, ["3 dimensions", "4"]),
        ({"x": (1, 4, 8, 8)}, ["4", "3"]),
        ({"x": (-1, 3, 8, 8)}, ["negative"]),
        ({"x": ("2 * n", 3, 8, 8)}, ["2 * n", "name"]),
    ],
)
def test_shapes_that_do_not_fit(shapes: dict[str, tuple[int | str, ...]], words: list[str]) -> None:
    with pytest.raises(ModelImportError) as caught:
        import_onnx(conv_model(data=("batch", 3, 8, 8)), shapes=shapes)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize("version", [3, 8])
def test_an_initializer_that_is_an_input_is_given_where_shapes_names_it(version: int) -> None:
    source = conv_model()
    source.ir_version = version
    source.graph.input.append(value("w", tuple(source.graph.initializer[0].dims)))
    names = [
        [input.data["relay.name"] for input in main_of(source, **shapes).arg_attrs or ()]
        for shapes in ({}, {"shapes": {"w": tuple(source.graph.initializer[0].dims)}})
    ]
    assert names == [[StringAttr("x")], [StringAttr("x"), StringAttr("w")]]


def test_all_unsupported_nodes_are_reported_together() -> None:
    nodes = [
        helper.make_node("MaxUnpool", ["x", "x"], ["a"], name="unpool1"),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Frobnicate", ["b"], ["c"], name="odd", domain="acme"),
        helper.make_node("MaxPool", ["c"], ["y"], name="pool4d", kernel_shape=[2, 2, 2, 2]),
        helper.make_node("Relu", ["y"], ["z"], name="relu", surprise=1),
    ]
    with pytest.raises(ModelImportError) as caught:
        import_onnx(model(nodes, [value("x", (1, 3, 8, 8))], ["z"]))
    text = str(caught.value)
    assert "4 nodes are not supported" in text
    for words in (
        "'unpool1' (MaxUnpool, opset 17)",
        "'odd' (acme::Frobnicate",
        "'pool4d'",
        "[2, 2, 2, 2]",
        "'surprise'",
    ):
        assert words in text


def test_truncated_file(tmp_path: Path) -> None:
    data = conv_model().SerializeToString()
    path = tmp_path / "short.onnx"
    path.write_bytes(data[: len(data) * 2 // 3])
    with pytest.raises(ModelImportError, match=r"short\.onnx.*(truncated|no graph)"):
        import_onnx(path)


@pytest.mark.parametrize("data", [b"", b"hello world, this is no protobuf", b"\x00" * 64])
def test_files_that_are_no_models(data: bytes) -> None:
    with pytest.raises(ModelImportError):
        import_onnx(data)


def test_a_device_is_no_model() -> None:
    with pytest.raises(ModelImportError, match="it is a device, not a file"):
        import_onnx("/dev/zero")


def test_a_pipe_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to the maximum size of a model."""
    data = relu_chain(1).SerializeToString()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr(load, "MAX_BYTES", len(data))
    for rest in (b"", b" "):
        with ThreadPoolExecutor() as pool:
            written = pool.submit(pipe.write_bytes, data + rest)
            if rest:
                with pytest.raises(ModelImportError, match=f"more than {len(data)} bytes"):
                    import_onnx(pipe)
            else:
                assert "relay.nn.relu" in str(import_onnx(pipe))
            written.result()


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelImportError, match="cannot read the model"):
        import_onnx(tmp_path / "absent.onnx")


def test_cyclic_graph() -> None:
    nodes = [
        helper.make_node("Add", ["x", "b"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"], name="second"),
    ]
    with pytest.raises(ModelImportError, match="'first', which reads from 'second', which reads from 'first'; help"):
        import_onnx(model(nodes, [value("x", (2,))], ["b"]))


def test_undefined_value_and_undefined_output() -> None:
    node = helper.make_node("Relu", ["nowhere"], ["y"], name="relu")
    with pytest.raises(ModelImportError, match="'nowhere'"):
        import_onnx(model([node], [value("x", (2,))], ["y"]))
    with pytest.raises(ModelImportError, match=r"^output 'z'"):
        import_onnx(model([], [value("x", (2,))], ["z"]))


def test_shape_mismatch_names_node_and_both_values() -> None:
    with pytest.raises(ModelImportError, match=r"'conv1' \(Conv, opset 17\).*\[relay.nn.conv2d C3\].*5.*3"):
        import_onnx(conv_model(weight=(4, 5, 3, 3)))


def test_unsupported_element_type_and_missing_shape() -> None:
    with pytest.raises(ModelImportError, match=r"input 'x'.*STRING"):
        import_onnx(model([], [value("x", (2,), TensorProto.STRING)], ["x"]))
    with pytest.raises(ModelImportError, match="shape"):
        import_onnx(model([], [value("x", None)], ["x"]))


def test_strings_are_named() -> None:
    names = np.array(["ash", "birch"], np.object_)
    by_index = helper.make_node("Gather", ["names", "x"], ["y"])
    with pytest.raises(ModelImportError, match=r"^tensor 'names': strings"):
        import_onnx(model([by_index], [value("x", (2,), TensorProto.INT64)], ["y"], initializers={"names": names}))
    constant = helper.make_node("Constant", [], ["names"], value_strings=[b"ash", b"birch"])
    with pytest.raises(ModelImportError, match=r"'names'.*strings"):
        import_onnx(model([constant, by_index], [value("x", (2,), TensorProto.INT64)], ["y"]))


def test_initializer_of_wrong_length() -> None:
    source = conv_model()
    source.graph.initializer[0].raw_data = b"\x00" * 12
    with pytest.raises(ModelImportError, match="tensor 'w'"):
        import_onnx(source)


def test_shape_arithmetic_folds() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"], axis=0),
        helper.make_node("Unsqueeze", ["n", "axes"], ["n1"]),
        helper.make_node("Concat", ["n1", "rest"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
    ]
    constants = {
        "zero": np.array(0, np.int64),
        "axes": np.array([0], np.int64),
        "rest": np.array([-1], np.int64),
    }
    function = main_of(model(nodes, [value("x", (2, 3, 4))], ["y"], initializers=constants))
    assert shape_of(function.function_type.outputs.data[0]) == (2, 12)


def test_input_is_output_and_same_value_twice() -> None:
    function = main_of(model([], [value("x", (2,))], ["x", "x"]))
    assert len(function.function_type.outputs) == 2


def test_long_chain() -> None:
    assert sum(op.name == "relay.nn.relu" for op in main_of(relu_chain(1500)).walk()) == 1500
