"""A PyTorch backend that compiles graphs for inference: `torch.compile(model, backend="xrelay")`.

    model = torch.compile(model.eval(), backend="xrelay", options={"opt_level": 3})
    with torch.no_grad():
        model(x)

It is installed with the extra `torch`; PyTorch finds it by its entry point. A graph goes through PyTorch's ONNX
exporter. Parameters, buffers and numbers become constants of the compiled model, which is recompiled when they change,
but not when they change through `.data`, which PyTorch does not track. Dynamic sizes stay dynamic. Other graphs run in
PyTorch, and the logger `xrelay.torch_backend` logs one line with the reason: graphs that train, mutate their inputs or
are on other devices, and graphs with operators that cannot be exported or are refused.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from xrelay.api.compile import compile
from xrelay.api.model import CompiledModel
from xrelay.errors import InputError, LoweringError, did_you_mean

torch: Any = import_module("torch")
"""PyTorch, untyped: xrelay is installed and type-checked without it."""


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


def export_module(module: Any, graph: Any, tensors: Sequence[Any], numbers: Sequence[int]) -> Any:
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


@dataclass(frozen=True)
class Variant:
    """A graph compiled for values of its constants."""

    model: CompiledModel
    feeds: Mapping[str, int]
    """Maps the inputs of the model to input numbers of the graph."""
    results: Sequence[tuple[bool, int]]
    """The results of the graph: the number of a model output, or of a graph input."""
    kept: Sequence[Any]
    """The constants, kept alive because their addresses identify them."""

    @staticmethod
    def of(graph: Any, inputs: Sequence[GraphInput], values: Sequence[Any], options: Mapping[str, Any]) -> Variant:
        """Compiles a graph. Raises the errors of PyTorch's exporter and `xrelay.compile`."""
        module, results = without_constants(graph, inputs, values)
        numbers = [number for number, each in enumerate(inputs) if each.is_tensor]
        program = export_module(module, graph, [values[number] for number in numbers], numbers)
        proto = torch.onnx.export(program, dynamo=True, verbose=False).model_proto
        model = compile(proto, **options)
        places = {value.name: number for value, number in zip(proto.graph.input, numbers, strict=True)}
        kept = [value.detach() for value in values if isinstance(value, torch.Tensor)]
        return Variant(model, {name: places[name] for name in model.input_names}, results, kept)

    def run(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Returns the results of the graph."""
        found = self.model.run({name: _to_numpy(values[number]) for name, number in self.feeds.items()})
        return tuple(_to_torch(found[number]) if ours else values[number] for ours, number in self.results)


def _to_numpy(tensor: Any) -> NDArray[Any]:
    """Returns a tensor as an array that shares its memory."""
    plain = tensor.detach().resolve_conj().resolve_neg()
    if plain.dtype == torch.bfloat16:
        return plain.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return plain.numpy()


def _to_torch(array: NDArray[Any]) -> Any:
    """Returns an array as a tensor that shares its memory."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


_LOG = logging.getLogger("xrelay.torch_backend")
_OPTIONS: Final = ("target", "opt_level", "threads", "cache", "memory_limit")

MAX_VARIANTS: Final = 8
"""The maximum number of variants of a graph, one per set of constants; calls with further sets run in PyTorch."""


def compile_graph(
    graph: Any, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """Returns the function that runs a graph of PyTorch's compiler; `options` are those of `xrelay.compile`.

    The graph is compiled in the first call, when the values of constants are known. Raises `InputError` for an unknown
    option.
    """
    for name in options or {}:
        if name not in _OPTIONS:
            hint = did_you_mean(name, _OPTIONS, f"the options are {', '.join(_OPTIONS)}")
            raise InputError(f"unknown option {name!r}", help=hint)
    return TorchGraph(graph, dict(options or {}))


class TorchGraph:
    """A graph of PyTorch's compiler, called with its inputs in order."""

    def __init__(self, graph: Any, options: Mapping[str, Any]):
        """Wraps a graph; `options` are those of `xrelay.compile`."""
        self._graph, self._options = graph, options
        self._inputs = inputs_of(graph)
        self._variants: dict[tuple[object, ...], Variant | None] = {}
        self._logged = set[str]()

    def __call__(self, *values: Any) -> Any:
        """Returns the results of the graph, computed natively if possible."""
        reason = _why_not(values)
        if reason is not None:
            return self._in_torch(reason, values)
        key = tuple(_identity(value) for value, role in zip(values, self._inputs, strict=True) if role.is_constant)
        if key not in self._variants:
            if len(self._variants) == MAX_VARIANTS:
                return self._in_torch(f"its constants have had more than {MAX_VARIANTS} values", values)
            self._variants[key] = self._compile(values)
        variant = self._variants[key]
        return self._graph.forward(*values) if variant is None else variant.run(values)

    def _compile(self, values: Sequence[Any]) -> Variant | None:
        """Compiles the graph for the given values of its constants; `None` if it cannot be compiled."""
        try:
            return Variant.of(self._graph, self._inputs, values, self._options)
        except Exception as error:  # PyTorch's exporter passes on any exception of the libraries below it
            self._log_once(str(error).strip().partition("\n")[0] or type(error).__name__)
            return None

    def _in_torch(self, reason: str, values: Sequence[Any]) -> Any:
        self._log_once(reason)
        return self._graph.forward(*values)

    def _log_once(self, reason: str) -> None:
        """Logs once why the graph runs in PyTorch."""
        if reason not in self._logged:
            self._logged.add(reason)
            _LOG.warning("a graph of %d nodes runs in PyTorch: %s", len(self._graph.graph.nodes), reason)


def _why_not(values: Sequence[Any]) -> str | None:
    """Returns the reason why a call with these inputs cannot run natively, or `None`."""
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    other = next((value.device for value in tensors if value.device.type != "cpu"), None)
    if other is not None:
        return f"an input is on the device {other}"
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        return "gradients are enabled; call it in torch.no_grad()"
    return None


def _identity(value: Any) -> object:
    """Returns a key of a constant's value. A tensor's version changes when its elements change."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.item() if value.ndim == 0 else (value.data_ptr(), value._version, tuple(value.shape), value.stride())
