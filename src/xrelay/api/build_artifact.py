"""Compiles a model source to an artifact: import, stages, native code, tables and weights."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from xrelay.api.codegen import llvm_texts
from xrelay.api.context import INTEGER_PASSES, decide
from xrelay.api.function_results import (
    EntryFunctions,
    check_functions,
    functions_by_entry,
    refuse_function_inputs,
    with_functions,
)
from xrelay.api.interface import ModelTables, tables_of
from xrelay.api.kernel_stream import KernelStream
from xrelay.api.sources import Shapes, Source, load_source, write_text
from xrelay.api.stage_runner import Progress, StageRunner
from xrelay.api.streaming import kernel_stream
from xrelay.api.timing import CompileTiming, KernelCounts
from xrelay.arguments import MAX_OPT_LEVEL
from xrelay.dialects.shared.attribute_names import COMPILER, PRIMITIVE
from xrelay.lowering.external_symbols import check_external_symbols
from xrelay.lowering.pipelines import Stage, compile_stages
from xrelay.passes.catalogue.default_pipeline import MAIN
from xrelay.passes.graph.scopes import is_graph
from xrelay.passes.infra.gc_pause import gc_pause
from xrelay.passes.instruments.timing import TimeTree
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.cache import ObjectCache
from xrelay.runtime.metadata import ModelMetadata, abi_stamp
from xrelay.runtime.native import assembly, compile_many
from xrelay.target.target import Target

LEAST_LLVM_LEVEL = 1
"""The minimum LLVM level.

Below it LLVM keeps vectors in memory, which makes code eight times slower and saves no compile time. With it, level 0
measures the graph passes and not LLVM.
"""
GLUE_LLVM_LEVEL = 0
"""The LLVM level of the functions that only call kernels.

Optimising them takes as long as a small kernel and makes nothing faster.
"""

NATIVE = "native code"
"""The name of the last step, which waits for LLVM."""


class Built(NamedTuple):
    """An artifact and its compile timing, which excludes the models of returned functions."""

    artifact: Artifact
    timing: CompileTiming


def artifact_of(
    source: Source,
    target: Target,
    *,
    shapes: Shapes | None = None,
    opt_level: int = MAX_OPT_LEVEL,
    dump: Path | None = None,
    cache: bool = True,
    progress: Progress | None = None,
    name: str = "model",
    integers: bool = False,
    trust: bool = False,
) -> Built:
    """Returns the object code, tables and weights of the model in `source`.

    See `xrelay.compile` for arguments and errors. `target` is entered as a context, which enables its registered
    strategies and hooks.
    """
    with target, gc_pause():
        module = load_source(source, shapes=shapes, trust=trust)
        return build_artifact(
            module,
            target,
            opt_level=opt_level,
            dump=dump,
            cache=cache,
            progress=progress,
            name=name,
            integers=integers,
        )


def build_artifact(
    module: ModuleOp,
    target: Target,
    *,
    opt_level: int = MAX_OPT_LEVEL,
    dump: Path | None = None,
    cache: bool = True,
    progress: Progress | None = None,
    name: str = "model",
    stream: bool = True,
    integers: bool = False,
) -> Built:
    """Returns the object code, tables and weights of a module and of the models that call its returned functions.

    The module is consumed. Unless stages are dumped or `stream` is false, each kernel goes through the stages after
    LOOP in a module of its own.
    """
    builder = _Builder(target, opt_level, cache=cache, stream=stream, integers=integers)
    refuse_function_inputs(module)
    _hide_all_but_main(module)
    runner = StageRunner(builder.stages(MAIN), dump=dump, progress=progress)
    runner.run_until_split(module)
    functions = functions_by_entry(module)
    # Each entry has a copy of the module, because the stages change it.
    copies = {caller: module.clone() for entry in functions.values() for caller in entry.callers}
    built = builder.build(module, runner, dump, name)

    def with_callers(artifact: Artifact, entry: str, dump: Path | None) -> Artifact:
        """Returns the model of an entry with those of the callers of its functions, recursively."""
        found: list[Artifact] = []
        own = functions.get(entry, EntryFunctions())  # a module of another level has no functions
        check_functions(artifact.metadata, own)
        for number, caller in enumerate(own.callers):
            folder = None if dump is None else dump / f"function{number}"
            runner = StageRunner(builder.stages(caller), dump=folder)
            name = f"function {number} of {artifact.metadata.name}"
            found.append(with_callers(builder.build(copies.pop(caller), runner, folder, name).artifact, caller, folder))
        return with_functions(artifact, own, found)

    return Built(with_callers(built.artifact, MAIN, dump), built.timing)


@dataclass(frozen=True)
class _Builder:
    """The options of a compilation."""

    target: Target
    opt_level: int
    _: KW_ONLY
    cache: bool
    stream: bool
    integers: bool

    def stages(self, entry: str) -> list[Stage]:
        """Returns the stages for an entry of a program."""
        return compile_stages(
            opt_level=self.opt_level,
            vector_lanes=self.target.lanes(),
            schedule_target=str(self.target),
            converts_f16=self.target.converts_f16,
            dot_products=self.target.dot_products,
            entry=entry,
            decide=partial(decide, asked=INTEGER_PASSES if self.integers else frozenset()),
        )

    def build(self, module: ModuleOp, runner: StageRunner, dump: Path | None, name: str) -> Built:
        """Compiles the program of one entry, without the models of its returned functions."""
        stages, target = runner.stages, self.target
        objects, level = ObjectCache.default() if self.cache else None, max(self.opt_level, LEAST_LLVM_LEVEL)
        is_streamed = self.stream and dump is None
        kernels = kernel_stream(module, runner, stages, target, level, objects) if is_streamed else None
        with kernels if kernels is not None else nullcontext():
            runner.run_after_split(module, kernels)
            runner.report(len(stages), NATIVE)
            tables = tables_of(module)
            with runner.clock.step(NATIVE):
                symbols = kernels.symbols if kernels is not None else {}
                code = _native(module, target, level, dump, len(stages) + 1, objects, symbols)
                code += kernels.finish() if kernels is not None else ()
        if dump is not None:
            write_text(dump / "timing.txt", runner.clock.report())
        runner.report(len(stages) + 1, "done")
        artifact = Artifact(tuple(code), _metadata(tables, target, name), tables.arrays)
        return Built(artifact, _timing(runner.clock, kernels))


def _hide_all_but_main(module: ModuleOp) -> None:
    """Makes all graph functions but `@main` private, so that functions that were inlined everywhere are erased."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp) and PRIMITIVE not in op.attributes}
    main = functions.pop(MAIN, None)
    others = [function for function in functions.values() if COMPILER not in function.attributes]
    if main is not None and others and is_graph(main):
        for function in filter(is_graph, others):
            function.sym_visibility = StringAttr("private")


def _timing(clock: TimeTree, kernels: KernelStream | None) -> CompileTiming:
    native = sum(step.seconds for step in clock.root.steps if step.name == NATIVE)
    if kernels is None:
        return CompileTiming(clock, KernelCounts(), 0.0, native)
    return CompileTiming(clock, kernels.counts, sum(kernels.llvm_seconds), native + kernels.waited)


def _metadata(tables: ModelTables, target: Target, name: str) -> ModelMetadata:
    """Returns the metadata of a model called `name`: its tables, and the target it is compiled for."""
    return ModelMetadata(
        inputs=tables.inputs,
        outputs=tables.outputs,
        weights=tables.weights,
        arena_size=tables.arena_size,
        kernels=tables.kernels,
        calls=tables.calls,
        dims=tables.dims,
        checks=tables.checks,
        polls=tables.polls,
        straight=tables.straight,
        memory=tables.memory,
        cpu=target.mcpu,
        features=",".join(target.code_features()),
        name=name,
        abi=abi_stamp() if target.triple is None else abi_stamp(target.arch),
    )


def _native(
    module: ModuleOp,
    target: Target,
    level: int,
    dump: Path | None,
    number: int,
    cache: ObjectCache | None,
    symbols: Mapping[str, str],
) -> list[bytes]:
    """Returns the object code of a module in the llvm dialect; `symbols` are those of kernels compiled elsewhere."""
    features = ",".join(target.code_features())
    check_external_symbols(module, symbols)
    pieces = llvm_texts(module, target, symbols)
    texts = [piece.text for piece in pieces]
    levels = [GLUE_LLVM_LEVEL if piece.is_glue else level for piece in pieces]
    if dump is not None:
        write_text(dump / f"{number:02d}_native.ll", "\n".join(texts))
        listings = [
            assembly(text, cpu=target.mcpu, features=features, opt_level=level)
            for text, level in zip(texts, levels, strict=True)
        ]
        write_text(dump / f"{number + 1:02d}_native.s", "\n".join(listings))
    return compile_many(texts, cpu=target.mcpu, features=features, opt_level=levels, cache=cache)
