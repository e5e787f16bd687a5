"""`convert-scf-to-llvm` yields the same text and messages as the passes it replaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.levels import run_passes
from support.networks import attention_like, residual_block
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xrelay import relay
from xrelay.errors import XRelayError
from xrelay.lowering.pipelines import LLVM_PIPELINE, STEPS, Phase, compile_stages
from xrelay.passes.infra.source import full_context, parse_module

LIT = Path(__file__).parents[2] / "lit" / "lowering"
FUSED = "convert-scf-to-llvm"
BEFORE = ",".join(LLVM_PIPELINE[: LLVM_PIPELINE.index(FUSED)])


def outcome(module: ModuleOp, passes: str) -> str:
    """The module after the passes, or the error message."""
    try:
        run_passes(module, passes)
    except XRelayError as error:
        return str(error)
    return str(module)


@pytest.mark.parametrize("folder", ["to_llvm", "loop_to_scf"])
def test_equal_text_for_the_examples(folder: str) -> None:
    compared = 0
    for path in LIT.joinpath(folder).glob("*.mlir"):
        for piece in path.read_text().split("// -----"):
            if "func.func" in piece.replace("// ", ""):
                compared += is_compared(piece, path)
    assert compared > 10


def is_compared(text: str, path: Path) -> bool:
    """Compares the results on an example; returns whether it can be lowered to the passes' input."""
    try:
        module = parse_module(full_context(), text, path.name)
        run_passes(module, f"convert-loop-to-scf,{BEFORE}" if path.parent.name == "loop_to_scf" else BEFORE)
    except XRelayError:
        return False
    assert outcome(module.clone(), FUSED) == outcome(module.clone(), ",".join(STEPS)), path
    return True


def scf_of(expression: relay.Expr) -> ModuleOp:
    """A network at the input level of `convert-scf-to-llvm`."""
    module = relay.Module.from_expr(expression)
    for stage in compile_stages(vector_lanes=8):
        if stage.phase is not Phase.LLVM:
            run_passes(module, ",".join(stage.passes))
    run_passes(module, BEFORE)
    return module


def test_equal_text_for_a_network() -> None:
    module = scf_of(attention_like())
    assert outcome(module.clone(), FUSED) == outcome(module.clone(), ",".join(STEPS))


def test_each_op_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    module, made, make = scf_of(residual_block()), 0, Operation.__init__

    def counted(op: Operation, **parts: Any) -> None:
        nonlocal made
        made += 1
        make(op, **parts)

    monkeypatch.setattr(Operation, "__init__", counted)
    run_passes(module, FUSED)
    assert made <= sum(1 for _ in module.walk())
