"""Finds the nodes of an ONNX model that can be imported: converts each node and counts the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.ir import SSAValue

from xrelay.api.interface import container_spec
from xrelay.dialects.shared.container_types import OptionalType, SequenceType
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.frontend.onnx.importer import ModelImport
from xrelay.frontend.onnx.problems import DependentNodeError


@dataclass(frozen=True)
class OpUse:
    """An op type of a model, its number of nodes, and the numbers of nodes that cannot be imported, by reason.

    `untried` is the number of nodes that depend on an unsupported node, so that the types of their inputs are unknown.
    """

    name: str
    count: int
    problems: Counter[str]
    untried: int

    @property
    def supported(self) -> int:
        """The number of nodes that can be imported."""
        return self.count - self.problems.total() - self.untried


@dataclass(frozen=True)
class ModelSummary:
    """The opset, the inputs and outputs with their types, and the op types, most frequent first."""

    opset: int
    inputs: list[str]
    outputs: list[str]
    ops: list[OpUse]


def summarize(path: Path, shapes: Mapping[str, Sequence[int]] | None = None) -> ModelSummary:
    """Imports an ONNX file as far as possible.

    Raises `ModelImportError` if it is not an ONNX model or its graph is ill-formed.
    """
    imported = ModelImport(path, shapes=shapes, assume_types=True)
    graph = imported.model.graph
    counts: Counter[str] = Counter()
    untried: Counter[str] = Counter()
    problems: dict[str, Counter[str]] = {}
    for number, node in enumerate(graph.node):
        name = node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}::{node.op_type}"
        counts[name] += 1
        error = imported.problems.get(number)
        if isinstance(error, DependentNodeError):
            untried[name] += 1
        elif error is not None:
            problems.setdefault(name, Counter())[error.message] += 1
    ops = [OpUse(name, count, problems.get(name, Counter()), untried[name]) for name, count in counts.most_common()]
    values = imported.graph.values
    inputs = [_described(value.name, values.get(value.name)) for value in imported.inputs]
    outputs = [_described(value.name, values.get(value.name)) for value in graph.output]
    return ModelSummary(imported.graph.opset(""), inputs, outputs, ops)


def _described(name: str, value: SSAValue | None) -> str:
    """Returns `data: float32[n, 3, 224, 224]`, or the name alone for a value that was not converted."""
    if value is None:
        return name
    if isinstance(value.type, SequenceType | OptionalType):
        return f"{name}: {container_spec(name, value.type)}"
    extents = ", ".join(str(extent) for extent in shape_of(value.type))
    return f"{name}: {numpy_dtype(element_type_of(value.type))}[{extents}]"
