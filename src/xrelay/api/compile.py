"""`compile` takes a model to native code, through every stage of `xrelay.lowering.pipelines`.

A model that was compiled before is opened without importing the compiler, or xDSL.
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
from xrelay.runtime.limits import check_memory_limit

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
    """Compile a model for the CPU.

    `source` is a path (`.onnx` or `.mlir`), an ONNX model in memory or its bytes, or a module; a module is not changed.
    It may be at any level: text that `dump_stages` wrote, or a kernel at the loop level, scheduled by hand, goes
    through the stages that are left. `target` is a `Target` or text such as `cpu -mcpu=znver4`; by default the one of
    `with target:` around the call, else this machine. What is compiled for another kind can be saved and exported, not
    run. `opt_level` is 0 to 3; left out, it is that of an entered `PassContext`, else 3. Such a context also says which
    graph passes run and with which config, and its instruments see every pass. `threads` is how many a call may use,
    `shapes` fixes open input shapes by name; of a named dimension that stays open it says the least, the greatest and
    the usual size, `shapes={"n": (1, 128, 8)}`: schedules go by them, and other sizes are refused. `dump_stages` is a
    folder for the program after each stage. With `cache`, a model compiled before with the same options comes from
    disk. `progress` is told `(done, total, step)`. `memory_limit` becomes that of the model: the bytes that a call may
    take. With `integers`, what lies between dequantised and quantised numbers is computed on integers, as
    `relay-fake-quantization-to-integer` says; results may be a step of the quantisation beside those of floats.

    A text below the loop level is native code: it is refused if others may write its file, as by `load`. `trust`
    compiles it, and nothing comes from the cache of models.

    Raises classes of `xrelay.errors`: `ParseError` and `VerificationError` for a text, `ModelImportError` for an ONNX
    model, `InputError` for options, `ArtifactError` for native code that others may write, `LoweringError` for what has
    no native form.
    """
    chosen, level = chosen_target(target, threads), chosen_level(opt_level)
    cache, integers = checked_flag("cache", cache), checked_flag("integers", integers)
    shapes, limit = checked_shapes(shapes), check_memory_limit(memory_limit)
    anew = dump_stages is not None or shapes_compilation() or checked_flag("trust", trust)
    entry = _entry(source, chosen, level, shapes, integers=integers) if cache and not anew else None
    if entry is not None and (artifact := _cached(entry, _name(source))) is not None:
        return CompiledModel(artifact, num_threads=threads, memory_limit=limit)
    dump = checked_path("dump_stages", dump_stages) if dump_stages is not None else None
    # The compiler's modules take longer to import than a known model to open.
    from xrelay.api.build_artifact import artifact_of

    artifact, timing = artifact_of(
        source,
        chosen,
        shapes=shapes,
        opt_level=level,
        dump=dump,
        cache=cache,
        progress=progress,
        name=_name(source),
        integers=integers,
        trust=trust,
    )
    if entry is not None:
        entry.models.put(entry.key, partial(artifact.write, key=entry.key))
    return CompiledModel(artifact, num_threads=threads, memory_limit=limit, timing=timing)


class _Entry(NamedTuple):
    """A place in the cache of models."""

    models: ModelCache
    key: str


def _entry(source: Source, target: Target, level: int, shapes: Shapes | None, *, integers: bool) -> _Entry | None:
    """The place of a model in the cache; `None` without a cache, or for a model without a key."""
    models = ModelCache.default() if target.runs_here() else None
    key = None if models is None else model_key(source, target, level, shapes, integers=integers)
    return None if models is None or key is None else _Entry(models, key)


def _cached(entry: _Entry, name: str) -> Artifact | None:
    """The model that was compiled before, under any name, if its file is still good."""
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
    """The name of the model in messages."""
    if isinstance(source, str | PathLike):
        return Path(source).stem
    graph = getattr(source, "graph", None)
    return "model" if graph is None else graph.name or "model"
