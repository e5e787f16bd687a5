"""Damaged models with subgraphs, sequences or optionals: onnx's official cases, changed at any depth.

The interpreter runs the models that the importer accepts; the outcome must be results or an `XRelayError` of one line.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import numpy as np
import onnx
from onnx import numpy_helper
from support.onnx_node_cases import NodeCase, node_cases

from fuzz.finding import Finding, check_message
from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

OPS = ("Compress", "If", "Loop", "Optional", "Scan", "Sequence", "Slice", "SplitToSequence", "Tile", "TopK", "Unique")
"""Prefixes of op types; a case is used if one of its ops, at any depth, has one."""

NUMBERS = (0, -1, 1, 2, 3, 7, -9, 100)
"""Replacements for counts, indices, axes and extents; small, as longer loops reveal nothing more."""


@cache
def cases() -> list[NodeCase]:
    """The undamaged cases."""
    return [case for case in node_cases() if any(op.startswith(OPS) for op in _ops(case.model.graph))]


def run_case(seed: int) -> None:
    """Runs some damaged cases."""
    rng = random.Random(seed)
    for _ in range(10):
        case = rng.choice(cases())
        model = onnx.ModelProto()
        model.CopyFrom(case.model)
        for _ in range(rng.choice((0, 1, 1, 2, 4))):
            _damage(rng.choice(list(_graphs(model.graph))), list(_names(model.graph)), rng)
        check(model, [_changed(value, rng) for value in case.inputs])


def check(model: onnx.ModelProto, inputs: list[object]) -> None:
    """Imports, verifies and runs `model`; raises `Finding` if an error is not an `XRelayError` of one line."""
    data = model.SerializeToString()
    try:
        _run(data, inputs)
    except Finding as finding:
        # The text of large inputs takes seconds, so only a finding prints it.
        texts = {"model.txt": onnx.printer.to_text(model).encode(), "inputs.txt": repr(inputs).encode()}
        raise Finding(finding.kind, finding.message, {"model.onnx": data, **texts}) from finding


def _run(data: bytes, inputs: list[object]) -> None:
    try:
        module = import_onnx(data)
        module.verify()
        run_relay(module, inputs)
    except XRelayError as error:
        check_message(error, {})
    except Exception as error:
        raise Finding(f"{type(error).__name__} from a damaged model", str(error)) from error


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yields the graph and its nodes' graphs at any depth."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


def _ops(graph: onnx.GraphProto) -> Iterator[str]:
    return (node.op_type for each in _graphs(graph) for node in each.node)


def _names(graph: onnx.GraphProto) -> Iterator[str]:
    for each in _graphs(graph):
        yield from (value.name for value in (*each.input, *each.output, *each.initializer))
        for node in each.node:
            yield from (*node.input, *node.output)


def _damage(graph: onnx.GraphProto, names: list[str], rng: random.Random) -> None:
    """Makes one change to `graph`: to a node, its attributes, the inputs, outputs or constants."""
    node = rng.choice(graph.node) if graph.node else onnx.NodeProto()
    other = rng.choice([*names, *names, "", "nowhere"])
    match rng.randrange(10):
        case 0 | 1 if node.input:
            node.input[rng.randrange(len(node.input))] = other
        case 2:
            node.input.append(other)
        case 3 if node.input:
            del node.input[rng.randrange(len(node.input))]
        case 4 if node.attribute:
            _change_attribute(rng.choice(node.attribute), rng)
        case 5 if graph.output:
            rng.choice(graph.output).name = other
        case 6 if graph.input:
            rng.choice(graph.input).name = other
        case 7 if graph.input or graph.output:
            _change_type(rng.choice([*graph.input, *graph.output]).type, rng)
        case 8 if graph.initializer:
            _change_tensor(rng.choice(graph.initializer), rng)
        case 9:
            _drop_or_repeat(graph, rng)
        case _:
            node.op_type = rng.choice([*OPS, "Add", "Concat", "Identity", "Shape", "SequenceAt", "SequenceInsert"])


def _drop_or_repeat(graph: onnx.GraphProto, rng: random.Random) -> None:
    values = rng.choice((graph.node, graph.input, graph.output))
    if values and rng.random() < 0.5:
        del values[rng.randrange(len(values))]
    elif values:
        values.append(rng.choice(values))


def _change_attribute(attribute: onnx.AttributeProto, rng: random.Random) -> None:
    match attribute.type:
        case onnx.AttributeProto.INT:
            attribute.i = rng.choice(NUMBERS)
        case onnx.AttributeProto.INTS:
            attribute.ints.append(rng.choice(NUMBERS))
        case onnx.AttributeProto.TENSOR:
            _change_tensor(attribute.t, rng)
        case onnx.AttributeProto.TYPE_PROTO:
            _change_type(attribute.tp, rng)
        case _:
            attribute.name = "nothing"


def _change_type(type: onnx.TypeProto, rng: random.Random) -> None:
    if not type.HasField("tensor_type"):
        type.tensor_type.elem_type = rng.choice((1, 7, 9))
    elif rng.random() < 0.3:
        type.tensor_type.elem_type = rng.choice((1, 6, 7, 9, 11))
    elif type.tensor_type.shape.dim and rng.random() < 0.6:
        dim = rng.choice(type.tensor_type.shape.dim)
        dim.CopyFrom(onnx.TensorShapeProto.Dimension(dim_value=rng.choice(NUMBERS)))
    else:
        type.tensor_type.shape.dim.add().dim_param = "n"


def _change_tensor(tensor: onnx.TensorProto, rng: random.Random) -> None:
    """Changes a number, or the shape, of a numeric tensor."""
    array = numpy_helper.to_array(tensor)
    if array.size and rng.random() < 0.6:
        array = array.copy()
        array.flat[rng.randrange(array.size)] = rng.choice(NUMBERS) if array.dtype.kind != "u" else 1
    else:
        array = rng.choice((array.reshape(-1)[:1].sum(), array.reshape(-1)[:0], np.stack([array, array])))
    tensor.CopyFrom(numpy_helper.from_array(np.asarray(array), tensor.name))


def _changed(value: object, rng: random.Random) -> object:
    """Returns the value of an input, sometimes with another number, shape or length."""
    if rng.random() < 0.7:
        return value
    if isinstance(value, list):
        return rng.choice(([], value[:1], value * 2, value[0] if value else value))
    if not isinstance(value, np.ndarray) or value.dtype == object:
        return rng.choice((None, value))
    tensor = onnx.TensorProto()
    tensor.CopyFrom(numpy_helper.from_array(value))
    _change_tensor(tensor, rng)
    return numpy_helper.to_array(tensor)
