"""The functions that a model takes and returns, with their types and the models that call them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import FunctionType, ModuleOp

from xrelay.dialects.shared.locations import location_of
from xrelay.errors import LoweringError
from xrelay.passes.functions.closure_callers import MAIN, functions_of, returned_closures, taken_types
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.metadata import ModelMetadata, TensorSpec, function_spec


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

    A function can be passed only to the model that returned it, since its number means another function elsewhere.
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
