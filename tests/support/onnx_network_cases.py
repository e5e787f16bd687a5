"""The official cases that are whole networks: files of the onnx package with generated weights."""

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
    """Returns one case per network, sorted by name; each takes seconds to run."""
    cases = [_case(test.name, test.model_name, test.rtol, test.atol) for test in load_model_tests(kind="real")]
    return sorted(cases, key=lambda case: case.name)


def _case(name: str, network: str, rtol: float, atol: float) -> NodeCase:
    """Returns the network with inputs that increase from 0 to 1 and the outputs that onnx stores for them."""
    folder = resources.files("onnx.backend.test") / "data" / "light"
    model = onnx.load_from_string((folder / f"light_{network}.onnx").read_bytes())
    inputs = [Runner.generate_dummy_data(value, name=network) for value in graph_inputs(model.graph)]
    files = [folder / f"light_{network}_output_{number}.pb" for number in range(len(model.graph.output))]
    outputs = [numpy_helper.to_array(TensorProto.FromString(file.read_bytes())) for file in files]
    return NodeCase(name, model, inputs, outputs, rtol, atol)
