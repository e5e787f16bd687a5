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
from contextlib import ExitStack
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
    tensor = onnx.TensorProto()
    try:
        with ExitStack() as stack:
            files = _Files(path.parent, stack)
            for tensor in tensors:
                if external_data_helper.uses_external_data(tensor) and kept.of(tensor) is None:
                    _bring(tensor, files, kept)
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


def _bring(tensor: onnx.TensorProto, files: _Files, kept: TensorBytes) -> None:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    file = files.get(entries.get("location", ""))
    offset, length = int(entries.get("offset", "0")), entries.get("length")
    given = file.size - offset if length is None else int(length)
    wanted = stored_bytes(tensor)
    if given != wanted:
        raise ValueError(f"{given} bytes are given, its shape {list(tensor.dims)} and type take {wanted}")
    if not 0 <= offset <= offset + given <= file.size:
        raise ValueError(f"{given} bytes from offset {offset} are not there, the file has {file.size}")
    fields = kept.add(file.array(offset, offset + given))
    tensor.ClearField("external_data")
    tensor.MergeFrom(fields)


class _Files:
    """The files of a folder that are read; each is opened once, until `stack` closes."""

    def __init__(self, folder: Path, stack: ExitStack):
        self._folder, self._stack = Path(os.path.realpath(folder)), stack
        self._files: dict[str, FileBytes] = {}

    def get(self, place: str) -> FileBytes:
        """The file at a place; `ValueError` for what is none of the folder."""
        if place not in self._files:
            file = self._stack.enter_context(opened(self._path(place), follow=False))
            if file.names > 1:
                raise ValueError(f"{place!r} has multiple hard links, so it may be a file of another folder")
            self._files[place] = file
        return self._files[place]

    def _path(self, place: str) -> Path:
        if not place or "\0" in place:
            raise ValueError(f"the name of the file is {place!r}")
        path = self._folder / place
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise ValueError(f"{place!r} is no regular file")
        real = Path(os.path.realpath(path))
        if Path(place).is_absolute() or not real.is_relative_to(self._folder):
            raise ValueError(f"{place!r} is outside of the folder of the model")
        if real != Path(os.path.normpath(path)):
            raise ValueError(f"{place!r} leads over a symbolic link")
        return real
