"""Random programs with named dimensions: compiled once, and compared with the interpreter at several sizes.

In addition to the constructs of random programs with static shapes, these have: carried values that grow; functions
that call each other; closures chosen at run time, recursive closures, and closures passed to functions and callers;
sequences and optionals, also as inputs and results; and extents computed at run time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TypeAlias, cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from support.choices import Choices
from support.plain_kernels import compile_plain, compile_unoptimised
from support.random_dims import NAMES, SIZES, DimProgram, dim_program, small_numbers
from xrelay.api.compile import compile
from xrelay.api.model import CompiledModel
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import (
    ConstraintError,
    ExecutionError,
    InputError,
    InterpreterError,
    LoweringError,
    TypeInferenceError,
)
from xrelay.interpreters.relay import run_relay
from xrelay.interpreters.relay.run import Result
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types
from xrelay.runtime.lists import Listed

Call: TypeAlias = Callable[[Sequence[Result]], list[Result]]

RUNS = 3
"""The number of sizes at which a program runs."""


@cache
def context() -> Context:
    return full_context()


def check_program(choices: Choices, most: int = 5) -> Counter[str]:
    """Runs a random program of up to `most` steps; counts the runs that succeeded ("ran") or failed ("reported").

    A program without a native form counts as "refused", and a program that no sizes make valid as "untyped". Raises
    `AssertionError` with the program if native code and the interpreter differ. Kernels are compiled without schedules
    in nine of ten programs, as other tests cover the schedules of single ops.
    """
    program = dim_program(choices, most=most, returned=2, free=True, functions=True)
    level, is_plain = choices.pick([2, 1, 3, 2, 1, 3, 0]), not choices.chance(10)
    module = parse_module(context(), program.with_names(), "program.mlir")
    try:
        infer_types(module)
    except (TypeInferenceError, ConstraintError):
        return Counter(["untyped"])
    try:
        if program.function is not None:
            native = compile_unoptimised(module)
        elif is_plain:
            native = compile_plain(module, level)
        else:
            native = compile(module, cache=False, threads=1, opt_level=level)
    except (LoweringError, TypeInferenceError):
        return Counter(["refused"])
    return Counter(_compared(program, choices, module, native) for _ in range(RUNS))


def _compared(program: DimProgram, choices: Choices, module: ModuleOp, native: CompiledModel) -> str:
    """Runs a program at random sizes and returns the outcome."""
    same, size = choices.chance(30), choices.pick(SIZES)
    sizes = {name: size if same else choices.pick(SIZES) for name in NAMES}
    inputs = [*program.inputs(sizes, choices.below(2)), *program.lists_at(sizes)]
    place = f"at {sizes}, condition {inputs[0]}:"
    text = f"{place}\n{program.with_names()}"
    found, wanted = _outcome(lambda: _flat(native.run(inputs))), _outcome(lambda: run_relay(module, inputs))
    if isinstance(found, str) or isinstance(wanted, str):
        _assert_equal(found, wanted, text)
        return "reported"
    if program.function is not None:
        data = small_numbers([choices.pick(SIZES) for _ in range(program.function.rank)])
        place = -1 if program.taker is None else -2
        for call in _calls(data, place):
            native_call, interpreted = partial(call, found), partial(call, wanted)
            _assert_equal(_outcome(native_call), _outcome(interpreted), f"function of {data.shape} {text}")
        found, wanted = found[:place], wanted[:place]
    _assert_equal(found, wanted, text)
    return "ran"


def _calls(data: Array, place: int) -> list[Call]:
    """The calls of the functions in the results from index `place` on: of the first, and of a second that takes it."""

    def one(results: Sequence[Result]) -> list[Result]:
        return results[place](data)

    def other(results: Sequence[Result]) -> list[Result]:
        return results[-1](results[place], data)

    return [one, other] if place == -2 else [one]


def _flat(values: Sequence[Listed]) -> list[Result]:
    """Flattens results of native code into the interpreter's form: the elements of sequences and optionals in order."""
    found: list[Result] = []
    pending = list(values)[::-1]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += cast("list[Listed]", value)[::-1]
        elif value is not None:
            found.append(value)
    return found


def _outcome(run: Callable[[], list[Result]]) -> list[Result] | str:
    """Returns the results, or the message of the error.

    A wrong extent that the program requires to be a number is an `InputError` of the compiled model.
    """
    try:
        return run()
    except (ExecutionError, InterpreterError, InputError) as error:
        return error.message


def _assert_equal(found: Sequence[Result] | str, wanted: Sequence[Result] | str, text: str) -> None:
    """Checks that native code and the interpreter return the same, or both report an error."""
    if isinstance(found, str) or isinstance(wanted, str):
        assert isinstance(wanted, str), f"only native code reports {found} {text}"
        assert isinstance(found, str), f"only the interpreter reports {wanted} {text}"
        return
    for number, (array, want) in enumerate(zip(found, wanted, strict=True)):
        assert (array.dtype, array.shape) == (want.dtype, want.shape), (
            f"result {number} is {array.shape}, must be {want.shape}, {text}"
        )
        scale = 1e-5 * (1 + float(np.max(np.abs(want), where=np.isfinite(want), initial=0.0)))
        np.testing.assert_allclose(array, want, rtol=1e-5, atol=scale, err_msg=f"result {number} {text}")
