"""Running the compiler's stages one after another, with dumps and progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.transforms import get_all_passes

from xrelay import environment
from xrelay.api.context import context_instruments, with_context
from xrelay.api.dumps import StageDump
from xrelay.api.interface import Signature, arena_size, main_function, signature_of
from xrelay.lowering.loop_to_scf.weights import collect_weights
from xrelay.lowering.pipelines import Phase, Stage
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.infra.instruments import Instrument, Timing, Verify
from xrelay.passes.infra.pipeline import parse_passes, run_pipeline
from xrelay.passes.infra.source import full_context

Progress = Callable[[int, int, str], None]
"""Told `(done, total, step)` as compiling goes on."""


class StageRunner:
    """Takes a relay module to the llvm dialect in place, and notes on the way what the compiled model must know.

    With `XRELAY_DEBUG` set, the module is verified after every pass.
    """

    def __init__(self, stages: Sequence[Stage], *, dump: Path | None = None, progress: Progress | None = None):
        self._stages = stages
        self._dump = StageDump(dump) if dump is not None else None
        self._progress = progress
        self._context = full_context()
        self._passes = {**get_all_passes(), **pass_thunks()}
        self._signature: Signature | None = None
        self.weights: Sequence[Attribute] = ()
        self.arena_size = 0
        self.timing = Timing()

    @property
    def context(self) -> Context:
        """The context that passes get."""
        return self._context

    @property
    def signature(self) -> Signature:
        """Inputs, outputs and kernels; known once the stages ran."""
        if self._signature is None:
            raise RuntimeError("the stages have not run")
        return self._signature

    def run(self, module: ModuleOp) -> None:
        """All stages; raises what their passes raise, and `InputError` for a module without `@main`."""
        main_function(module)
        if self._dump is not None:
            self._dump.write(0, "imported", module)
        instruments: list[Instrument] = [self.timing]
        if environment.debug():
            instruments.insert(0, Verify())
        instruments += context_instruments()
        for number, stage in enumerate(self._stages, start=1):
            self.tell(number - 1, stage.name)
            self.timing.title = stage.name
            passes = with_context(parse_passes(",".join(stage.passes), self._passes))
            run_pipeline(module, passes, context=self._context, instruments=instruments)
            self._note(stage.phase, module)
            if self._dump is not None:
                self._dump.write(number, stage.name, module)
        if self._dump is not None:
            self._dump.finish()

    def tell(self, done: int, step: str) -> None:
        """Report progress; compiling to native code is one step more than there are stages."""
        if self._progress is not None:
            self._progress(done, len(self._stages) + 1, step)

    def _note(self, phase: Phase, module: ModuleOp) -> None:
        """Keep what a later stage will have lowered away."""
        if phase is Phase.FUSED:
            self._signature = signature_of(module)
        elif phase is Phase.SCHEDULED:
            self.weights = collect_weights(module)
            self.arena_size = arena_size(module)
