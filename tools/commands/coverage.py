"""The nodes of an ONNX model that can be imported: counts for `xrelay inspect`, and the tables of `--coverage`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.ir import SSAValue

from xrelay.api.interface import container_spec
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import OptionalType, SequenceType, element_type_of, shape_of
from xrelay.frontend.onnx.coverage import Coverage, OpCoverage
from xrelay.frontend.onnx.importer import ModelImport
from xrelay.frontend.onnx.problems import DependentNodeError
from xrelay.frontend.onnx.signature import identifier
from xrelay.index_algebra.dims import ANY


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
    dims: list[str]
    """The dimensions that the inputs leave open: names, or `x_0` for axis 0 of input `x`."""
    ops: list[OpUse]


def summarize(path: Path, shapes: Mapping[str, Sequence[int | str]] | None = None) -> ModelSummary:
    """Imports all supported nodes of an ONNX file.

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
    dims = dict.fromkeys(name for value in imported.inputs for name in _open_dims(value.name, values.get(value.name)))
    return ModelSummary(imported.graph.opset(""), inputs, outputs, list(dims), ops)


def _open_dims(name: str, value: SSAValue | None) -> list[str]:
    if value is None or isinstance(value.type, SequenceType | OptionalType):
        return []
    extents = enumerate(shape_of(value.type))
    stem = identifier(name) or name
    return [f"{stem}_{axis}" if dim == ANY else str(dim) for axis, dim in extents if not isinstance(dim, int)]


def _described(name: str, value: SSAValue | None) -> str:
    """Returns `data: float32[n, 3, 224, 224]`, or the name alone for a value that was not converted."""
    if value is None:
        return name
    if isinstance(value.type, SequenceType | OptionalType):
        return f"{name}: {container_spec(name, value.type)}"
    extents = ", ".join(str(extent) for extent in shape_of(value.type))
    return f"{name}: {numpy_dtype(element_type_of(value.type))}[{extents}]"


HEAD = ("domain", "op", "opset", "nodes", "imported by")
_MAX_NAMES = 3
"""The number of nodes that are listed for a reason."""


def as_text(coverage: Coverage) -> list[str]:
    """Returns the lines of the table, the reasons below it, and the totals."""
    rows = [(op.domain, op.op_type, str(op.opset), str(op.nodes), _verdict(op)) for op in coverage.ops]
    widths = [max(len(row[column]) for row in (HEAD, *rows)) for column in range(len(HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (HEAD, *rows)]
    missing = [op for op in coverage.ops if op.refused]
    for op in missing:
        lines += [f"{op.op_type}: {_nodes(names)}: {reason}" for reason, names in op.refused.items()]
    lines += [f"model: {problem}" for problem in coverage.problems]
    nodes, refused = sum(op.nodes for op in coverage.ops), sum(op.num_refused for op in missing)
    untried = sum(op.untried for op in coverage.ops)
    rest = f"; {untried} depend on unsupported nodes and were not tried" if untried else ""
    lines.append(f"{refused} of {nodes} nodes are unsupported ({len(missing)} of {len(coverage.ops)} ops){rest}")
    return [line.rstrip() for line in lines]


def as_json(coverage: Coverage) -> str:
    """Returns one line of JSON with the same numbers, and the names of all refused nodes."""
    ops = [
        {
            "domain": op.domain,
            "op": op.op_type,
            "opset": op.opset,
            "nodes": op.nodes,
            "taken": {kind.value: count for kind, count in op.kinds.items() if count},
            "refused": [{"reason": reason, "nodes": names} for reason, names in op.refused.items()],
            "untried": op.untried,
            "unneeded": op.unneeded,
        }
        for op in coverage.ops
    ]
    return json.dumps({"whole": coverage.is_whole, "ops": ops, "problems": list(coverage.problems)})


def _verdict(op: OpCoverage) -> str:
    """Returns how the nodes are imported, with numbers if they differ."""
    counts = [(kind.value, count) for kind, count in op.kinds.items()]
    counts += [("unsupported", op.num_refused), ("not tried", op.untried), ("not needed", op.unneeded)]
    present = [(text, count) for text, count in counts if count]
    return present[0][0] if len(present) == 1 else ", ".join(f"{count} {text}" for text, count in present)


def _nodes(names: Sequence[str]) -> str:
    """Returns `2 nodes ('a', 'b')`."""
    listed = ", ".join(map(repr, names[:_MAX_NAMES])) + (", …" if len(names) > _MAX_NAMES else "")
    return f"{len(names)} {'node' if len(names) == 1 else 'nodes'} ({listed})"
