"""Coverage report of a model: its ops, how each is converted, and all that is unsupported, without compiling.

Every node is examined, including those of bodies and of called functions. The nodes of the main graph are also
converted as far as possible, since some errors depend on types and values. No error ends the analysis: problems of the
model as a whole are recorded. Large weights in external files are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import onnx
from onnx.external_data_helper import uses_external_data
from xdsl.ir import Block

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.conversion import ConversionKind, conversion_of
from xrelay.frontend.onnx.external_data import load_small_tensor
from xrelay.frontend.onnx.functions import ModelFunctions
from xrelay.frontend.onnx.graph import GraphBuilder
from xrelay.frontend.onnx.importer import ModelImport
from xrelay.frontend.onnx.load import LoadedModel, open_model
from xrelay.frontend.onnx.needed import bodies_of
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.problems import DependentNodeError

MAX_READ: Final = 1 << 20
"""The maximum size in bytes of an external weight that is read; parameters such as shapes are smaller."""


@dataclass
class OpCoverage:
    """An op of a model in one opset, with the number of its nodes and their outcomes."""

    domain: str
    op_type: str
    opset: int
    kinds: Counter[ConversionKind] = field(default_factory=Counter)
    """The number of converted nodes, by how they are converted."""
    refused: dict[str, list[str]] = field(default_factory=dict)
    """The names of refused nodes, by reason."""
    untried: int = 0
    """The number of nodes that depend on refused ones."""
    unneeded: int = 0
    """The number of nodes on which no output depends; they need not be supported."""

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self.kinds.total() + self.num_refused + self.untried + self.unneeded

    @property
    def num_refused(self) -> int:
        """The number of refused nodes."""
        return sum(map(len, self.refused.values()))

    def refuse(self, reason: str, name: str) -> None:
        """Counts a refused node."""
        self.refused.setdefault(reason, []).append(name)


@dataclass(frozen=True)
class Coverage:
    """The ops of a model (those with refused nodes first, then by number of nodes), and other problems of the model."""

    ops: Sequence[OpCoverage]
    problems: Sequence[str]

    @property
    def is_whole(self) -> bool:
        """Whether the model can be imported."""
        return not self.problems and not any(op.refused or op.untried for op in self.ops)


def coverage(path: Path, shapes: Mapping[str, Sequence[int | str]] | None = None) -> Coverage:
    """Returns the coverage of an ONNX file; raises `ModelImportError` if the file is not an ONNX model."""
    loaded = open_model(path)
    survey = _Survey(loaded.proto, str(path))
    problems = _load_small_weights(loaded, path)
    try:
        imported = ModelImport(loaded, shapes=shapes, assume_types=True)
    except ModelImportError as error:
        return Coverage(survey.ordered(), [*problems, error.message])
    survey.refuse_what_fails(imported)
    return Coverage(survey.ordered(), [*problems, *(str(error) for error in imported.value_problems)])


class _Survey:
    """Counts the nodes of a model by op, each examined on its own."""

    def __init__(self, model: onnx.ModelProto, location: str):
        self._location, self._functions = location, ModelFunctions(model)
        self._ops: dict[tuple[str, str, int], OpCoverage] = {}
        self._graph = self._builder(model.graph, {entry.domain: int(entry.version) for entry in model.opset_import})
        self._called = set[int]()
        pending = [self._graph]
        while pending:
            pending += self._visit(pending.pop())

    def _builder(self, graph: onnx.GraphProto, opsets: Mapping[str, int]) -> GraphBuilder:
        return GraphBuilder(Block(), graph, self._location, opsets, self._functions)

    def _visit(self, graph: GraphBuilder) -> list[GraphBuilder]:
        """Counts the nodes of a graph; returns the graphs of their bodies and called functions, each function once."""
        further: list[GraphBuilder] = []
        for number, proto in enumerate(graph.nodes):
            node = NodeView(proto, graph)
            op = self._op(node)
            if number not in graph.needed_nodes:
                op.unneeded += 1
                continue
            try:
                kind, _ = conversion_of(node)
            except ModelImportError as error:
                op.refuse(error.message, node.name)
                continue
            op.kinds[kind] += 1
            further += [graph.inner(Block(), body) for body in bodies_of(proto)]
            function = self._functions.get(proto)
            if kind is ConversionKind.FUNCTION and function is not None and id(function) not in self._called:
                self._called.add(id(function))
                further.append(self._inside(function))
        return further

    def _inside(self, function: onnx.FunctionProto) -> GraphBuilder:
        outputs = [onnx.ValueInfoProto(name=name) for name in function.output]
        body = onnx.GraphProto(name=function.name, node=function.node, output=outputs)
        return self._builder(body, {entry.domain: int(entry.version) for entry in function.opset_import})

    def _op(self, node: NodeView) -> OpCoverage:
        key = (node.domain or "ai.onnx", node.proto.op_type, node.opset)
        return self._ops.setdefault(key, OpCoverage(*key))

    def refuse_what_fails(self, imported: ModelImport) -> None:
        """Counts the nodes of the main graph that passed the examination but failed to convert."""
        for number, error in imported.problems.items():
            node = NodeView(self._graph.nodes[number], self._graph)
            op = self._op(node)
            try:
                kind, _ = conversion_of(node)
            except ModelImportError:
                continue  # already counted as refused
            op.kinds[kind] -= 1
            if isinstance(error, DependentNodeError):
                op.untried += 1
            else:
                op.refuse(error.message, node.name)

    def ordered(self) -> list[OpCoverage]:
        """The ops, those with refused nodes first, then by number of nodes."""
        return sorted(self._ops.values(), key=lambda op: (-op.num_refused, -op.nodes, op.domain, op.op_type, op.opset))


def _load_small_weights(loaded: LoadedModel, path: Path) -> list[str]:
    """Reads small weights from external files, and turns large ones into inputs; returns the errors."""
    graph, problems = loaded.proto.graph, list[str]()
    kept: list[onnx.TensorProto] = []
    for tensor in graph.initializer:
        if uses_external_data(tensor) and loaded.tensors.of(tensor) is None:
            try:
                load_small_tensor(tensor, path, loaded.tensors, MAX_READ)
            except ModelImportError as error:
                problems.append(str(error))
        if not uses_external_data(tensor) or loaded.tensors.of(tensor) is not None:
            kept.append(tensor)
        elif all(value.name != tensor.name for value in graph.input):
            graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    if len(kept) < len(graph.initializer):
        del graph.initializer[:]
        graph.initializer.extend(kept)
    return problems
