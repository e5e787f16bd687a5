"""The light models in the test data of the onnx package: real graphs, with seeded random weights.

The models have shapes but no weights: each weight is a `ConstantOfShape`. Every such node, and every float initializer
that a node reads as a weight, becomes an initializer with random values from the distribution of its role: He
initialisation, and batch-norm statistics of normal scale. Source of the scale: He et al. 2015, variance 2 / fan-in
before a ReLU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from math import prod, sqrt
from typing import TypeAlias

import numpy as np
import onnx
from onnx import numpy_helper

from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InputError
from xrelay.frontend.onnx.load import load_model

_PREFIX = "light_"


Draw: TypeAlias = Callable[[np.random.Generator, Sequence[int]], Array]
Role: TypeAlias = tuple[str, int]
"""The op that reads a weight, and the index of the input."""


def _he(rng: np.random.Generator, shape: Sequence[int]) -> Array:
    return rng.standard_normal(shape) * sqrt(2 / max(prod(shape[1:]), 1))


def _he_transposed(rng: np.random.Generator, shape: Sequence[int]) -> Array:
    return rng.standard_normal(shape) * sqrt(2 / max(shape[0], 1))


def _near(center: float, spread: float) -> Draw:
    return lambda rng, shape: center + spread * rng.uniform(-1, 1, shape)


_SMALL = _near(0.0, 0.05)

_DRAWS: dict[Role, Draw] = {
    ("Conv", 1): _he,
    ("Gemm", 1): _he,
    ("MatMul", 1): _he_transposed,
    ("BatchNormalization", 1): _near(0.6, 0.1),
    ("BatchNormalization", 3): _SMALL,
    ("BatchNormalization", 4): _near(1.0, 0.4),
    ("Mul", 1): _near(0.9, 0.1),
}
"""Role → distribution of a weight; any other weight is a small shift around zero."""

_PASSES_THROUGH = frozenset({"Unsqueeze", "Squeeze", "Reshape", "Identity"})


def with_random_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns a copy of `model` with random weights, which are the same on every machine."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph, rng = result.graph, np.random.default_rng(0)
    roles = _roles(graph)
    shapes = {tensor.name: tensor for tensor in graph.initializer}
    filled = [node for node in graph.node if node.op_type == "ConstantOfShape" and node.input[0] in shapes]
    for node in filled:
        shape = [int(extent) for extent in numpy_helper.to_array(shapes[node.input[0]])]
        graph.initializer.append(_draw(node.output[0], shape, roles, rng))
        graph.node.remove(node)
    _drop_unused(graph, set(shapes))
    for tensor in graph.initializer:
        if tensor.name in roles and tensor.data_type == onnx.TensorProto.FLOAT and tensor.name in shapes:
            tensor.CopyFrom(_draw(tensor.name, list(tensor.dims), roles, rng))
    return result


def _drop_unused(graph: onnx.GraphProto, candidates: set[str]) -> None:
    """Removes the initializers in `candidates` that no node reads, and graph inputs of the same names."""
    unused = candidates - {name for node in graph.node for name in node.input}
    for tensor in [tensor for tensor in graph.initializer if tensor.name in unused]:
        graph.initializer.remove(tensor)
    for value in [value for value in graph.input if value.name in unused]:
        graph.input.remove(value)


def _draw(name: str, shape: Sequence[int], roles: dict[str, Role], rng: np.random.Generator) -> onnx.TensorProto:
    values = _DRAWS.get(roles.get(name, ("", 0)), _SMALL)(rng, shape)
    return numpy_helper.from_array(values.astype(np.float32), name)


def _roles(graph: onnx.GraphProto) -> dict[str, Role]:
    """Returns the role of every value that a node reads as a weight, also through ops that only reshape."""
    roles: dict[str, Role] = {}
    for node in reversed(graph.node):
        if node.op_type in _PASSES_THROUGH and node.output[0] in roles:
            roles.setdefault(node.input[0], roles[node.output[0]])
        elif node.op_type not in _PASSES_THROUGH:
            for index, name in enumerate(node.input):
                if index > 0:
                    roles.setdefault(name, (node.op_type, index))
    return roles


def light_models() -> list[str]:
    """Returns the names of the models, `resnet50` among them."""
    files = (entry.name for entry in _folder().iterdir())
    return sorted(
        name.removeprefix(_PREFIX).removesuffix(".onnx")
        for name in files
        if name.startswith(_PREFIX) and name.endswith(".onnx")
    )


def light_model(name: str) -> onnx.ModelProto:
    """Returns the model called `name` with seeded random weights; raises `InputError` for an unknown name."""
    if name not in light_models():
        raise InputError(f"unknown example model {name!r}", help=f"known are {', '.join(light_models())}")
    with resources.as_file(_folder() / f"{_PREFIX}{name}.onnx") as path:
        model = load_model(path).proto
    return with_random_weights(model)


def _folder() -> Traversable:
    return resources.files("onnx.backend.test") / "data" / "light"
