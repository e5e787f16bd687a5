"""Compile time does not depend on extents: programs with extents beyond any memory pass all stages."""

from __future__ import annotations

import pytest
from xdsl.transforms import get_all_passes

from xrelay.errors import LoweringError
from xrelay.lowering.pipelines import Phase, all_passes, compile_stages
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.source import full_context, parse_module

PROGRAMS = {
    "conv2d": ("1x16x3xNxf32", "nn.conv2d", "16x16x1x1xf32", "1x16x3xNxf32"),
    "conv2d of many rows": ("1x16xNx3xf32", "nn.conv2d", "16x16x1x1xf32", "1x16xNx3xf32"),
    "conv2d of plain channels": ("1x1x1xNxf32", "nn.conv2d", "3x1x1x1xf32", "1x3x1xNxf32"),
    "dense": ("Nx8xf32", "nn.dense", "16x8xf32", "Nx16xf32"),
    "multiply": ("2xNxf32", "multiply", "f32", "2xNxf32"),
}
"""Data, operator, weight, result."""


def compiled(data: str, operator: str, weight: str, result: str) -> None:
    text = f"""
    func.func @main(%x: tensor<{data}>) -> tensor<{result}> {{
      %w = relay.constant dense<0.5> : tensor<{weight}>
      %y = relay.{operator}(%x, %w) : (tensor<{data}>, tensor<{weight}>) -> tensor<{result}>
      %z = relay.nn.softmax(%y) : (tensor<{result}>) -> tensor<{result}>
      func.return %z : tensor<{result}>
    }}"""
    context = full_context()
    module = parse_module(context, text, "huge.mlir")
    stages = [stage for stage in compile_stages(schedule_target="cpu -mcpu=x86-64-v4") if stage.phase is not Phase.LLVM]
    run_pipeline(
        module, parse_passes(",".join(all_passes(stages)), {**get_all_passes(), **pass_thunks()}), context=context
    )


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("extent", [9_999_991, 2**31, 2**33 + 17])
def test_extents_of_any_size_are_compiled(program: str, extent: int) -> None:
    compiled(*(part.replace("N", str(extent)) if "x" in part else part for part in PROGRAMS[program]))


def test_a_buffer_has_at_most_as_many_bytes_as_can_be_addressed() -> None:
    with pytest.raises(LoweringError, match=r"tensor<2x4611686018427387904xf32> takes 36893488147419103232 bytes"):
        compiled(*(part.replace("N", str(2**62)) for part in PROGRAMS["multiply"]))
