"""Parts of an ONNX model: some of its nodes as a model of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from xrelay.errors import ModelImportError


class ModelParts:
    """The nodes of an ONNX model, from which smaller models are made."""

    def __init__(self, path: Path):
        """Reads the model and infers the types of its values. Raises `ModelImportError` if that fails."""
        self._onnx: Any = import_module("onnx")
        try:
            self._model: Any = self._onnx.load(str(path))
            inferred: Any = self._onnx.shape_inference.infer_shapes(self._model, data_prop=True)
        except Exception as error:  # its errors have no common base class
            text = " ".join(str(error).split())
            raise ModelImportError(f"the model cannot be read: {text}", location=str(path)) from error
        graph = self._model.graph
        self.count = len(graph.node)
        """The number of nodes."""
        self._types: dict[str, Any] = {
            info.name: info for info in (*inferred.graph.value_info, *graph.input, *graph.output)
        }
        self._initializers: dict[str, Any] = {
            **{each.name: each for each in graph.initializer},
            **{each.values.name: each for each in graph.sparse_initializer},
        }
        self._outputs = {output.name for output in graph.output}

    def part(self, nodes: Sequence[int]) -> Any | None:
        """Returns a model of the nodes with these numbers; `None` if the type of an input is unknown.

        Values that only other nodes compute are inputs. Values that no node reads, and outputs of the whole model, are
        outputs.
        """
        graph = self._model.graph
        kept = [graph.node[number] for number in nodes]
        made = {name for node in kept for name in node.output if name}
        used = list(dict.fromkeys(name for node in kept for name in used_values(node)))
        inputs = [name for name in used if name not in made and name not in self._initializers]
        ends = self._outputs | (made - set(used))
        outputs = [name for node in kept for name in node.output if name in ends]
        if not outputs or any(name not in self._types for name in inputs):
            return None
        model = self._onnx.ModelProto()
        model.CopyFrom(self._without_graph())
        part = model.graph
        part.name = graph.name
        part.node.extend(kept)
        part.input.extend(self._types[name] for name in inputs)
        part.output.extend(self._types.get(name, self._onnx.ValueInfoProto(name=name)) for name in outputs)
        for name in used:
            found = self._initializers.get(name)
            if isinstance(found, self._onnx.TensorProto):
                part.initializer.append(found)
            elif found is not None:
                part.sparse_initializer.append(found)
        return model

    def _without_graph(self) -> Any:
        """Returns a model with the opsets and functions of this one, and an empty graph."""
        empty = self._onnx.ModelProto()
        empty.ir_version, empty.producer_name = self._model.ir_version, self._model.producer_name
        empty.opset_import.extend(self._model.opset_import)
        empty.functions.extend(self._model.functions)
        return empty


def used_values(node: Any) -> Iterator[str]:
    """Yields the values that a node reads, also in its bodies."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield from (name for name in current.input if name)
        for attribute in current.attribute:
            for body in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                own = {
                    *(each.name for each in (*body.input, *body.initializer)),
                    *(name for inner in body.node for name in inner.output),
                }
                names = [name for inner in body.node for name in used_values(inner)]
                names += [output.name for output in body.output]
                yield from (name for name in names if name not in own)
