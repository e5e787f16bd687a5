"""The hand-written loop nests of a GEMM and a convolution keep their accumulators in registers after LLVM."""

from __future__ import annotations

import re
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from xrelay.lowering.emit_llvm import emit_llvm_ir
from xrelay.lowering.pipelines import LLVM_PIPELINE
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.source import full_context, read_module

KERNELS = Path(__file__).parents[2] / "lit" / "lowering" / "to_llvm"


def assembly(name: str) -> str:
    """The kernel's assembly for a CPU with AVX-512, on any machine."""
    context = full_context()
    module = read_module(context, KERNELS / name)
    run_pipeline(module, parse_passes(",".join(LLVM_PIPELINE), pass_thunks()), context=context)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    parsed = llvm.parse_assembly(emit_llvm_ir(module, target_cpu="skylake-avx512", prefer_vector_width=512))
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    machine = target.create_target_machine(cpu="skylake-avx512", opt=3)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(parsed, builder)
    return machine.emit_assembly(parsed)


@pytest.mark.parametrize(("name", "accumulators"), [("gemm.mlir", 24), ("conv3x3_nchw16c.mlir", 28)])
def test_accumulators_are_registers(name: str, accumulators: int):
    text = assembly(name)
    fused = re.findall(r"vfmadd\d+ps\s.*%zmm(\d+)$", text, re.MULTILINE)
    assert len(fused) % accumulators == 0
    assert len(fused) <= 4 * accumulators
    assert len(set(fused)) == accumulators
    blocks = re.split(r"^\.LBB.*:", text, flags=re.MULTILINE)
    hot = [block[: block.rindex("vfmadd")] for block in blocks if "vfmadd" in block]
    assert hot
    for block in hot:
        assert not re.findall(r"zmm\d+.*\(%rsp\)|\(%rsp\).*zmm\d+", block), "spills where the time is spent"
    assert len(re.findall(r"zmm\d+, .*\(%rsp\)", text)) <= 2, "spills around it: two hoisted vectors of the bias"
