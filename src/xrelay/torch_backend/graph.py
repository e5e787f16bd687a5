"""Graphs of PyTorch's compiler, which run natively where that is possible and in PyTorch elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from xrelay.errors import InputError, did_you_mean
from xrelay.torch_backend.inputs import inputs_of
from xrelay.torch_backend.library import torch
from xrelay.torch_backend.variant import Variant

_LOG = logging.getLogger("xrelay.torch_backend")
_OPTIONS: Final = ("target", "opt_level", "threads", "cache", "memory_limit")

MOST_VARIANTS: Final = 8
"""A graph is compiled for so many values of its constants; later ones run in PyTorch."""


def compile_graph(
    graph: Any, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """The function that runs a graph of PyTorch's compiler; `options` are those of `xrelay.compile`.

    Compiling waits for the first call, whose tensors tell the values of constants. Raises `InputError` for an option
    that there is not.
    """
    for name in options or {}:
        if name not in _OPTIONS:
            hint = did_you_mean(name, _OPTIONS, f"the options are {', '.join(_OPTIONS)}")
            raise InputError(f"there is no option {name!r}", help=hint)
    return TorchGraph(graph, dict(options or {}))


class TorchGraph:
    """A graph of PyTorch's compiler, called as it is: with its inputs in order."""

    def __init__(self, graph: Any, options: Mapping[str, Any]):
        """A graph to run; `options` are those of `xrelay.compile`."""
        self._graph, self._options = graph, options
        self._inputs = inputs_of(graph)
        self._variants: dict[tuple[object, ...], Variant | None] = {}
        self._said = set[str]()

    def __call__(self, *values: Any) -> Any:
        """What the graph gives, natively where that is possible."""
        reason = _why_not(values)
        if reason is not None:
            return self._in_torch(reason, values)
        key = tuple(_identity(value) for value, role in zip(values, self._inputs, strict=True) if role.is_constant)
        if key not in self._variants:
            if len(self._variants) == MOST_VARIANTS:
                return self._in_torch(f"its constants have had more than {MOST_VARIANTS} values", values)
            self._variants[key] = self._compile(values)
        variant = self._variants[key]
        return self._graph.forward(*values) if variant is None else variant.run(values)

    def _compile(self, values: Sequence[Any]) -> Variant | None:
        """The graph for these values of its constants; `None` where it cannot be compiled."""
        try:
            return Variant.of(self._graph, self._inputs, values, self._options)
        except Exception as error:  # PyTorch's exporter passes on whatever the libraries below it raise
            self._say(str(error).strip().partition("\n")[0] or type(error).__name__)
            return None

    def _in_torch(self, reason: str, values: Sequence[Any]) -> Any:
        self._say(reason)
        return self._graph.forward(*values)

    def _say(self, reason: str) -> None:
        """Say once why the graph runs in PyTorch."""
        if reason not in self._said:
            self._said.add(reason)
            _LOG.warning("a graph of %d nodes runs in PyTorch: %s", len(self._graph.graph.nodes), reason)


def _why_not(values: Sequence[Any]) -> str | None:
    """Why a call cannot run natively, as its inputs tell."""
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    other = next((value.device for value in tensors if value.device.type != "cpu"), None)
    if other is not None:
        return f"an input is on the device {other}"
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        return "gradients are asked for; call it in torch.no_grad()"
    return None


def _identity(value: Any) -> object:
    """What differs where the values of a constant differ; those of a tensor may not change without its version."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.item() if value.ndim == 0 else (value.data_ptr(), value._version, tuple(value.shape), value.stride())
