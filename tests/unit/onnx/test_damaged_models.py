"""Damaged or malicious models: each raises an error of one line, quickly and in little memory."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from fuzz.onnx_mutations import mutated_bytes, mutated_model
from fuzz.onnx_nodes import random_node_model
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import convert_model_to_external_data, write_external_data_tensors
from support.examples import examples
from support.onnx_models import conv_model, model, value

from xrelay.errors import ModelImportError, XRelayError
from xrelay.frontend.onnx import import_onnx

SMALL = (1, 3, 8, 8)

NARROWEST = getattr(onnx.TensorProto, "INT2", onnx.TensorProto.INT4)
"""The narrowest integers of the installed onnx: those of two bits are newer than 1.19."""


def network() -> onnx.ModelProto:
    """A model with everything that bytes can damage: attributes, weights, shape arithmetic, several outputs."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Clip", ["c", "zero"], ["r"], name="clip"),
        helper.make_node("Shape", ["x"], ["s"], name="shape"),
        helper.make_node("Gather", ["s", "first"], ["n"], name="gather"),
        helper.make_node("Concat", ["n", "rest"], ["target"], name="concat", axis=0),
        helper.make_node("Reshape", ["r", "target"], ["f"], name="reshape"),
        helper.make_node("Split", ["f"], ["a", "b"], name="split", axis=1),
        helper.make_node("Add", ["a", "b"], ["y"], name="add"),
    ]
    constants = {
        "w": np.ones((4, 3, 3, 3), np.float32),
        "zero": np.array(0, np.float32),
        "first": np.array([0]),
        "rest": np.array([-1]),
    }
    return model(nodes, [value("x", SMALL)], ["y"], initializers=constants)


def damaged(data: bytes, rng: random.Random) -> bytes:
    result = bytearray(data)
    for _ in range(rng.choice((1, 2, 8))):
        place = rng.randrange(len(result))
        kind = rng.randrange(3)
        if kind == 0:
            result[place] = rng.randrange(256)
        elif kind == 1:
            del result[place : place + rng.choice((1, 8))]
        else:
            result[place:place] = rng.randbytes(rng.choice((1, 8)))
    return bytes(result)


def complaint(data: bytes) -> str:
    """The importer's error message; empty if it accepts the model. Other exceptions propagate."""
    try:
        import_onnx(data).verify()
    except XRelayError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("seed", range(10))
def test_random_damage_gives_errors_of_the_project_alone(seed: int) -> None:
    rng = random.Random(seed)
    data = network().SerializeToString()
    import_onnx(data)
    messages = [complaint(damaged(data, rng)) for _ in range(25)]
    assert any(messages)
    assert not any("\n" in message for message in messages)


def test_a_mask_that_would_be_huge_is_refused() -> None:
    node = helper.make_node("Dropout", ["x"], ["y", "mask"], name="drop")
    proto = model([node], [value("x", (1 << 40, 3))], ["y", "mask"], opset=13)
    with pytest.raises(ModelImportError, match=r"'drop'.*would take 3298534883328 bytes"):
        import_onnx(proto)


def test_every_truncation_is_refused_or_a_smaller_model() -> None:
    data = network().SerializeToString()
    for part in range(20):
        with pytest.raises(ModelImportError):
            import_onnx(data[: len(data) * part // 20])


def test_a_name_that_is_no_text() -> None:
    data = conv_model().SerializeToString().replace(b"conv1", b"conv\xff")
    with pytest.raises(ModelImportError, match=r"name b'conv\\xff'"):
        import_onnx(data)


@pytest.mark.parametrize("part", ["Abs", "weight", "label", "extent"])
def test_a_name_in_a_body_or_in_a_sequence_that_is_no_text(part: str) -> None:
    node = helper.make_node("Abs", ["weight"], ["z"], name="label")
    weight = numpy_helper.from_array(np.ones(2, np.float32), "weight")
    body = helper.make_graph([node], "body", [], [value("z", None)], [weight])
    branch = helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)
    sequence = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, ["extent"])
    nodes = [branch, helper.make_node("SequenceLength", ["s"], ["n"])]
    data = model(nodes, [value("c", (), TensorProto.BOOL), sequence], ["y", "n"], opset=17).SerializeToString()
    import_onnx(data)
    broken = part[:-1].encode() + b"\xff"
    with pytest.raises(ModelImportError, match="UTF-8"):
        import_onnx(data.replace(part.encode(), broken))


def test_an_element_type_without_a_name() -> None:
    source = conv_model()
    source.graph.input[0].type.tensor_type.elem_type = 127
    with pytest.raises(ModelImportError, match="input 'x': element type 127 is not supported"):
        import_onnx(source)


def test_an_opset_below_one() -> None:
    with pytest.raises(ModelImportError, match=r"opset -1 of the domain 'ai\.onnx'"):
        import_onnx(conv_model(opset=-1))


def test_two_opsets_of_one_domain() -> None:
    source = conv_model()
    source.opset_import.add(domain="ai.onnx", version=source.opset_import[0].version)
    import_onnx(source)
    source.opset_import.add(version=9)
    with pytest.raises(ModelImportError, match=r"two opsets of the domain 'ai\.onnx', \d+ and 9"):
        import_onnx(source)


def test_a_domain_that_is_not_imported() -> None:
    source = conv_model()
    source.opset_import[0].domain = "acme"
    with pytest.raises(ModelImportError, match=r"'conv1'.*.* 'ai\.onnx'"):
        import_onnx(source)


def test_a_value_defined_twice() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Sigmoid", ["x"], ["y"])]
    with pytest.raises(ModelImportError, match="value 'y' is defined twice"):
        import_onnx(model(nodes, [value("x", (2,))], ["y"]))


@pytest.mark.parametrize(
    ("op", "constants"),
    [
        ("Range", {"a": np.array(0), "b": np.array(10**12), "c": np.array(1)}),
        ("Expand", {"a": np.array(0.0), "b": np.array([10**6, 10**6])}),
        ("ConstantOfShape", {"a": np.array([10**6, 10**6])}),
    ],
)
def test_small_constants_that_ask_for_huge_ones(op: str, constants: dict[str, np.ndarray]) -> None:
    node = helper.make_node(op, list(constants), ["huge"], name="culprit")
    with pytest.raises(ModelImportError, match="culprit"):
        import_onnx(model([node], [value("x", (2,))], ["huge"], initializers=constants))


@pytest.mark.parametrize(
    ("bounds", "words"), [(np.zeros((2,), np.float32), r"input #1 \(min\) must be one number, found float32\[2\]")]
)
def test_a_bound_that_is_no_number(bounds: np.ndarray, words: str) -> None:
    node = helper.make_node("Clip", ["x", "low"], ["y"], name="clip")
    with pytest.raises(ModelImportError, match=words):
        import_onnx(model([node], [value("x", (2,))], ["y"], initializers={"low": bounds}))


def test_a_shape_that_is_no_list_of_integers() -> None:
    node = helper.make_node("Reshape", ["x", "s"], ["y"], name="reshape")
    constants = {"s": np.ones((1, 2), np.int64)}
    with pytest.raises(ModelImportError, match=r"'reshape'.*must be a list of integers, found int64\[1, 2\]"):
        import_onnx(model([node], [value("x", (2,))], ["y"], initializers=constants))


def test_a_negative_extent_of_a_weight() -> None:
    source = conv_model()
    source.graph.initializer[0].dims[0] = -4
    with pytest.raises(ModelImportError, match=r"tensor 'w': the shape \[-4, 3, 3, 3\] has a negative extent"):
        import_onnx(source)


@pytest.mark.parametrize("raw", [b"", b"\0"])
@pytest.mark.parametrize("kind", [onnx.TensorProto.UINT4, onnx.TensorProto.FLOAT, NARROWEST])
def test_extents_that_no_array_has(kind: int, raw: bytes) -> None:
    source = conv_model()
    source.graph.initializer[0].CopyFrom(
        onnx.TensorProto(name="w", data_type=kind, dims=[2**40, 2**40, 0, 3], raw_data=raw)
    )
    with pytest.raises(ModelImportError, match=r"tensor 'w': no array has the shape \[1099511627776, .*even an empty"):
        import_onnx(source)


def external_model(path: Path) -> None:
    """A model whose weight and Constant both have their bytes in `weights.bin`."""
    nodes = [
        helper.make_node("Constant", [], ["k"], value=numpy_helper.from_array(np.full((4, 1, 1), 2, np.float32), "k")),
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
        helper.make_node("Mul", ["c", "k"], ["y"], name="mul"),
    ]
    source = model(nodes, [value("x", SMALL)], ["y"], initializers={"w": np.ones((4, 3, 3, 3), np.float32)})
    convert_model_to_external_data(source, location="weights.bin", size_threshold=0, convert_attribute=True)
    path.write_bytes(write_external_data_tensors(source, str(path.parent)).SerializeToString())


def test_external_bytes_of_weights_and_constants(tmp_path: Path) -> None:
    external_model(tmp_path / "m.onnx")
    import_onnx(tmp_path / "m.onnx").verify()


def test_external_bytes_that_are_missing_short_or_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    external_model(path)
    with pytest.raises(ModelImportError, match=r"tensor '.'.*a model"):
        import_onnx(path.read_bytes())
    (tmp_path / "weights.bin").write_bytes(b"short")
    with pytest.raises(ModelImportError, match=r"external data of tensor|the bytes do not fit"):
        import_onnx(path)
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(ModelImportError, match="external data of tensor"):
        import_onnx(path)


def test_what_conversion_finds_is_reported_with_the_rest() -> None:
    nodes = [
        helper.make_node("Frobnicate", ["x"], ["a"], name="odd"),
        helper.make_node("Relu", ["a"], ["b"], name="depends"),
        helper.make_node("Transpose", ["x"], ["c"], name="turn", perm=[0, 0]),
        helper.make_node("Flatten", ["x"], ["d"], name="flat", axis=9),
    ]
    with pytest.raises(ModelImportError) as caught:
        import_onnx(model(nodes, [value("x", SMALL)], ["b", "c", "d"]))
    text = str(caught.value)
    assert "3 nodes are not supported" in text
    assert "'odd' (Frobnicate, opset 17): no converter" in text
    assert "'turn' (Transpose, opset 17): attribute 'perm' has the illegal value [0, 0]" in text
    assert "'flat' (Flatten, opset 17): attribute 'axis' has the illegal value 9" in text
    assert "depends" not in text


def test_outputs_that_nothing_reads_are_not_asked_for() -> None:
    norm = ["s", "b", "m", "v"]
    nodes = [
        helper.make_node("MaxPool", ["x"], ["p", "indices"], kernel_shape=[2, 2]),
        helper.make_node("BatchNormalization", ["p", *norm], ["y", "m1", "v1", "m2", "v2"]),
    ]
    constants = {name: np.ones(3, np.float32) for name in norm}
    source = model(nodes, [value("x", SMALL)], ["y"], initializers=constants, opset=9)
    import_onnx(source).verify()
    source.graph.output.append(helper.make_tensor_value_info("m1", TensorProto.FLOAT, None))
    with pytest.raises(ModelImportError, match="'m1'"):
        import_onnx(source)


def test_random_edits_give_errors_of_the_project_alone() -> None:
    for seed in range(examples(200)):
        rng = np.random.default_rng(seed)
        proto = random_node_model(rng)
        edited = mutated_model(rng, proto).SerializeToString() if seed % 2 else None
        message = complaint(mutated_bytes(rng, proto.SerializeToString()) if edited is None else edited)
        assert len(message.splitlines()) <= 1


@pytest.mark.parametrize("dims", [[2**40], [2**62, 2**62], [0, 2**62]])
def test_shapes_that_no_memory_holds(dims: list[int]) -> None:
    tensor = onnx.TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims)
    source = model([helper.make_node("Relu", ["w"], ["y"])], [], ["y"])
    source.graph.initializer.append(tensor)
    assert "'w'" in complaint(source.SerializeToString())


def test_large_constants_take_no_memory() -> None:
    node = helper.make_node("ConstantOfShape", ["s"], ["y"], name="large")
    module = import_onnx(model([node], [], ["y"], initializers={"s": np.array([2**29 - 1])}))
    tracemalloc.start()
    import_onnx(model([node], [], ["y"], initializers={"s": np.array([2**29 - 1])}))
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()
    assert "relay.weight" in str(module)


@pytest.mark.parametrize(
    ("op", "constants", "words"),
    [
        ("Gather", {"i": np.array([np.nan], np.float32)}, "must be integers, found float32"),
        ("Resize", {"": None, "s": np.array([np.inf, 1], np.float32)}, "only 2 positive numbers"),
        ("ConstantOfShape", {}, r"has a negative extent|must be a list"),
        ("CumSum", {"a": np.array(np.nan, np.float32)}, r"input #1 \(axis\) .* nan"),
        ("TopK", {"k": np.array([np.inf], np.float32)}, r"input #1 \(k\) .* inf"),
        ("OneHot", {"d": np.array(2**64 - 1, np.uint64), "v": np.zeros(2)}, "must be a signed 64-bit integer"),
        ("Tile", {"r": np.array([2**40, 1])}, "would take"),
    ],
)
def test_settings_that_are_none(op: str, constants: dict[str, np.ndarray], words: str) -> None:
    arrays = {name: array for name, array in constants.items() if name}
    inputs = ["x", *constants] if op != "ConstantOfShape" else ["c"]
    if op == "ConstantOfShape":
        arrays["c"] = np.array([-1])
    node = helper.make_node(op, inputs, ["y"], name="node", **({"mode": "nearest"} if op == "Resize" else {}))
    with pytest.raises(ModelImportError, match=words):
        import_onnx(model([node], [value("x", (2, 3))], ["y"], initializers=arrays))


@pytest.mark.parametrize(
    ("node", "inputs", "words"),
    [
        (helper.make_node("Gemm", ["x", "x"], ["y"], alpha=1e30), {"x": np.int64}, "int64"),
        (helper.make_node("LpNormalization", ["x"], ["y"]), {"x": np.int32}, "must be a float, found i32"),
        (helper.make_node("PRelu", ["x", "s"], ["y"]), {"x": np.float32, "s": np.float32}, "the slope has rank 3"),
    ],
)
def test_operands_that_the_op_does_not_take(node: onnx.NodeProto, inputs: dict[str, type], words: str) -> None:
    shapes = {"x": (2, 2), "s": (2, 2, 2)}
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shapes[name])
        for name, kind in inputs.items()
    ]
    with pytest.raises(ModelImportError, match=words):
        import_onnx(model([node], infos, ["y"]))


@pytest.mark.parametrize("thing", [None, 3, [], bytearray(b"a"), np.zeros(2), "a\0b"])
def test_what_is_no_model_at_all(thing: Any) -> None:
    with pytest.raises(ModelImportError, match=r"is expected, got|is not a path"):
        import_onnx(thing)


def test_attributes_that_nobody_knows() -> None:
    node = helper.make_node("Softmax", ["x"], ["y"], name="node", axis=0)
    node.attribute.append(helper.make_attribute("axis", 1))
    with pytest.raises(ModelImportError, match=r"node 'node' .*: attribute 'axis' .* 2 times"):
        import_onnx(model([node], [value("x", (2, 3))], ["y"]))
    del node.attribute[1]
    node.attribute[0].ref_attr_name = "slope"
    with pytest.raises(ModelImportError, match=r"'axis' .*'slope'"):
        import_onnx(model([node], [value("x", (2, 3))], ["y"]))


def test_an_empty_axis_is_not_resized() -> None:
    node = helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode="nearest")
    with pytest.raises(ModelImportError, match=r"sizes \[2\] are not supported for a shape of \(0, 3\)"):
        import_onnx(model([node], [value("x", (0, 3))], ["y"], initializers={"s": np.array([2, 3])}))


def test_a_slice_of_an_enormous_axis_is_not_listed() -> None:
    node = helper.make_node("Slice", ["x", "s", "e", "a", "t"], ["y"])
    settings = {"s": [0], "e": [2**62], "a": [0], "t": [2]}
    constants = {name: np.array(values) for name, values in settings.items()}
    import_onnx(model([node], [value("x", (2**40,))], ["y"], initializers=constants))


def test_a_name_with_a_line_break_gives_one_line() -> None:
    source = model([helper.make_node("Frob\nnicate", ["x"], ["y"], name="a\nb")], [value("x", (2,))], ["y"])
    source.graph.name = "c\nd"
    assert complaint(source.SerializeToString()).count("\n") == 0


def test_an_identity_takes_the_memory_of_its_own_type() -> None:
    source = model([helper.make_node("EyeLike", ["x"], ["y"])], [value("x", (1, 2**22), TensorProto.UINT8)], ["y"])
    tracemalloc.start()
    import_onnx(source)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
