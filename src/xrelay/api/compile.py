"""`compile` takes a model to native code, through every stage of `xrelay.lowering.pipelines`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xrelay.api.context import chosen_level, decide, shapes_compilation
from xrelay.api.interface import ModelTables, tables_of
from xrelay.api.model import CompiledModel
from xrelay.api.model_key import model_key
from xrelay.api.sources import Shapes, Source, load_source, write_text
from xrelay.api.stage_runner import Progress, StageRunner
from xrelay.arguments import checked_path, checked_shapes
from xrelay.errors import ArtifactError, InputError, with_article
from xrelay.lowering.pipelines import MAX_OPT_LEVEL, compile_stages
from xrelay.passes.infra.gc_pause import gc_pause
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.cache import ModelCache, ObjectCache
from xrelay.runtime.cores import check_num_threads
from xrelay.runtime.limits import check_memory_limit
from xrelay.runtime.metadata import ModelMetadata, abi_stamp
from xrelay.runtime.native import assembly, compile_many
from xrelay.target.target import Target

LEAST_LLVM_LEVEL = 1
"""LLVM's level where ours is lower: below it vectors live in memory, which makes code eight times slower and saves
no time. So level 0 shows what the graph passes are worth, not what LLVM is."""
GLUE_LLVM_LEVEL = 0
"""LLVM's level for the calls of kernels one after another: the optimiser takes as long for them as for a small kernel,
and makes nothing faster."""


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
) -> CompiledModel:
    """Compile a model for the CPU.

    `source` is a path (`.onnx` or `.mlir`), an ONNX model in memory, or a module; a module is not changed. It may be at
    any level: text that `dump_stages` wrote, or a kernel at the loop level, scheduled by hand, goes through the stages
    that are left. `target` is a `Target` or text such as `cpu -mcpu=znver4`; by default the one of `with target:`
    around the call, else this machine. What is compiled for another kind can be saved and exported, not run.
    `opt_level` is 0 to 3; left out, it is that of an entered `PassContext`, else 3. Such a context also says which
    graph passes run and with which config, and its instruments see every pass. `threads` is how many a call may use,
    `shapes` fixes open input shapes by name; of a named dimension that stays open it says the least, the greatest and
    the usual size, `shapes={"n": (1, 128, 8)}`: schedules go by them, and other sizes are refused. `dump_stages` is a
    folder for the program after each stage. With `cache`, a model compiled before with the same options comes from
    disk. `progress` is told `(done, total, step)`. `memory_limit` becomes that of the model: the bytes that a call may
    take.

    Raises classes of `xrelay.errors`: `ParseError` and `VerificationError` for a text, `ModelImportError` for an ONNX
    model, `InputError` for options, `LoweringError` for what has no native form.
    """
    chosen = _chosen_target(target, threads)
    level = chosen_level(opt_level)
    shapes, limit = checked_shapes(shapes), check_memory_limit(memory_limit)
    anew = dump_stages is not None or shapes_compilation()
    models = ModelCache.default() if cache and not anew and chosen.runs_here() else None
    key = model_key(source, chosen, level, shapes) if models is not None else None
    if models is not None and key is not None and (artifact := _cached(models, key)) is not None:
        return CompiledModel(artifact, num_threads=threads, memory_limit=limit)
    dump = checked_path("dump_stages", dump_stages) if dump_stages is not None else None
    with gc_pause():
        module = load_source(source, shapes=shapes)
        artifact = build_artifact(
            module, chosen, opt_level=level, dump=dump, cache=cache, progress=progress, name=_name(source)
        )
    if models is not None and key is not None:
        models.put(key, partial(artifact.write, key=key))
    return CompiledModel(artifact, num_threads=threads, memory_limit=limit)


def _chosen_target(target: object, threads: object) -> Target:
    """The target that a caller names, with as many threads as a call may use; checked, since anything may come."""
    if isinstance(target, str):
        chosen = Target.parse(target)
    elif target is None or isinstance(target, Target):
        entered = Target.current()
        chosen = target if target is not None else entered if entered is not None else Target.host()
    else:
        raise InputError(
            f"{with_article(type(target).__name__)} is no target", help="give a Target, or text such as 'cpu'"
        )
    if threads is None:
        return chosen
    return replace(chosen, threads=check_num_threads(threads))


def build_artifact(
    module: ModuleOp,
    target: Target,
    *,
    opt_level: int = MAX_OPT_LEVEL,
    dump: Path | None = None,
    cache: bool = True,
    progress: Progress | None = None,
    name: str = "model",
) -> Artifact:
    """Object code, tables and weights of a module, which is consumed."""
    stages = compile_stages(
        opt_level=opt_level,
        vector_lanes=target.lanes(),
        schedule_target=str(target),
        converts_f16=target.converts_f16,
        decide=decide,
    )
    runner = StageRunner(stages, dump=dump, progress=progress)
    runner.run(module)
    runner.tell(len(stages), "native code")
    tables = tables_of(module)
    with runner.clock.step("native code"):
        objects = _native(module, target, opt_level, dump, len(stages) + 1, cache=cache)
    if dump is not None:
        write_text(dump / "timing.txt", runner.clock.report())
    runner.tell(len(stages) + 1, "done")
    return Artifact(tuple(objects), _metadata(tables, target, name), tables.arrays)


def _metadata(tables: ModelTables, target: Target, name: str) -> ModelMetadata:
    """The tables of a model called `name`, with what it is compiled for."""
    return ModelMetadata(
        inputs=tables.inputs,
        outputs=tables.outputs,
        weights=tables.weights,
        arena_size=tables.arena_size,
        kernels=tables.kernels,
        dims=tables.dims,
        checks=tables.checks,
        polls=tables.polls,
        cpu=target.mcpu,
        features=",".join(target.code_features()),
        name=name,
        abi=abi_stamp() if target.triple is None else abi_stamp(target.arch),
    )


def _native(
    module: ModuleOp, target: Target, opt_level: int, dump: Path | None, number: int, *, cache: bool
) -> list[bytes]:
    """Object code of a module in the llvm dialect."""
    from xrelay.api.codegen import llvm_texts

    features = ",".join(target.code_features())
    pieces = llvm_texts(module, target)
    texts = [piece.text for piece in pieces]
    levels = [GLUE_LLVM_LEVEL if piece.is_glue else max(opt_level, LEAST_LLVM_LEVEL) for piece in pieces]
    if dump is not None:
        write_text(dump / f"{number:02d}_native.ll", "\n".join(texts))
        listings = [
            assembly(text, cpu=target.mcpu, features=features, opt_level=level)
            for text, level in zip(texts, levels, strict=True)
        ]
        write_text(dump / f"{number + 1:02d}_native.s", "\n".join(listings))
    objects = ObjectCache.default() if cache else None
    return compile_many(texts, cpu=target.mcpu, features=features, opt_level=levels, cache=objects)


def _cached(models: ModelCache, key: str) -> Artifact | None:
    """The model that was compiled before, if its file is still good."""
    path = models.get(key)
    if path is None:
        return None
    try:
        return Artifact.load(path, key=key)
    except ArtifactError as error:
        models.drop(key, error.message)
        return None


def _name(source: Source) -> str:
    """The name of the model in messages."""
    if isinstance(source, str | PathLike):
        return Path(source).stem
    return "model" if isinstance(source, ModuleOp) else source.graph.name or "model"
