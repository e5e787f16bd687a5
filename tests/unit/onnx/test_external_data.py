"""Weights in external files: only regular files in the model's folder are read, and only the bytes of the tensor."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper
from support.onnx_models import model, value

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.frontend.onnx.external_data import load_external_data
from xrelay.frontend.onnx.model_bytes import FileBytes
from xrelay.frontend.onnx.tensors import TensorBytes
from xrelay.interpreters.relay import run_relay

ELEMENTS = np.arange(4, dtype=np.float32)


def external(
    dims: tuple[int, ...] = (4,), elem: int = TensorProto.FLOAT, entries: dict[str, str] | None = None, **more: str
) -> onnx.TensorProto:
    """A tensor called `w` with external data."""
    tensor = TensorProto(name="w", data_type=elem, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, text in {**(entries or {}), **more}.items():
        tensor.external_data.add(key=key, value=text)
    return tensor


def folder_with(tmp_path: Path, tensor: onnx.TensorProto) -> Path:
    """The path of a model that adds `tensor` to its input, in a folder with files of all kinds."""
    folder = tmp_path / "model"
    (folder / "inner").mkdir(parents=True)
    for place in (tmp_path / "outside.bin", folder / "w.bin", folder / "inner" / "w.bin"):
        place.write_bytes(ELEMENTS.tobytes())
    (folder / "link").symlink_to("w.bin")
    (folder / "up").symlink_to("..")
    os.mkfifo(folder / "pipe")
    with (folder / "huge").open("wb") as file:
        file.truncate(1 << 36)  # a sparse file
    source = model([helper.make_node("Add", ["x", "w"], ["y"], name="add")], [value("x", (4,))], ["y"])
    source.graph.initializer.append(tensor)
    path = folder / "model.onnx"
    path.write_bytes(source.SerializeToString())
    return path


@pytest.mark.parametrize(
    "entries",
    [
        {"location": "w.bin"},
        {"location": "inner/w.bin"},
        {"location": "w.bin", "offset": "0", "length": "16"},
        {"location": "huge", "offset": str(1 << 35), "length": "16"},
    ],
)
def test_the_bytes_of_the_tensor_are_read(entries: dict[str, str], tmp_path: Path) -> None:
    path = folder_with(tmp_path, external(entries=entries))
    (found,) = run_relay(import_onnx(path), [np.ones(4, np.float32)])
    np.testing.assert_array_equal(found, 1 if entries["location"] == "huge" else ELEMENTS + 1)


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("tensor", "reason"),
    [
        (external(location="../outside.bin"), "outside"),
        (external(location="up/outside.bin"), "outside"),
        (external(location="link"), "'link' is not a regular file"),
        (external(location="pipe"), "'pipe' is not a regular file"),
        (external(location="inner"), "'inner' is not a regular file"),
        (external(location="/dev/zero"), "'/dev/zero' is not a regular file"),
        (external(location="absent"), "No such file"),
        (external(location=""), "the name of the file is ''"),
        (external(location="w\0.bin"), "the name of the file is"),
        (external(), "the name of the file is ''"),
        (external(location="huge"), r"68719476736 bytes, its shape \[4\] and type take 16"),
        (external(location="w.bin", length="8"), "8 bytes"),
        (external(location="w.bin", offset="8"), "8 bytes"),
        (external(location="w.bin", offset="-8", length="16"), "offset"),
        (external(location="w.bin", offset="9" * 30, length="16"), "offset"),
        (external(location="w.bin", offset="zero"), "invalid literal"),
        (external((1 << 40, 1 << 40), location="w.bin"), "take 4835703278458516698824704"),
        (external((-4,), location="w.bin"), "take -16"),
        (external((-2, -2), location="w.bin"), "negative extent"),
        (external(elem=TensorProto.STRING, location="huge"), "element type STRING is not supported"),
        (external(elem=TensorProto.UNDEFINED, location="huge"), "element type UNDEFINED is not supported"),
        (external(elem=99, location="huge"), "element type 99 is not supported"),
    ],
)
def test_everything_else_is_refused_without_reading(tensor: onnx.TensorProto, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ModelImportError, match=f"tensor 'w'.*{reason}") as caught:
        import_onnx(folder_with(tmp_path, tensor))
    assert "\n" not in str(caught.value)


def in_a_body(tensor: onnx.TensorProto) -> onnx.NodeProto:
    body = helper.make_graph([helper.make_node("Neg", ["w"], ["r"])], "body", [], [value("r", (4,))], [tensor])
    return helper.make_node("If", ["c"], ["y"], name="if", then_branch=body, else_branch=body)


def in_an_attribute(tensor: onnx.TensorProto) -> onnx.NodeProto:
    return helper.make_node("Constant", [], ["y"], name="constant", value=tensor)


@pytest.mark.parametrize("make", [in_a_body, in_an_attribute])
def test_tensors_in_nodes_are_read_where_an_output_needs_them(
    make: Callable[[onnx.TensorProto], onnx.NodeProto], tmp_path: Path
) -> None:
    path = folder_with(tmp_path, external(location="w.bin"))
    source = model([make(external(location="w.bin"))], [value("c", (), TensorProto.BOOL)], ["y"])
    path.write_bytes(source.SerializeToString())
    (found,) = run_relay(import_onnx(path), [np.array(True)])
    np.testing.assert_array_equal(abs(found), ELEMENTS)
    unneeded = make(external(location="absent"))
    unneeded.output[0] = "nothing"
    source = model([unneeded, helper.make_node("Identity", ["c"], ["y"])], list(source.graph.input), ["y"])
    path.write_bytes(source.SerializeToString())
    import_onnx(path)


def test_a_weight_that_nothing_reads_may_be_missing(tmp_path: Path) -> None:
    path = folder_with(tmp_path, external(location="w.bin"))
    source = onnx.ModelProto.FromString(path.read_bytes())
    source.graph.initializer.add().CopyFrom(external(location="absent"))
    source.graph.initializer[-1].name = "unread"
    path.write_bytes(source.SerializeToString())
    import_onnx(path)


def folder_with_sums(tmp_path: Path, tensors: list[onnx.TensorProto]) -> Path:
    """The path of a model that adds several tensors to its input."""
    path = folder_with(tmp_path, tensors[0])
    source = onnx.ModelProto.FromString(path.read_bytes())
    del source.graph.node[:], source.graph.initializer[:]
    names = ["x", *(f"y{number}" for number in range(len(tensors) - 1)), "y"]
    for number, tensor in enumerate(tensors):
        tensor.name = f"w{number}"
        source.graph.initializer.append(tensor)
        source.graph.node.append(helper.make_node("Add", [names[number], tensor.name], [names[number + 1]]))
    path.write_bytes(source.SerializeToString())
    return path


def test_one_file_is_open_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder_with_sums(tmp_path, [external(location=f"w{number}.bin") for number in range(8)])
    for number in range(8):
        (path.parent / f"w{number}.bin").write_bytes(ELEMENTS.tobytes())
    descriptors: set[int] = set()
    array = FileBytes.array

    def noted(file: FileBytes, begin: int, end: int) -> NDArray[np.uint8]:
        descriptors.add(os.open(path.parent, os.O_RDONLY))
        os.close(max(descriptors))
        return array(file, begin, end)

    monkeypatch.setattr(FileBytes, "array", noted)
    (found,) = run_relay(import_onnx(path), [np.ones(4, np.float32)])
    np.testing.assert_array_equal(found, 8 * ELEMENTS + 1)
    assert len(descriptors) == 1


def test_tensors_of_equal_places_share_their_bytes(tmp_path: Path) -> None:
    tensors = [external((64,), location="w.bin", length="256") for _ in range(40)]
    path = folder_with_sums(tmp_path, tensors)
    (path.parent / "w.bin").write_bytes(bytes(range(256)))
    tensors = TensorBytes()
    model = onnx.ModelProto.FromString(path.read_bytes())
    load_external_data(model, path, tensors)
    arrays = [tensors.of(tensor) for tensor in model.graph.initializer]
    assert all(each is not None and each is arrays[0] for each in arrays)


def test_tensors_that_overlap_are_refused(tmp_path: Path) -> None:
    path = folder_with_sums(tmp_path, [external(location="w.bin", offset=str(4 * i), length="16") for i in range(2)])
    (path.parent / "w.bin").write_bytes(bytes(24))
    with pytest.raises(ModelImportError, match=r"tensor 'w1'.* take 32 bytes, the file has 24: they overlap"):
        import_onnx(path)
