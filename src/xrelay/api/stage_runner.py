"""Runs the compiler's stages one after another, with dumps and progress."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import cache, lru_cache
from typing import Final

from xdsl.dialects.builtin import ModuleOp

from xrelay import environment
from xrelay.api.interface import check_names, check_values, main_function
from xrelay.api.kernels.forked_workers import ForkedWorkers, may_fork
from xrelay.api.kernels.lowering import KernelLowering, kernel_stages, split_stage
from xrelay.api.kernels.stream import FOLDER, KernelRecords, KernelStream
from xrelay.api.kernels.workers import KernelWorkers, code_identity
from xrelay.api.model_key import code_stamp
from xrelay.api.request import shapes_compilation
from xrelay.api.stage_dump import StageReceiver
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.levels import level_of
from xrelay.lowering.kernel_units import take_units
from xrelay.lowering.kernel_work import kernel_work
from xrelay.lowering.pipelines import OPTIMIZER, PHASES_OF_ALL_ENTRIES, Phase, Stage, all_passes, remaining_stages
from xrelay.lowering.registry import passes_of
from xrelay.passes.catalogue.default_pipeline import PassSelection
from xrelay.passes.catalogue.extensions import registered_passes
from xrelay.passes.catalogue.relay_names import canonical
from xrelay.passes.infra.pass_context import PassContext, configured
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.source import full_context
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.instruments.timing import PassTiming, TimeTree
from xrelay.passes.instruments.verify import Verify
from xrelay.passes.loop.entry import call_single_kernel, check_declared_outputs
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.runtime.cache import ObjectCache
from xrelay.runtime.cores import default_num_threads
from xrelay.runtime.kernel_work import KernelWork
from xrelay.runtime.object_code.llvm_compiler import CodeOptions
from xrelay.target.target import Target

Progress = Callable[[int, int, str], None]
"""Called with `(done, total, step)` as the compilation proceeds."""
MIN_OPS_FOR_WORKERS: Final = 48
"""The minimum number of relay ops for which workers are used: starting one takes as long as several kernels."""
CORES_PER_PROCESS: Final = 2
"""The cores for each process if workers are new processes: one for Python and one for LLVM."""
MAX_WORKERS: Final = 3
"""The default maximum: more workers take more memory than they save time."""
INTEGER_PASSES: frozenset[str] = frozenset({"FakeQuantizationToInteger"})
"""The passes that `compile(…, integers=True)` requires."""
APPROXIMATING_PASSES: frozenset[str] = frozenset(
    {
        "relay-pad-channels",
        "relay-apply-winograd",
        "relay-split-convolutions",
        "relay-split-attention",
        "relay-split-products",
        "qnn-fold-quantize-scale",
        "qnn-round-block-data",
        "FastMath",
        "DivToMul",
    }
)
"""The passes that `compile(…, exact=True)` forbids."""


def selected_passes(*, asked: frozenset[str] = frozenset(), forbidden: frozenset[str] = frozenset()) -> PassSelection:
    """Returns the passes of the entered context, with those in `asked` required and those in `forbidden` disabled."""
    context = _context()
    return PassSelection(context.required_pass | asked, context.disabled_pass | forbidden)


def _context() -> PassContext:
    """Returns the entered context: the graph passes that it selects, their options, and its instruments."""
    context = PassContext.entered()
    return _no_context() if context is None else context


@cache
def _no_context() -> PassContext:
    """Returns the context of a compilation without one; it is not the thread's default, which users may change."""
    return PassContext()


def _required_passes(stage: Stage) -> frozenset[str]:
    """Returns the passes of a stage that no instrument may skip: those that the context requires, and all lowerings.

    `should_run` of an instrument applies only to passes of the graph optimiser and of other packages; all other passes
    are needed to produce code.
    """
    if stage.phase in OPTIMIZER:
        return _context().required_pass
    return _canonical_names(stage.passes) - registered_passes().keys()


@lru_cache(maxsize=64)
def _canonical_names(passes: tuple[str, ...]) -> frozenset[str]:
    return frozenset(canonical(spec.partition("{")[0]) for spec in passes)


class StageRunner:
    """Lowers a module in place to the llvm dialect, from whichever level it is at.

    If `XRELAY_DEBUG` is set, the module is verified after every pass.
    """

    def __init__(
        self, stages: Sequence[Stage], *, receiver: StageReceiver | None = None, progress: Progress | None = None
    ):
        self.stages = stages
        self._receiver = receiver
        self._progress = progress
        self._context = full_context()
        self.clock = TimeTree()
        self.work: dict[str, KernelWork] = {}
        """The work of the kernels in the module, by symbol; kernels that a `KernelStream` takes are not in it."""

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
            main = main_function(module)
            if Phase.TYPED in remaining:
                check_values(main)
            if Phase.LOOP not in remaining:
                check_declared_outputs(module)
        if self._receiver is not None:
            self._receiver.receive(0, "imported", module)
        self._run(module, PHASES_OF_ALL_ENTRIES, None)

    def run_after_split(self, module: ModuleOp, kernels: KernelStream | None = None) -> None:
        """Runs the remaining stages that process one entry. With `kernels`, each kernel is compiled on its own."""
        self._run(module, frozenset(Phase) - PHASES_OF_ALL_ENTRIES, kernels)
        if self._receiver is not None:
            self._receiver.finish_stages()

    def kernel_stream(
        self, module: ModuleOp, target: Target, llvm_level: int, objects: ObjectCache | None
    ) -> KernelStream | None:
        """Returns the kernel stream of a compilation; `None` if the module must go through all stages as a whole.

        It must if the entered context observes or configures passes, if a pass of another package runs after kernels
        are extracted, or for another architecture, whose objects cannot be linked here. Kernels are cached only with a
        cache for `objects`, and if the files on disk determine all compiler code.
        """
        own = kernel_stages(remaining_stages(self.stages, module))
        names = {spec.partition("{")[0] for spec in all_passes(own)}
        if shapes_compilation() or target.triple is not None or not names.isdisjoint(registered_passes()):
            return None
        lowering = KernelLowering(own, target, self._context, self.clock)
        options = CodeOptions(target.mcpu, ",".join(target.code_features()), llvm_level)
        identity = code_identity(own, target, options)
        workers = _workers(_worker_count(module), own, target, lowering)
        return KernelStream(lowering, self._context, options, identity, objects, _records(objects), workers)

    def _run(self, module: ModuleOp, phases: Container[Phase], kernels: KernelStream | None) -> None:
        remaining = {stage.phase: stage for stage in remaining_stages(self.stages, module) if stage.phase in phases}
        instruments: list[PassInstrument] = [PassTiming(self.clock)]
        if environment.debug():
            instruments.insert(0, Verify(before=False))
        instruments += _context().instruments
        for number, each in enumerate(self.stages, start=1):
            stage = remaining.get(each.phase)
            if stage is None:
                continue
            self.report(number - 1, stage.name)
            if stage.phase is Phase.SCHEDULED:
                self.work = {kernel.sym_name.data: kernel_work(kernel) for kernel in kernels_of(module)}
            if kernels is not None and stage.phase is Phase.LOOP:
                self._run_kernels(module, stage, kernels, number - 1, instruments)
            else:
                self._run_stage(module, stage, instruments)
            if stage.phase is Phase.FUSED:
                check_names(module)
            if self._receiver is not None:
                self._receiver.receive(number, stage.name, module)

    def _run_stage(self, module: ModuleOp, stage: Stage, instruments: Sequence[PassInstrument]) -> None:
        context = _context()
        passes = [configured(current, context, use_level=False) for current in passes_of(stage.passes)]
        required = _required_passes(stage)
        with self.clock.step(stage.name):
            run_pipeline(module, passes, context=self._context, instruments=instruments, required=required)

    def _run_kernels(
        self, module: ModuleOp, stage: Stage, kernels: KernelStream, done: int, instruments: Sequence[PassInstrument]
    ) -> None:
        """Runs the stage in which kernels are extracted, after the passes that merge some of them."""
        before, after = split_stage(stage)
        self._run_stage(module, before, instruments)
        units = take_units(module)
        with self.clock.step("kernels"):
            kernels.add(units, lambda name: self.report(done, f"kernel {name}"))
        self._run_stage(module, after, instruments)

    def report(self, done: int, step: str) -> None:
        """Reports progress. The total has one step more than there are stages, for native code."""
        if self._progress is not None:
            self._progress(done, len(self.stages) + 1, step)


def _records(objects: ObjectCache | None) -> KernelRecords | None:
    records = None if objects is None else ObjectCache.default(FOLDER)
    if objects is None or records is None:
        return None
    stamp = code_stamp()
    if not stamp.covers_all():
        return None
    return KernelRecords(records, objects, stamp.text)


def _workers(count: int, stages: Sequence[Stage], target: Target, lowering: KernelLowering) -> KernelWorkers | None:
    """Returns `count` workers: forks, or else new processes, which import the compiler while the graph is optimised."""
    if count == 0:
        return None
    return ForkedWorkers(count, lowering) if may_fork() else KernelWorkers.start(count, stages, target)


def _worker_count(module: ModuleOp) -> int:
    """Returns the number of workers for a module: none if it is small, or if workers may not have the same code.

    By default, each core has a process, but the first one also runs LLVM. If workers are new processes, this process
    and each worker are counted with two cores: on two cores, a worker would cost a third more processor time and half a
    second to start.
    """
    if sum(level_of(op) == "relay" and not isinstance(op, ConstantOp) for op in walk_ops(module)) < MIN_OPS_FOR_WORKERS:
        return 0
    is_forked = may_fork()
    if not is_forked and not code_stamp().covers_all():
        return 0
    given = environment.workers()
    if given is not None:
        return given
    processes = default_num_threads() if is_forked else default_num_threads() // CORES_PER_PROCESS
    return min(max(processes - 1, 0), MAX_WORKERS)
