"""Random uses of every Relay operator with neighbours: the interpreter's results before and after passes.

If the interpreter rejects the program before, because extents or numbers do not fit, it must reject it after, too.

The operator's first operand and its results get neighbours (a scale, a relu, a transposition), and some of its operands
are constants, so that the patterns of passes match.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import islice

import numpy as np
from support.pass_checks import apply
from support.pass_pipelines import EXACT_OPTIONS, EXACT_PIPELINES, ROUNDED_OPTIONS, ROUNDED_PIPELINES
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from fuzz.agreement import disagreement, excused
from fuzz.finding import Finding, check_message
from fuzz.relay_instances import is_small, random_arguments, random_instance
from fuzz.relay_ops import LARGEST, TRIES, argument_domains, disturbed_run, interpreted, module_files, rounded_run
from fuzz.special_values import Array, is_float, random_array
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import IncompleteType, element_type_of, shape_of
from xrelay.errors import XRelayError
from xrelay.passes.infra.verify import verification_errors
from xrelay.passes.types.infer_type import infer_types

ZERO_TIMES_ANYTHING = "relay-lazy-gradient-init"
"""The pass that treats zero times a non-finite value as zero, as Relay does."""
KEEP_SHAPE = ("nn.relu", "negative", "copy", "abs")
"""Unary operators that preserve the type."""


@cache
def pipelines() -> list[tuple[str, bool]]:
    """The pipelines, and whether they are exact."""
    exact = [(text, True) for text in (*EXACT_PIPELINES, *EXACT_OPTIONS)]
    return exact + [(text, False) for text in (*ROUNDED_PIPELINES, *ROUNDED_OPTIONS)]


def run_case(seed: int) -> None:
    """Runs one program through several pipelines separately."""
    rng = np.random.default_rng(seed)
    names = sorted(relay_ops())
    name = names[int(rng.integers(len(names)))]
    module = drawn(rng, name)
    if module is None:
        return
    inputs = random_arguments(rng, module, argument_domains(rng, module))
    expected = interpreted(module, inputs)
    if isinstance(expected, str):
        for number in rng.permutation(len(pipelines()))[:6]:
            check_failure(name, module, inputs, expected, pipelines()[number][0])
        return
    if sum(out.size for out in expected) > LARGEST:
        return
    finite = all(np.isfinite(out.astype(np.float64)).all() for out in expected if is_float(out.dtype))
    # Reordered sums and products, or f64, may not overflow or underflow as the original does.
    extreme = any(_holds_extreme_numbers(array) for array in inputs)
    for number in rng.permutation(len(pipelines()))[:6]:
        pipeline, exact = pipelines()[number]
        if (finite or pipeline != ZERO_TIMES_ANYTHING) and (exact or not extreme):
            check(name, module, inputs, expected, pipeline, exact)


def _holds_extreme_numbers(array: Array) -> bool:
    """Whether there is a finite number whose square is infinite, or a nonzero number whose square is 0."""
    if not is_float(array.dtype):
        return False
    with np.errstate(all="ignore"):
        square = array * array
        return bool((np.isfinite(array) & (np.isinf(square) | ((square == 0) & (array != 0)))).any())


def drawn(rng: np.random.Generator, name: str) -> ModuleOp | None:
    """A use of the operator with neighbours; `None` if no draw is valid."""
    for _ in range(TRIES):
        module = random_instance(rng, name)
        if module is not None and surround(rng, module) and is_small(module):
            return module
    return None


def check(
    name: str, module: ModuleOp, inputs: Sequence[Array], expected: Sequence[Array], pipeline: str, exact: bool
) -> None:
    """Compares the results after `pipeline` with `expected`; raises `Finding`."""
    files = {**module_files(module), "passes.txt": pipeline.encode()}
    try:
        changed = apply(module, pipeline)
    except XRelayError as error:
        return check_message(error, files)
    wrong = list(islice(verification_errors(changed), 1))
    if wrong:
        raise Finding(f"{name}: {pipeline} makes what does not verify", f"{wrong[0]}", files)
    found = interpreted(changed, inputs)
    if isinstance(found, str):
        raise Finding(f"{name}: fails behind {pipeline}", found, files)
    problem = disagreement([f"y{number}" for number, _ in enumerate(expected)], found, expected, pipeline)
    if problem and (
        exact
        or not excused(
            found, expected, lambda k: disturbed_run(module, inputs, k), lambda k: rounded_run(module, inputs, k)
        )
    ):
        raise Finding(f"{name}: {pipeline} changes the result", problem, files)


def check_failure(name: str, module: ModuleOp, inputs: Sequence[Array], expected: str, pipeline: str) -> None:
    """Checks that a program that fails on these inputs also fails after the pipeline; raises `Finding`."""
    if pipeline == ZERO_TIMES_ANYTHING:
        return
    files = {**module_files(module), "passes.txt": pipeline.encode()}
    try:
        changed = apply(module, pipeline)
    except XRelayError as error:
        return check_message(error, files)
    if not isinstance(interpreted(changed, inputs), str):
        raise Finding(f"{name}: {pipeline} makes what fails run", expected, files)


def surround(rng: np.random.Generator, module: ModuleOp) -> bool:
    """Inserts neighbours of the op in `@main`, and constants for some operands; returns whether the types are valid."""
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    block = function.body.block
    end = block.last_op
    assert isinstance(end, ReturnOp)
    try:
        _fix_operands(rng, function)
        for argument in block.args[:1]:
            _put_between(argument, _neighbour(rng, argument, keeps_shape=True), block.first_op)
        for value in dict.fromkeys(end.operands):
            _put_between(value, _neighbour(rng, value, keeps_shape=False), end)
        function.function_type = FunctionType.from_lists(block.arg_types, [IncompleteType() for _ in end.operands])
        infer_types(module)
    except XRelayError:
        return False
    return True


def _put_between(value: SSAValue, made: Sequence[Operation], place: Operation | None) -> None:
    """Inserts `made`, which transforms `value`, before `place`; later uses of `value` use the result."""
    if place is None or place.parent is None or not made:
        return
    behind = [use for use in value.uses if use.operation not in made and not use.operation.is_before_in_block(place)]
    place.parent.insert_ops_before(made, place)
    for use in behind:
        use.operation.operands[use.index] = made[-1].results[0]


def _fix_operands(rng: np.random.Generator, function: FuncOp) -> None:
    """Replaces some parameters after the first, with static extents, by constants."""
    block = function.body.block
    for argument in reversed(block.args[1:]):
        type = argument.type
        assert isinstance(type, TensorType)
        extents = [extent for extent in shape_of(type) if isinstance(extent, int)]
        if rng.random() < 0.5 or len(extents) < len(shape_of(type)):
            continue
        domain = ("small", "whole 0 3", "positive")[int(rng.integers(3))]
        held = ConstantOp.of(random_array(rng, tuple(extents), numpy_dtype(type.element_type), domain))
        first = block.first_op
        assert first is not None
        block.insert_op_before(held, first)
        argument.replace_all_uses_with(held.result)
        block.erase_arg(argument)


def _neighbour(rng: np.random.Generator, value: SSAValue, *, keeps_shape: bool) -> list[Operation]:
    """The ops of a random neighbour of `value`."""
    type = value.type
    if not isinstance(type, TensorType) or rng.random() < 0.3:
        return []
    dtype = numpy_dtype(element_type_of(type))
    chosen = int(rng.integers(3 if keeps_shape else 6))
    if dtype == np.bool_ or chosen > 3:
        return (
            [_call(("reverse", "transpose", "squeeze")[chosen % 3], value)]
            if shape_of(type) and not keeps_shape
            else []
        )
    if chosen == 0:
        return [_call(KEEP_SHAPE[int(rng.integers(len(KEEP_SHAPE)))], value)]
    number = ConstantOp.of(np.asarray(rng.integers(0, 4), dtype))
    scaled = _call(("multiply", "add", "maximum")[int(rng.integers(3))], value, number.result)
    return (
        [number, scaled, _call("nn.relu", scaled.results[0])] if is_float(dtype) and chosen == 2 else [number, scaled]
    )


def _call(name: str, *operands: SSAValue) -> RelayOp:
    return relay_ops()[name].call(*operands)
