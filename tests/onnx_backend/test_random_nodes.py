"""Random nodes of every registered op with special values: the interpreter against onnxruntime, some natively too."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from fuzz.onnx_nodes import drawn_ops, random_inputs, random_node_model
from fuzz.onnx_oracles import difference, onnxruntime_departs, onnxruntime_outputs

from xrelay.api.compile import compile
from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx, registered_ops
from xrelay.interpreters.relay import run_relay

SEEDS = range(8)

ALLOWED = (
    "supported on constants alone",
    "is larger than the padded",
    "must be a float, found",
    "exponentials of",
    "drops a row",
    "relay.mean: division by zero",
    "has no elements to choose from",
)
"""The reasons for which a node may be refused although onnxruntime takes it."""


def interpreted(model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> list[np.ndarray] | str:
    """The outputs, or why the model is refused."""
    try:
        return run_relay(import_onnx(model), list(inputs.values()))
    except XRelayError as error:
        return str(error)


def test_every_registered_op_is_drawn() -> None:
    assert set(drawn_ops()) == {op for op in registered_ops() if "::" not in op}


def test_equal_seeds_give_equal_models_and_inputs() -> None:
    for seed in range(20):
        first, second = (np.random.default_rng(seed) for _ in range(2))
        model = random_node_model(first)
        assert model == random_node_model(second)
        for one, other in zip(random_inputs(first, model).values(), random_inputs(second, model).values(), strict=True):
            assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


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


@pytest.mark.parametrize("op", drawn_ops())
def test_native_code_gives_what_the_interpreter_gives(op: str) -> None:
    model, inputs, expected = runnable(op)
    found = compile(model, cache=False, threads=1).run(list(inputs.values()))
    assert difference(op, found, expected) is None


def runnable(op: str) -> tuple[onnx.ModelProto, dict[str, np.ndarray], list[np.ndarray]]:
    """A model that is not refused, its inputs and outputs."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        model = random_node_model(rng, op)
        inputs = random_inputs(rng, model)
        expected = interpreted(model, inputs)
        if not isinstance(expected, str):
            return model, inputs, expected
    raise AssertionError(f"40 nodes of {op} are refused")
