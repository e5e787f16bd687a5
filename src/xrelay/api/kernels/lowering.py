"""Lowers a kernel in its own module from the loop level to LLVM IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from xrelay import environment
from xrelay.api.codegen import llvm_texts, rename_symbols
from xrelay.dialects.shared.attribute_names import HEAP, NUM_SCRATCH
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.upstream.llvm_extras import CmpXchgOp
from xrelay.lowering.external_symbols import check_external_symbols
from xrelay.lowering.kernel_units import KERNEL, declaration_of, kernel_of
from xrelay.lowering.kernel_work import kernel_work
from xrelay.lowering.loop_to_scf.checked_index import RECORD_INDEX
from xrelay.lowering.pipelines import Phase, Stage
from xrelay.lowering.registry import passes_of
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.printing import print_module
from xrelay.passes.instruments.timing import TimeTree
from xrelay.passes.instruments.verify import Verify
from xrelay.runtime.kernel_work import UNKNOWN_WORK, KernelWork
from xrelay.target.target import Target

FIRST_PASS = "loop-assign-schedules"
"""The pass of the stage LOOP before which kernels are extracted."""
SCHEDULE_PASS = "loop-schedule-kernels"
"""The pass that replaces it and `MERGE_PASSES`: on kernels that become one with others before kernels are extracted,
then on the others."""
MERGE_PASSES = ("loop-merge-kernels", "loop-parametrize-kernels")
"""The passes that merge kernels, after their schedules have been assigned."""


@dataclass(frozen=True)
class KernelFacts:
    """The facts about a kernel that its callers need."""

    may_fail: bool
    """Whether its status may be nonzero."""
    declaration: str
    """The text of a module that declares the kernel; empty unless callers pass it scratch memory or it allocates."""
    work: KernelWork


@dataclass(frozen=True)
class LoweredKernel(KernelFacts):
    """A kernel as LLVM IR, and the facts that its callers need."""

    texts: tuple[str, ...]


def split_stage(stage: Stage) -> tuple[Stage, Stage]:
    """Returns the passes of a stage before kernels are extracted from the module, and those after.

    Registered schedules are assigned before extraction: they may depend on the names of a kernel's ops, which its own
    module does not have. The schedule is then part of the kernel's text, under which it is shared and cached. Kernels
    that may become one are scheduled before extraction, because that depends on all of them.
    """
    names = [spec.partition("{")[0] for spec in stage.passes]
    if FIRST_PASS not in names:
        return stage, Stage(stage.phase, ())
    place = names.index(FIRST_PASS)
    _, _, options = stage.passes[place].removesuffix("}").partition("{")
    registered = f"{FIRST_PASS}{{{' '.join([*filter(None, [options]), 'families=registered'])}}}"
    merged = f"{SCHEDULE_PASS}{{{' '.join([*filter(None, [options]), 'only-merged=true'])}}}"
    schedule = f"{SCHEDULE_PASS}{{{options}}}" if options else SCHEDULE_PASS
    after = [spec for spec, name in zip(stage.passes, names, strict=True) if name not in MERGE_PASSES][place + 1 :]
    return Stage(stage.phase, (*stage.passes[:place], registered, merged)), Stage(stage.phase, (schedule, *after))


def kernel_stages(stages: Sequence[Stage]) -> list[Stage]:
    """Returns the stages of a compilation that run on extracted kernels.

    An extracted kernel without a schedule gets one and is scheduled in one pass: no pass in between changes it.
    """
    phases = list(Phase)
    after = [stage for stage in stages if phases.index(stage.phase) > phases.index(Phase.LOOP)]
    return [*(split_stage(stage)[1] for stage in stages if stage.phase is Phase.LOOP), *after]


class KernelLowering:
    """Lowers kernels to LLVM IR, one after another."""

    def __init__(self, stages: Sequence[Stage], target: Target, context: Context, clock: TimeTree):
        """`stages` are those of `kernel_stages`; `clock` records the time of each."""
        self._stages: list[tuple[Stage, Sequence[ModulePass]]] = [(stage, passes_of(stage.passes)) for stage in stages]
        self._target, self._context, self._clock = target, context, clock
        self._instruments: list[PassInstrument] = [Verify(before=False)] if environment.debug() else []

    def lower(self, module: ModuleOp, symbol: str) -> LoweredKernel:
        """Lowers the kernel in a unit's module, which is consumed; `symbol` is its name in object code."""
        declaration, work = "", UNKNOWN_WORK
        for stage, passes in self._stages:
            with self._clock.step(stage.name):
                run_pipeline(module, passes, context=self._context, instruments=self._instruments)
            if stage.phase is Phase.LOOP:
                work = kernel_work(kernel_of(module))
            if stage.phase is Phase.SCHEDULED:
                kernel = kernel_of(module)
                if NUM_SCRATCH in kernel.attributes or HEAP in kernel.attributes:
                    # The custom form of a declaration omits the attributes of arguments.
                    declaration = print_module(ModuleOp([declaration_of(kernel)]), generic=True)
        with self._clock.step("emit"):
            may_fail = _may_fail(module)
            rename_symbols(module, _names(module, symbol))
            check_external_symbols(module, ())
            texts = tuple(piece.text for piece in llvm_texts(module, self._target))
        return LoweredKernel(may_fail, declaration, work, texts)


def _may_fail(module: ModuleOp) -> bool:
    """Whether a kernel in the llvm dialect stores a status in the context."""
    functions = (op for op in module.ops if isinstance(op, llvm.FuncOp) and op.sym_name.data != RECORD_INDEX)
    return any(ops_of(function, CmpXchgOp) for function in functions)


def _names(module: ModuleOp, symbol: str) -> Mapping[str, str]:
    """Returns new names for all symbols visible to other modules; those of a kernel's helpers begin with its own."""
    names = [op.get_attr_or_prop("sym_name") for op in module.ops]
    return {
        name.data: symbol + name.data.removeprefix(KERNEL)
        for name in names
        if isinstance(name, StringAttr) and name.data.startswith(KERNEL)
    }
