"""Random uses of every Relay operator: native code against the interpreter, known and open extents."""

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
from xrelay.dialects.relay.ops.image_resize import ResizingOp
from xrelay.dialects.relay.ops.tensor_elementwise import CastOp
from xrelay.dialects.relay.ops.tensor_like import CastLikeOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.errors import ExecutionError, InterpreterError, LoweringError
from xrelay.interpreters.relay import run_relay

TRIES = 20
"""How many uses of the op are drawn at most, until one means something."""

LARGEST = 1 << 22
"""How many elements results may have: sizes that inputs say, as repetitions are, may be any."""

ORDERED = (OpPatternKind.ELEM_WISE, OpPatternKind.BROADCAST, OpPatternKind.INJECTIVE, OpPatternKind.TUPLE)
"""The patterns of ops of which an element takes single elements, in one order: with them values may be anything."""


def run_case(seed: int) -> None:
    """One use of one operator."""
    rng = np.random.default_rng(seed)
    names = sorted(relay_ops())
    name = names[int(rng.integers(len(names)))]
    run_op(rng, name)


def run_op(rng: np.random.Generator, name: str) -> bool:
    """One use of the operator of this name; whether it has native code, and results that agree."""
    for _ in range(TRIES):
        module = random_instance(rng, name)
        if module is not None and is_small(module):
            return check(rng, name, module)
    return False


def check(rng: np.random.Generator, name: str, module: ModuleOp) -> bool:
    """Native code for a random CPU and level against the interpreter; raises `Finding`.

    False where there is nothing to compare: the op has no native code, or both fail where they run.
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
    except ExecutionError as error:
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
    """The results, or why there are none."""
    try:
        return [np.asarray(out) for out in run_relay(module, list(inputs))]
    except InterpreterError as error:
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
    """From where inputs are drawn: sums in another order leave open what becomes of infinities and of great numbers."""
    ops = [op for op in module.walk() if isinstance(op, RelayOp)]
    # An infinity times a weight of 0 is NaN, unless nobody multiplies by what is known to be 0.
    exact = all(op.fusion_pattern in ORDERED and not isinstance(op, ResizingOp) for op in ops)
    kinds = ("any", "nonzero") if exact else ("finite",)
    drawn = (("small", "whole 0 3", "positive"), kinds, (*kinds, "small"))[int(rng.integers(3))]
    # What a float becomes that the integers lack is up to the machine.
    converted = {kind for op in ops if (kind := _integers_from_floats(op))}
    held = ("whole 0 3", "positive") if "u" in converted else ("small", "finite")
    return held if converted else drawn


def _integers_from_floats(op: RelayOp) -> str:
    """The kind of the integers that the op converts floats to, "i" or "u"; empty where it does no such thing."""
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
