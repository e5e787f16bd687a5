"""Graphs of PyTorch's compiler, which run natively if possible, and otherwise in PyTorch."""

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
            if len(self._variants) == MOST_VARIANTS:
                return self._in_torch(f"its constants have had more than {MOST_VARIANTS} values", values)
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
