"""The node cases of onnx's own test suite whose ops the importer knows, as models it can take.

Inputs that say how a node works (a shape, axes, pads) become initializers: xrelay wants them when compiling.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.backend.test.case.node import collect_testcases
from onnx.reference.ops import op_pool_common

from xrelay.frontend.onnx import converters
from xrelay.frontend.onnx.registry import known_ranges

SETTINGS: dict[str, tuple[int, ...]] = {
    "Clip": (1, 2),
    "ConstantOfShape": (0,),
    "Dropout": (1, 2),
    "Expand": (1,),
    "Gather": (1,),
    "Pad": (1, 2, 3),
    "Range": (0, 1, 2),
    "ReduceL1": (1,),
    "ReduceL2": (1,),
    "ReduceLogSum": (1,),
    "ReduceLogSumExp": (1,),
    "ReduceMax": (1,),
    "ReduceMean": (1,),
    "ReduceMin": (1,),
    "ReduceProd": (1,),
    "ReduceSum": (1,),
    "ReduceSumSquare": (1,),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Squeeze": (1,),
    "Tile": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
}
"""Op → its inputs that are settings."""


@dataclass(frozen=True)
class NodeCase:
    """A model, its inputs in order, and what it gives."""

    name: str
    model: onnx.ModelProto
    inputs: list[NDArray[Any]]
    outputs: list[NDArray[Any]]
    rtol: float
    atol: float

    @property
    def family(self) -> tuple[str, ...]:
        """The ops of the model and the dtypes of its inputs and outputs: cases that are alike share them."""
        ops = [node.op_type for node in self.model.graph.node]
        return (*ops, *(array.dtype.name for array in (*self.inputs, *self.outputs)))


@cache
def node_cases() -> list[NodeCase]:
    """All cases, by name."""
    converters.load()
    # Importing onnx's cases computes what they expect.
    planes_only = patch.object(op_pool_common, "pool", _planes_only(op_pool_common.pool))
    with warnings.catch_warnings(), planes_only:
        warnings.simplefilter("ignore")  # the cases overflow and divide by zero on purpose
        collected = collect_testcases(None)
    cases = [_case(case) for case in collected if _is_known(case.model) and _has_arrays(case)]
    return sorted(cases, key=lambda case: case.name)


def _planes_only(pool: Callable[..., NDArray[Any]]) -> Callable[..., NDArray[Any]]:
    """onnx's `pool` with NaNs for windows over three axes, for which its Python loops take ten seconds.

    xrelay refuses such windows. Once it takes them the NaNs fail their cases, and this has to go.
    """

    def pool_planes(
        padded: NDArray[Any], x_shape: Sequence[int], kernel: Any, strides: Any, out_shape: Sequence[int], *rest: Any,
        **options: Any,
    ) -> NDArray[Any]:  # fmt: skip
        if len(x_shape) == 5:
            return np.full((*x_shape[:2], *out_shape), np.nan, padded.dtype)
        return pool(padded, x_shape, kernel, strides, out_shape, *rest, **options)

    return pool_planes


def _is_known(model: onnx.ModelProto) -> bool:
    """Whether every op has a converter, be it for other opsets."""
    return all(known_ranges(node.op_type, node.domain) for node in model.graph.node)


def _has_arrays(case: Any) -> bool:
    """Whether all inputs and outputs are tensors of numbers."""
    inputs, outputs = case.data_sets[0]
    return all(isinstance(value, np.ndarray | np.generic) and value.dtype != object for value in (*inputs, *outputs))


def _case(case: Any) -> NodeCase:
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    settings = {
        node.input[index]
        for node in model.graph.node
        for index in SETTINGS.get(node.op_type, ())
        if index < len(node.input)
    }
    inputs: list[NDArray[Any]] = []
    for value, array in zip(list(model.graph.input), case.data_sets[0][0], strict=True):
        if value.name in settings:
            model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(array), value.name))
            model.graph.input.remove(value)
        else:
            inputs.append(np.asarray(array))
    outputs = [np.asarray(array) for array in case.data_sets[0][1]]
    return NodeCase(case.name, model, inputs, outputs, case.rtol, case.atol)
