"""A network: its builder, its inputs, and the sizes at which it is tested, in the style of either exporter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

from support.dynamo_graph import DynamoGraph
from support.exported_graph import ExportedGraph
from support.onnx_models import value

Array = NDArray[Any]
Sizes = Mapping[str, int]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]


def floats(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def counts(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """A mask of the positions that count: the first ones of each row, at least one."""
    lengths = rng.integers(1, shape[-1] + 1, (*shape[:-1], 1)) if shape[-1] else np.zeros((*shape[:-1], 1))
    return (np.arange(shape[-1]) < lengths).astype(np.int64)


def words(limit: int) -> Draw:
    return lambda rng, shape: rng.integers(0, limit, shape)


@dataclass(frozen=True)
class Input:
    """The shape of an input, in which names are dynamic sizes, and the generator of its values."""

    shape: Sequence[int | str]
    draw: Draw = floats

    def dims(self, sizes: Sizes) -> tuple[int, ...]:
        return tuple(sizes[dim] if isinstance(dim, str) else dim for dim in self.shape)

    def array(self, rng: np.random.Generator, sizes: Sizes) -> Array:
        return self.draw(rng, self.dims(sizes))

    def declared(self, name: str, sizes: Sizes | None) -> onnx.ValueInfoProto:
        """The input with dynamic dimensions, or with these sizes."""
        dtype = helper.np_dtype_to_tensor_dtype(self.draw(np.random.default_rng(0), (1,)).dtype)
        return value(name, self.shape if sizes is None else self.dims(sizes), dtype)


IMAGE = Input(("batch", 3, "height", "width"))


class Style(Enum):
    """The PyTorch exporter whose style a model has."""

    TORCHSCRIPT = "torchscript"
    DYNAMO = "dynamo"


@dataclass(frozen=True)
class Network:
    """A network; `opset` is that of the older exporter, and the first entry of `sizes` is also tested as static."""

    build: Callable[[ExportedGraph], Sequence[str]]
    inputs: Mapping[str, Input]
    sizes: Sequence[Sizes]
    opset: int = 17

    @property
    def id(self) -> str:
        return self.build.__name__

    def proto(self, style: Style, sizes: Sizes | None) -> onnx.ModelProto:
        """The model with dynamic sizes, or with these static ones."""
        graph = DynamoGraph() if style is Style.DYNAMO else ExportedGraph(self.opset)
        outputs = self.build(graph)
        return graph.model([entry.declared(name, sizes) for name, entry in self.inputs.items()], outputs)

    def arrays(self, sizes: Sizes) -> dict[str, Array]:
        """The inputs at `sizes`, the same each time."""
        rng = np.random.default_rng((3, *sizes.values()))
        return {name: entry.array(rng, sizes) for name, entry in self.inputs.items()}


def images(*sizes: tuple[int, int, int]) -> list[Sizes]:
    return [dict(zip(("batch", "height", "width"), each, strict=True)) for each in sizes]


def sequences(*sizes: tuple[int, int]) -> list[Sizes]:
    return [dict(zip(("batch", "length"), each, strict=True)) for each in sizes]
