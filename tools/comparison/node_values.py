"""The values of the nodes of a model: their names, and their arrays in onnxruntime."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xrelay.api.intermediates import NodeOutput
from xrelay.errors import ExecutionError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class NodeValue:
    """A value of a program, and the operator that computes it."""

    name: str
    operator: str


def node_outputs(path: Path) -> dict[str, NodeOutput]:
    """Returns the node of an ONNX model, and the output index, that each value comes from.

    Values of nodes without a unique name are left out, since locations cannot distinguish them.
    """
    named: list[tuple[str, Any]] = [
        (node.name or next((name for name in node.output if name), node.op_type), node) for node in _nodes(path)
    ]
    uses = Counter(place for place, _ in named)
    return {
        name: NodeOutput(place, number)
        for place, node in named
        for number, name in enumerate(node.output)
        if name and uses[place] == 1
    }


def values_of_model(path: Path) -> list[NodeValue]:
    """Returns the values of the nodes of an ONNX model, in the order of the nodes."""
    return [NodeValue(name, node.op_type) for node in _nodes(path) for name in node.output if name]


def values_of_module(module: ModuleOp) -> Iterator[NodeValue]:
    """Yields the named values of `@main` in a module, in the order of their ops."""
    from xrelay.api.interface import main_function

    for op in main_function(module).body.block.ops:
        for result in op.results:
            if result.name_hint is not None:
                yield NodeValue(f"%{result.name_hint}", op.name)


def onnxruntime_values(path: Path, names: Sequence[str], inputs: Mapping[str, object]) -> dict[str, NDArray[Any]]:
    """Returns values of an ONNX model by name, computed by onnxruntime without its optimisations.

    Raises `ExecutionError` with the message of onnxruntime if it cannot run the model.
    """
    from xrelay.frontend.onnx.model_parts import with_outputs

    onnxruntime, model = import_module("onnxruntime"), with_outputs(path, names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        arrays = session.run(list(names), dict(inputs))
    except Exception as error:  # its errors have no common base class
        raise ExecutionError(f"onnxruntime cannot run the model: {' '.join(str(error).split())}") from error
    pairs = zip(names, arrays, strict=True)
    return {name: np.asarray(array) for name, array in pairs if isinstance(array, np.ndarray | np.generic)}


def _nodes(path: Path) -> Sequence[Any]:
    from xrelay.frontend.onnx.load import load_model

    return load_model(path).proto.graph.node
