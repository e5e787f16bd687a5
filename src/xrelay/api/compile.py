"""`compile` lowers a model to native code, through every stage of `xrelay.lowering.pipelines`.

A cached model is opened without importing the compiler or xDSL.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Final

from xrelay import environment
from xrelay.api.model import CompiledModel
from xrelay.api.model_key import content_digest, file_state
from xrelay.api.request import chosen_level, chosen_target, shapes_compilation
from xrelay.api.versions.recipe import Recipe
from xrelay.api.versions.versions import MAX_WEIGHTS, Versions
from xrelay.arguments import GivenShapes, checked_flag, checked_path, checked_shapes
from xrelay.passes.infra.entered_contexts import innermost_context
from xrelay.passes.infra.gc_pause import gc_pause
from xrelay.runtime.arena import trim_heap
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.memory import check_memory_limit

if TYPE_CHECKING:
    from xrelay.api.sources import Source
    from xrelay.api.stage_dump import StageReceiver
    from xrelay.api.stage_runner import Progress
    from xrelay.target.target import Target


LARGE_WEIGHTS: Final = 16 << 20
"""The size of weights in bytes from which on compilation leaves much freed memory in the heap."""


@gc_pause()
def compile(
    source: Source,
    *,
    target: str | Target | None = None,
    opt_level: int | None = None,
    threads: int | None = None,
    shapes: GivenShapes | None = None,
    dump_stages: str | PathLike[str] | None = None,
    cache: bool = True,
    progress: Progress | None = None,
    memory_limit: int | None = None,
    integers: bool = False,
    exact: bool = False,
    trust: bool = False,
    specialize: bool = True,
    records: str | PathLike[str] | None = None,
) -> CompiledModel:
    """Compiles a model for the CPU.

    `source` is a path (`.onnx` or `.mlir`), an ONNX model in memory or its bytes, or a module, which is not changed. It
    may be at any level: text written by `dump_stages`, or a hand-scheduled kernel at the loop level, goes through the
    remaining stages.

    `target` is a `Target` or text such as `cpu -mcpu=znver4`. It defaults to that of an enclosing `with target:`, else
    to this machine. A model for another machine can be saved and exported, but not run. `opt_level` is 0 to 3 and
    defaults to that of the entered `PassContext`, else 3. The context also selects and configures the graph passes, and
    its instruments observe every pass. `threads` is the maximum number of threads per call.

    `shapes` has the shapes of inputs by name: a number fixes a dynamic dimension, and a name makes a dimension dynamic,
    as in `shapes={"x": ("n", 3, 224, 224)}`. For a named dimension, `shapes={"n": 8}` is its size in all inputs, and
    `shapes={"n": (1, 128, 8)}` its minimum, maximum and typical size: schedules are chosen for these, and other sizes
    are refused.
    `dump_stages` is a folder that receives the program after each stage. With `cache`, a model compiled before with the
    same options is loaded from disk. `progress` is called with `(done, total, step)`. `memory_limit` is the maximum
    number of bytes that a call of the model may allocate. With `integers`, computations between dequantise and quantise
    ops run on integers, as in `relay-fake-quantization-to-integer`; results may differ from the float ones by one
    quantisation step. `exact` forbids approximations: results then differ from the interpreter's only by the order of
    sums, so convolutions do not use Winograd's algorithm, and quotients by constants do not become products.

    `records` is a file of tuning records, see `tune`: kernels that it contains use the fastest schedule, the others
    that of the cost model.

    A model with named dimensions that runs several times with the same sizes is compiled for these sizes in a process
    of low priority, unless `specialize` is false or there is no cache; see `CompiledModel.specialize`. Results may then
    differ from the first ones by rounding.

    A text below the loop level is native code, so it is refused if other users may write its file, as in `load`.
    `trust` compiles it anyway, and bypasses the cache of models.

    Raises classes of `xrelay.errors`: `ParseError` and `VerificationError` for a text, `ModelImportError` for an ONNX
    model, `InputError` for options, `ArtifactError` for native code that other users may write, `LoweringError` for
    constructs without a lowering.
    """
    cache, trust = checked_flag("cache", cache), checked_flag("trust", trust)
    limit, specialize = check_memory_limit(memory_limit), checked_flag("specialize", specialize)
    context = innermost_context() if shapes_compilation() else None
    may_find = cache and not trust and context is None and dump_stages is None
    recipe = Recipe(
        source,
        chosen_target(target, threads),
        chosen_level(opt_level),
        checked_shapes(shapes),
        integers=checked_flag("integers", integers),
        exact=checked_flag("exact", exact),
        cache=cache,
        trust=trust,
        records=None if records is None else checked_path("the file of records", records).absolute(),
        context=context,
        digest=content_digest(source) if may_find else None,
        state=file_state(checked_path("the model", source)) if isinstance(source, str | PathLike) else "",
    )
    artifact = recipe.find() if may_find else None
    timing = None
    if artifact is None:
        receiver = None if dump_stages is None else _stage_dump(dump_stages)
        artifact, timing = recipe.build(receiver=receiver, progress=progress)
        if _weights_size(artifact) >= LARGE_WEIGHTS:
            trim_heap()
    versions = _versions(artifact, recipe, by_itself=specialize)
    return CompiledModel(artifact, num_threads=threads, memory_limit=limit, timing=timing, versions=versions)


def _stage_dump(folder: str | PathLike[str]) -> StageReceiver:
    """Returns the dump into a folder; a compilation without one does not import it."""
    from xrelay.api.stage_dump import StageDump

    return StageDump(checked_path("dump_stages", folder))


def _weights_size(artifact: Artifact) -> int:
    """Returns the number of bytes of all weights."""
    return sum(spec.nbytes for spec in artifact.metadata.weights)


def _versions(artifact: Artifact, recipe: Recipe, *, by_itself: bool) -> Versions | None:
    """Returns the versions of a model; `None` if it has no named dimensions, or returns functions."""
    if not artifact.metadata.dims or artifact.metadata.functions:
        return None
    lasting = recipe.lasting()
    if lasting is None:
        return None
    is_small = _weights_size(artifact) <= MAX_WEIGHTS
    helps = by_itself and is_small and environment.specialize_is_on() and lasting.is_cached
    if not helps:
        return Versions(artifact, lasting)
    from xrelay.api.versions.helper import VersionHelper

    return Versions(artifact, lasting, VersionHelper(lasting))
