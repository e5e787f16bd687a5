"""A compiled model as data: object code, tables and weights; in memory, or in one file.

The file is a safetensors file: tensors `object.N` (bytes of object code) and `weight.N`, and as metadata strings the
format's version, the tables as JSON and a digest of the code. Weights stay where the mapped file has them. Nothing in
a file is evaluated or unpickled; but a file carries native code, so load only what you would run.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import ArtifactError
from xrelay.runtime import llvm
from xrelay.runtime.arena import aligned
from xrelay.runtime.metadata import FORMAT_VERSION, ModelMetadata, TensorSpec, abi_stamp
from xrelay.runtime.safetensors_file import SafetensorsFile, read_safetensors, write_safetensors

_FORMAT_KEY: Final = "xrelay.format"
_MODEL_KEY: Final = "xrelay.model"
_DIGEST_KEY: Final = "xrelay.code_digest"
_RECOMPILE: Final = "compile the model again on this machine"


@dataclass(frozen=True, eq=False)
class Artifact:
    """Object code, tables and weights of a model.

    `weights` are in the order of `metadata.weights`, each contiguous and aligned to 64 bytes (copied where the given
    one is not); `ArtifactError` where number, dtype or shape differ from the table.
    """

    objects: tuple[bytes, ...]
    metadata: ModelMetadata
    weights: tuple[NDArray[Any], ...] = ()

    def __post_init__(self) -> None:
        specs = self.metadata.weights
        if len(specs) != len(self.weights):
            raise ArtifactError(f"the table names {len(specs)} weights, {len(self.weights)} are given")
        for spec, array in zip(specs, self.weights, strict=True):
            if array.dtype != spec.numpy_dtype or array.shape != spec.shape:
                got = TensorSpec(spec.name, str(array.dtype), array.shape)
                raise ArtifactError(f"weight '{spec.name}': expected {spec}, got {got}")
        object.__setattr__(self, "weights", tuple(aligned(array) for array in self.weights))

    def save(self, path: str | Path) -> None:
        """Write the model to a file, replacing one that is there; `ArtifactError` where that cannot be done."""
        tensors: dict[str, NDArray[Any]] = {}
        for i, code in enumerate(self.objects):
            tensors[f"object.{i}"] = np.frombuffer(code, np.uint8)
        for i, array in enumerate(self.weights):
            tensors[f"weight.{i}"] = array
        metadata = {
            _FORMAT_KEY: str(FORMAT_VERSION),
            _MODEL_KEY: self.metadata.to_json(),
            _DIGEST_KEY: _digest(self.objects),
        }
        try:
            write_safetensors(Path(path), tensors, metadata)
        except OSError as error:
            raise ArtifactError(f"cannot write '{path}': {error}") from error

    @staticmethod
    def load(path: str | Path) -> Artifact:
        """Read a file that `save` wrote and check that this machine can run it.

        `ArtifactError` names both sides where the file is damaged or truncated, of another format or ABI, or compiled
        for a CPU with features that this one lacks.
        """
        path = Path(path)
        file = read_safetensors(path)
        metadata = _read_metadata(path, file)
        objects = _read_objects(path, file)
        weights = tuple(_read_weight(path, file, i, spec) for i, spec in enumerate(metadata.weights))
        check_machine(metadata, str(path))
        return Artifact(objects, metadata, weights)


def check_machine(metadata: ModelMetadata, what: str) -> None:
    """`ArtifactError` where the code cannot run here: other ABI, or CPU features that are missing."""
    if metadata.abi != abi_stamp():
        raise ArtifactError(f"'{what}' has ABI {metadata.abi}, this machine {abi_stamp()}", help=_RECOMPILE)
    wanted = {feature[1:] for feature in metadata.features.split(",") if feature.startswith("+")}
    if not wanted:
        return
    present = llvm.host_features()
    missing = sorted(wanted - present) if present else []
    if missing:
        host = llvm.binding().get_host_cpu_name()
        shown = ", ".join(missing[:8]) + (", …" if len(missing) > 8 else "")
        raise ArtifactError(
            f"'{what}' is compiled for {metadata.cpu}, this machine is {host} and lacks {shown}", help=_RECOMPILE
        )


def _read_metadata(path: Path, file: SafetensorsFile) -> ModelMetadata:
    version = file.metadata.get(_FORMAT_KEY)
    if version is None or _MODEL_KEY not in file.metadata:
        raise ArtifactError(f"'{path}' is a safetensors file but not a saved model")
    if version != str(FORMAT_VERSION):
        raise ArtifactError(
            f"'{path}' has format {version}, this version of xrelay reads {FORMAT_VERSION}",
            help="save the model again with this version",
        )
    return ModelMetadata.from_json(file.metadata[_MODEL_KEY])


def _read_objects(path: Path, file: SafetensorsFile) -> tuple[bytes, ...]:
    count = sum(name.startswith("object.") for name in file.tensors)
    names = [f"object.{i}" for i in range(count)]
    if count == 0 or not all(name in file.tensors for name in names):
        raise ArtifactError(f"'{path}' is damaged: object code is missing")
    objects = tuple(file.tensors[name].tobytes() for name in names)
    if _digest(objects) != file.metadata.get(_DIGEST_KEY):
        raise ArtifactError(f"'{path}' is damaged: the object code does not match its digest")
    return objects


def _read_weight(path: Path, file: SafetensorsFile, number: int, spec: TensorSpec) -> NDArray[Any]:
    data = file.tensors.get(f"weight.{number}")
    if data is None or data.size != spec.nbytes:
        size = "nothing" if data is None else f"{data.size} bytes"
        raise ArtifactError(f"'{path}' is damaged: weight '{spec.name}' is {spec}, the file has {size}")
    return data.view(spec.numpy_dtype).reshape(spec.shape)


def _digest(objects: tuple[bytes, ...]) -> str:
    digest = hashlib.blake2b(digest_size=32)
    for code in objects:
        digest.update(len(code).to_bytes(8, "little"))
        digest.update(code)
    return digest.hexdigest()
