"""Whether the kernels of a compilation go to object code by themselves, and what each of them goes through then."""

from __future__ import annotations

from collections.abc import Sequence

from xrelay.api.code_stamp import code_stamp
from xrelay.api.kernel_lowering import KernelLowering, kernel_stages
from xrelay.api.kernel_records import FOLDER, KernelRecords
from xrelay.api.kernel_stream import CodeOptions, KernelStream
from xrelay.api.request import shapes_compilation
from xrelay.api.stage_runner import StageRunner
from xrelay.lowering.pipelines import Stage, all_passes
from xrelay.passes.catalogue.extensions import registered_passes
from xrelay.registrations import in_registration_scope
from xrelay.runtime.cache import ObjectCache
from xrelay.target.target import Target


def kernel_stream(
    runner: StageRunner, stages: Sequence[Stage], target: Target, llvm_level: int, objects: ObjectCache | None
) -> KernelStream | None:
    """The stream of a compilation; `None` where a module has to go through all stages whole.

    That is so where the entered context watches or configures passes, where a pass of another package comes after the
    kernels have left, and for another architecture, whose objects nobody may join here. Only what is compiled with a
    cache for `objects`, by code that the files of this machine tell, is known again.
    """
    own = kernel_stages(stages)
    names = {spec.partition("{")[0] for spec in all_passes(own)}
    if shapes_compilation() or target.triple is not None or not names.isdisjoint(registered_passes()):
        return None
    lowering = KernelLowering(own, target, runner.context, runner.passes, runner.clock)
    options = CodeOptions(target.mcpu, ",".join(target.code_features()), llvm_level)
    identity = "\n".join([*all_passes(own), str(target), *map(str, options)])
    return KernelStream(lowering, runner.context, options, identity, objects, _records(objects))


def _records(objects: ObjectCache | None) -> KernelRecords | None:
    stamp = code_stamp()
    records = None if objects is None else ObjectCache.default(FOLDER)
    if objects is None or records is None or in_registration_scope() or not stamp.covers_all():
        return None
    return KernelRecords(records, objects, stamp.text)
