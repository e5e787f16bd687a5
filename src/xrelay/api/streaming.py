"""Decides whether kernels are compiled in modules of their own, and through which stages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from xdsl.dialects.builtin import ModuleOp

from xrelay import environment
from xrelay.api.code_stamp import code_stamp
from xrelay.api.kernel_lowering import KernelLowering, kernel_stages
from xrelay.api.kernel_records import FOLDER, KernelRecords
from xrelay.api.kernel_stream import KernelStream
from xrelay.api.kernel_workers import KernelWorkers
from xrelay.api.request import shapes_compilation
from xrelay.api.stage_runner import StageRunner
from xrelay.api.worker_messages import code_identity
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.levels import level_of
from xrelay.lowering.pipelines import Stage, all_passes
from xrelay.lowering.remaining_stages import remaining_stages
from xrelay.passes.catalogue.extensions import registered_passes
from xrelay.passes.infra.verify import walk_ops
from xrelay.runtime.cache import ObjectCache
from xrelay.runtime.cores import default_num_threads
from xrelay.runtime.native import CodeOptions
from xrelay.target.target import Target

LARGE: Final = 48
"""The minimum number of relay ops for which workers are used: starting one takes as long as several kernels."""
CORES_OF_ONE: Final = 2
"""The cores that a process lowering kernels keeps busy: LLVM takes as long for a kernel as Python does."""
MAX_WORKERS: Final = 3
"""The default maximum: more workers take more memory than they save time."""


def kernel_stream(
    module: ModuleOp,
    runner: StageRunner,
    stages: Sequence[Stage],
    target: Target,
    llvm_level: int,
    objects: ObjectCache | None,
) -> KernelStream | None:
    """Returns the kernel stream of a compilation; `None` if the module must go through all stages as a whole.

    It must if the entered context observes or configures passes, if a pass of another package runs after kernels are
    extracted, or for another architecture, whose objects cannot be linked here. Kernels are cached only with a cache
    for `objects`, and if the files on disk determine all compiler code.
    """
    own = kernel_stages(remaining_stages(stages, module))
    names = {spec.partition("{")[0] for spec in all_passes(own)}
    if shapes_compilation() or target.triple is not None or not names.isdisjoint(registered_passes()):
        return None
    lowering = KernelLowering(own, target, runner.context, runner.passes, runner.clock)
    options = CodeOptions(target.mcpu, ",".join(target.code_features()), llvm_level)
    identity = code_identity(own, target, options)
    count = _worker_count(module)
    workers = None if count == 0 else KernelWorkers.start(count, own, target)
    return KernelStream(lowering, runner.context, options, identity, objects, _records(objects), workers)


def _records(objects: ObjectCache | None) -> KernelRecords | None:
    records = None if objects is None else ObjectCache.default(FOLDER)
    if objects is None or records is None:
        return None
    stamp = code_stamp()
    if not stamp.covers_all():
        return None
    return KernelRecords(records, objects, stamp.text)


def _worker_count(module: ModuleOp) -> int:
    """Returns the number of workers for a module: none if it is small, or if workers may not have the same code.

    By default, this process and each worker are counted with two cores: one for Python and one for LLVM. On two cores a
    worker would cost a third more processor time and half a second to start, and no core would be idle to run it.
    """
    if sum(level_of(op) == "relay" and not isinstance(op, ConstantOp) for op in walk_ops(module)) < LARGE:
        return 0
    if not code_stamp().covers_all():
        return 0
    given = environment.workers()
    if given is not None:
        return given
    return min(max(default_num_threads() // CORES_OF_ONE - 1, 0), MAX_WORKERS)
