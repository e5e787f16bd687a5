"""Classifies the inputs of a graph of PyTorch's compiler: tensors, extents of tensors, and constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xrelay.torch_backend.library import torch


@dataclass(frozen=True)
class GraphInput:
    """An input of a graph: a tensor of the model, an extent of such a tensor, or a constant."""

    is_constant: bool = False
    extent_of: tuple[int, int] | None = None
    """The number of an input, and an axis of it."""

    @property
    def is_tensor(self) -> bool:
        """Whether it is an input of the model."""
        return not self.is_constant and self.extent_of is None


def inputs_of(graph: Any) -> list[GraphInput]:
    """Returns the classified inputs of a graph."""
    nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
    found: dict[int, GraphInput] = {}
    extents: dict[str, tuple[int, int]] = {}
    for number, node in enumerate(nodes):
        example, argument = node.meta.get("example_value"), node.meta.get("grapharg")
        is_number = argument is not None and argument.pass_arg_as_tensor
        if not isinstance(example, torch.Tensor):
            continue
        is_static = isinstance(example, torch.nn.Parameter) or _is_static(argument)
        found[number] = GraphInput(is_constant=is_number or is_static)
        if not found[number].is_constant:
            extents |= {str(extent): (number, axis) for axis, extent in enumerate(example.shape)}
    for number, node in enumerate(nodes):
        if number not in found:
            place = extents.get(str(node.meta.get("example_value")))
            found[number] = GraphInput(is_constant=place is None, extent_of=place)
    return [found[number] for number in range(len(nodes))]


def _is_static(argument: Any) -> bool:
    """Whether an input is a buffer of a module."""
    return argument is not None and hasattr(argument.example, "_dynamo_static_input_type")
