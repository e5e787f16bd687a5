"""Random graphs over all registered operators: nodes of `onnx_nodes` whose inputs are adapted existing values.

Each node is drawn with its own shapes. A value of another shape is flattened, repeated or cut, and reshaped to the
input's shape, so that any operator can follow any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fuzz.engines import interpret
from fuzz.nodes import check_native, interpreted
from fuzz.onnx_draft import imported
from fuzz.onnx_nodes import drawn_ops, opsets_of, random_inputs, random_node_model
from fuzz.special_values import Array, is_float, random_array
from xrelay.errors import InterpreterError

LARGEST = 4096
"""The maximum size of an output in elements; larger ones are dropped."""


MAX_REPEATS = 32
"""The maximum number of repetitions of a value: a concatenation of hundreds takes a minute to compile."""


@dataclass(frozen=True)
class Value:
    """A value that later nodes may use."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))


@dataclass
class GraphBuilder:
    """A graph being built; with `special`, inputs include infinities and similar values."""

    rng: np.random.Generator
    opset: int
    special: bool
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    constants: dict[str, Array] = field(default_factory=dict[str, Array])
    inputs: dict[str, Array] = field(default_factory=dict[str, Array])
    values: list[Value] = field(default_factory=list[Value])
    used: set[str] = field(default_factory=set[str])

    def add_random_node(self) -> None:
        """Appends a random node, with adapters for its inputs."""
        ops = [op for op in drawn_ops() if self.opset in opsets_of(op)]
        single = random_node_model(self.rng, ops[int(self.rng.integers(len(ops)))], self.opset)
        own = random_inputs(self.rng, single, special=self.special)
        try:
            outputs = interpret(single, own)
        except InterpreterError:
            return
        if outputs is None or any(out.size > LARGEST for out in outputs):
            return
        prefix = f"n{len(self.nodes)}_"
        names: dict[str, str] = {"": ""}
        for tensor in single.graph.initializer:
            names[tensor.name] = prefix + tensor.name
            self.constants[prefix + tensor.name] = numpy_helper.to_array(tensor)
        for info in single.graph.input:
            names[info.name] = self.value_like(own[info.name], info.doc_string or "any")
        for node in single.graph.node:
            self._append(node, prefix, names)
        for info, out in zip(single.graph.output, outputs, strict=True):
            self.values.append(Value(names[info.name], out.dtype, out.shape))

    def value_like(self, array: Array, domain: str) -> str:
        """Returns a value with the dtype and shape of `array`: an existing one, adapted, or a new input.

        If the domain is restricted, the input is always new.
        """
        fitting = [
            value
            for value in self.values
            if _convertible(value.dtype, array.dtype) and 0 < array.size <= MAX_REPEATS * value.size
        ]
        anywhere = domain == "any" and 0 < array.size <= LARGEST
        if not anywhere or not fitting or self.rng.random() < 0.25:
            name = f"x{len(self.inputs)}"
            self.inputs[name] = random_array(self.rng, array.shape, array.dtype, domain, special=self.special)
            self.values.append(Value(name, array.dtype, array.shape))
            self.used.add(name)
            return name
        exact = [value for value in fitting if (value.dtype, value.shape) == (array.dtype, array.shape)]
        pool = exact or fitting
        value = pool[int(self.rng.integers(max(0, len(pool) - 4), len(pool)))]
        self.used.add(value.name)
        return self._adapted(value, array)

    def model(self) -> onnx.ModelProto:
        """Returns the graph; its outputs are all unused values, and some used ones."""
        made = [value for value in self.values if value.name not in self.inputs]
        outputs = [value.name for value in made if value.name not in self.used or self.rng.random() < 0.2]
        graph = helper.make_graph(
            self.nodes,
            "fuzz",
            [helper.make_tensor_value_info(name, _onnx_type(a.dtype), a.shape) for name, a in self.inputs.items()],
            [helper.make_empty_tensor_value_info(name) for name in outputs],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        return helper.make_model(graph, opset_imports=imported(self.nodes, self.opset), ir_version=10)

    def _append(self, node: onnx.NodeProto, prefix: str, names: dict[str, str]) -> None:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        for name in node.output:
            names.setdefault(name, prefix + name)
        copy.name = prefix + node.op_type
        del copy.input[:], copy.output[:]
        copy.input.extend(names[name] for name in node.input)
        copy.output.extend(names[name] for name in node.output)
        self.nodes.append(copy)

    def _adapted(self, value: Value, like: Array) -> str:
        name = value.name
        if value.shape != like.shape:
            name = self._emit("Reshape", [name, self._constant([-1])])
            repeats = -(-like.size // value.size)
            if repeats > 1:
                name = self._emit("Concat", [name] * repeats, axis=0)
            if repeats * value.size != like.size:
                name = self._emit("Slice", [name, self._constant([0]), self._constant([like.size])])
            name = self._emit("Reshape", [name, self._constant(list(like.shape))])
        if value.dtype != like.dtype:
            name = self._emit("Cast", [name], to=_onnx_type(like.dtype))
        return name

    def _emit(self, op: str, inputs: list[str], **attributes: Any) -> str:
        name = f"n{len(self.nodes)}_{op.lower()}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def _constant(self, numbers: list[int]) -> str:
        name = f"k{len(self.constants)}"
        self.constants[name] = np.array(numbers, np.int64)
        return name


def run_case(seed: int) -> None:
    """Runs one graph in the interpreter and as native code."""
    rng = np.random.default_rng(seed)
    builder = GraphBuilder(rng, int(rng.choice([11, 13, 15, 17, 18, 21])), special=bool(rng.random() < 0.3))
    for _ in range(int(rng.integers(2, 12))):
        builder.add_random_node()
    if not builder.nodes:
        return
    model = builder.model()
    expected = interpreted(rng, model, builder.inputs)
    if expected is None:
        return
    check_native(rng, model, builder.inputs, expected)


def _convertible(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether each value of `source` has a defined conversion to `target`; floats to integers do not."""
    return source == target or is_float(target) or source == np.bool_


def _onnx_type(dtype: np.dtype[Any]) -> int:
    return helper.np_dtype_to_tensor_dtype(dtype) if dtype != np.bool_ else TensorProto.BOOL
