"""Runs the compiler's stages one after another, with dumps and progress."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms import get_all_passes

from xrelay import environment
from xrelay.api.context import context_instruments, required_passes, with_context
from xrelay.api.dumps import StageDump
from xrelay.api.interface import check_names, main_function
from xrelay.api.kernel_lowering import split_stage
from xrelay.api.kernel_stream import KernelStream
from xrelay.lowering.kernel_units import KernelUnit, take_units
from xrelay.lowering.pipelines import PHASES_OF_ALL_ENTRIES, Phase, Stage
from xrelay.lowering.registry import pass_thunks
from xrelay.lowering.remaining_stages import remaining_stages
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import PassTable, parse_passes
from xrelay.passes.infra.source import full_context
from xrelay.passes.instruments.timing import PassTiming, TimeTree
from xrelay.passes.instruments.verify import Verify
from xrelay.passes.loop.entry import call_single_kernel, check_declared_outputs
from xrelay.passes.loop.tried_schedules import keep_tried_schedules

Progress = Callable[[int, int, str], None]
"""Called with `(done, total, step)` as the compilation proceeds."""


class StageRunner:
    """Lowers a module in place to the llvm dialect, from whichever level it is at.

    If `XRELAY_DEBUG` is set, the module is verified after every pass.
    """

    def __init__(self, stages: Sequence[Stage], *, dump: Path | None = None, progress: Progress | None = None):
        self.stages = stages
        self._dump = StageDump(dump) if dump is not None else None
        self._progress = progress
        self._context = full_context()
        self._passes = {**get_all_passes(), **pass_thunks()}
        self.clock = TimeTree()

    @property
    def context(self) -> Context:
        """The context of the passes."""
        return self._context

    @property
    def passes(self) -> PassTable:
        """The pass classes by name, imported on first use."""
        return self._passes

    def run(self, module: ModuleOp) -> None:
        """Runs the remaining stages on `module`.

        Raises the errors of the passes, `InputError` for a module without an entry or at a level that cannot be
        compiled, and `LoweringError` for an input with a dimension whose size cannot be derived.
        """
        self.run_until_split(module)
        self.run_after_split(module)

    def run_until_split(self, module: ModuleOp) -> None:
        """Runs the remaining stages that process all entries of `module`."""
        remaining = {stage.phase for stage in remaining_stages(self.stages, module)}
        if Phase.SCHEDULED in remaining:
            call_single_kernel(module)
            main_function(module)
            if Phase.LOOP not in remaining:
                check_declared_outputs(module)
        if self._dump is not None:
            self._dump.write(0, "imported", module)
        self._run(module, PHASES_OF_ALL_ENTRIES, None)

    @keep_tried_schedules()
    def run_after_split(self, module: ModuleOp, kernels: KernelStream | None = None) -> None:
        """Runs the remaining stages that process one entry. With `kernels`, each kernel is compiled on its own."""
        self._run(module, frozenset(Phase) - PHASES_OF_ALL_ENTRIES, kernels)
        if self._dump is not None:
            self._dump.finish()

    def _run(self, module: ModuleOp, phases: Container[Phase], kernels: KernelStream | None) -> None:
        remaining = {stage.phase: stage for stage in remaining_stages(self.stages, module) if stage.phase in phases}
        instruments: list[PassInstrument] = [PassTiming(self.clock)]
        if environment.debug():
            instruments.insert(0, Verify(before=False))
        instruments += context_instruments()
        for number, each in enumerate(self.stages, start=1):
            stage = remaining.get(each.phase)
            if stage is None:
                continue
            self.report(number - 1, stage.name)
            if kernels is not None and stage.phase is Phase.LOOP:
                self._run_kernels(module, stage, kernels, number - 1, instruments)
            else:
                self._run_stage(module, stage, instruments)
            if stage.phase is Phase.FUSED:
                check_names(module)
            if self._dump is not None:
                self._dump.write(number, stage.name, module)

    def _run_stage(self, module: ModuleOp, stage: Stage, instruments: Sequence[PassInstrument]) -> None:
        passes = with_context(parse_passes(",".join(stage.passes), self._passes))
        required = required_passes(stage, passes)
        with self.clock.step(stage.name):
            run_pipeline(module, passes, context=self._context, instruments=instruments, required=required)

    def _run_kernels(
        self, module: ModuleOp, stage: Stage, kernels: KernelStream, done: int, instruments: Sequence[PassInstrument]
    ) -> None:
        """Runs the stage in which kernels are extracted.

        Kernels with extents as arguments come last, when equal extents are known.
        """
        before, after = split_stage(stage)
        self._run_stage(module, before, instruments)
        self._stream(take_units(module, with_extents=False), kernels, done)
        self._run_stage(module, after, instruments)
        self._stream(take_units(module, with_extents=True), kernels, done)

    def _stream(self, units: Sequence[KernelUnit], kernels: KernelStream, done: int) -> None:
        with self.clock.step("kernels"):
            kernels.add(units, lambda name: self.report(done, f"kernel {name}"))

    def report(self, done: int, step: str) -> None:
        """Reports progress. The total has one step more than there are stages, for native code."""
        if self._progress is not None:
            self._progress(done, len(self.stages) + 1, step)
