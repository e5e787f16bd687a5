"""Follows a compilation: keeps the text of each level, and for each pass its time and the lines that it changed."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Final

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.api.interface import main_function
from xrelay.api.stage_dump import NativePiece
from xrelay.lowering.pipelines import Phase
from xrelay.lowering.topi_to_loop.explain_schedules import ExplainedSchedule, explain_schedules
from xrelay.passes.fusion.explain import ExplainedBlock, explain_fusion
from xrelay.passes.fusion.partition import FusionOptions
from xrelay.passes.graph.remarks import Remark
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.verify import walk_ops
from xrelay.target import Target
from xrelay.tools.explore.arena_plan import ArenaPlan, arena_plan
from xrelay.tools.explore.fused_graph import FusedGraph, fused_graph
from xrelay.tools.explore.linked_text import (
    Level,
    linked_text,
    nodes_of_equal_calls,
    nodes_of_functions,
    with_equal_calls,
)
from xrelay.tools.explore.module_text import ModuleText
from xrelay.tools.explore.native_text import assembly_level, llvm_level

MAX_DIFF_LINES: Final = 2000
"""The maximum number of lines of a diff."""
MAX_DIFF_OPS: Final = 20_000
"""The maximum number of ops of a module whose changes are recorded: printing larger ones takes longer than passes."""
_CONTEXT_LINES: Final = 2
_TITLES: Final = {phase.name.lower(): phase.value for phase in Phase}


@dataclass(frozen=True)
class PassRun:
    """A pass that ran: its time, and the lines that it changed."""

    name: str
    seconds: float
    ops: int
    """The number of ops of the module after the pass."""
    diff: str | None
    """A unified diff, empty for no change; None for modules of more than `MAX_DIFF_OPS` ops."""


class StageRecorder:
    """Receives the stages of a compilation. The returned functions of a program are not recorded."""

    def __init__(self) -> None:
        self.levels: list[Level] = []
        self.graph = FusedGraph()
        self._main: FuncOp | None = None
        self._computed: dict[str, tuple[str, ...]] = {}
        self._equal: dict[str, tuple[str, ...]] = {}

    def receive(self, number: int, name: str, module: ModuleOp) -> None:
        """Keeps the text of a stage, the graph of the fused program, and `@main` of the scheduled one."""
        title = _TITLES.get(name, "the program as it was read")
        self._computed.update(nodes_of_functions(module))
        if name == Phase.FUSED.name.lower():
            self.graph = fused_graph(module)
            self._equal = nodes_of_equal_calls(module)
        self._add(linked_text(module, name, title, self._computed))
        if name == Phase.SCHEDULED.name.lower():
            self._main = main_function(module).clone()

    def plan(self, sizes: Mapping[str, int]) -> ArenaPlan:
        """Returns the plan of the arena for these sizes of the named dimensions."""
        return ArenaPlan() if self._main is None else arena_plan(self._main, sizes)

    def receive_native(self, number: int, pieces: Sequence[NativePiece]) -> None:
        """Keeps LLVM IR and assembly."""
        self._add(llvm_level(pieces, self._computed))
        self._add(assembly_level(pieces, self._computed))

    def _add(self, level: Level) -> None:
        self.levels.append(with_equal_calls(level, self._equal))

    def finish_stages(self) -> None:
        """Does nothing."""

    def finish(self, timing: str) -> None:
        """Does nothing."""

    def for_function(self, number: int) -> StageRecorder:
        """Returns a recorder of its own for a returned function."""
        return StageRecorder()


class PassRecorder(PassInstrument):
    """Records every pass, and explains fusion and schedules directly before the passes that decide them."""

    def __init__(self, target: Target, options: FusionOptions):
        self.passes: list[PassRun] = []
        self.fusion: list[ExplainedBlock] = []
        self.schedules: list[ExplainedSchedule] = []
        self.remarks: list[Remark] = []
        self._target = target
        self._options = options
        self._texts = ModuleText()
        self._before: str | None = None
        self._start = 0.0

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Keeps the text before the pass."""
        if info.name == "relay-fuse-ops":
            self.fusion = explain_fusion(mod.clone(), self._options)
        if info.name == "loop-assign-schedules":
            self.schedules = explain_schedules(mod, self._target)
        self._before = self._text(mod, _count(mod))
        self._start = perf_counter()

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Adds the pass, with the lines that it changed."""
        seconds, ops = perf_counter() - self._start, _count(mod)
        after = self._text(mod, ops)
        diff = None if self._before is None or after is None else changed_lines(self._before, after)
        self.passes.append(PassRun(info.name, seconds, ops, diff))

    def _text(self, module: ModuleOp, ops: int) -> str | None:
        return self._texts.of(module) if ops <= MAX_DIFF_OPS else None


def _count(module: ModuleOp) -> int:
    return sum(1 for _ in walk_ops(module))


def changed_lines(before: str, after: str) -> str:
    """Returns a unified diff without its header, cut after `MAX_DIFF_LINES`; empty for equal texts."""
    if before == after:
        return ""
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), n=_CONTEXT_LINES, lineterm="")
    found = [line for number, line in enumerate(lines) if number > 1]
    kept = found[:MAX_DIFF_LINES]
    if len(found) > len(kept):
        kept.append(f"… {len(found) - len(kept)} more lines")
    return "\n".join(kept)
