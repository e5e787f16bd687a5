"""Saved models: round trip, and errors for invalid files."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from xrelay.api.model import CompiledModel, load
from xrelay.errors import ArtifactError
from xrelay.runtime.arena import address_of
from xrelay.runtime.artifact import DIGEST, Artifact, code_digest
from xrelay.runtime.metadata import ModelMetadata, TensorSpec, abi_stamp, dtype_from_name
from xrelay.runtime.safetensors_file import read_header, write_safetensors

DTYPES = [
    "bool",
    "int8",
    "uint16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "float8_e4m3fn",
    "int4",
]


def weights_artifact(arrays: dict[str, np.ndarray[Any, Any]]) -> Artifact:
    specs = tuple(TensorSpec(name, array.dtype.name, array.shape) for name, array in arrays.items())
    return Artifact((b"code", b"more code"), ModelMetadata((), (), weights=specs), tuple(arrays.values()))


def change_header(path: Path, edit: Any) -> None:
    """Applies `edit` to the parsed header of a file, and updates its digest."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    edit(header)
    rows = sorted(header.items())
    places = [
        place for part in ("", "version.0.", "version.1.") for name, place in rows if name.startswith(f"{part}object.")
    ]
    begins = [[8 + length + offset for offset in place["data_offsets"]] for place in places]
    header["__metadata__"][DIGEST] = code_digest(header, [data[begin:end] for begin, end in begins])
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])


def change_model(path: Path, **fields: object) -> None:
    """Replaces fields of the model's description."""

    def edit(header: dict[str, Any]) -> None:
        model = json.loads(header["__metadata__"]["xrelay.model"])
        header["__metadata__"]["xrelay.model"] = json.dumps({**model, **fields})

    change_header(path, edit)


@pytest.fixture
def saved(add_artifact: Artifact, tmp_path: Path) -> Path:
    path = tmp_path / "m.xrelay"
    add_artifact.save(path)
    return path


def test_a_saved_model_runs(saved: Path):
    x = np.ones(100, np.float32)
    np.testing.assert_array_equal(load(saved)(x, x)[0], 2 + np.arange(100))


def test_metadata_comes_back(saved: Path, add_artifact: Artifact):
    loaded = Artifact.load(saved)
    assert loaded.metadata == add_artifact.metadata
    assert loaded.objects == add_artifact.objects


@pytest.mark.parametrize("name", DTYPES)
def test_weights_of_every_dtype(name: str, tmp_path: Path):
    array = np.arange(6).reshape(2, 3).astype(dtype_from_name(name))
    weights_artifact({"w": array}).save(tmp_path / "m")
    (loaded,) = Artifact.load(tmp_path / "m").weights
    assert loaded.dtype == array.dtype
    np.testing.assert_array_equal(loaded.astype(np.float64), array.astype(np.float64))


@pytest.mark.parametrize("mapped", [True, False])
def test_weights_lie_aligned(tmp_path: Path, mapped: bool):
    arrays = {f"w{n}": np.full(n, n, np.float32) for n in (1, 3, 17, 0, 100)}
    arrays["scalar"] = np.array(5, np.float32)
    weights_artifact(arrays).save(tmp_path / "m")
    loaded = Artifact.load(tmp_path / "m", mmap=mapped).weights
    with (tmp_path / "m").open("rb") as file:
        places = read_header(tmp_path / "m", file.fileno()).tensors.values()
    for array, expected in zip(loaded, arrays.values(), strict=True):
        np.testing.assert_array_equal(array, expected)
        if array.size:
            assert address_of(array) % 64 == 0
            assert not array.flags.writeable
    assert all(begin % 64 == 0 for begin, _ in places)


def test_other_readers_of_safetensors_read_the_file(tmp_path: Path):
    arrays = {"a": np.arange(5, dtype=np.float32), "b": np.array([[True, False]]), "c": np.array(2, np.int64)}
    write_safetensors(tmp_path / "m", arrays, {"k": "v"})
    loaded = safetensors.numpy.load_file(tmp_path / "m")
    for name, array in arrays.items():
        np.testing.assert_array_equal(loaded[name], array)
        assert loaded[name].shape == array.shape


def test_weights_are_aligned_when_they_are_not(tmp_path: Path):
    odd = np.zeros(401, np.uint8)[1:].view(np.float32)
    (weight,) = weights_artifact({"w": odd}).weights
    assert address_of(weight) % 64 == 0


@pytest.fixture
def with_version(tmp_path: Path) -> Path:
    model = weights_artifact({"a": np.arange(3, dtype=np.float32), "b": np.arange(4, dtype=np.float32)})
    version = weights_artifact({"a": model.weights[0], "c": np.full(2, 7, np.float32)})
    replace(model, versions=(version, model)).save(tmp_path / "m")
    return tmp_path / "m"


def test_weights_that_a_version_shares_are_stored_once(with_version: Path):
    model = Artifact.load(with_version)
    first, second = model.versions
    assert first.weights[0] is model.weights[0]
    assert first.weights[1].tolist() == [7, 7]
    assert second.weights == model.weights
    with with_version.open("rb") as file:
        names = read_header(with_version, file.fileno()).tensors
    assert [name for name in names if "weight" in name] == ["weight.0", "weight.1", "version.0.weight.1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0", "a version shares weights that do not exist"),
        ("2 -", "a version shares weights that do not exist"),
        ("1 -", "a version shares weights that do not exist"),
        ("- -", r"weight 'a' is float32\[3\], the file has nothing"),
        ("", r"weight 'a' is float32\[3\], the file has nothing"),
    ],
)
def test_weights_that_a_version_cannot_share(with_version: Path, text: str, message: str):
    def edit(header: dict[str, Any]) -> None:
        assert header["__metadata__"]["xrelay.shared.version.0"] == "0 -"
        header["__metadata__"]["xrelay.shared.version.0"] = text

    change_header(with_version, edit)
    with pytest.raises(ArtifactError, match=message):
        Artifact.load(with_version)


def test_weights_must_fit_their_table():
    metadata = ModelMetadata((), (), weights=(TensorSpec("w", "float32", (2,)),))
    with pytest.raises(ArtifactError, match=r"'w': expected float32\[2\], got float64\[3\]"):
        Artifact((b"",), metadata, (np.zeros(3),))
    with pytest.raises(ArtifactError, match=r"1 weights, .*0"):
        Artifact((b"",), metadata)


@pytest.mark.parametrize("mapped", [True, False])
def test_saving_replaces_a_file_that_is_in_use(saved: Path, add_artifact: Artifact, mapped: bool):
    loaded = Artifact.load(saved, mmap=mapped)
    add_artifact.save(saved)
    np.testing.assert_array_equal(loaded.weights[0], np.arange(100))
    assert [path.name for path in saved.parent.iterdir() if path.is_file()] == [saved.name]


def test_every_truncation_is_refused(saved: Path):
    data = saved.read_bytes()
    for length in {0, 1, 7, 8, 9, 100, 1000, len(data) // 2, len(data) - 1}:
        saved.write_bytes(data[:length])
        with pytest.raises(ArtifactError):
            Artifact.load(saved)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x04\x95 a pickle",
        b"PK\x03\x04 a zip file with some bytes",
        bytes(1000),
        b"\xff" * 1000,
        (20).to_bytes(8, "little") + b"{" * 20,
        (200_000).to_bytes(8, "little") + b'{"a":' + b"[" * 199_995,
        (12).to_bytes(8, "little") + b'{"a": "b"}  ',
        (2).to_bytes(8, "little") + b"{}",
    ],
)
def test_foreign_files_are_refused(tmp_path: Path, content: bytes):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ArtifactError, match="m'"):
        Artifact.load(tmp_path / "m")


def test_missing_file_and_folder(tmp_path: Path):
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(ArtifactError, match="cannot open"):
            Artifact.load(path)
    with pytest.raises(ArtifactError, match="cannot write"):
        weights_artifact({}).save(tmp_path / "no" / "such" / "folder")


def test_other_safetensors_file(tmp_path: Path):
    safetensors.numpy.save_file({"a": np.zeros(3)}, tmp_path / "m")
    with pytest.raises(ArtifactError, match="is a safetensors file but not a saved model"):
        Artifact.load(tmp_path / "m")


def test_changed_code_is_refused(saved: Path):
    data = saved.read_bytes()
    at = data.index(b"\x7fELF") + 100
    saved.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    with pytest.raises(ArtifactError, match="do not match their digest"):
        Artifact.load(saved)


@pytest.mark.parametrize("version", ["7", "99"])
def test_other_format_version(saved: Path, version: str):
    def edit(header: dict[str, Any]) -> None:
        header["__metadata__"]["xrelay.format"] = version

    change_header(saved, edit)
    with pytest.raises(
        ArtifactError, match=f"format {version}, this version of xrelay reads 12; help: compile the model again"
    ):
        Artifact.load(saved)


def test_other_abi(saved: Path):
    change_model(saved, abi="7-plan9-mips")
    with pytest.raises(ArtifactError, match=f"ABI 7-plan9-mips, this machine {abi_stamp()}"):
        Artifact.load(saved)


def test_cpu_features_that_are_missing(saved: Path):
    change_model(saved, cpu="znver99", features="+flux-capacitor,-other")
    with pytest.raises(ArtifactError, match=r"compiled for znver99, this machine is \S+ and lacks flux-capacitor"):
        Artifact.load(saved)


def test_code_for_another_cpu_is_not_run(add_artifact: Artifact):
    metadata = dataclasses.replace(add_artifact.metadata, features="+flux-capacitor")
    model = dataclasses.replace(add_artifact, metadata=metadata)
    with pytest.raises(ArtifactError, match="lacks flux-capacitor"):
        CompiledModel(model)(np.zeros(100, np.float32), np.zeros(100, np.float32))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("inputs", None),
        ("inputs", [1]),
        ("inputs", [{"name": "x", "dtype": "float32", "shape": [-1]}]),
        ("inputs", [{"name": "x", "dtype": "float32", "shape": [True]}]),
        ("inputs", [{"name": "x", "dtype": "float31", "shape": []}]),
        ("inputs", [{"name": 3, "dtype": "float32", "shape": []}]),
        ("inputs", [{"name": "x", "dtype": "float32", "shape": [1 << 40, 1 << 40]}]),
        ("outputs", [{"name": "x", "dtype": "float32", "shape": [1 << 61]}]),
        ("outputs", [{"name": "x", "containers": ["function"], "functions": []}]),
        ("arena_size", -1),
        ("arena_size", 1 << 62),
        ("arena_size", "many"),
        ("kernels", [{"symbol": "k", "sources": [1]}]),
        ("features", 5),
    ],
)
def test_fields_of_the_wrong_kind(saved: Path, field: str, value: object):
    change_model(saved, **{field: value})
    with pytest.raises(ArtifactError, match=r"model's description|float31"):
        Artifact.load(saved)


def test_a_weight_of_another_size(saved: Path):
    change_model(saved, weights=[{"name": "conv1.w", "dtype": "float32", "shape": [99]}])
    with pytest.raises(ArtifactError, match=r"'conv1.w' is float32\[99\], the file has 400 bytes"):
        Artifact.load(saved)


def test_names_of_dtypes():
    assert dtype_from_name("bfloat16") == ml_dtypes.bfloat16
    for name in ("float31", "O", "object", "f4", "i4,f4", "", "finfo"):
        with pytest.raises(ArtifactError, match=f"'{name}' is not a dtype"):
            dtype_from_name(name)
