"""The draft of a random ONNX node: its operands, attributes and results as drawn, and random inputs for it.

Shapes include rank 0, extents of 0 and 1, and primes; axes may be negative and unsorted; settings (axes, pads, shapes)
are initializers, data is a graph input or an initializer. The `doc_string` of an input is the domain for which the node
is valid (a divisor other than 0, an exponent that does not overflow); `random_inputs` draws from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fuzz.onnx_ops import domain_and_type, needed_schema, version_of
from fuzz.special_values import Array, random_array
from xrelay.dialects.shared.dtypes import element_type
from xrelay.errors import TypeInferenceError

EXTENTS = (1, 2, 3, 4, 5, 7, 8, 13, 17)
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
        """Returns extents with a small product; one in ten shapes has an extent of 0."""
        shape = [self.pick(*EXTENTS) for _ in range(self.integer(least, most))]
        while np.prod(shape) > 2000:
            shape[int(np.argmax(shape))] = self.pick(1, 2, 3)
        if shape and self.chance(0.1):
            shape[self.integer(0, len(shape) - 1)] = 0
        return tuple(shape)

    def broadcast_with(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Returns a shape that broadcasts to `shape`, a suffix of it with some extents of 1."""
        kept = shape[self.integer(0, len(shape)) :]
        return tuple(1 if self.chance(0.3) else extent for extent in kept)

    def data(self, shape: tuple[int, ...], dtype: Any = None, domain: str = "any", *, constant: float = 0.1) -> None:
        """Adds an operand: a graph input, or an initializer with probability `constant`."""
        name = f"x{len(self.order)}"
        kind = np.dtype(self.dtype if dtype is None else dtype)
        self.order.append(name)
        if self.chance(constant) and self.inputs:
            self._initializer(name, random_array(self.rng, shape, kind, domain))
            self.initializers[-1].doc_string = domain
            return
        info = helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(kind), shape)
        info.doc_string = domain
        self.inputs.append(info)

    def setting(self, values: Any, dtype: Any = np.int64) -> None:
        """Adds an initializer operand that configures the node."""
        name = f"x{len(self.order)}"
        self.order.append(name)
        self._initializer(name, np.asarray(values, dtype))

    def indices(self, shape: tuple[int, ...], extent: int, *, first: int = 11) -> None:
        """Adds an operand with indices of an axis, negative ones included since the opset `first`."""
        low = -extent if self.opset >= first else 0
        self.data(shape, self.pick(np.int64, np.int32), f"whole {low} {extent}", constant=0.4)

    def absent(self) -> None:
        """Adds an omitted operand."""
        self.order.append("")

    def _initializer(self, name: str, array: Array) -> None:
        self.initializers.append(numpy_helper.from_array(array, name))

    def axis(self, rank: int) -> int:
        return self.integer(-rank, rank - 1)

    def axes(self, rank: int, least: int = 0) -> list[int]:
        """Returns distinct axes in any order, some counted from the end."""
        count = self.integer(min(least, rank), rank)
        chosen = self.rng.permutation(rank)[:count]
        return [int(axis) - (rank if self.chance(0.4) else 0) for axis in chosen]

    def maybe(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            if self.chance(0.5):
                self.attributes[name] = value

    def model(self) -> onnx.ModelProto:
        names = [f"y{index}" for index in range(self.outputs)]
        domain, op_type = domain_and_type(self.op)
        node = helper.make_node(op_type, self.order, names, name="node", domain=domain)
        formals = needed_schema(self.op, self.opset).attributes
        for name, given in sorted(self.attributes.items()):
            # Only the schema knows the type of an empty list.
            kind = str(formals[name].type).rpartition(".")[2] if name in formals else "UNDEFINED"
            number = onnx.AttributeProto.AttributeType.Value(kind)
            node.attribute.append(helper.make_attribute(name, given, attr_type=number or None))
        graph = helper.make_graph(
            [node],
            "graph",
            self.inputs,
            [helper.make_empty_tensor_value_info(name) for name in names],
            self.initializers,
        )
        return helper.make_model(graph, opset_imports=imported([node], self.opset), ir_version=IR_VERSION)


def imported(nodes: Iterable[onnx.NodeProto], opset: int) -> list[onnx.OperatorSetIdProto]:
    """The opset of ONNX's own domain, and the version of each other domain of the nodes."""
    versions: dict[str, int] = {}
    for node in nodes:
        if node.domain:
            versions[node.domain] = max(versions.get(node.domain, 1), version_of(node.op_type, node.domain))
    return [helper.make_opsetid("", opset), *(helper.make_opsetid(*each) for each in sorted(versions.items()))]


Drawing = Callable[[Draft], None]
DRAWINGS: dict[str, Drawing] = {}
"""Op → function that draws its operands and attributes, for ops with constraints among them."""


def draws(*ops: str) -> Callable[[Drawing], Drawing]:
    """Registers a function that draws nodes of these ops."""

    def register(drawing: Drawing) -> Drawing:
        DRAWINGS.update(dict.fromkeys(ops, drawing))
        return drawing

    return register


@cache
def admitted_dtypes(op: str, opset: int) -> tuple[np.dtype, ...]:
    """The dtypes of the op's first input (or result, without inputs) that ONNX permits and xrelay supports."""
    schema = needed_schema(op, opset)
    first = (schema.inputs or schema.outputs)[0] if op != "ConstantOfShape" else schema.outputs[0]
    return known_dtypes(frozenset(first.types))


@cache
def known_dtypes(types: frozenset[str]) -> tuple[np.dtype, ...]:
    """The dtypes that xrelay supports among types like `tensor(float)`."""
    names = {text.removeprefix("tensor(").removesuffix(")") for text in types if text.startswith("tensor(")}
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


def random_inputs(rng: np.random.Generator, model: onnx.ModelProto, special: bool = True) -> dict[str, Array]:
    """Values of the model's inputs by name; `special` adds infinities, NaN, zeros, denormals and extremes."""
    inputs: dict[str, Array] = {}
    for info in model.graph.input:
        tensor = info.type.tensor_type
        shape = tuple(int(dim.dim_value) for dim in tensor.shape.dim)
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        inputs[info.name] = random_array(rng, shape, dtype, info.doc_string or "any", special=special)
    return inputs
