"""Integers of 2 and 4 bits and floats of 4 and 8: constants, conversions, and the nodes that accept them."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any, cast

import ml_dtypes
import numpy as np
import onnx
import pytest
from fuzz.onnx_oracles import onnxruntime_outputs
from numpy.typing import NDArray
from onnx import TensorProto, helper
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]
KINDS: dict[str, type[Any]] = {
    "INT2": ml_dtypes.int2,
    "UINT2": ml_dtypes.uint2,
    "INT4": ml_dtypes.int4,
    "UINT4": ml_dtypes.uint4,
    "FLOAT4E2M1": ml_dtypes.float4_e2m1fn,
    "FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn,
    "FLOAT8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "FLOAT8E5M2": ml_dtypes.float8_e5m2,
    "FLOAT8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}


def kind(name: str) -> tuple[int, type[Any]]:
    """ONNX's number of a type, and its element type; skips if the installed onnx lacks the type."""
    numbers = dict(TensorProto.DataType.items())
    if name not in numbers:
        pytest.skip(f"onnx {onnx.__version__} has no {name}")
    return numbers[name], KINDS[name]


def all_numbers(dtype: type[Any]) -> Array:
    """Every number of the type, in four columns."""
    if np.dtype(dtype).name.startswith("float"):
        return np.arange(1 << ml_dtypes.finfo(dtype).bits, dtype=np.uint8).view(dtype).reshape(-1, 4)
    limits = ml_dtypes.iinfo(dtype)
    return np.arange(int(limits.min), int(limits.max) + 1).astype(dtype).reshape(-1, 4)


def stored(name: str, array: Array, number: int) -> onnx.TensorProto:
    if array.dtype.name.startswith("float8"):
        return helper.make_tensor(name, number, array.shape, array.tobytes(), raw=True)
    return helper.make_tensor(name, number, array.shape, array.astype(np.float32).ravel().tolist())


def with_weights(
    nodes: list[onnx.NodeProto], weights: list[onnx.TensorProto], output: str, opset: int = 21
) -> onnx.ModelProto:
    proto = model(nodes, [value("x", (2, "n"))], [output], opset=opset)
    proto.graph.initializer.extend(weights)
    return proto


def both(proto: onnx.ModelProto, x: Array) -> list[Array]:
    return [run_relay(import_onnx(proto), [x])[0], compile(proto, cache=False, threads=1).run([x])[0]]


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("points", [False, True])
def test_weights_are_dequantised(name: str, points: bool) -> None:
    number, dtype = kind(name)
    numbers = all_numbers(dtype)
    wide = numbers.astype(np.float32)
    scales = np.array([0.1, 0.2, 0.4, 3.0], np.float32)
    zero = numbers[0] if points and np.dtype(dtype).name.lstrip("u").startswith("int") else np.zeros(4, dtype)
    weights = [stored("w", numbers, number), onnx.numpy_helper.from_array(scales, "s"), stored("z", zero, number)]
    read = helper.make_node("DequantizeLinear", ["w", "s", *(["z"] if points else [])], ["d"], axis=1)
    proto = with_weights([read, helper.make_node("Add", ["x", "d"], ["y"])], weights, "y")
    proto.graph.input[0].CopyFrom(value("x", wide.shape))
    x = np.ones(wide.shape, np.float32)
    expected = x + (wide - (zero.astype(np.float32) if points else 0)) * scales
    for found in both(proto, x):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["INT4", "UINT4"])
def test_blocks_and_moves(name: str) -> None:
    number, dtype = kind(name)
    packed = np.arange(64).reshape(8, 8) % 16 - (8 if name == "INT4" else 0)
    weights = [stored("w", packed, number), onnx.numpy_helper.from_array(np.full((2, 8), 0.5, np.float32), "s")]
    nodes = [
        helper.make_node("Identity", ["w"], ["i"]),
        helper.make_node("Transpose", ["i"], ["t"], perm=[1, 0]),
        helper.make_node("DequantizeLinear", ["t", "s"], ["d"], axis=0, block_size=4),
        helper.make_node("MatMul", ["x", "d"], ["y"]),
    ]
    proto = with_weights(nodes, weights, "y")
    x = np.random.default_rng(3).normal(size=(2, 8)).astype(np.float32)
    for found in both(proto, x):
        np.testing.assert_allclose(found, x @ (packed.astype(dtype).T.astype(np.float32) * 0.5), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["INT2", "UINT2", "INT4", "UINT4"])
@pytest.mark.parametrize("by_attribute", [False, True])
def test_there_and_back(name: str, by_attribute: bool) -> None:
    """Rounded to even, saturated at the limits of the small type, as in onnxruntime for 4 bits."""
    number, dtype = kind(name)
    limits = ml_dtypes.iinfo(dtype)
    weights = [onnx.numpy_helper.from_array(np.array(0.5, np.float32), "s"), stored("z", np.array(1), number)]
    given: dict[str, Any] = {"output_dtype": number} if by_attribute else {}
    zero = [] if by_attribute else ["z"]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", *zero], ["q"], **given),
        helper.make_node("Reshape", ["q", "shape"], ["r"]),
        helper.make_node("DequantizeLinear", ["r", "s", *zero], ["y"]),
    ]
    proto = with_weights(nodes, [*weights, onnx.numpy_helper.from_array(np.array([-1]), "shape")], "y")
    x = np.array([[-99, -4.25, -1.25, -0.75, -0.25], [0.25, 0.75, 1.25, 4.25, 99]], np.float32)
    point = 0 if by_attribute else 1
    expected = (np.clip(np.rint(x / 0.5) + point, int(limits.min), int(limits.max)) - point).ravel() * np.float32(0.5)
    theirs = onnxruntime_outputs(proto, {"x": x}) if "4" in name else None
    for found in [*both(proto, x), *(theirs or [])]:
        np.testing.assert_array_equal(found, expected)


def nearest(x: Array, dtype: np.dtype[Any], *, saturate: bool) -> Array:
    """`x` in a float type, by ml_dtypes, which does not saturate 8-bit types."""
    limits = cast(Any, ml_dtypes).finfo(dtype)
    limit = float(limits.max)
    with np.errstate(all="ignore"):
        if limits.bits == 4:
            x, saturate = np.nan_to_num(x, nan=0.0), True
        return (np.clip(x, -limit, limit) if saturate else x).astype(dtype).astype(np.float32)


@pytest.mark.grid(2)
@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("name", [name for name in KINDS if name.startswith("FLOAT")])
def test_floats_are_rounded_to_even(name: str, saturate: bool) -> None:
    """All numbers of f16: values of the type, ties between them, and values out of range."""
    number, dtype = kind(name)
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    with np.errstate(all="ignore"):
        after = np.nextafter(halves, np.float32(1e9))
    x = np.concatenate([halves, after, np.array([1e9, -1e-9], np.float32)]).reshape(2, -1)
    cast = helper.make_node("Cast", ["x"], ["q"], to=number, saturate=int(saturate))
    proto = with_weights([cast, helper.make_node("Cast", ["q"], ["y"], to=TensorProto.FLOAT)], [], "y", opset=23)
    expected = nearest(x, np.dtype(dtype), saturate=saturate)
    for found in both(proto, x):
        np.testing.assert_array_equal(found, expected)
        if not name.startswith("FLOAT4"):
            known = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(expected[known]))


def test_floats_are_quantised_to_floats() -> None:
    weights = [onnx.numpy_helper.from_array(np.array(0.5, np.float32), "s")]
    weights += [helper.make_tensor("z", TensorProto.FLOAT8E4M3FN, [], [0.0])]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s"], ["y"]),
    ]
    proto, x = with_weights(nodes, weights, "y"), np.array([[0.1, -300, np.nan], [np.inf, 17, 3.3]], np.float32)
    theirs = onnxruntime_outputs(proto, {"x": x})
    assert theirs is not None
    for found in both(proto, x):
        np.testing.assert_array_equal(found, theirs[0])


@pytest.mark.parametrize("name", ["INT2", "UINT2", "INT4", "UINT4"])
def test_integers_keep_their_low_bits(name: str) -> None:
    number, dtype = kind(name)
    x = np.arange(-40, 40).reshape(2, -1)
    nodes = [
        helper.make_node("Cast", ["x"], ["q"], to=number),
        helper.make_node("Cast", ["q"], ["y"], to=TensorProto.INT64),
    ]
    proto = with_weights(nodes, [], "y", opset=25)
    proto.graph.input[0].CopyFrom(value("x", (2, "n"), TensorProto.INT64))
    for found in both(proto, x):
        np.testing.assert_array_equal(found, x.astype(dtype).astype(np.int64))


def test_scales_may_be_powers_of_two_in_8_bits() -> None:
    numbers = dict(TensorProto.DataType.items())
    if "FLOAT8E8M0" not in numbers:
        pytest.skip(f"onnx {onnx.__version__} has no FLOAT8E8M0")
    scales = np.array([0.25, 2.0**-120, 2.0**120], np.float32)
    nodes = [helper.make_node("Cast", ["s"], ["c"], to=TensorProto.FLOAT), helper.make_node("Mul", ["x", "c"], ["y"])]
    proto = with_weights(nodes, [stored("s", scales, numbers["FLOAT8E8M0"])], "y", opset=24)
    for found in both(proto, np.ones((2, 3), np.float32)):
        np.testing.assert_array_equal(found, np.stack([scales] * 2))


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([helper.make_node("CastLike", ["x", "w"], ["y"])], "output 'y': element type int4 is not supported"),
        (
            [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT8E5M2)],
            "element type float8_e5m2 is not supported",
        ),
        ([helper.make_node("Add", ["w", "w"], ["y"])], "input #0 is of int4"),
        ([helper.make_node("Transpose", ["w"], ["t"]), helper.make_node("Relu", ["t"], ["y"])], "input #0 is of int4"),
        ([helper.make_node("Identity", ["w"], ["y"])], "output 'y': element type int4 is not supported"),
    ],
)
def test_nobody_else_takes_them(nodes: list[onnx.NodeProto], words: str) -> None:
    with pytest.raises(ModelImportError, match=words):
        import_onnx(with_weights(nodes, [stored("w", np.ones((2, 4)), TensorProto.INT4)], "y"))


@pytest.mark.parametrize("count", [3, 5])
def test_as_many_bytes_as_the_shape_takes(count: int) -> None:
    tensor = onnx.TensorProto(name="w", data_type=TensorProto.INT4, dims=[2, 4], raw_data=b"\1" * count)
    nodes = [helper.make_node("Cast", ["w"], ["y"], to=TensorProto.FLOAT)]
    with pytest.raises(ModelImportError, match="'w': the bytes do not fit its shape and type: "):
        import_onnx(with_weights(nodes, [tensor], "y"))


def test_they_do_not_leave_a_body() -> None:
    branch = helper.make_graph([helper.make_node("Identity", ["w"], ["b"])], "branch", [], [value("b", (2, 4))])
    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)]
    proto = model(nodes, [value("c", (), TensorProto.BOOL)], ["y"], opset=21)
    proto.graph.initializer.append(stored("w", np.ones((2, 4)), TensorProto.INT4))
    with pytest.raises(ModelImportError, match=r"output 'b' of attribute 'then_branch' .*int4"):
        import_onnx(proto)


def test_bytes_in_a_file_of_their_own(tmp_path: Path) -> None:
    weights = [stored("w", np.arange(64).reshape(8, 8) % 16 - 8, TensorProto.INT4)]
    weights.append(onnx.numpy_helper.from_array(np.array(2.0, np.float32), "s"))
    nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["d"]), helper.make_node("MatMul", ["x", "d"], ["y"])]
    proto, path = with_weights(nodes, weights, "y"), tmp_path / "m.onnx"
    for tensor in proto.graph.initializer[:1]:
        packed = np.arange(64, dtype=np.int64) % 16 - 8 & 15
        tensor.raw_data = (packed[0::2] | packed[1::2] << 4).astype(np.uint8).tobytes()
        tensor.ClearField("int32_data")
    x = np.ones((2, 8), np.float32)
    expected = both(proto, x)[0]
    onnx.save(proto, path, save_as_external_data=True, size_threshold=0, location="w.bin")
    np.testing.assert_array_equal(compile(str(path), cache=False).run([x])[0], expected)
    (tmp_path / "w.bin").write_bytes(b"\0" * 8)
    with pytest.raises(ModelImportError, match="'w'"):
        compile(str(path), cache=False)


def test_a_filled_tensor_is_one_element_in_memory() -> None:
    nodes = [
        helper.make_node(
            "ConstantOfShape", ["extents"], ["w"], value=helper.make_tensor("", TensorProto.INT4, [1], [3])
        ),
        helper.make_node("Shape", ["w"], ["y"]),
    ]
    extents = helper.make_tensor("extents", TensorProto.INT64, [2], [1 << 12, 1 << 13])
    tracemalloc.start()
    try:
        module = import_onnx(with_weights(nodes, [extents], "y"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 24
    assert run_relay(module, [np.zeros((2, 1), np.float32)])[0].tolist() == [1 << 12, 1 << 13]


def test_a_filled_tensor_of_computed_extents_keeps_its_type() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["extents"]),
        helper.make_node(
            "ConstantOfShape", ["extents"], ["w"], value=helper.make_tensor("", TensorProto.INT4, [1], [3])
        ),
    ]
    with pytest.raises(ModelImportError, match="element type int4 is not supported"):
        import_onnx(with_weights(nodes, [], "w"))
    nodes.append(helper.make_node("Cast", ["w"], ["y"], to=TensorProto.FLOAT))
    (found,) = run_relay(import_onnx(with_weights(nodes, [], "y")), [np.zeros((2, 3), np.float32)])
    assert found.tolist() == [[3, 3, 3], [3, 3, 3]]
