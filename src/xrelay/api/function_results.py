"""Programs that return functions: each gets companion programs that call the functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xrelay.api.stage_runner import Progress
from xrelay.dialects.relay.structure.function import FnOp
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import LoweringError
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.relay.closure_callers import MAIN, Exchange, Exchanges
from xrelay.passes.relay.dead_code_elimination import eliminate_dead_code
from xrelay.passes.relay.inline import inline_calls
from xrelay.passes.relay.lift_closures import lift_closures
from xrelay.passes.relay.recursion_to_loop import turn_recursions_into_loops
from xrelay.passes.types.infer_type import infer_types
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.metadata import ModelMetadata, TensorSpec, function_spec


@dataclass(frozen=True)
class FunctionPrograms:
    """A program, and for each function that its `@main` returns, in order, a program that calls the function.

    Each such program takes its function as first input.
    """

    module: ModuleOp
    callers: Sequence[FunctionPrograms] = ()
    given: Sequence[str] = ()
    """The types of the functions that it returns."""
    taken: Sequence[tuple[str, ...]] = ()
    """For each input that is a function, in order: the types that may be passed for it."""


def function_programs(module: ModuleOp) -> FunctionPrograms:
    """Returns the program `module` and the programs that call the functions that `@main` returns.

    If `@main` returns functions, closures are converted to data. Raises `LoweringError` if `@main` takes a function: a
    model takes only functions that it returned, and it has returned no function before its first run.
    """
    _refuse_functions_given(module)
    if not _gives_functions(module):
        return FunctionPrograms(module)
    turn_recursions_into_loops(module)
    inline_calls(module)
    found = lift_closures(module, callers=True)
    callers = [_caller(module, name, found) for name in found[MAIN].callers.values()]
    eliminate_dead_code(module)
    return _program(module, callers, found[MAIN])


def check_functions(metadata: ModelMetadata, programs: FunctionPrograms) -> None:
    """Raises `LoweringError` for a function that a model takes or returns but whose program is unknown.

    A function can be passed only to the model that returned it, since its number means another function elsewhere.
    """
    alone = [spec for spec in metadata.inputs if spec.is_function][len(programs.taken) :]
    if len(metadata.functions) != len(programs.callers):
        alone += [metadata.outputs[number] for number in metadata.functions]
    if alone:
        raise LoweringError(f"'{alone[0].name}' is a closure whose program is missing", location=metadata.name,
                            help="compile the program as it was before relay-lift-closures")  # fmt: skip


class Build(Protocol):
    """Compiles a program."""

    def __call__(self, module: ModuleOp, *, dump: Path | None, progress: Progress | None, name: str) -> Artifact:
        """Returns the model of `module`, which is consumed; see `build_artifact`."""
        ...


def with_callers(artifact: Artifact, programs: FunctionPrograms, build: Build, dump: Path | None) -> Artifact:
    """Returns the model with the models that call its returned functions, recursively."""
    found: list[Artifact] = []
    for number, caller in enumerate(programs.callers):
        place = None if dump is None else dump / f"function{number}"
        name = f"function {number} of {artifact.metadata.name}"
        found.append(with_callers(build(caller.module, dump=place, progress=None, name=name), caller, build, place))
    if not programs.given and not programs.taken:
        return artifact
    metadata = replace(
        artifact.metadata,
        inputs=_with_types(artifact.metadata.inputs, programs.taken),
        outputs=_with_types(artifact.metadata.outputs, [(type,) for type in programs.given]),
    )
    return replace(artifact, metadata=metadata, functions=tuple(found))


def _with_types(specs: Sequence[TensorSpec], types: Sequence[tuple[str, ...]]) -> tuple[TensorSpec, ...]:
    """Returns inputs or outputs in which those that are functions have the given types, in order."""
    left = iter(types)
    return tuple(function_spec(spec.name, next(left)) if spec.is_function else spec for spec in specs)


def _refuse_functions_given(module: ModuleOp) -> None:
    main = _function(module, MAIN)
    for number, argument in enumerate(main.args if main is not None and main.body.blocks else ()):
        if _has_functions([argument.type]):
            name = f"#{number}" if argument.name_hint is None else f"'{argument.name_hint}'"
            raise LoweringError(
                f"input {name} of @{MAIN} is a function, {argument.type}; an input of a compiled model cannot be one",
                location=None if main is None else location_of(main),
                help=f"create the function inside the program, or return a function from @{MAIN} that takes it",
            )


def _gives_functions(module: ModuleOp) -> bool:
    """Whether `@main` returns a function. Infers types if there are closures."""
    if not any(isinstance(op, FnOp) for op in walk_ops(module)):
        return False
    infer_types(module)
    main = _function(module, MAIN)
    return main is not None and _has_functions(main.function_type.outputs.data)


def _has_functions(types: Sequence[Attribute]) -> bool:
    return any(isinstance(type, FunctionType) for type in leaf_types(types))


def _program(module: ModuleOp, callers: Sequence[FunctionPrograms], exchange: Exchange) -> FunctionPrograms:
    taken = [tuple(map(str, types)) for types in exchange.taken]
    return FunctionPrograms(module, callers, list(map(str, exchange.given)), taken)


def _caller(module: ModuleOp, name: str, exchanges: Exchanges) -> FunctionPrograms:
    """Returns the program whose `@main` is the function `name` of `module`, with its own callers, recursively."""
    copy = module.clone()
    main, function = _function(copy, MAIN), _function(copy, name)
    if main is None or function is None:
        raise ValueError(f"the module of the callees has no function @{name}")
    erase_op(main)
    function.sym_name, function.sym_visibility = StringAttr(MAIN), None
    eliminate_dead_code(copy)
    inner = [_caller(module, each, exchanges) for each in exchanges[name].callers.values()]
    return _program(copy, inner, exchanges[name])


def _function(module: ModuleOp, name: str) -> FuncOp | None:
    functions = (op for op in module.body.block.ops if isinstance(op, FuncOp))
    return next((op for op in functions if op.sym_name.data == name), None)
