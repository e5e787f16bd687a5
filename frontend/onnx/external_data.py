"""Weights in files beside the model (ONNX's external data).

A model may come from an untrusted source, so the paths in it are not trusted. Only regular files in the model's folder
or below are opened, not through links, and not if they have a second hard link, which may be that of a file elsewhere.
The length is checked against the tensor's shape and type before a byte is read, so that a scalar cannot make the
importer read gigabytes, and pipes are never opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

import onnx
from onnx import external_data_helper

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.model_bytes import FileBytes, opened
from xrelay.frontend.onnx.needed import bodies_of, names_read, needed_nodes
from xrelay.frontend.onnx.signature import stored_bytes
from xrelay.frontend.onnx.tensors import TensorBytes


def load_external_data(model: onnx.ModelProto, path: Path, kept: TensorBytes) -> None:
    """Reads the weights that the outputs of the model at `path` need; afterwards they refer to their bytes in `kept`.

    Raises `ModelImportError`, which names the tensor, for a missing file, for a file that is not a regular file in the
    folder of the model or that changes meanwhile, and if the length does not match the tensor's shape and type.
    """
    _load_all(_needed_tensors(model), path, kept)


def load_small_tensor(tensor: onnx.TensorProto, path: Path, kept: TensorBytes, at_most: int) -> None:
    """Reads a weight of the model at `path` if it has at most `at_most` bytes; raises as `load_external_data` does."""
    if stored_bytes(tensor) <= at_most:
        _load_all([tensor], path, kept)


def _load_all(tensors: Iterable[onnx.TensorProto], path: Path, kept: TensorBytes) -> None:
    tensor, wanted = onnx.TensorProto(), list(tensors)
    try:
        folder, by_location = Path(os.path.realpath(path.parent)), dict[str, list[onnx.TensorProto]]()
        for tensor in wanted:
            if external_data_helper.uses_external_data(tensor) and kept.of(tensor) is None:
                by_location.setdefault(_entries(tensor).get("location", ""), []).append(tensor)
        # Only one file is open at a time: a model may have one file per weight.
        for location, those in by_location.items():
            tensor = those[0]
            with opened(_checked_path(folder, location), follow=False) as file:
                if file.names > 1:
                    raise ValueError(f"{location!r} has multiple hard links, so it may belong to another folder")
                reader = _Reader(file, kept)
                for tensor in those:
                    reader.load(tensor)
    except (OSError, ValueError, EOFError, ModelImportError) as error:
        text = error.message if isinstance(error, ModelImportError) else str(error)
        complaint = f"cannot read the external data of tensor {tensor.name!r}: {' '.join(text.split())}"
        raise ModelImportError(complaint, location=str(path)) from error


def _needed_tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """The tensors that the outputs of a model need, including those in bodies of nodes and in functions."""
    graph = model.graph
    nodes = [graph.node[number] for number in needed_nodes(graph)]
    names = {output.name for output in graph.output}.union(*map(names_read, nodes))
    yield from (tensor for tensor in graph.initializer if tensor.name in names)
    sparse = [tensor for tensor in graph.sparse_initializer if tensor.values.name in names]
    yield from (part for tensor in sparse for part in (tensor.values, tensor.indices))
    pending = [*nodes, *(node for function in model.functions for node in function.node)]
    while pending:
        node = pending.pop()
        yield from (attribute.t for attribute in node.attribute if attribute.HasField("t"))
        for body in bodies_of(node):
            yield from body.initializer
            pending += body.node


def _entries(tensor: onnx.TensorProto) -> dict[str, str]:
    return {entry.key: entry.value for entry in tensor.external_data}


class _Reader:
    """Reads tensors from an open file, each range of bytes once."""

    def __init__(self, file: FileBytes, kept: TensorBytes):
        self._file, self._kept, self._total = file, kept, 0
        self._ranges: dict[tuple[int, int], onnx.TensorProto] = {}
        """For each range of bytes, the fields with which a tensor refers to it."""

    def load(self, tensor: onnx.TensorProto) -> None:
        """Reads the bytes of a tensor.

        Raises `ValueError` if they are not in the file, do not match the tensor's shape and type, or partly overlap
        others.
        """
        entries, size = _entries(tensor), self._file.size
        offset, length = int(entries.get("offset", "0")), entries.get("length")
        given = size - offset if length is None else int(length)
        wanted = stored_bytes(tensor)
        if given != wanted:
            raise ValueError(f"it has {given} bytes, its shape {list(tensor.dims)} and type take {wanted}")
        if not 0 <= offset <= offset + given <= size:
            raise ValueError(f"{given} bytes from offset {offset} exceed the file, which has {size}")
        span = offset, offset + given
        if span not in self._ranges:
            self._total += given
            if self._total > size:
                raise ValueError(f"the tensors of its file take {self._total} bytes, the file has {size}: they overlap")
            self._ranges[span] = self._kept.add(self._file.array(*span))
        tensor.ClearField("external_data")
        tensor.MergeFrom(self._ranges[span])


def _checked_path(folder: Path, location: str) -> Path:
    """The path of a regular file in a folder; raises `ValueError` for anything else."""
    if not location or "\0" in location:
        raise ValueError(f"the name of the file is {location!r}")
    path = folder / location
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise ValueError(f"{location!r} is not a regular file")
    real = Path(os.path.realpath(path))
    if Path(location).is_absolute() or not real.is_relative_to(folder):
        raise ValueError(f"{location!r} is outside of the folder of the model")
    if real != Path(os.path.normpath(path)):
        raise ValueError(f"{location!r} contains a symbolic link")
    return real
