"""Random nodes of every registered op with special values: the interpreter against onnxruntime, some in native code."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from fuzz.onnx_acceptance import accepted
from fuzz.onnx_nodes import GRAPH, LAST_OPSET, SEEDED, drawn_ops, random_inputs, random_node_model
from fuzz.onnx_ops import schema_of
from fuzz.onnx_oracles import difference, onnxruntime_departs, onnxruntime_outputs
from onnx import TensorProto, helper
from support.examples import examples

from xrelay.api.compile import compile
from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx, registered_ops
from xrelay.interpreters.relay import run_relay

SEEDS = range(examples(1, more=4))

ALLOWED = (
    "supported on constants alone",
    "is larger than the padded",
    "must be a float, found",
    "exponentials of",
    "drops a row",
    "relay.mean: division by zero",
    "has no elements to choose from",
    # ONNX allows none of these.
    "extents of operand #1 and of the axis",
    "is out of range for rank",
    "the slope has rank",
)
"""The reasons for which a node may be rejected although onnxruntime accepts it."""


def interpreted(model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> list[np.ndarray] | str:
    """The outputs, or the error message."""
    try:
        return run_relay(import_onnx(model), list(inputs.values()))
    except XRelayError as error:
        return str(error)


def test_every_registered_op_of_tensors_is_drawn() -> None:
    schemas = {op: schema_of(op, onnx.defs.onnx_opset_version()) for op in registered_ops()}
    for op, schema in schemas.items():
        if schema is None or op in (*drawn_ops(), *SEEDED):
            continue
        kinds = [{text.partition("(")[0] for text in formal.types} for formal in (*schema.inputs, *schema.outputs)]
        holds_a_graph = any(attribute.type == GRAPH for attribute in schema.attributes.values())
        too_new = schema.since_version > LAST_OPSET
        assert too_new or holds_a_graph or any("tensor" not in each for each in kinds), op


@pytest.mark.parametrize("op", ["Equal", "GatherElements", "MatMul", "Mod", "ScatterND", "Slice", "TopK"])
def test_what_is_proposed_from_a_schema_means_something_and_differs(op: str) -> None:
    models = [random_node_model(np.random.default_rng(seed), op) for seed in range(12)]
    taken = [model for model in models if not isinstance(interpreted(model, inputs_of(model)), str)]
    assert len(taken) > 8
    shapes = {str(model.graph.input[0].type.tensor_type.shape) for model in taken}
    assert len(shapes) > 6


def inputs_of(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    return random_inputs(np.random.default_rng(0), model)


def test_what_means_nothing_is_not_proposed() -> None:
    node = helper.make_node("Add", ["x", "y"], ["z"])
    shapes = [("x", (2, 3)), ("y", (2, 4))]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes]
    graph = helper.make_graph([node], "graph", infos, [helper.make_empty_tensor_value_info("z")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    assert not accepted(np.random.default_rng(0), model)
    model.graph.input[1].type.tensor_type.shape.dim[1].dim_value = 3
    assert accepted(np.random.default_rng(0), model)


def test_domains_of_inputs_follow_from_the_op() -> None:
    domains = {
        op: {
            info.doc_string
            for seed in range(20)
            for info in random_node_model(np.random.default_rng(seed), op).graph.input
        }
        for op in ("Equal", "MatMul", "Not")
    }
    assert domains["Equal"] == domains["Not"] == {"any", "small"}
    assert domains["MatMul"] == {"finite", "small"}
    whole = [random_node_model(np.random.default_rng(seed), "Mod", 13) for seed in range(20)]
    # A constant divisor already has no zeros.
    graphs = [model.graph for model in whole if not model.graph.initializer]
    integers = [each for each in graphs if each.input[0].type.tensor_type.elem_type == TensorProto.INT32]
    assert integers
    assert all(info.doc_string == "nonzero" for graph in integers for info in graph.input)


@pytest.mark.grid(1)
@pytest.mark.parametrize("op", drawn_ops())
def test_random_nodes_mean_what_onnxruntime_takes_them_for(op: str) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        model = random_node_model(rng, op)
        inputs = random_inputs(rng, model)
        found = interpreted(model, inputs)
        if isinstance(found, str):
            assert any(reason in found for reason in ALLOWED), (seed, found)
            continue
        expected = onnxruntime_outputs(model, inputs)
        if expected is not None and onnxruntime_departs(model, inputs) is None:
            assert difference(op, found, expected) is None, seed


@pytest.mark.grid(10)
@pytest.mark.parametrize("op", drawn_ops())
def test_native_code_gives_what_the_interpreter_gives(op: str) -> None:
    model, inputs, expected = runnable(op)
    found = compile(model, cache=False, threads=1).run(list(inputs.values()))
    assert difference(op, found, expected) is None


def runnable(op: str) -> tuple[onnx.ModelProto, dict[str, np.ndarray], list[np.ndarray]]:
    """A model that is not rejected, its inputs and outputs."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        model = random_node_model(rng, op)
        inputs = random_inputs(rng, model)
        expected = interpreted(model, inputs)
        if not isinstance(expected, str):
            return model, inputs, expected
    raise AssertionError(f"40 nodes of {op} are refused")
