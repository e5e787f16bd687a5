"""Parts of an ONNX model: some of its nodes as a model of their own, and the model with more outputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import onnx
from onnx.external_data_helper import load_external_data_for_model

from xrelay.errors import InputError, ModelImportError
from xrelay.frontend.onnx.needed import names_read


class ModelParts:
    """The nodes of an ONNX model, from which smaller models are made."""

    unit = "nodes"

    def __init__(self, path: Path):
        """Reads the model and infers the types of its values. Raises `ModelImportError` if that fails."""
        try:
            self._model = _load(path)
            inferred = onnx.shape_inference.infer_shapes(self._model, data_prop=True)
        except Exception as error:  # its errors have no common base class
            text = " ".join(str(error).split())
            raise ModelImportError(f"the model cannot be read: {text}", location=str(path)) from error
        graph = self._model.graph
        self.count = len(graph.node)
        """The number of nodes."""
        infos = (*inferred.graph.value_info, *graph.input, *graph.output)
        self._types = {info.name: info for info in infos}
        self._initializers = {each.name: each for each in graph.initializer}
        self._sparse = {each.values.name: each for each in graph.sparse_initializer}
        self._outputs = {output.name for output in graph.output}

    def write_part(self, nodes: Sequence[int], path: Path) -> bool:
        """Writes the model of the nodes with these numbers; returns False if the type of an input is unknown.

        Raises `InputError` if it cannot be written.
        """
        model = self.part(nodes)
        if model is None:
            return False
        try:
            path.write_bytes(model.SerializeToString())
        except (OSError, ValueError) as error:  # a model of more than 2 GiB is a ValueError
            raise InputError(f"cannot write the model: {error}", location=str(path)) from error
        return True

    def part(self, nodes: Sequence[int]) -> onnx.ModelProto | None:
        """Returns a model of the nodes with these numbers; `None` if the type of an input is unknown.

        Values that only other nodes compute are inputs. Values that no node reads, and outputs of the whole model, are
        outputs.
        """
        graph = self._model.graph
        kept = [graph.node[number] for number in nodes]
        made = {name for node in kept for name in node.output if name}
        used = list(dict.fromkeys(name for node in kept for name in _read_in_order(node)))
        constants = self._initializers.keys() | self._sparse.keys()
        inputs = [name for name in used if name not in made and name not in constants]
        ends = self._outputs | (made - set(used))
        outputs = [name for node in kept for name in node.output if name in ends]
        if not outputs or any(name not in self._types for name in inputs):
            return None
        model = self._without_graph()
        part = model.graph
        part.name = graph.name
        part.node.extend(kept)
        part.input.extend(self._types[name] for name in inputs)
        part.output.extend(self._types.get(name, onnx.ValueInfoProto(name=name)) for name in outputs)
        part.initializer.extend(self._initializers[name] for name in used if name in self._initializers)
        part.sparse_initializer.extend(self._sparse[name] for name in used if name in self._sparse)
        return model

    def _without_graph(self) -> onnx.ModelProto:
        """Returns a model with the opsets and functions of this one, and an empty graph."""
        empty = onnx.ModelProto(ir_version=self._model.ir_version, producer_name=self._model.producer_name)
        empty.opset_import.extend(self._model.opset_import)
        empty.functions.extend(self._model.functions)
        return empty


def _read_in_order(node: onnx.NodeProto) -> list[str]:
    """Returns the values that a node reads: its inputs in order, then those of its bodies."""
    inputs = [name for name in node.input if name]
    return [*inputs, *sorted(names_read(node).difference(inputs))]


def _load(path: Path) -> onnx.ModelProto:
    """Returns a model with its external data."""
    model = onnx.ModelProto.FromString(path.read_bytes())
    load_external_data_for_model(model, str(path.parent))
    return model


def with_outputs(path: Path, names: Iterable[str]) -> bytes:
    """Returns the bytes of a model with further values as outputs."""
    model = _load(path)
    known = {output.name for output in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in known)
    return model.SerializeToString()
