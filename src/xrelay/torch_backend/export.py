"""Converts a graph of PyTorch's compiler to a program for its ONNX exporter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xrelay.errors import LoweringError
from xrelay.torch_backend.inputs import GraphInput
from xrelay.torch_backend.library import torch


def without_constants(
    graph: Any, inputs: Sequence[GraphInput], values: Sequence[Any]
) -> tuple[Any, list[tuple[bool, int]]]:
    """Returns a copy of a graph whose inputs and outputs are all tensors, and the source of each of its results."""
    copied = torch.fx.Graph()
    result = copied.graph_copy(graph.graph, {})
    nodes = [node for node in copied.nodes if node.op == "placeholder"]
    outputs: list[Any] = []
    results: list[tuple[bool, int]] = []
    for node in result:
        if node in nodes:
            results.append((False, nodes.index(node)))
            continue
        if not isinstance(node.meta.get("example_value"), torch.Tensor):
            raise LoweringError(f"it returns {node}, which is not a tensor")
        if node not in outputs:
            outputs.append(node)
        results.append((True, outputs.index(node)))
    if not outputs:
        raise LoweringError("it computes nothing")
    copied.output(tuple(outputs))
    module = torch.fx.GraphModule(graph, copied)
    first = next(node for node in copied.nodes if node.op != "placeholder")
    for number, (node, each) in enumerate(zip(nodes, inputs, strict=True)):
        if each.is_tensor:
            continue
        with copied.inserting_before(first):
            if each.extent_of is not None:
                tensor, axis = each.extent_of
                node.replace_all_uses_with(copied.call_function(torch.ops.aten.sym_size.int, (nodes[tensor], axis)))
            else:
                _make_constant(module, node, values[number], f"constant_{number}")
        copied.erase_node(node)
    module.recompile()
    return module, results


def _make_constant(module: Any, node: Any, value: Any, name: str) -> None:
    """Replaces an input by a constant; a call of `item()` on it is replaced by the number."""
    if isinstance(value, torch.Tensor):
        for user in [user for user in node.users if (user.op, user.target) == ("call_method", "item")]:
            with module.graph.inserting_before(user):
                user.replace_all_uses_with(module.graph.call_function(type(value.item()), (value.item(),)))
            module.graph.erase_node(user)
        module.register_buffer(name, value.detach())
        node.replace_all_uses_with(module.graph.get_attr(name))
    else:
        node.replace_all_uses_with(module.graph.call_function(type(value), (value,)))


def exported(module: Any, graph: Any, tensors: Sequence[Any], numbers: Sequence[int]) -> Any:
    """Returns the program that PyTorch exports for a module. Raises `LoweringError` if it mutates its inputs."""
    nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
    shapes = [nodes[number].meta["example_value"].shape for number in numbers]
    dynamic = torch.export.Dim.DYNAMIC
    open_axes = [{axis: dynamic for axis, extent in enumerate(shape) if not str(extent).isdigit()} for shape in shapes]
    program = torch.export.export(module, tuple(tensors), dynamic_shapes=tuple(open_axes), strict=False)
    program = program.run_decompositions({})
    signature = program.graph_signature
    changed = [*signature.buffers_to_mutate.values(), *signature.user_inputs_to_mutate.values()]
    if changed:
        raise LoweringError(f"it changes {', '.join(map(str, changed))} in place")
    return program
