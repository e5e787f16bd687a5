"""Damaged .onnx files: the importer returns a model or raises an error of one line, without a traceback or hang."""

from __future__ import annotations

import random

import numpy as np
import onnx

from fuzz.finding import Finding, check_message
from fuzz.graphs import GraphBuilder
from fuzz.onnx_mutations import mutated_model
from fuzz.onnx_nodes import random_node_model
from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx


def run_case(seed: int) -> None:
    """Damages the file of a random graph in several ways, or draws a node of any op and damages it in several."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        _check_node(rng)
    else:
        _check_graph(rng, seed)


def _check_node(rng: np.random.Generator) -> None:
    try:
        model = random_node_model(rng)
    except LookupError:
        return
    for _ in range(60):
        check(mutated_model(rng, model).SerializeToString())


def _check_graph(rng: np.random.Generator, seed: int) -> None:
    builder = GraphBuilder(rng, 17, special=False)
    while not builder.nodes:
        builder.add_random_node()
    builder.add_random_node()
    data = builder.model().SerializeToString()
    choices = random.Random(seed)
    for _ in range(20):
        check(damaged(data, choices))


def check(data: bytes) -> None:
    """Imports `data`; raises `Finding` if an error is not an `XRelayError` of one line."""
    try:
        import_onnx(data).verify()
    except XRelayError as error:
        check_message(error, {"model.onnx": data})
    except Exception as error:
        raise Finding(f"{type(error).__name__} from a damaged model", str(error), {"model.onnx": data}) from error


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Returns `data` with bytes changed, removed, inserted or repeated, or with fields of the model changed."""
    if rng.random() < 0.4:
        return _restructured(data, rng)
    result = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        place, length = rng.randrange(len(result) + 1), rng.choice((1, 2, 8, 64))
        match rng.randrange(4):
            case 0:
                result[place : place + 1] = rng.randbytes(1)
            case 1:
                del result[place : place + length]
            case 2:
                result[place:place] = rng.randbytes(length)
            case _:
                result[place:place] = result[place : place + length]
    return bytes(result)


def _restructured(data: bytes, rng: random.Random) -> bytes:
    """Returns `data` as a well-formed protobuf of an invalid model."""
    model = onnx.load_from_string(data)
    graph = model.graph
    for _ in range(rng.choice((1, 2, 4))):
        node = graph.node[rng.randrange(len(graph.node))]
        match rng.randrange(8):
            case 0:
                node.input.append(rng.choice(["", "nowhere", *node.output]))
            case 1 if node.input:
                node.input[rng.randrange(len(node.input))] = rng.choice(["", "nowhere", *node.output])
            case 2:
                node.output.append(rng.choice(["", *node.input]))
            case 3 if node.attribute:
                _change_attribute(node.attribute[rng.randrange(len(node.attribute))], rng)
            case 4 if graph.initializer:
                tensor = graph.initializer[rng.randrange(len(graph.initializer))]
                tensor.dims.append(rng.choice((0, -1, 3, 1 << 40)))
            case 5 if graph.initializer:
                graph.initializer[rng.randrange(len(graph.initializer))].data_type = rng.randrange(30)
            case 6 if graph.input:
                _change_shape(graph.input[rng.randrange(len(graph.input))], rng)
            case _:
                node.op_type = rng.choice([other.op_type for other in graph.node] + ["Nothing", "", "Loop"])
    return model.SerializeToString()


def _change_attribute(attribute: onnx.AttributeProto, rng: random.Random) -> None:
    odd = rng.choice((0, -1, 1 << 31, (1 << 63) - 1, -(1 << 63), 7))
    attribute.i = odd
    attribute.ints.append(odd)
    attribute.type = rng.choice([attribute.type, *onnx.AttributeProto.AttributeType.values()])


def _change_shape(value: onnx.ValueInfoProto, rng: random.Random) -> None:
    dims = value.type.tensor_type.shape.dim
    if dims and rng.random() < 0.7:
        dims[rng.randrange(len(dims))].dim_value = rng.choice((0, -1, 1, 1 << 31, 1 << 62))
    else:
        dims.add().dim_param = "n"
