"""Weights that stand in files beside the model.

onnx reads them, and refuses places outside of the model's folder and links. Before it does, the file and the bytes that
a tensor asks for are looked at: a tensor of one number does not read a file of gigabytes, and no pipe is waited for.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from math import prod
from pathlib import Path

import onnx
from onnx import external_data_helper

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.needed import bodies_of, names_read, needed_nodes
from xrelay.frontend.onnx.signature import numpy_type


def bring_external_data(model: onnx.ModelProto, path: Path) -> None:
    """Load the weights of a model at `path` that its outputs need.

    Raises `ModelImportError`, which names the tensor, for a missing file, one that is no regular file in the folder of
    the model, and for other bytes than the shape and type of the tensor ask for.
    """
    for tensor in _needed_tensors(model):
        if external_data_helper.uses_external_data(tensor):
            try:
                _check_file(tensor, path.parent)
                external_data_helper.load_external_data_for_tensor(tensor, str(path.parent))
            except ModelImportError as error:
                raise ModelImportError(_complaint(tensor, error.message), location=str(path)) from error
            except (OSError, ValueError, onnx.checker.ValidationError) as error:
                raise ModelImportError(_complaint(tensor, str(error)), location=str(path)) from error
            # Older releases of onnx bring the bytes and leave the tensor saying that they are elsewhere.
            tensor.data_location = onnx.TensorProto.DEFAULT
            del tensor.external_data[:]


def _complaint(tensor: onnx.TensorProto, text: str) -> str:
    return f"cannot read the external data of tensor {tensor.name!r}: {' '.join(text.split())}"


def _needed_tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """The tensors of a model that its outputs need, those in bodies of nodes and in functions among them."""
    graph = model.graph
    nodes = [graph.node[number] for number in needed_nodes(graph)]
    names = {output.name for output in graph.output}.union(*map(names_read, nodes))
    yield from (tensor for tensor in graph.initializer if tensor.name in names)
    pending = [*nodes, *(node for function in model.functions for node in function.node)]
    while pending:
        node = pending.pop()
        yield from (attribute.t for attribute in node.attribute if attribute.HasField("t"))
        for body in bodies_of(node):
            yield from body.initializer
            pending += body.node


def _check_file(tensor: onnx.TensorProto, folder: Path) -> None:
    """Refuse what is no regular file, and other bytes than the tensor has, without reading any."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    place = entries.get("location", "")
    if not place or "\0" in place:
        raise ModelImportError(f"the name of the file is {place!r}")
    status = os.lstat(folder / place)
    if not stat.S_ISREG(status.st_mode):
        raise ModelImportError(f"{place!r} is no regular file")
    offset, length = int(entries.get("offset", "0")), entries.get("length")
    given = status.st_size - offset if length is None else int(length)
    wanted = prod(tensor.dims) * numpy_type(tensor.data_type).itemsize
    if given != wanted:
        raise ModelImportError(f"{given} bytes are given, its shape {list(tensor.dims)} and type take {wanted}")
