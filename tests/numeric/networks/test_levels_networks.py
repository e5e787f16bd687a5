"""Networks after every interpretable stage of the compiler: the program is valid and computes the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.levels import assert_same, outputs, run_passes
from support.networks import NETWORKS, Build, large_elementwise
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay
from xrelay.api.programs import ModuleProgram
from xrelay.lowering.pipelines import Phase, compile_stages
from xrelay.passes.infra.verify import verify_module
from xrelay.passes.instruments.random_inputs import random_values
from xrelay.runtime.metadata import dtype_from_name
from xrelay.target.target import Target

SMALL = [network for network in NETWORKS if network is not large_elementwise]


def random_inputs(module: ModuleOp) -> list[NDArray[Any]]:
    rng = np.random.default_rng(0)
    inputs: list[NDArray[Any]] = []
    for place in ModuleProgram(module, "main").inputs:
        shape = tuple(extent for extent in place.shape if isinstance(extent, int))
        inputs.append(random_values(shape, dtype_from_name(place.dtype), rng))
    return inputs


@pytest.mark.grid(7)
@pytest.mark.parametrize("build", SMALL, ids=lambda build: build.__name__)
def test_every_stage_computes_the_same(build: Build) -> None:
    target = Target.parse("cpu -mcpu=x86-64-v4")
    module = relay.Module.from_expr(build())
    inputs = random_inputs(module)
    expected = outputs(module, inputs)
    for stage in compile_stages(vector_lanes=target.lanes(), schedule_target=str(target)):
        if stage.phase is Phase.SCF:
            break
        run_passes(module, ",".join(stage.passes))
        verify_module(module)
        assert_same(outputs(module, inputs), expected, stage.name, rtol=1e-3)


@pytest.mark.grid(7)
@pytest.mark.parametrize("build", SMALL, ids=lambda build: build.__name__)
def test_every_stage_compiles(build: Build) -> None:
    """Below relay, accesses without a static proof are checked at run time."""
    module = relay.Module.from_expr(build())
    inputs = random_inputs(module)
    expected = outputs(module, inputs)
    for stage in compile_stages():
        if stage.phase is Phase.SCF:
            break
        run_passes(module, ",".join(stage.passes))
        if stage.phase in (Phase.TOPI, Phase.LOOP, Phase.SCHEDULED):
            assert_same(xrelay.compile(module, cache=False).run(inputs), expected, stage.name, rtol=1e-3)
