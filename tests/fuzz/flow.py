"""Random ONNX models of branches, loops and scans, compared in native code, the interpreter and onnxruntime."""

from __future__ import annotations

import numpy as np

import xrelay
from fuzz.engines import outcomes
from fuzz.finding import Finding
from fuzz.flow_models import FlowModels
from fuzz.nodes import files
from fuzz.onnx_oracles import onnxruntime_outputs
from fuzz.sequences import difference
from xrelay.frontend.onnx import import_onnx

RUNS = 3
"""The number of sizes at which a model runs."""


def run_case(seed: int) -> None:
    """Compiles one model and compares its runs."""
    rng = np.random.default_rng(seed)
    draw = FlowModels(rng)
    model = draw.model()
    module = import_onnx(model)
    compiled = xrelay.compile(model, opt_level=int(rng.integers(4)), threads=1, cache=False)
    for _ in range(RUNS):
        inputs = draw.inputs()
        found, expected = outcomes(module, compiled, inputs)
        if problem := difference(found, expected):
            raise Finding("native code departs from the interpreter", problem, files(model, inputs))
        wanted = onnxruntime_outputs(model, inputs)
        if wanted is not None and (problem := difference(expected, wanted)):
            raise Finding("the interpreter departs from onnxruntime", problem, files(model, inputs))
