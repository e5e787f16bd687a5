"""The choice of a kernel's schedule family, fallbacks, and legal schedules for irregular shapes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from xdsl.dialects import func

from xrelay.dialects.loop import ScheduleAttr
from xrelay.dialects.loop.schedule import CacheRead, CacheWrite, Fuse, SchedulePrimitive, Split, Tile, Unroll
from xrelay.errors import LoweringError
from xrelay.lowering.registry import pass_thunks
from xrelay.lowering.topi_to_loop.explain_schedules import explain_schedule
from xrelay.lowering.topi_to_loop.schedules import choose_family
from xrelay.lowering.topi_to_loop.schedules.candidates import Candidate, Refusal, cheapest
from xrelay.lowering.topi_to_loop.schedules.choose_family import register_family, schedule_kernel
from xrelay.lowering.topi_to_loop.schedules.cost_model import Cost
from xrelay.lowering.topi_to_loop.schedules.kernel_view import KernelView
from xrelay.lowering.topi_to_loop.schedules.schedule_draft import ScheduleDraft
from xrelay.lowering.topi_to_loop.schedules.tile_model import MIN_GAIN
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.loop.nest_queries import loops_of
from xrelay.passes.loop.schedule import Schedule
from xrelay.target import Target

WIDE = Target.parse("cpu -mcpu=znver4 -num-threads=4")
TARGETS = [WIDE, Target.parse("cpu -mcpu=haswell -num-threads=1"), Target.parse("cpu -mcpu=neoverse-n1")]


def kernel(text: str) -> func.FuncOp:
    context = full_context()
    module = parse_module(context, text, "test")
    passes = "topi-expand-named,topi-inline-injective,convert-topi-to-loop"
    run_pipeline(module, parse_passes(passes, pass_thunks()), context=context)
    return next(op for op in module.ops if isinstance(op, func.FuncOp))


COPY = """
func.func private @k(%x: tensor<6x32xf32>) -> tensor<6x32xf32> {
  %r = topi.compute "copy" [%i : 6, %j : 32] : tensor<6x32xf32> {
    %v = topi.read %x[%i, %j] : tensor<6x32xf32>
    topi.yield %v : f32
  }
  func.return %r : tensor<6x32xf32>
}
"""


def test_a_family_of_another_package_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose_family, "REGISTERED", dict(choose_family.REGISTERED))

    def mine(draft: ScheduleDraft) -> bool:
        draft.do(Split("j", 8))
        draft.record_reason("because I say so")
        return True

    register_family("mine", mine)
    chosen = schedule_kernel(kernel(COPY), WIDE)
    assert (chosen.family, chosen.schedule.data) == ("mine", (Split("j", 8),))
    assert chosen.reason == "mine: because I say so"


def test_a_family_whose_schedule_is_illegal_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose_family, "REGISTERED", dict(choose_family.REGISTERED))

    def wrong(draft: ScheduleDraft) -> bool:
        draft.do(Split("j", 8), Unroll("no_such_loop"))
        return True

    register_family("wrong", wrong)
    chosen = schedule_kernel(kernel(COPY), WIDE)
    assert chosen.family == "injective"
    assert "wrong failed" in chosen.reason
    assert "no_such_loop" in chosen.reason


def test_a_family_that_raises_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose_family, "REGISTERED", dict(choose_family.REGISTERED))

    def broken(draft: ScheduleDraft) -> bool:
        raise KeyError("no_such_block")

    register_family("broken", broken)
    with pytest.raises(LoweringError, match="'broken'") as caught:
        schedule_kernel(kernel(COPY), WIDE)
    assert isinstance(caught.value, KeyError)


@pytest.mark.parametrize("method", ["estimate", "apply"])
def test_a_family_whose_candidate_raises_is_named(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setattr(choose_family, "REGISTERED", dict(choose_family.REGISTERED))

    def broken(*_: object) -> Cost:
        raise KeyError("no_such_block")

    candidates = [replace(proposed("mine", 1.0), **{method: broken}), proposed("other", 2.0)]
    register_family("broken", lambda draft: candidates)
    with pytest.raises(LoweringError, match="'broken'") as caught:
        schedule_kernel(kernel(COPY), WIDE)
    assert isinstance(caught.value, KeyError)


def test_a_draft_returns_the_loops_and_blocks_that_primitives_make() -> None:
    draft = ScheduleDraft(kernel(COPY), WIDE)
    assert draft.split("j", 8, inner="v") == ("j_o", "j_v")
    assert draft.do(Split("i", 2), Unroll("j_v"), Fuse("i_i", "j_o")) == ["i_o", "i_i", "i_i_j_o"]
    assert {"i_o", "i_i_j_o", "j_v"} == set(loops_of(draft.kernel))
    fresh = ScheduleDraft(kernel(COPY), WIDE)
    assert fresh.do(CacheRead("copy", 0)) == ["copy_read0", "copy_read0_0", "copy_read0_1"]
    assert fresh.do(CacheWrite("copy")) == ["copy_write", "copy_write_0", "copy_write_1"]
    assert fresh.do(Tile("i", "j", 2, 8)) == ["i_o", "j_o", "i_i", "j_i"]
    assert {block.block_name for block in fresh.blocks()} == {"copy", "copy_read0", "copy_write"}


def proposed(name: str, cycles: float, *steps: SchedulePrimitive) -> Candidate:
    return Candidate(name, "a test", lambda: Cost.of(cycles), lambda draft: draft.do(*steps))


def test_candidates_of_a_registered_family_compete_by_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose_family, "REGISTERED", dict(choose_family.REGISTERED))
    mine = [proposed("dear", 1e9, Split("i", 2)), proposed("cheap", 0.5, Split("i", 3)), Refusal("none", "a test")]
    register_family("mine", lambda draft: mine)
    chosen = schedule_kernel(kernel(COPY), WIDE)
    assert (chosen.family, chosen.schedule.data) == ("mine", (Split("i", 3),))
    del mine[1]
    assert schedule_kernel(kernel(COPY), WIDE).family == "injective"


def test_the_next_candidate_replaces_an_illegal_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose_family, "REGISTERED", dict(choose_family.REGISTERED))
    illegal = proposed("illegal", 0.1, Split("i", 2), Unroll("no_such_loop"))
    register_family("mine", lambda draft: [illegal, proposed("legal", 0.2, Split("j", 4))])
    chosen = schedule_kernel(kernel(COPY), WIDE)
    assert (chosen.family, chosen.schedule.data) == ("mine", (Split("j", 4),))
    assert "no_such_loop" in chosen.refused["mine"]


def test_of_candidates_of_equal_cost_the_first_is_chosen() -> None:
    view = KernelView(kernel(COPY), WIDE)
    costs = [3.0, 2.0, 2.0 * (1 - MIN_GAIN / 2), 2.0]
    assert cheapest([proposed(str(cost), cost) for cost in costs], view) == 1


def test_the_cost_of_other_blocks_counts_unless_it_is_equal() -> None:
    view = KernelView(kernel(COPY), WIDE)
    rest = Candidate("rest", "a test", lambda: Cost.of(1.0), lambda draft: None, frozenset())
    assert cheapest([rest, proposed("all", 2.0)], view) == 1
    assert rest.total(view).cycles > 2


def test_an_explanation_has_the_illegal_candidates_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose_family, "REGISTERED", dict(choose_family.REGISTERED))
    illegal = proposed("illegal", 0.1, Unroll("no_such_loop"))
    register_family("mine", lambda draft: [illegal, Refusal("never", "a test")])
    explained = explain_schedule(kernel(COPY), WIDE)
    assert [(each.name, each.refused is None) for each in explained.ranking] == [
        ("illegal", False),
        ("each nest alone", True),
        ("never", False),
    ]
    assert explained.chosen is explained.ranking[1]


def test_a_family_without_a_cost_is_explained_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose_family, "REGISTERED", dict(choose_family.REGISTERED))

    def mine(draft: ScheduleDraft) -> bool:
        draft.do(Split("j", 8))
        return True

    register_family("mine", mine)
    chosen = explain_schedule(kernel(COPY), WIDE).chosen
    assert chosen is not None
    assert (chosen.family, chosen.cost, chosen.schedule) == ("mine", None, ScheduleAttr([Split("j", 8)]))


def conv(data: str, weight: str, result: str, options: str = "") -> str:
    return f"""
    func.func private @k(%x: tensor<{data}xf32>, %w: tensor<{weight}xf32>) -> tensor<{result}xf32> {{
      %r = topi.conv2d_nchwc(%x, %w) {{{options}}} : (tensor<{data}xf32>, tensor<{weight}xf32>) -> tensor<{result}xf32>
      func.return %r : tensor<{result}xf32>
    }}"""


def matmul(data: str, weight: str, result: str) -> str:
    return f"""
    func.func private @k(%x: tensor<{data}xf32>, %w: tensor<{weight}xf32>) -> tensor<{result}xf32> {{
      %r = topi.matmul(%x, %w) : (tensor<{data}xf32>, tensor<{weight}xf32>) -> tensor<{result}xf32>
      func.return %r : tensor<{result}xf32>
    }}"""


def stacks(left: str, right: str, result: str, options: str = "") -> str:
    return f"""
    func.func private @k(%x: tensor<{left}xf32>, %y: tensor<{right}xf32>) -> tensor<{result}xf32> {{
      %r = topi.batch_matmul(%x, %y) {{{options}}} : (tensor<{left}xf32>, tensor<{right}xf32>) -> tensor<{result}xf32>
      func.return %r : tensor<{result}xf32>
    }}"""


TRANSPOSED = "transpose_left = true, transpose_right = true"

ODD_SHAPES = {
    "prime width": conv("1x2x19x19x16", "4x2x3x3x16x16", "1x4x17x17x16"),
    "one pixel": conv("1x4x1x1x16", "3x4x1x1x16x16", "1x3x1x1x16"),
    "one pixel, one block": conv("1x1x1x1x16", "1x1x1x1x16x16", "1x1x1x1x16"),
    "seven channels": conv("1x1x9x9x3", "1x1x3x3x3x7", "1x1x7x7x7"),
    "wide blocks": conv("1x1x9x30x8", "2x1x3x3x8x64", "1x2x7x28x64"),
    "batch": conv("3x2x8x8x8", "2x2x1x1x8x8", "3x2x8x8x8"),
    "depthwise": conv("1x3x9x9x8", "3x1x3x3x1x8", "1x3x7x7x8", "groups = 24 : i64"),
    "one row": matmul("1x64", "125x64x8", "1x1000"),
    "prime rows": matmul("13x64", "3x64x16", "13x48"),
    "one tile": matmul("2x5", "1x5x16", "2x16"),
    "lanes do not fill a vector": matmul("9x5", "7x5x3", "9x21"),
    "packed wider than a vector": matmul("9x5", "2x5x64", "9x128"),
    "not packed": matmul("3x40x5", "23x5", "3x40x23"),
    "prime stacks": stacks("7x1x29x31", "3x31x37", "7x3x29x37"),
    "transposed stacks": stacks("7x1x31x29", "3x37x31", "7x3x29x37", TRANSPOSED),
    "one product": stacks("1x1", "1x1", "1x1"),
    "outer product": stacks("1x50", "1x70", "50x70", "transpose_left = true"),
    "lines that compete": stacks("300x1024", "33x300", "1024x33", TRANSPOSED),
    "a row of many columns": stacks("1x64", "64x5000", "1x5000"),
}


@pytest.mark.parametrize("name", ODD_SHAPES)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.mcpu)
def test_odd_shapes_get_schedules_that_can_be_applied(name: str, target: Target) -> None:
    function = kernel(ODD_SHAPES[name])
    chosen = schedule_kernel(function, target)
    assert "failed: " not in chosen.reason
    assert "no register tile" not in chosen.reason
    explained = explain_schedule(function, target).chosen
    assert explained is not None
    assert (explained.family, explained.schedule) == (chosen.family, chosen.schedule)
    Schedule(function).apply(*chosen.schedule.data)
    function.verify()
