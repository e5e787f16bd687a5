"""Weights that stand in files beside the model.

A model may come from anywhere, so what it says of a place is not trusted: only regular files in its folder or below are
opened, over no link, and none that has a second name (a hard link), which may be that of a file elsewhere. What a
tensor asks for is held against its shape and type before a byte is read: a tensor of one number does not read a file of
gigabytes, and no pipe is waited for.
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
from xrelay.frontend.onnx.tensor_bytes import TensorBytes


def bring_external_data(model: onnx.ModelProto, path: Path, kept: TensorBytes) -> None:
    """Read the weights of a model at `path` that its outputs need; they name their bytes in `kept` afterwards.

    Raises `ModelImportError`, which names the tensor, for a missing file, one that is no regular file in the folder of
    the model or changes meanwhile, and for other bytes than the shape and type of the tensor ask for.
    """
    _bring_all(_needed_tensors(model), path, kept)


def bring_small_tensor(tensor: onnx.TensorProto, path: Path, kept: TensorBytes, at_most: int) -> None:
    """Read a weight of the model at `path` that takes no more than `at_most` bytes; raises as `bring_external_data`."""
    if stored_bytes(tensor) <= at_most:
        _bring_all([tensor], path, kept)


def _bring_all(tensors: Iterable[onnx.TensorProto], path: Path, kept: TensorBytes) -> None:
    tensor, wanted = onnx.TensorProto(), list(tensors)
    try:
        folder, by_place = Path(os.path.realpath(path.parent)), dict[str, list[onnx.TensorProto]]()
        for tensor in wanted:
            if external_data_helper.uses_external_data(tensor) and kept.of(tensor) is None:
                by_place.setdefault(_entries(tensor).get("location", ""), []).append(tensor)
        # One file is open at a time: a model may have a file for each weight.
        for place, those in by_place.items():
            tensor = those[0]
            with opened(_checked_place(folder, place), follow=False) as file:
                if file.names > 1:
                    raise ValueError(f"{place!r} has multiple hard links, so it may be a file of another folder")
                reader = _Reader(file, kept)
                for tensor in those:
                    reader.bring(tensor)
    except (OSError, ValueError, EOFError, ModelImportError) as error:
        text = error.message if isinstance(error, ModelImportError) else str(error)
        complaint = f"cannot read the external data of tensor {tensor.name!r}: {' '.join(text.split())}"
        raise ModelImportError(complaint, location=str(path)) from error


def _needed_tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """The tensors of a model that its outputs need, those in bodies of nodes and in functions among them."""
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
        """The fields that refer to the bytes of each range."""

    def bring(self, tensor: onnx.TensorProto) -> None:
        """Read the bytes of a tensor.

        `ValueError` if they are not in the file, do not suit the tensor's shape and type, or overlap others in part.
        """
        entries, size = _entries(tensor), self._file.size
        offset, length = int(entries.get("offset", "0")), entries.get("length")
        given = size - offset if length is None else int(length)
        wanted = stored_bytes(tensor)
        if given != wanted:
            raise ValueError(f"{given} bytes are given, its shape {list(tensor.dims)} and type take {wanted}")
        if not 0 <= offset <= offset + given <= size:
            raise ValueError(f"{given} bytes from offset {offset} are not there, the file has {size}")
        place = offset, offset + given
        if place not in self._ranges:
            self._total += given
            if self._total > size:
                raise ValueError(f"the tensors of its file take {self._total} bytes, the file has {size}: they overlap")
            self._ranges[place] = self._kept.add(self._file.array(*place))
        tensor.ClearField("external_data")
        tensor.MergeFrom(self._ranges[place])


def _checked_place(folder: Path, place: str) -> Path:
    """The path of a regular file in a folder; `ValueError` for anything else."""
    if not place or "\0" in place:
        raise ValueError(f"the name of the file is {place!r}")
    path = folder / place
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise ValueError(f"{place!r} is no regular file")
    real = Path(os.path.realpath(path))
    if Path(place).is_absolute() or not real.is_relative_to(folder):
        raise ValueError(f"{place!r} is outside of the folder of the model")
    if real != Path(os.path.normpath(path)):
        raise ValueError(f"{place!r} leads over a symbolic link")
    return real
