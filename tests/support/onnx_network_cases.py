"""The official cases that are whole networks: files of the onnx package, whose weights are made up."""

from __future__ import annotations

from functools import cache
from importlib import resources

import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

from support.onnx_node_cases import NodeCase
from xrelay.frontend.onnx.signature import graph_inputs


@cache
def network_cases() -> list[NodeCase]:
    """One case a network, by name; each takes seconds."""
    cases = [_case(test.name, test.model_name, test.rtol, test.atol) for test in load_model_tests(kind="real")]
    return sorted(cases, key=lambda case: case.name)


def _case(name: str, network: str, rtol: float, atol: float) -> NodeCase:
    """The network on inputs that count up from 0 to 1, with the outputs that onnx keeps beside it."""
    folder = resources.files("onnx.backend.test") / "data" / "light"
    model = onnx.load_from_string((folder / f"light_{network}.onnx").read_bytes())
    inputs = [Runner.generate_dummy_data(value, name=network) for value in graph_inputs(model.graph)]
    files = [folder / f"light_{network}_output_{number}.pb" for number in range(len(model.graph.output))]
    outputs = [numpy_helper.to_array(TensorProto.FromString(file.read_bytes())) for file in files]
    return NodeCase(name, model, inputs, outputs, rtol, atol)
