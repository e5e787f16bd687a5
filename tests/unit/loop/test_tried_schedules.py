"""A schedule that was tried on a copy of a kernel is not applied again, unless either has changed since."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import pytest
from support.work import executed_lines
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.loop import LoadOp, ScheduleAttr
from xrelay.dialects.loop.schedule import Split
from xrelay.dialects.shared.attribute_names import SCHEDULE
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.loop.nest_queries import kernels_of, loops_of
from xrelay.passes.loop.tried_schedules import keep_tried_schedules

CONTEXT = full_context()
KERNEL = """
func.func private @copy(%X: memref<60x32xf32>, %Y: memref<60x32xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 60 {
    loop.for "j" %j to 32 {
      loop.block "copy" (%v : spatial 60 = %i, %w : spatial 32 = %j) reads(%X) writes(%Y) {
        %x = loop.load %X[%v, %w] : memref<60x32xf32>
        loop.store %x, %Y[%v, %w] : memref<60x32xf32>
      }
    }
  }
  func.return
}
"""


def run(module: ModuleOp, passes: str) -> None:
    run_pipeline(module, parse_passes(passes, pass_thunks()), context=CONTEXT)


def rename_value(module: ModuleOp) -> None:
    next(op for op in module.walk() if isinstance(op, LoadOp)).result.name_hint = "other"


def add_attribute(module: ModuleOp) -> None:
    loop = loops_of(kernels_of(module)[0])["i"]
    loop.no_unroll = True


def change_schedule(module: ModuleOp) -> None:
    kernels_of(module)[0].attributes[SCHEDULE] = ScheduleAttr([Split("i", 6)])


def leave(module: ModuleOp) -> None:
    assert SCHEDULE in kernels_of(module)[0].attributes


@pytest.mark.parametrize("change", [leave, rename_value, add_attribute, change_schedule])
def test_the_text_is_that_of_a_schedule_applied_from_its_attribute(change: Callable[[ModuleOp], None]) -> None:
    texts: list[str] = []
    for scope in (keep_tried_schedules(), nullcontext()):
        module = parse_module(CONTEXT, KERNEL, "test")
        with scope:
            run(module, "loop-assign-schedules")
            change(module)
            run(module, "loop-apply-schedules")
        texts.append(str(module))
    assert texts[0] == texts[1]
    assert "vectorized" in texts[0] or change is change_schedule


def test_a_tried_schedule_is_not_applied_again() -> None:
    def lines(scope: AbstractContextManager[None]) -> int:
        module = parse_module(CONTEXT, KERNEL, "test")
        with scope:
            run(module, "loop-assign-schedules")
            return executed_lines(lambda: run(module, "loop-apply-schedules"))

    lines(nullcontext())
    assert lines(keep_tried_schedules()) < lines(nullcontext()) / 2


def test_nothing_is_kept_after_its_scope() -> None:
    module = parse_module(CONTEXT, KERNEL, "test")
    with keep_tried_schedules():
        run(module, "loop-assign-schedules")
    run(module, "loop-apply-schedules")
    module.verify()
    assert any(name.endswith("_v") or name == "j" for name in loops_of(kernels_of(module)[0]))
