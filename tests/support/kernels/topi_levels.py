"""Runs a function at the topi level in every form on its way to loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.transforms.dead_code_elimination import dce

from xrelay.interpreters.loop import run_kernel
from xrelay.interpreters.topi import run_topi_module
from xrelay.lowering.topi_to_loop.assign_schedules import LoopAssignSchedulesPass
from xrelay.lowering.topi_to_loop.convert_topi_to_loop import ConvertTopiToLoopPass
from xrelay.passes.infra.source import full_context
from xrelay.passes.loop.apply_schedules import LoopApplySchedulesPass
from xrelay.passes.loop.lower_blocks import LoopLowerBlocksPass
from xrelay.passes.topi.expand_named import TopiExpandNamedPass
from xrelay.passes.topi.inline_injective import TopiInlineInjectivePass

Array = NDArray[Any]
WIDE, NARROW = "cpu -mcpu=znver4 -num-threads=2", "cpu -mcpu=x86-64 -num-threads=1"


def tensor(*shape: int, element: Attribute) -> TensorType[Attribute]:
    return TensorType(element, list(shape))


def module_of(inputs: Sequence[Attribute], build: Any) -> ModuleOp:
    """A module with the private function @f; `build(arguments)` returns its ops, whose last one has the result."""
    block = Block(arg_types=inputs)
    ops: list[Operation] = build(list[SSAValue](block.args))
    block.add_ops([*ops, func.ReturnOp(*ops[-1].results)])
    types = [result.type for result in ops[-1].results]
    module = ModuleOp([func.FuncOp("f", (list(inputs), types), Region(block), visibility="private")])
    module.verify()
    return module


def forms(module: ModuleOp, inputs: Sequence[Array], *, lowered: bool = True) -> Iterator[tuple[str, list[Array]]]:
    """The results of @f as it is, expanded, inlined, as loops, scheduled for two targets, and without blocks."""
    context = full_context()
    results = run_topi_module(module, "f", inputs)
    yield "topi", results
    step = module.clone()
    TopiExpandNamedPass().apply(context, step)
    step.verify()
    yield "expanded", run_topi_module(step, "f", inputs)
    TopiInlineInjectivePass().apply(context, step)
    dce(step)
    step.verify()
    yield "inlined", run_topi_module(step, "f", inputs)
    ConvertTopiToLoopPass().apply(context, step)
    step.verify()
    yield "loop", run(step, inputs, results)
    for target in (WIDE, NARROW):
        scheduled = step.clone()
        LoopAssignSchedulesPass(target=target).apply(context, scheduled)
        LoopApplySchedulesPass().apply(context, scheduled)
        scheduled.verify()
        yield f"scheduled for {target}", run(scheduled, inputs, results)
        if lowered:
            LoopLowerBlocksPass().apply(context, scheduled)
            scheduled.verify()
            yield f"lowered for {target}", run(scheduled, inputs, results)


def run(module: ModuleOp, inputs: Sequence[Array], like: Sequence[Array]) -> list[Array]:
    """The outputs of the kernel @f, which are first filled with arbitrary values."""
    kernel = next(op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == "f")
    outputs = [np.full(array.shape, 77).astype(array.dtype) for array in like]
    run_kernel(kernel, [*inputs, *outputs])
    return outputs


def check(module: ModuleOp, inputs: Sequence[Array], expected: Array, *, lowered: bool = True) -> None:
    """Checks every form against `expected`, up to the rounding of f32."""
    for form, (actual,) in forms(module, inputs, lowered=lowered):
        np.testing.assert_allclose(actual, expected, rtol=2e-5, atol=2e-5, err_msg=form)
