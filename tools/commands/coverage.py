"""What an ONNX model consists of, and which of its nodes can be imported."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from xrelay.frontend.onnx import converters
from xrelay.frontend.onnx.load import load_model
from xrelay.frontend.onnx.registry import find_converter, known_ranges
from xrelay.frontend.onnx.signature import graph_inputs


@dataclass(frozen=True)
class OpUse:
    """An op type of a model, how many nodes have it, and why it cannot be imported (None: it can)."""

    name: str
    count: int
    problem: str | None


@dataclass(frozen=True)
class ModelSummary:
    """Opset, names of inputs and outputs, and op types, the most frequent first."""

    opset: int
    inputs: list[str]
    outputs: list[str]
    ops: list[OpUse]


def summarize(path: Path) -> ModelSummary:
    """Look at an ONNX file; `ModelImportError` where it is none."""
    converters.load()
    model, _ = load_model(path)
    opsets = {_domain(entry.domain): int(entry.version) for entry in model.opset_import}
    counts = Counter((_domain(node.domain), node.op_type) for node in model.graph.node)
    ops = [
        OpUse(f"{domain}::{name}" if domain else name, count, _problem(name, domain, opsets.get(domain, 0)))
        for (domain, name), count in counts.most_common()
    ]
    inputs = [value.name for value in graph_inputs(model.graph)]
    return ModelSummary(opsets.get("", 0), inputs, [value.name for value in model.graph.output], ops)


def _domain(name: str) -> str:
    """The default domain has two spellings."""
    return "" if name == "ai.onnx" else name


def _problem(name: str, domain: str, opset: int) -> str | None:
    if find_converter(name, domain, opset) is not None:
        return None
    ranges = known_ranges(name, domain)
    return f"known in opsets {ranges} only" if ranges else "no converter"
