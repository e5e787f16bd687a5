"""The schedules of every family are legal for dynamic extents, and yield the same results at every size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from support.kernels.dynamic_kernels import DynamicKernel, arguments_for, output_count
from support.kernels.loop_kernels import KernelText
from support.levels import run_passes
from support.native_kernels import NativeKernel
from support.networks import weight
from xdsl.dialects import func

from xrelay import relay
from xrelay.dialects.loop import ForOp, LoopKind
from xrelay.interpreters.loop import run_kernel
from xrelay.lowering.pipelines import Phase, compile_stages
from xrelay.lowering.topi_to_loop.schedules.choose_family import schedule_kernel
from xrelay.passes.catalogue.default_pipeline import PassSelection
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.loop.lower_blocks import lower_blocks
from xrelay.passes.loop.nest_queries import kernels_of, loops_of
from xrelay.passes.loop.schedule import apply_schedule
from xrelay.target import Target

TARGET = Target.parse("cpu -mcpu=x86-64-v4 -num-threads=2")


WITHOUT_STATIC_PASSES = PassSelection(disabled=frozenset({"relay-apply-winograd"}))
"""Forbids the pass whose op expands otherwise for images of dynamic size: the sizes become dynamic after it."""


@dataclass(frozen=True)
class FamilyCase:
    """An expression, of whose last kernel the numbers in `names` become dynamic, and its expected schedule family."""

    name: str
    family: str
    expr: relay.Expr
    names: Mapping[int, str]
    relations: Mapping[str, tuple[str, int, int]] = field(default_factory=dict[str, tuple[str, int, int]])
    lanes: bool = True
    sizes: tuple[int, ...] = (17, 3, 9)

    def dynamic(self) -> DynamicKernel:
        module = relay.Module.from_expr(self.expr)
        stages = compile_stages(
            vector_lanes=TARGET.lanes(), schedule_target=str(TARGET), selection=WITHOUT_STATIC_PASSES
        )
        for stage in stages:
            loop = stage.phase is Phase.LOOP
            run_passes(module, ",".join(name for name in stage.passes if "assign" not in name))
            if loop:
                break
        kernel = next(k for k in kernels_of(module) if len(k.body.block.args) > 0)
        found = [k for k in kernels_of(module) if "conv2d" in k.sym_name.data] or [kernel]
        return DynamicKernel(KernelText(self.name, str(found[0])), self.names, self.relations)


def x(*shape: int) -> relay.Expr:
    return relay.var("x", shape=shape)


def y(*shape: int) -> relay.Expr:
    return relay.var("y", shape=shape)


WINDOW = {"ih": ("h", 1, 2), "iw": ("w", 1, 2)}
CASES = [
    FamilyCase("dense", "dense", relay.nn.relu(relay.nn.dense(x(17, 24), weight(40, 24))), {17: "n"}),
    FamilyCase("dense-all", "dense", relay.nn.dense(x(17, 29), y(43, 29)), {17: "n", 29: "k", 43: "m"}),
    FamilyCase("batch-matmul", "batch_matmul", relay.nn.batch_matmul(x(3, 17, 24), y(3, 41, 24)),
               {3: "b", 17: "n", 41: "m"}),
    FamilyCase("softmax", "softmax", relay.nn.softmax(x(17, 23)), {17: "n", 23: "m"}),
    FamilyCase("relu", "injective", relay.nn.relu(x(17, 5, 11, 23)), {17: "n", 23: "m"}),
    FamilyCase("transpose", "injective", relay.transpose(x(17, 23), (1, 0)), {17: "n", 23: "m"}, lanes=False),
    FamilyCase("sum-of-rows", "reduction", relay.sum(x(17, 23), axis=1), {17: "n", 23: "m"}),
    FamilyCase("sum-of-columns", "reduction", relay.sum(x(17, 23), axis=0), {17: "n", 23: "m"}),
    FamilyCase("cumsum", "reduction", relay.cumsum(x(17, 23), axis=0), {17: "n", 23: "m"}),
    FamilyCase("sort", "injective", relay.sort(x(17, 23), axis=1), {17: "n"}, lanes=False),
    FamilyCase("sort-of-columns", "injective", relay.sort(x(17, 23), axis=0), {23: "m"}, lanes=False),
    FamilyCase("conv-of-batch", "conv2d_nchwc", relay.nn.relu(relay.nn.conv2d(x(17, 16, 6, 7), weight(32, 16, 3, 3))),
               {17: "n"}, sizes=(2,)),
    FamilyCase("conv-of-image", "conv2d_nchwc", relay.nn.relu(relay.nn.conv2d(x(1, 16, 19, 29), weight(32, 16, 3, 3))),
               {17: "h", 27: "w", 19: "ih", 29: "iw"}, WINDOW, sizes=(2, 15)),
    FamilyCase("conv-of-plain-image", "conv2d_nchw", relay.nn.conv2d(x(17, 3, 19, 29), y(5, 3, 3, 3)),
               {17: "n", 27: "w", 29: "iw"}, {"iw": ("w", 1, 2)}, sizes=(2, 17)),
    FamilyCase("pool", "pool", relay.nn.max_pool2d(x(1, 16, 19, 29), pool_size=(3, 3)),
               {17: "h", 27: "w", 19: "ih", 29: "iw"}, WINDOW, sizes=(3, 17)),
]  # fmt: skip

NATIVE = ("dense", "batch-matmul", "softmax", "sort-of-columns", "conv-of-image")


def parse(text: str) -> func.FuncOp:
    module = parse_module(full_context(), text, "kernel.mlir")
    module.verify()
    return next(op for op in module.ops if isinstance(op, func.FuncOp))


@pytest.mark.grid(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_family(case: FamilyCase):
    text = case.dynamic()
    plain, scheduled = parse(text.text), parse(text.text)
    chosen = schedule_kernel(plain, TARGET)
    assert chosen.family == case.family
    apply_schedule(scheduled, chosen.schedule.data)
    scheduled.verify()
    kinds = {loop.kind for loop in loops_of(scheduled).values()}
    assert LoopKind.PARALLEL in kinds
    assert (LoopKind.VECTORIZED in kinds) == case.lanes
    lowered = scheduled.clone()
    lower_blocks(lowered)
    lowered.verify()
    assert any(isinstance(op, ForOp) and op.extent is None for op in lowered.body.walk())
    free = len(text.names) - len(text.relations)
    for sizes in ([0] * free, [1] * free, case.sizes[:free]):
        given = list(text.sizes(*sizes).values())
        expected = results(plain, given)
        # Without blocks, iterations are interpreted one by one.
        for kernel in (scheduled, lowered) if max(sizes) < 2 else (scheduled,):
            for found, wanted in zip(results(kernel, given), expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.grid(3)
@pytest.mark.parametrize("case", [c for c in CASES if c.name in NATIVE], ids=lambda case: case.name)
def test_native(case: FamilyCase):
    text = case.dynamic()
    plain, scheduled = parse(text.text), parse(text.text)
    apply_schedule(scheduled, schedule_kernel(plain, TARGET).schedule.data)
    native = NativeKernel(str(scheduled).replace("func.func private", "func.func"), scheduled.sym_name.data)
    free = len(text.names) - len(text.relations)
    for sizes in ([0] * free, [1] * free, case.sizes[:free], [40] * free):
        given = list(text.sizes(*sizes).values())
        arguments = arguments_for(plain, given)
        native(*arguments)
        for found, wanted in zip(outputs_in(plain, arguments, given), results(plain, given), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def results(kernel: func.FuncOp, extents: list[int]) -> list[np.ndarray]:
    arguments = arguments_for(kernel, extents)
    run_kernel(kernel, arguments)
    return outputs_in(kernel, arguments, extents)


def outputs_in(kernel: func.FuncOp, arguments: Sequence[object], extents: Sequence[int]) -> list[np.ndarray]:
    end = len(arguments) - len(extents)
    return [np.asarray(array) for array in arguments[end - output_count(kernel) : end]]
