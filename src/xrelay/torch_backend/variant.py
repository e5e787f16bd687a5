"""A graph compiled for particular values of its constants, and conversions between tensors and arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from xrelay.api.compile import compile
from xrelay.api.model import CompiledModel
from xrelay.torch_backend.export import exported, without_constants
from xrelay.torch_backend.inputs import GraphInput
from xrelay.torch_backend.library import torch


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
        program = exported(module, graph, [values[number] for number in numbers], numbers)
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
