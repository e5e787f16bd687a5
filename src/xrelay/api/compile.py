"""`compile` lowers a model to native code, through every stage of `xrelay.lowering.pipelines`.

A cached model is opened without importing the compiler or xDSL.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from xrelay.api.model import CompiledModel
from xrelay.api.model_key import model_key
from xrelay.api.request import chosen_level, chosen_target, shapes_compilation
from xrelay.arguments import checked_flag, checked_path, checked_shapes
from xrelay.errors import ArtifactError
from xrelay.passes.infra.gc_pause import gc_pause
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.cache import ModelCache
from xrelay.runtime.memory import check_memory_limit

if TYPE_CHECKING:
    from xrelay.api.sources import Shapes, Source
    from xrelay.api.stage_runner import Progress
    from xrelay.target.target import Target


@gc_pause()
def compile(
    source: Source,
    *,
    target: str | Target | None = None,
    opt_level: int | None = None,
    threads: int | None = None,
    shapes: Shapes | None = None,
    dump_stages: str | PathLike[str] | None = None,
    cache: bool = True,
    progress: Progress | None = None,
    memory_limit: int | None = None,
    integers: bool = False,
    trust: bool = False,
) -> CompiledModel:
    """Compiles a model for the CPU.

    `source` is a path (`.onnx` or `.mlir`), an ONNX model in memory or its bytes, or a module, which is not changed. It
    may be at any level: text written by `dump_stages`, or a hand-scheduled kernel at the loop level, goes through the
    remaining stages.

    `target` is a `Target` or text such as `cpu -mcpu=znver4`. It defaults to that of an enclosing `with target:`, else
    to this machine. A model for another machine can be saved and exported, but not run. `opt_level` is 0 to 3 and
    defaults to that of the entered `PassContext`, else 3. The context also selects and configures the graph passes, and
    its instruments observe every pass. `threads` is the maximum number of threads per call.

    `shapes` fixes dynamic input shapes by name. For a named dimension that stays dynamic, `shapes={"n": (1, 128, 8)}`
    passes its minimum, maximum and typical size: schedules are chosen for these, and other sizes are refused.
    `dump_stages` is a folder that receives the program after each stage. With `cache`, a model compiled before with the
    same options is loaded from disk. `progress` is called with `(done, total, step)`. `memory_limit` is the maximum
    number of bytes that a call of the model may allocate. With `integers`, computations between dequantise and quantise
    ops run on integers, as in `relay-fake-quantization-to-integer`; results may differ from the float ones by one
    quantisation step.

    A text below the loop level is native code, so it is refused if other users may write its file, as in `load`.
    `trust` compiles it anyway, and bypasses the cache of models.

    Raises classes of `xrelay.errors`: `ParseError` and `VerificationError` for a text, `ModelImportError` for an ONNX
    model, `InputError` for options, `ArtifactError` for native code that other users may write, `LoweringError` for
    constructs without a lowering.
    """
    chosen, level = chosen_target(target, threads), chosen_level(opt_level)
    cache, integers = checked_flag("cache", cache), checked_flag("integers", integers)
    shapes, limit = checked_shapes(shapes), check_memory_limit(memory_limit)
    anew = dump_stages is not None or shapes_compilation() or checked_flag("trust", trust)
    entry = _entry(source, chosen, level, shapes, integers=integers) if cache and not anew else None
    if entry is not None and (artifact := _cached(entry, _name(source))) is not None:
        return CompiledModel(artifact, num_threads=threads, memory_limit=limit)
    dump = checked_path("dump_stages", dump_stages) if dump_stages is not None else None
    # Importing the compiler's modules takes longer than opening a cached model.
    from xrelay.api.build_artifact import build_artifact
    from xrelay.api.sources import load_source

    with chosen:  # enables the strategies and hooks that are registered for the target
        artifact, timing = build_artifact(
            load_source(source, shapes=shapes, trust=trust),
            chosen,
            opt_level=level,
            dump=dump,
            cache=cache,
            progress=progress,
            name=_name(source),
            integers=integers,
        )
    if entry is not None:
        entry.models.put(entry.key, partial(artifact.write, key=entry.key))
    return CompiledModel(artifact, num_threads=threads, memory_limit=limit, timing=timing)


class _Entry(NamedTuple):
    """An entry of the cache of models."""

    models: ModelCache
    key: str


def _entry(source: Source, target: Target, level: int, shapes: Shapes | None, *, integers: bool) -> _Entry | None:
    """Returns the cache entry of a model; `None` without a cache, or for a model without a key."""
    models = ModelCache.default() if target.runs_here() else None
    key = None if models is None else model_key(source, target, level, shapes, integers=integers)
    return None if models is None or key is None else _Entry(models, key)


def _cached(entry: _Entry, name: str) -> Artifact | None:
    """Returns the cached model, which may have been compiled under another name; `None` if it is absent or damaged."""
    path = entry.models.get(entry.key)
    if path is None:
        return None
    try:
        artifact = Artifact.load(path, key=entry.key)
        return replace(artifact, metadata=replace(artifact.metadata, name=name))
    except ArtifactError as error:
        entry.models.drop(entry.key, error.message)
        return None


def _name(source: Source) -> str:
    """Returns the name of the model in messages."""
    if isinstance(source, str | PathLike):
        return Path(source).stem
    graph = getattr(source, "graph", None)
    return "model" if graph is None else graph.name or "model"
