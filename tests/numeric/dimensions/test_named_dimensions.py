"""Random programs with named dimensions against the same programs at given sizes, where every rule decides at once.

The program with names must report an error if it fails at the given sizes; otherwise it must run, and return the same
arrays with the inferred types. The same holds after the functions that it calls are inlined.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from hypothesis import event, given, settings
from hypothesis import strategies as st
from support.choices import Choices, Drawn, Seeded
from support.examples import examples
from support.random_dims import NAMES, SIZES, DimProgram, dim_program
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import shape_of
from xrelay.errors import ConstraintError, InterpreterError, TypeInferenceError
from xrelay.index_algebra.dims import DimExpr, evaluate
from xrelay.interpreters.relay import run_relay
from xrelay.passes.functions.inline import inline_calls
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

RUNS = 3
"""The number of sizes at which a program is tested."""


@cache
def context() -> Context:
    return full_context()


def typed(text: str) -> ModuleOp | str:
    """The typed module, or the error message."""
    module = parse_module(context(), text, "test.mlir")
    try:
        infer_types(module)
    except (TypeInferenceError, ConstraintError) as error:
        return error.message
    module.verify()
    return module


def inlined(module: ModuleOp) -> ModuleOp:
    """The module with all calls inlined."""
    copy = module.clone()
    inline_calls(copy)
    copy.verify()
    return copy


def outcome(module: ModuleOp | str, inputs: list[Array]) -> list[Array] | str:
    """The results, or the message of the error."""
    if isinstance(module, str):
        return module
    try:
        return run_relay(module, inputs)
    except InterpreterError as error:
        return error.message


def check_types(module: ModuleOp, results: list[Array], sizes: Mapping[str, int]) -> None:
    """Checks results against the function's types at `sizes`; extents that an op computes are skipped."""
    function = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    for array, type in zip(results, function.function_type.outputs, strict=True):
        for extent, dim in zip(array.shape, shape_of(type), strict=True):
            if not isinstance(dim, DimExpr) or dim.names <= sizes.keys():
                assert evaluate(dim, sizes) == extent, f"{dim} is {extent}"


def compare(program: DimProgram, sizes: Mapping[str, int], branch: int, module: ModuleOp | str) -> str:
    """Checks a program at some sizes; returns the outcome."""
    inputs = program.inputs(sizes, branch)
    wanted = outcome(typed(program.at(sizes, branch)), inputs)
    if isinstance(module, str) and not isinstance(wanted, str):
        # Errors in ops that do not run this time, or never run, are also reported.
        texts = [program.at(sizes, each, whole=True) for each in (0, 1)]
        wanted = next((reason for reason in map(typed, texts) if isinstance(reason, str)), wanted)
    found = outcome(module, inputs)
    if isinstance(wanted, str) or isinstance(found, str):
        assert isinstance(wanted, str), f"{sizes}, branch {branch}: {found}\n{program.with_names()}"
        assert isinstance(found, str), f"{sizes}, branch {branch}: not reported: {wanted}\n{program.with_names()}"
        return "refused" if isinstance(module, str) else "reported"
    for want, find in zip(wanted, found, strict=True):
        assert want.dtype == find.dtype
        assert want.shape == find.shape
        assert want.tobytes() == find.tobytes()
    assert isinstance(module, ModuleOp)
    check_types(module, found, sizes)
    return "ran"


def check(choices: Choices) -> list[str]:
    """Checks a random program at some random sizes; returns the outcome at each."""
    program = dim_program(choices)
    module = typed(program.with_names())
    modules = [module] if isinstance(module, str) or not program.calls else [module, inlined(module)]
    found: list[str] = []
    for _ in range(RUNS):
        same = choices.chance(30)
        size = choices.pick(SIZES)
        sizes = {name: size if same else choices.pick(SIZES) for name in NAMES}
        branch = choices.below(2)
        found += [compare(program, sizes, branch, each) for each in modules]
    return found


@given(st.data())
@settings(max_examples=examples(6, more=16), deadline=None)
def test_named_dimensions_are_the_sizes_they_stand_for(data: st.DataObject) -> None:
    for each in check(Drawn(data.draw)):
        event(each)


def test_programs_run_and_fail() -> None:
    found: set[str] = set()
    seeds = iter(range(15))
    while not found >= {"ran", "reported"}:
        found.update(check(Seeded(next(seeds))))
