"""Random uses of every Relay operator: compares native code with the interpreter, with static and dynamic extents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType

import xrelay
from fuzz.agreement import disagreement, disturbed, excused
from fuzz.engines import TARGETS
from fuzz.finding import Finding
from fuzz.relay_instances import is_small, random_arguments, random_instance
from fuzz.rounded_runs import run_rounded
from fuzz.special_values import Array, is_float
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.dialects.relay.ops.image.resize import ResizingOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.like import CastLikeOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.errors import ExecutionError, InputError, InterpreterError, LoweringError
from xrelay.interpreters.relay import run_relay

TRIES = 20
"""The maximum number of draws until a use of the op is valid."""

LARGEST = 1 << 22
"""The maximum size of results in elements: sizes that depend on inputs, such as repetitions, are unbounded."""

ORDERED = (OpPatternKind.ELEM_WISE, OpPatternKind.BROADCAST, OpPatternKind.INJECTIVE, OpPatternKind.TUPLE)
"""The patterns of ops whose elements depend on single elements, in a fixed order: inputs may have any values."""


def run_case(seed: int) -> None:
    """Runs one use of one operator."""
    rng = np.random.default_rng(seed)
    names = sorted(relay_ops())
    name = names[int(rng.integers(len(names)))]
    run_op(rng, name)


def run_op(rng: np.random.Generator, name: str) -> bool:
    """Runs one use of the operator of this name; returns whether native code exists and agrees."""
    for _ in range(TRIES):
        module = random_instance(rng, name)
        if module is not None and is_small(module):
            return check(rng, name, module)
    return False


def check(rng: np.random.Generator, name: str, module: ModuleOp) -> bool:
    """Compares native code for a random CPU and level with the interpreter; raises `Finding`.

    Returns False if there is nothing to compare: the op has no native code, or both fail at run time.
    """
    inputs = random_arguments(rng, module, argument_domains(rng, module))
    expected = interpreted(module, inputs)
    if not isinstance(expected, str) and sum(out.size for out in expected) > LARGEST:
        return False
    target, level = TARGETS[int(rng.integers(len(TARGETS)))], int(rng.integers(4))
    try:
        compiled = xrelay.compile(module.clone(), target=target, opt_level=level, threads=1, cache=False)
    except LoweringError:
        return False
    try:
        found = compiled.run(inputs)
    except (ExecutionError, InputError) as error:
        # A wrong extent of an input that the op requires to be a number is an `InputError`.
        if isinstance(expected, str):
            return False
        raise Finding(f"{name}: only native code fails", str(error), module_files(module)) from error
    if isinstance(expected, str):
        raise Finding(f"{name}: only the interpreter fails", expected, module_files(module))
    results = [f"y{number}" for number, _ in enumerate(expected)]
    problem = disagreement(results, found, expected, f"{target} at level {level}")
    if problem and not excused(
        found, expected, lambda k: disturbed_run(module, inputs, k), lambda k: rounded_run(module, inputs, k)
    ):
        raise Finding(f"{name}: native code departs from the interpreter", problem, module_files(module))
    return True


def interpreted(module: ModuleOp, inputs: Sequence[Array]) -> list[Array] | str:
    """The results, or the message of the error, an `InputError` if a pass wrote a required extent into the type."""
    try:
        return [np.asarray(out) for out in run_relay(module, list(inputs))]
    except (InterpreterError, InputError) as error:
        return str(error)


def disturbed_run(module: ModuleOp, inputs: Sequence[Array], k: int) -> list[Array] | None:
    rng = np.random.default_rng(k)
    found = interpreted(module, [disturbed(rng, array) for array in inputs])
    return None if isinstance(found, str) else found


def rounded_run(module: ModuleOp, inputs: Sequence[Array], k: int) -> list[Array] | None:
    try:
        return run_rounded(module, inputs, k)
    except InterpreterError:
        return None


def argument_domains(rng: np.random.Generator, module: ModuleOp) -> tuple[str, ...]:
    """The domains of inputs: reordered sums have unspecified results for infinities and large numbers."""
    ops = [op for op in module.walk() if isinstance(op, RelayOp)]
    # An infinity times a weight of 0 is NaN, unless a known 0 is skipped.
    exact = all(op.fusion_pattern in ORDERED and not isinstance(op, ResizingOp) for op in ops)
    kinds = ("any", "nonzero") if exact else ("finite",)
    drawn = (("small", "whole 0 3", "positive"), kinds, (*kinds, "small"))[int(rng.integers(3))]
    # The result of a float outside the integer range is machine-dependent.
    converted = {kind for op in ops if (kind := _integers_from_floats(op))}
    held = ("whole 0 3", "positive") if "u" in converted else ("small", "finite")
    return held if converted else drawn


def _integers_from_floats(op: RelayOp) -> str:
    """The kind of the integers to which the op converts floats, "i" or "u"; empty without such a conversion."""
    converts = isinstance(op, (CastOp, CastLikeOp)) or {"dtype", "out_dtype"} & op.properties.keys()
    types = [*op.operand_types[:1], *op.result_types]
    if not converts or len(types) < 2 or not all(isinstance(type, TensorType) for type in types):
        return ""
    if not is_float(numpy_dtype(element_type_of(types[0]))):
        return ""
    kind = numpy_dtype(element_type_of(types[1])).kind
    return kind if kind in "iu" else ""


def module_files(module: ModuleOp) -> dict[str, bytes]:
    return {"program.mlir": str(module).encode()}
