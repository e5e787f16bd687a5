"""The official cases of onnx's own test suite: single nodes, the functions they expand to, and small models.

`official_cases` returns all cases unchanged; the arrays of an output that is a sequence are listed one by one.
`node_cases` returns the cases whose ops the importer supports, in a form it can compile: inputs that configure a node
(a shape, axes, pads) become initializers, because xrelay requires them at compile time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import ml_dtypes
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.backend.test.case import base as onnx_base
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.loader import load_model_tests
from onnx.reference.ops import op_pool_common

from xrelay.frontend.onnx.functions import has_definition
from xrelay.frontend.onnx.registry import known_ranges
from xrelay.frontend.onnx.signature import graph_inputs

STORED = ("simple", "pytorch-converted", "pytorch-operator")
"""The kinds of cases that onnx stores as files, except whole networks."""

HALVES = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))

SETTINGS: dict[str, tuple[int, ...]] = {
    "Clip": (1, 2),
    "ConstantOfShape": (0,),
    "CumSum": (1,),
    "Dropout": (1, 2),
    "Expand": (1,),
    "OneHot": (1,),
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
    "TopK": (1,),
    "Trilu": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
}
"""Op → the indices of its inputs that are settings."""


@dataclass(frozen=True)
class NodeCase:
    """A model, its inputs in order, and its expected outputs."""

    name: str
    model: onnx.ModelProto
    inputs: list[Any]
    """Arrays; a sequence is a list, and an optional without a value is `None`."""
    outputs: list[NDArray[Any]]
    rtol: float
    atol: float

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """The arrays of all inputs."""
        return flat(self.inputs)

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs; numbers if an output does not have exactly one array."""
        names = [output.name for output in self.model.graph.output]
        return names if len(names) == len(self.outputs) else [str(number) for number in range(len(self.outputs))]

    @property
    def allowed(self) -> float:
        """The relative tolerance: the case's own, but at least two units in the last place of 16-bit floats.

        A function body rounds to 16 bits after each node, where the reference of the op does not.
        """
        finfo = cast(Any, ml_dtypes).finfo
        units = [float(finfo(array.dtype).eps) for array in self.outputs if getattr(array, "dtype", None) in HALVES]
        return max([self.rtol, *(2 * unit for unit in units)])

    @property
    def ops(self) -> frozenset[str]:
        """The ops of the model; `make test` runs cases that cover each."""
        return frozenset(node.op_type for node in self.model.graph.node)

    @property
    def family(self) -> tuple[str, ...]:
        """The ops of the model and the dtypes of its inputs and outputs: a key of similar cases."""
        ops = [node.op_type for node in self.model.graph.node]
        return (*ops, *(array.dtype.name for array in (*self.arrays, *self.outputs)))


@cache
def official_cases() -> list[NodeCase]:
    """Returns all cases whose inputs and outputs are tensors of numbers, or sequences or optionals of them, by name."""
    # Importing onnx's cases computes their expected outputs.
    volumes_at_once = patch.object(op_pool_common, "pool", _volumes_at_once(op_pool_common.pool))
    # The import also extracts the source of each case for the documentation: a third of the time.
    no_documentation = patch.object(onnx_base, "process_snippet", return_value=("", ""))
    with warnings.catch_warnings(), volumes_at_once, no_documentation:
        warnings.simplefilter("ignore")  # the cases overflow and divide by zero on purpose
        collected = [_node_case(case) for case in collect_testcases(None)]
    stored = [_stored_case(case) for kind in STORED for case in load_model_tests(kind=kind)]
    return sorted((*collected, *stored), key=lambda case: case.name)


@cache
def node_cases() -> list[NodeCase]:
    """Returns the numeric cases whose ops have converters, with constant settings, sorted by name."""
    return [with_constant_settings(case) for case in official_cases() if _is_known(case.model) and _has_arrays(case)]


def settings(case: NodeCase) -> list[str]:
    """The model inputs that configure a node."""
    names = {
        node.input[index]
        for node in case.model.graph.node
        for index in SETTINGS.get(node.op_type, ())
        if index < len(node.input)
    }
    return [value.name for value in graph_inputs(case.model.graph) if value.name in names]


def with_constant_settings(case: NodeCase) -> NodeCase:
    """Returns the case with its settings as initializers of the model."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    fixed = settings(case)
    inputs: list[NDArray[Any]] = []
    for value, array in zip(graph_inputs(model.graph), case.inputs, strict=True):
        if value.name in fixed:
            model.graph.initializer.append(numpy_helper.from_array(array, value.name))
            model.graph.input.remove(value)
        else:
            inputs.append(array)
    return replace(case, model=model, inputs=inputs)


def with_named_extents(case: NodeCase) -> NodeCase:
    """Returns the case with constant settings and a unique name for every extent of its inputs."""
    held = with_constant_settings(case)
    for value in graph_inputs(held.model.graph):
        if value.type.HasField("tensor_type"):
            for axis, dim in enumerate(value.type.tensor_type.shape.dim):
                dim.dim_param = f"{value.name}_{axis}"
    for value in held.model.graph.output:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    return held


def _volumes_at_once(pool: Callable[..., NDArray[Any]]) -> Callable[..., NDArray[Any]]:
    """Wraps onnx's `pool` to compute windows over three axes tap by tap: its own loops over them take ten seconds.

    As in onnx, a NaN of the padded data is ignored, and so is a tap past the node's padding.
    """

    def pool_volumes(
        padded: NDArray[Any], x_shape: Sequence[int], kernel: Any, strides: Any, out_shape: Sequence[int], kind: str,
        pads_required: Any = None, pads: Any = None, dilations: Any = None, count_include_pad: int = 0, p: int = 1,
    ) -> NDArray[Any]:  # fmt: skip
        if len(x_shape) != 5:
            return pool(
                padded, x_shape, kernel, strides, out_shape, kind, pads_required, pads, dilations, count_include_pad, p
            )
        sides = [0] * 6 if pads is None else list(pads) * (6 // len(pads))
        limits = [x_shape[2 + axis] + sides[axis] + sides[3 + axis] for axis in range(3)]
        seen: list[NDArray[Any]] = []
        for tap in np.ndindex(*kernel):
            steps = zip(out_shape, strides or (1,) * 3, tap, dilations or (1,) * 3, strict=True)
            places = [np.arange(count) * stride + at * step for count, stride, at, step in steps]
            inside = [place < limit for place, limit in zip(places, limits, strict=True)]
            clipped = [np.minimum(place, size - 1) for place, size in zip(places, padded.shape[2:], strict=True)]
            values = padded[(slice(None), slice(None), *np.ix_(*clipped))]
            seen.append(np.where(reduce(np.logical_and.outer, inside), values, np.nan))
        folds = {"MAX": np.nanmax, "AVG": np.nanmean}
        if kind in folds:
            return folds[kind](seen, axis=0).astype(padded.dtype)
        return (np.nansum(np.abs(seen) ** p, axis=0) ** (1 / p)).astype(padded.dtype)

    return pool_volumes


def _is_known(model: onnx.ModelProto) -> bool:
    """Whether every op has a converter, for any opset, or a definition by other ops."""
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    return all(
        known_ranges(node.op_type, node.domain) or has_definition(node.op_type, node.domain, opsets[node.domain])
        for node in model.graph.node
    )


def _has_arrays(case: NodeCase) -> bool:
    """Whether all inputs and outputs are numeric tensors, or sequences and optionals of them."""
    values: list[object] = [*case.arrays, *case.outputs]
    return all(isinstance(value, np.ndarray) and cast(NDArray[Any], value).dtype != object for value in values)


def flat(values: Sequence[Any]) -> list[Any]:
    """Flattens sequences, and drops absent values."""
    found: list[Any] = []
    pending = list(reversed(values))
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += reversed(cast(list[Any], value))
        elif value is not None:
            found.append(value)
    return found


def _node_case(case: Any) -> NodeCase:
    inputs, outputs = ([_value(value) for value in values] for values in case.data_sets[0])
    return NodeCase(case.name, case.model, inputs, flat(outputs), case.rtol, case.atol)


def _value(value: Any) -> Any:
    """Converts a value of a case: numpy scalars and tensors become arrays, sequences and absent values are kept."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, list):
        return [_value(each) for each in cast(list[Any], value)]
    return np.asarray(value) if isinstance(value, np.ndarray | np.generic) else value


def _stored_case(case: Any) -> NodeCase:
    """Loads a case whose model and first data set are files."""
    model = onnx.ModelProto()
    model.ParseFromString((Path(case.model_dir) / "model.onnx").read_bytes())
    data = Path(case.model_dir) / "test_data_set_0"
    inputs, outputs = (
        [_stored_value(value, data / f"{what}_{number}.pb") for number, value in enumerate(values)]
        for what, values in (("input", graph_inputs(model.graph)), ("output", model.graph.output))
    )
    return NodeCase(case.name, model, inputs, flat(outputs), case.rtol, case.atol)


def _stored_value(value: onnx.ValueInfoProto, file: Path) -> Any:
    """Loads a tensor, or a sequence of tensors as a list."""
    if value.type.HasField("sequence_type"):
        sequence = onnx.SequenceProto()
        sequence.ParseFromString(file.read_bytes())
        return numpy_helper.to_list(sequence)
    tensor = onnx.TensorProto()
    tensor.ParseFromString(file.read_bytes())
    return numpy_helper.to_array(tensor)
