"""Compiles a module to an artifact: stages, native code, tables and weights, and its timing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

from xdsl.dialects.builtin import FunctionType, IntegerType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.llvm import FuncOp as FuncOpOfLLVM

from xrelay.api.codegen import llvm_texts
from xrelay.api.interface import tables_of
from xrelay.api.kernels.stream import KernelCounts, KernelStream
from xrelay.api.stage_dump import NativePiece, StageReceiver
from xrelay.api.stage_runner import APPROXIMATING_PASSES, INTEGER_PASSES, Progress, StageRunner, selected_passes
from xrelay.arguments import MAX_OPT_LEVEL
from xrelay.dialects.shared.attribute_names import COMPILER, PRIMITIVE
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import LoweringError
from xrelay.lowering.external_symbols import check_external_symbols
from xrelay.lowering.pipelines import Stage, compile_stages
from xrelay.passes.functions.add_callers import MAIN, functions_of, returned_closures, taken_types
from xrelay.passes.graph.scopes import is_graph
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.instruments.timing import TimeTree
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.cache import ObjectCache
from xrelay.runtime.kernel_work import UNKNOWN_WORK, KernelWork
from xrelay.runtime.metadata import KernelInfo, ModelMetadata, TensorSpec, abi_stamp, function_spec
from xrelay.runtime.object_code.llvm_compiler import compile_many, located_assembly
from xrelay.target.target import Target


@dataclass(frozen=True)
class CompileTiming:
    """The steps of a compilation, its kernels, and the shares of its time in seconds.

    Kernels are not counted if the module was compiled as a whole.
    """

    clock: TimeTree
    kernels: KernelCounts
    llvm: float
    """The time of LLVM for kernels, summed over threads that ran in parallel to other work."""
    waiting: float
    """The time the compilation waited for LLVM or for workers."""

    @property
    def total(self) -> float:
        """The seconds of all steps."""
        return self.clock.root.seconds

    @property
    def python(self) -> float:
        """The seconds in which the compilation itself worked."""
        return self.total - self.waiting

    def report(self) -> str:
        """Returns the table of the steps, a line about kernels and a line about shares."""
        counts = self.kernels
        return (
            f"{self.clock.report()}"
            f"kernels: {counts.compiled} compiled, {counts.by_workers} of them by other processes, "
            f"{counts.found} found, {counts.equal} equal to others\n"
            f"seconds: {self.python:.3f} Python, {self.waiting:.3f} waiting, {self.llvm:.3f} LLVM beside\n"
        )

    def as_data(self) -> dict[str, object]:
        """Returns the same data for JSON."""
        shares = {"python": self.python, "waiting": self.waiting, "llvm": self.llvm}
        return {"steps": self.clock.root.as_data(), "kernels": asdict(self.kernels), "seconds": shares}


@dataclass(frozen=True)
class EntryFunctions:
    """The functions that an entry takes and returns."""

    callers: Sequence[str] = ()
    """For each function that it returns, in order, the entry that calls the function."""
    returned: Sequence[str] = ()
    """The types of these functions."""
    taken: Sequence[tuple[str, ...]] = ()
    """For each input that is a function, in order, the types of valid arguments."""


def functions_by_entry(module: ModuleOp) -> Mapping[str, EntryFunctions]:
    """Returns the functions that each entry of a module without closures takes and returns.

    Raises `LoweringError` if two returned closures have the same caller, or if the caller is `@main`.
    """
    found: dict[str, EntryFunctions] = {}
    all_callers = {MAIN}
    for name, function in functions_of(module).items():
        closures = returned_closures(function)
        taken = [tuple(map(str, types)) for types in taken_types(function)]
        callers, types = [each.caller for each in closures], [str(each.type) for each in closures]
        for caller in callers:
            if caller in all_callers:
                raise LoweringError(
                    f"@{caller} cannot be the caller of several closures", location=location_of(function)
                )
            all_callers.add(caller)
        found[name] = EntryFunctions(callers, types, taken)
    return found


def refuse_function_inputs(module: ModuleOp) -> None:
    """Raises `LoweringError` if `@main` takes a function.

    A model takes only functions that it returned, and it has returned no function before its first run.
    """
    main = functions_of(module).get(MAIN)
    for number, argument in enumerate(main.args if main is not None and main.body.blocks else ()):
        if any(isinstance(leaf, FunctionType) for leaf in leaf_types([argument.type])):
            name = f"#{number}" if argument.name_hint is None else f"'{argument.name_hint}'"
            raise LoweringError(
                f"input {name} of @{MAIN} is a function, {argument.type}; an input of a compiled model cannot be one",
                location=None if main is None else location_of(main),
                help=f"create the function inside the program, or return a function from @{MAIN} that takes it",
            )


def check_functions(metadata: ModelMetadata, functions: EntryFunctions) -> None:
    """Raises `LoweringError` for a function that a model takes or returns but whose program is unknown.

    A function can be passed only to the model that returned it, since its number denotes another function in another
    model.
    """
    alone = [spec for spec in metadata.inputs if spec.is_function][len(functions.taken) :]
    if len(metadata.functions) != len(functions.callers):
        alone += [metadata.outputs[number] for number in metadata.functions]
    if alone:
        raise LoweringError(f"'{alone[0].name}' is a closure whose program is missing", location=metadata.name,
                            help="compile the program as it was before relay-select-entry")  # fmt: skip


def with_functions(artifact: Artifact, functions: EntryFunctions, callers: Sequence[Artifact]) -> Artifact:
    """Returns the model with the types of its functions and the models that call the returned ones."""
    if not functions.returned and not functions.taken:
        return artifact
    metadata = replace(
        artifact.metadata,
        inputs=_with_types(artifact.metadata.inputs, functions.taken),
        outputs=_with_types(artifact.metadata.outputs, [(type,) for type in functions.returned]),
    )
    return replace(artifact, metadata=metadata, functions=tuple(callers))


def _with_types(specs: Sequence[TensorSpec], types: Sequence[tuple[str, ...]]) -> tuple[TensorSpec, ...]:
    """Returns inputs or outputs in which those that are functions have the given types, in order."""
    left = iter(types)
    return tuple(function_spec(spec.name, next(left)) if spec.is_function else spec for spec in specs)


LEAST_LLVM_LEVEL = 1
"""The minimum LLVM level.

At level 0, LLVM keeps vectors in memory, which makes code eight times slower and saves no compile time. So
`opt_level=0` disables graph passes, but not LLVM's.
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


def build_artifact(
    module: ModuleOp,
    target: Target,
    *,
    opt_level: int = MAX_OPT_LEVEL,
    receiver: StageReceiver | None = None,
    cache: bool = True,
    progress: Progress | None = None,
    name: str = "model",
    stream: bool = True,
    integers: bool = False,
    exact: bool = False,
    records: Path | None = None,
) -> Built:
    """Returns the object code, tables and weights of a module and of the models that call its returned functions.

    The module is consumed. Each kernel goes through the stages after LOOP in a module of its own, except with a
    `receiver` of the stages, or if `stream` is false. `records` is a file of tuning records.
    """
    builder = _Builder(target, opt_level, cache=cache, stream=stream, integers=integers, exact=exact, records=records)
    refuse_function_inputs(module)
    _hide_all_but_main(module)
    runner = StageRunner(builder.stages(MAIN), receiver=receiver, progress=progress)
    runner.run_until_split(module)
    functions = functions_by_entry(module)
    # Each entry has a copy of the module, because the stages change it.
    copies = {caller: module.clone() for entry in functions.values() for caller in entry.callers}
    built = builder.build(module, runner, receiver, name)

    def with_callers(artifact: Artifact, entry: str, receiver: StageReceiver | None) -> Artifact:
        """Returns the model of an entry with those of the callers of its functions, recursively."""
        found: list[Artifact] = []
        own = functions.get(entry, EntryFunctions())  # only modules of the relay level return functions
        check_functions(artifact.metadata, own)
        for number, caller in enumerate(own.callers):
            own_receiver = None if receiver is None else receiver.for_function(number)
            runner = StageRunner(builder.stages(caller), receiver=own_receiver)
            name = f"function {number} of {artifact.metadata.name}"
            model = builder.build(copies.pop(caller), runner, own_receiver, name).artifact
            found.append(with_callers(model, caller, own_receiver))
        return with_functions(artifact, own, found)

    return Built(with_callers(built.artifact, MAIN, receiver), built.timing)


@dataclass(frozen=True)
class _Builder:
    """The options of a compilation."""

    target: Target
    opt_level: int
    _: KW_ONLY
    cache: bool
    stream: bool
    integers: bool
    exact: bool
    records: Path | None

    def stages(self, entry: str) -> list[Stage]:
        """Returns the stages for an entry of a program."""
        return compile_stages(
            opt_level=self.opt_level,
            vector_lanes=self.target.lanes(),
            schedule_target=str(self.target),
            converts_f16=self.target.converts_f16,
            dot_products=self.target.dot_products,
            scalef=self.target.scalef,
            fma=self.target.fma,
            tile_products=self.target.tile_products,
            entry=entry,
            records="" if self.records is None else str(self.records),
            selection=selected_passes(
                asked=INTEGER_PASSES if self.integers else frozenset(),
                forbidden=APPROXIMATING_PASSES if self.exact else frozenset(),
            ),
        )

    def build(self, module: ModuleOp, runner: StageRunner, receiver: StageReceiver | None, name: str) -> Built:
        """Compiles the program of one entry, without the models of its returned functions."""
        stages, target = runner.stages, self.target
        objects, level = ObjectCache.default() if self.cache else None, max(self.opt_level, LEAST_LLVM_LEVEL)
        is_streamed = self.stream and receiver is None
        kernels = runner.kernel_stream(module, target, level, objects) if is_streamed else None
        with kernels if kernels is not None else nullcontext():
            runner.run_after_split(module, kernels)
            runner.report(len(stages), NATIVE)
            metadata, weights = tables_of(module)
            work = runner.work if kernels is None else {**runner.work, **kernels.work}
            with runner.clock.step(NATIVE):
                symbols = kernels.symbols if kernels is not None else {}
                kernel_table = _with_code(metadata.kernels, module, symbols, work)
                code = _native(module, target, level, receiver, len(stages) + 1, objects, symbols)
                code += kernels.finish() if kernels is not None else ()
        if receiver is not None:
            receiver.finish(runner.clock.report())
        runner.report(len(stages) + 1, "done")
        metadata = replace(
            metadata,
            cpu=target.mcpu,
            features=",".join(target.code_features()),
            name=name,
            kernels=kernel_table,
            abi=abi_stamp() if target.triple is None else abi_stamp(target.arch),
        )
        artifact = Artifact(tuple(code), metadata, weights)
        return Built(artifact, _timing(runner.clock, kernels))


def _with_code(
    kernels: Sequence[KernelInfo], module: ModuleOp, symbols: Mapping[str, str], work: Mapping[str, KernelWork]
) -> tuple[KernelInfo, ...]:
    """Returns the kernels of a module in the llvm dialect with their symbols in object code, arguments and work."""
    types = {op.sym_name.data: op.function_type.inputs.data for op in module.ops if isinstance(op, FuncOpOfLLVM)}
    return tuple(
        replace(
            kernel,
            code=symbols.get(kernel.symbol, kernel.symbol),
            arguments=len(inputs := types.get(kernel.symbol, ())),
            extents=sum(isinstance(each, IntegerType) for each in inputs),
            work=work.get(kernel.symbol, UNKNOWN_WORK),
        )
        for kernel in kernels
    )


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


def _native(
    module: ModuleOp,
    target: Target,
    level: int,
    receiver: StageReceiver | None,
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
    if receiver is not None:
        listings = [
            located_assembly(text, cpu=target.mcpu, features=features, opt_level=level)
            for text, level in zip(texts, levels, strict=True)
        ]
        receiver.receive_native(number, [NativePiece(piece.text, piece.locations, listing)
                                         for piece, listing in zip(pieces, listings, strict=True)])  # fmt: skip
    return compile_many(texts, cpu=target.mcpu, features=features, opt_level=levels, cache=cache)
