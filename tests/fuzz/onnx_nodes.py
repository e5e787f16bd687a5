"""Random ONNX models of one node: every registered op, in every opset, with every dtype it admits and we know.

    model = random_node_model(rng)                    # or random_node_model(rng, "Conv", opset=11)
    inputs = random_inputs(rng, model)

Shapes have extents of 0 and 1, primes and rank 0 among them; axes are negative and unsorted; settings (axes, pads,
shapes) are initializers, data is a graph input or an initializer. The domain in which an input must lie for the node to
mean something (a divisor other than 0, an exponent that does not overflow) is its `doc_string`, which `random_inputs`
obeys. Equal seeds give equal models.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fuzz.special_values import Array, random_array
from xrelay.dialects.relay.core.dtypes import element_type
from xrelay.errors import TypeInferenceError
from xrelay.frontend.onnx import converters, registered_ops
from xrelay.frontend.onnx.registry import find_converter

EXTENTS = (1, 2, 3, 4, 5, 7, 8, 13, 17)
FIRST_OPSET, LAST_OPSET = 6, 24
IR_VERSION = 10


class Draft:
    """A node being drawn: `data` and `setting` add inputs in the node's order, `attributes` are plain Python values."""

    def __init__(self, rng: np.random.Generator, op: str, opset: int):
        self.rng, self.op, self.opset = rng, op, opset
        self.attributes: dict[str, Any] = {}
        self.order: list[str] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.outputs = 1
        self.dtype = self.pick(*admitted_dtypes(op, opset))

    def pick(self, *items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def shape(self, least: int = 0, most: int = 4) -> tuple[int, ...]:
        """Extents whose product stays small; one in ten shapes has an extent of 0."""
        shape = [self.pick(*EXTENTS) for _ in range(self.integer(least, most))]
        while np.prod(shape) > 2000:
            shape[int(np.argmax(shape))] = self.pick(1, 2, 3)
        if shape and self.chance(0.1):
            shape[self.integer(0, len(shape) - 1)] = 0
        return tuple(shape)

    def broadcast_with(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts to `shape`, or that `shape` broadcasts to along leading axes."""
        kept = shape[self.integer(0, len(shape)) :]
        return tuple(1 if self.chance(0.3) else extent for extent in kept)

    def data(self, shape: tuple[int, ...], dtype: Any = None, domain: str = "any", *, constant: float = 0.1) -> None:
        """One more operand: a graph input, or an initializer with probability `constant`."""
        name = f"x{len(self.order)}"
        kind = np.dtype(self.dtype if dtype is None else dtype)
        self.order.append(name)
        if self.chance(constant) and self.inputs:
            self._initializer(name, random_array(self.rng, shape, kind, domain))
            return
        info = helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(kind), shape)
        info.doc_string = domain
        self.inputs.append(info)

    def setting(self, values: Any, dtype: Any = np.int64) -> None:
        """One more operand that says how the node works."""
        name = f"x{len(self.order)}"
        self.order.append(name)
        self._initializer(name, np.asarray(values, dtype))

    def indices(self, shape: tuple[int, ...], extent: int, *, first: int = 11) -> None:
        """One more operand: indices of an axis, negative ones among them from the opset `first` on."""
        low = -extent if self.opset >= first else 0
        self.data(shape, self.pick(np.int64, np.int32), f"whole {low} {extent}", constant=0.4)

    def absent(self) -> None:
        """One more operand that is left out."""
        self.order.append("")

    def _initializer(self, name: str, array: Array) -> None:
        self.initializers.append(numpy_helper.from_array(array, name))

    def axis(self, rank: int) -> int:
        return self.integer(-rank, rank - 1)

    def axes(self, rank: int, least: int = 0) -> list[int]:
        """Distinct axes in any order, some counted from the end."""
        count = self.integer(min(least, rank), rank)
        chosen = self.rng.permutation(rank)[:count]
        return [int(axis) - (rank if self.chance(0.4) else 0) for axis in chosen]

    def maybe(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            if self.chance(0.5):
                self.attributes[name] = value

    def model(self) -> onnx.ModelProto:
        names = [f"y{index}" for index in range(self.outputs)]
        node = helper.make_node(self.op, self.order, names, name="node", **self.attributes)
        graph = helper.make_graph(
            [node],
            "graph",
            self.inputs,
            [helper.make_empty_tensor_value_info(name) for name in names],
            self.initializers,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=IR_VERSION)


Drawing = Callable[[Draft], None]
DRAWINGS: dict[str, Drawing] = {}
"""Op → function that draws its inputs and attributes; `fuzz.onnx_drawings` and its neighbour fill it."""


def draws(*ops: str) -> Callable[[Drawing], Drawing]:
    """Decorator: the function draws nodes of these ops."""

    def register(drawing: Drawing) -> Drawing:
        DRAWINGS.update(dict.fromkeys(ops, drawing))
        return drawing

    return register


@cache
def admitted_dtypes(op: str, opset: int) -> tuple[np.dtype, ...]:
    """The dtypes of the op's first input (of its result where it has none) that ONNX admits and xrelay knows."""
    schema = onnx.defs.get_schema(op, opset, "")
    first = (schema.inputs or schema.outputs)[0] if op != "ConstantOfShape" else schema.outputs[0]
    names = {text.removeprefix("tensor(").removesuffix(")") for text in first.types if text.startswith("tensor(")}
    known: list[np.dtype] = []
    for number in TensorProto.DataType.values():
        name = TensorProto.DataType.Name(number).lower()
        if name not in names or name in ("undefined", "string"):
            continue
        dtype = helper.tensor_dtype_to_np_dtype(number)
        try:
            element_type(dtype)
        except TypeInferenceError:
            continue
        known.append(dtype)
    return tuple(known)


@cache
def opsets_of(op: str) -> tuple[int, ...]:
    """The opsets in which ONNX has the op and xrelay a converter for it."""
    converters.load()
    found: list[int] = []
    for opset in range(FIRST_OPSET, LAST_OPSET + 1):
        try:
            deprecated = onnx.defs.get_schema(op, opset, "").deprecated
        except onnx.defs.SchemaError:
            continue
        if not deprecated and find_converter(op, "", opset) is not None:
            found.append(opset)
    return tuple(found)


@cache
def drawn_ops() -> tuple[str, ...]:
    """The registered ops, all of which must have a drawing."""
    for module in ("fuzz.onnx_drawings", "fuzz.onnx_drawings_index", "fuzz.onnx_drawings_nn"):
        import_module(module)

    converters.load()
    return tuple(op for op in registered_ops() if "::" not in op and op in DRAWINGS)


def random_node_model(
    rng: np.random.Generator, op_type: str | None = None, opset: int | None = None
) -> onnx.ModelProto:
    """A model of one node; op and opset are drawn where they are not given."""
    ops = drawn_ops()
    op = ops[int(rng.integers(len(ops)))] if op_type is None else op_type
    known = opsets_of(op)
    draft = Draft(rng, op, known[int(rng.integers(len(known)))] if opset is None else opset)
    DRAWINGS[op](draft)
    return draft.model()


def random_inputs(rng: np.random.Generator, model: onnx.ModelProto, special: bool = True) -> dict[str, Array]:
    """Values of the model's inputs by name; `special` mixes infinities, NaN, zeros, denormals and extremes in."""
    inputs: dict[str, Array] = {}
    for info in model.graph.input:
        tensor = info.type.tensor_type
        shape = tuple(int(dim.dim_value) for dim in tensor.shape.dim)
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        inputs[info.name] = random_array(rng, shape, dtype, info.doc_string or "any", special=special)
    return inputs
