"""The bytes of large tensors are read directly to their place, and the model equals protobuf's."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from fuzz.onnx_mutations import mutated_bytes, mutated_model
from fuzz.onnx_nodes import random_node_model
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from support.onnx_models import model, value

from xrelay.dialects.relay.structure.weights import weights_of
from xrelay.errors import ModelImportError, XRelayError
from xrelay.frontend.onnx import import_onnx, load, slim_model
from xrelay.frontend.onnx.model_bytes import FileBytes, MemoryBytes
from xrelay.frontend.onnx.tensors import TensorBytes

SHAPE = (32, 32)
NUMBERS: NDArray[np.float32] = np.arange(1024, dtype=np.float32).reshape(SHAPE)


@pytest.fixture
def all_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the reader treat every tensor as large."""
    monkeypatch.setattr(load, "LARGE_TENSOR_BYTES", 0)
    monkeypatch.setattr(slim_model, "LEAST", 1)


def of_tensors(*tensors: TensorProto, constant: TensorProto | None = None) -> onnx.ModelProto:
    """A model that adds tensors to its input, and the value of a Constant node."""
    names = [tensor.name for tensor in tensors]
    nodes = [helper.make_node("Sum", ["x", *names, *([] if constant is None else ["k"])], ["y"])]
    if constant is not None:
        nodes.insert(0, helper.make_node("Constant", [], ["k"], value=constant))
    proto = model(nodes, [value("x", SHAPE)], ["y"])
    proto.graph.initializer.extend(tensors)
    return proto


def raw(name: str = "w", array: NDArray[np.generic] = NUMBERS) -> TensorProto:
    return numpy_helper.from_array(array, name)


def kept(data: bytes) -> tuple[onnx.ModelProto, TensorBytes]:
    """The part of a model that protobuf parses, and the tensors that are read separately."""
    tensors = TensorBytes()
    slim = slim_model.slim_model(MemoryBytes(data), tensors)
    assert slim is not None
    return onnx.ModelProto.FromString(slim), tensors


def test_initializers_and_constants_are_taken_out(all_is_large: None) -> None:
    data = of_tensors(raw("a"), raw("b", NUMBERS + 1), constant=raw("c", NUMBERS + 2)).SerializeToString()
    proto, tensors = kept(data)
    assert proto.ByteSize() < NUMBERS.nbytes
    assert [each.name for each in proto.graph.initializer] == ["a", "b"]
    found = [*proto.graph.initializer, proto.graph.node[0].attribute[0].t]
    for number, tensor in enumerate(found):
        bytes_of = tensors.of(tensor)
        assert bytes_of is not None
        assert bytes_of.tobytes() == (NUMBERS + number).tobytes()
    weights = [weight.array for weight in weights_of(import_onnx(data))]
    assert sorted(float(array[0, 0]) for array in weights) == [0, 1, 2]


def test_bytes_in_memory_are_not_copied(all_is_large: None) -> None:
    data = of_tensors(raw()).SerializeToString()
    (weight,) = weights_of(import_onnx(data))
    assert np.shares_memory(weight.array, np.frombuffer(data, np.uint8))


@pytest.mark.parametrize("type", [TensorProto.FLOAT, TensorProto.DOUBLE])
def test_lists_of_floats_lie_in_the_file_as_in_memory(all_is_large: None, type: int) -> None:
    tensor = helper.make_tensor("w", type, SHAPE, NUMBERS.ravel().tolist())
    proto, tensors = kept(of_tensors(tensor).SerializeToString())
    data = tensors.of(proto.graph.initializer[0])
    assert data is not None
    assert (data.view(numpy_helper.to_array(tensor).dtype) == NUMBERS.ravel()).all()


@pytest.mark.parametrize("type", [TensorProto.INT32, TensorProto.COMPLEX64, TensorProto.FLOAT16])
def test_other_lists_are_left_to_protobuf(all_is_large: None, type: int) -> None:
    tensor = helper.make_tensor("w", type, SHAPE, NUMBERS.ravel().tolist())
    proto, tensors = kept(of_tensors(tensor).SerializeToString())
    assert tensors.of(proto.graph.initializer[0]) is None


ONES = {"i4": TensorProto.INT4, "f8": TensorProto.FLOAT8E4M3FN}


@pytest.mark.parametrize("type", ONES.values(), ids=ONES)
def test_types_that_are_no_constants_say_what_they_did(
    all_is_large: None, monkeypatch: pytest.MonkeyPatch, type: int
) -> None:
    data = of_tensors(helper.make_tensor("w", type, SHAPE, bytes(512 if type == ONES["i4"] else 1024), raw=True))
    texts: list[str] = []
    for large in (0, 1 << 30):
        monkeypatch.setattr(load, "LARGE_TENSOR_BYTES", large)
        with pytest.raises(ModelImportError) as caught:
            import_onnx(data.SerializeToString())
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def twice(data: bytes) -> bytes:
    """A model whose graph is in two parts, which protobuf merges."""
    return data + onnx.ModelProto(graph=onnx.GraphProto(doc_string="more")).SerializeToString()


def unpacked(data: bytes) -> bytes:
    """A model with each number in a separate field."""
    del data
    fields = b"".join(b"\x25" + NUMBERS.ravel()[i : i + 1].tobytes() for i in range(1024))
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=SHAPE).SerializeToString() + fields
    return joined(of_tensors(), tensor)


def both(data: bytes) -> bytes:
    """A tensor with two sets of bytes; the last one is used."""
    del data
    return joined(of_tensors(), raw("w").SerializeToString() + TensorProto(raw_data=bytes(4096)).SerializeToString())


def joined(proto: onnx.ModelProto, tensor: bytes) -> bytes:
    """The bytes of a model that adds a tensor, given as bytes."""
    proto.graph.node[0].input.append("w")
    graph = proto.graph.SerializeToString() + b"\x2a" + size(tensor) + tensor
    proto.ClearField("graph")
    return proto.SerializeToString() + b"\x3a" + size(graph) + graph


def size(data: bytes) -> bytes:
    return bytes((len(data) & 0x7F | 0x80, len(data) >> 7 & 0x7F | 0x80, len(data) >> 14))


@pytest.mark.parametrize("change", [twice, unpacked, both])
def test_what_protobuf_writes_otherwise_means_the_same(
    all_is_large: None, monkeypatch: pytest.MonkeyPatch, change: Callable[[bytes], bytes]
) -> None:
    data = change(of_tensors(raw()).SerializeToString())
    (array,) = (weight.array for weight in weights_of(import_onnx(data)))
    monkeypatch.setattr(load, "LARGE_TENSOR_BYTES", 1 << 30)
    (expected,) = (weight.array for weight in weights_of(import_onnx(data)))
    assert (array == expected).all()


def test_a_file_of_endless_fields_is_left_to_protobuf(all_is_large: None, monkeypatch: pytest.MonkeyPatch) -> None:
    data = of_tensors(raw()).SerializeToString()
    monkeypatch.setattr(slim_model, "MAX_FIELDS", 3)
    assert slim_model.slim_model(MemoryBytes(data), TensorBytes()) is None


def test_a_model_of_too_many_parts_is_refused_before_protobuf_reads_it(
    all_is_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = of_tensors(raw())
    model.graph.value_info.extend(onnx.ValueInfoProto() for _ in range(100))
    monkeypatch.setattr(slim_model, "MAX_PARTS", 99)
    with pytest.raises(ModelImportError, match="model: the model has more than 99 nodes, weights"):
        slim_model.slim_model(MemoryBytes(model.SerializeToString()), TensorBytes())


def outcome(data: bytes) -> str:
    """The program of a model, or its error message."""
    try:
        return str(import_onnx(data))
    except XRelayError as error:
        return str(error)


def test_damaged_models_say_the_same(all_is_large: None, monkeypatch: pytest.MonkeyPatch) -> None:
    good = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        proto = random_node_model(rng) if seed % 3 else of_tensors(raw(), constant=raw("c"))
        edited = mutated_model(rng, proto) if seed % 2 else proto
        data = edited.SerializeToString()
        data = data if seed % 2 else mutated_bytes(rng, data)
        monkeypatch.setattr(load, "LARGE_TENSOR_BYTES", 0)
        slim = outcome(data)
        monkeypatch.setattr(load, "LARGE_TENSOR_BYTES", 1 << 30)
        assert slim == outcome(data)
        good += "relay." in slim
    assert good


def test_a_file_is_in_memory_once(tmp_path: Path) -> None:
    arrays = {f"w{i}": np.full((512, 512), i, np.float32) for i in range(16)}
    nodes = [helper.make_node("Sum", ["x", *arrays], ["y"])]
    path = tmp_path / "m.onnx"
    path.write_bytes(model(nodes, [value("x", (512, 512))], ["y"], initializers=arrays).SerializeToString())
    import_onnx(path)
    tracemalloc.start()
    module = import_onnx(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 1 < peak / path.stat().st_size < 1.1
    assert all(not weight.array.flags.writeable for weight in weights_of(module))


@pytest.mark.parametrize("kept_bytes", [0, 1 << 20])
def test_a_file_that_is_changed_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_bytes: int
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(of_tensors(raw("w", np.zeros((1 << 19,), np.float32))).SerializeToString())
    array = FileBytes.array

    def changing(file: FileBytes, begin: int, end: int) -> NDArray[np.uint8]:
        with path.open("r+b") as other:
            other.truncate(kept_bytes)
        return array(file, begin, end)

    monkeypatch.setattr(FileBytes, "array", changing)
    with pytest.raises(ModelImportError, match=r"cannot read the model: (the file ends at byte|it was changed)"):
        import_onnx(path)


def external(tmp_path: Path, **told: object) -> Path:
    """A model with an external weight, whose location has these entries."""
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=SHAPE, data_location=TensorProto.EXTERNAL)
    for key, text in told.items():
        tensor.external_data.add(key=key, value=str(text))
    folder = tmp_path / "model"
    folder.mkdir(exist_ok=True)
    path = folder / "m.onnx"
    path.write_bytes(of_tensors(tensor).SerializeToString())
    return path


def test_bytes_in_another_file(tmp_path: Path) -> None:
    path = external(tmp_path, location="sub/w.bin", offset=8, length=4096, checksum="?", note="of nobody")
    (path.parent / "sub").mkdir()
    (path.parent / "sub" / "w.bin").write_bytes(bytes(8) + NUMBERS.tobytes() + b"more")
    (weight,) = weights_of(import_onnx(path))
    assert (weight.array == NUMBERS).all()


def test_no_bytes_in_another_file(tmp_path: Path) -> None:
    path = external(tmp_path, location="w.bin")
    proto = onnx.ModelProto.FromString(path.read_bytes())
    proto.graph.initializer[0].dims[0] = 0
    proto.graph.node[0].input[0] = "w"
    path.write_bytes(proto.SerializeToString())
    (path.parent / "w.bin").write_bytes(b"")
    assert "tensor<0x32xf32>" in str(import_onnx(path))


PLACES = {
    "../out.bin": "is outside of the folder of the model",
    "sub/../../out.bin": "is outside of the folder of the model",
    "/etc/passwd": "is outside of the folder of the model",
    "over/out.bin": "is outside of the folder of the model",
    "inside/w.bin": "symbolic link",
    "hard.bin": "has multiple hard links",
}


@pytest.mark.parametrize("location", PLACES)
def test_places_that_are_refused(tmp_path: Path, location: str) -> None:
    path = external(tmp_path, location=location)
    folder = path.parent
    (folder / "sub").mkdir()
    for place in (tmp_path / "out.bin", folder / "sub" / "w.bin"):
        place.write_bytes(NUMBERS.tobytes())
    (folder / "over").symlink_to(tmp_path)
    (folder / "inside").symlink_to("sub")
    (folder / "hard.bin").hardlink_to(tmp_path / "out.bin")
    with pytest.raises(ModelImportError, match=f"cannot read the external data of tensor 'w': .*{PLACES[location]}"):
        import_onnx(path)


def test_another_file_that_is_changed_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = external(tmp_path, location="w.bin")
    place = path.parent / "w.bin"
    place.write_bytes(NUMBERS.tobytes())
    array = FileBytes.array

    def changing(file: FileBytes, begin: int, end: int) -> NDArray[np.uint8]:
        found = array(file, begin, end)
        with place.open("ab") as other:
            other.write(b"more")
        return found

    monkeypatch.setattr(FileBytes, "array", changing)
    with pytest.raises(ModelImportError, match="external data of tensor 'w': it was changed while it was read"):
        import_onnx(path)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"offset": 8, "length": 4096}, "4096 bytes from offset 8 .* 4096"),
        ({"offset": -4096, "length": 4096}, "4096 bytes from offset -4096"),
        ({"length": 1 << 62}, "4611686018427387904 bytes"),
        ({"length": "9" * 5000}, "Exceeds the limit"),
    ],
)
def test_bytes_that_are_not_there(tmp_path: Path, told: dict[str, object], words: str) -> None:
    path = external(tmp_path, location="w.bin", **told)
    (path.parent / "w.bin").write_bytes(NUMBERS.tobytes())
    with pytest.raises(ModelImportError, match=f"external data of tensor 'w': .*{words}"):
        import_onnx(path)
