"""Tiles of sums stay in tile registers after LLVM, which configures them once for each function."""

from __future__ import annotations

from pathlib import Path

import pytest

from xrelay.lowering.emit_llvm import emit_llvm_ir
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.source import full_context, read_module
from xrelay.runtime.object_code.llvm_compiler import assembly

KERNELS = Path(__file__).parents[2] / "lit" / "lowering" / "loop_to_scf"
PASSES = "convert-loop-to-scf{tiles=tdpbusd,tdpbf16ps},vector-expand-dot-products,convert-scf-to-llvm"


@pytest.mark.parametrize(
    ("file", "function", "expected"),
    [
        ("tile_products", "product", {"tilezero": 4, "tileloadd": 4, "tdpbusd": 4, "tilestored": 4}),
        ("tile_products_parts", "parts", {"tilezero": 4, "tileloadd": 8, "tdpbf16ps": 12, "tilestored": 4}),
    ],
)
def test_sums_stay_in_tile_registers(file: str, function: str, expected: dict[str, int]):
    context = full_context()
    module = read_module(context, KERNELS / f"{file}.mlir")
    run_pipeline(module, parse_passes(PASSES, pass_thunks()), context=context)
    text = assembly(
        emit_llvm_ir(module, target_triple="x86_64-unknown-linux-gnu"),
        cpu="x86-64-v4",
        features="+amx-tile,+amx-int8,+amx-bf16",
    )
    kernel = text.partition(f"\n{function}:")[2].partition("\n.Lfunc_end")[0]
    expected |= {"ldtilecfg": 1}
    assert {name: kernel.count(f"\t{name}\t") for name in expected} == expected
