"""Programs of relay's text tests, damaged or not, through passes in a random order.

A pass ends in a module that verifies or in one `XRelayError`. Afterwards the interpreter computes the same for each
function: exactly after exact passes, approximately after others.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import islice
from time import monotonic

import numpy as np
from support.pass_checks import is_exact, pipeline_of, relay_passes
from support.pass_pipelines import OPTIONS
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from fuzz.finding import Finding, check_message
from fuzz.mlir_texts import corpus, mutate
from fuzz.special_values import Array, is_float
from fuzz.time_limit import time_limit
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.errors import DimensionError, ParseError, TypeInferenceError, XRelayError
from xrelay.index_algebra.dims import ANY, Dim, evaluate
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verification_errors

FOLDERS = ("dialects/relay/structure", "passes/relay", "passes/types", "passes/fusion")
SECONDS = 3
"""The time limit of a function in seconds; a damaged condition may make a loop endless."""
TOGETHER = 10
"""The time in seconds after which no further functions of a program run, as several may have endless loops."""
ATTEMPTS = 6
"""The number of attempts to damage a text; four of five results are invalid and are dropped."""
GIVES_MORE = "relay-first-order-gradient"
"""The pass that adds results to functions."""
LARGEST = 4096
"""The maximum size of an input in elements."""


class TooLong(Exception):
    """A function ran for more than `SECONDS`."""


@cache
def texts() -> list[str]:
    """The undamaged programs."""
    return [text for text in corpus(*FOLDERS) if "func.func" in text]


@cache
def passes() -> list[str]:
    """The passes from relay to relay."""
    return [name for exact in (True, False) for name in relay_passes(exact=exact)]


def run_case(seed: int) -> None:
    """Runs one program through up to five passes."""
    rng = random.Random(seed)
    text = rng.choice(texts())
    for _ in range(ATTEMPTS):
        changed = mutate(rng, text)
        text = text if _valid(changed) is None else changed
    module = _valid(text)
    if module is None:
        return
    names = [rng.choice(passes()) for _ in range(rng.randint(1, 5))]
    files = {"program.mlir": text.encode(), "passes.txt": ",".join(names).encode()}
    before = _computed(module, seed, files)
    try:
        for name in names:
            run_pipeline(module, pipeline_of(name + OPTIONS.get(name, "")), context=full_context())
    except XRelayError as error:
        check_message(error, files)
        return
    wrong = list(islice(verification_errors(module), 1))
    if wrong:
        raise Finding("a pass makes what does not verify", f"{wrong[0]}", files)
    after = _computed(module, seed, files)
    exact = all(map(is_exact, names))
    for function, expected in before.items():
        count = len(expected) if GIVES_MORE in names else None
        if function in after and not _same(expected, after[function][:count], exact=exact):
            found = f"@{function} {','.join(names)}: {after[function]}, before {expected}"
            raise Finding("a pass changes what a function computes", found, files)


def _valid(text: str) -> ModuleOp | None:
    try:
        module = parse_module(full_context(), text, "fuzz.mlir")
    except ParseError:
        return None
    return None if next(iter(verification_errors(module)), None) is not None else module


def _computed(module: ModuleOp, seed: int, files: dict[str, bytes]) -> dict[str, list[Array]]:
    """Maps each function and its argument types to its results for random inputs.

    Functions that fail, or whose results are not all tensors, are left out.
    """
    found: dict[str, list[Array]] = {}
    end = monotonic() + TOGETHER
    for func in [op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks]:
        inputs = _inputs(func, seed)
        if inputs is None or monotonic() > end:
            continue
        name = func.sym_name.data
        try:
            with time_limit(SECONDS, TooLong()):
                results = run_relay(module, inputs, name)
        except (XRelayError, TooLong):
            continue
        except Exception as error:
            raise Finding(f"{type(error).__name__} from the interpreter", str(error), files) from error
        if all(isinstance(result, np.ndarray) for result in results):
            found[f"{name}{[array.shape for array in inputs]}"] = results
    return found


def _inputs(func: FuncOp, seed: int) -> list[Array] | None:
    """Random tensors of the argument types, with one size per name; `None` if an argument is no tensor or too large."""
    rng = np.random.default_rng(seed)
    sizes: dict[str, int] = {}
    inputs: list[Array] = []
    for type in func.function_type.inputs.data:
        extents = _extents(type, sizes, rng)
        if extents is None or np.prod(extents, dtype=object) > LARGEST:
            return None
        try:
            dtype = numpy_dtype(element_type_of(type))
        except TypeInferenceError:
            return None
        numbers = rng.standard_normal(extents) if is_float(dtype) else rng.integers(0, 5, extents)
        inputs.append(np.asarray(numbers).astype(dtype))
    return inputs


def _extents(type: Attribute, sizes: dict[str, int], rng: np.random.Generator) -> list[int] | None:
    """The extents of a tensor; `None` for another type, or if an extent is undefined at these sizes."""
    if not isinstance(type, TensorType):
        return None
    try:
        return [_extent(dim, sizes, rng) for dim in shape_of(type)]
    except DimensionError:
        return None


def _extent(dim: Dim, sizes: dict[str, int], rng: np.random.Generator) -> int:
    if dim == ANY:
        return int(rng.integers(5))
    for name in () if isinstance(dim, int) else sorted(dim.names):
        sizes.setdefault(name, int(rng.integers(5)))
    return max(evaluate(dim, sizes), 0)


def _same(expected: list[Array], found: list[Array], *, exact: bool) -> bool:
    if [(a.dtype, a.shape) for a in expected] != [(a.dtype, a.shape) for a in found]:
        return False
    rtol = 0.0 if exact else 2e-2
    pairs = [(a.astype(np.float64), b.astype(np.float64)) for a, b in zip(expected, found, strict=True)]
    return all(np.allclose(a, b, rtol=rtol, atol=rtol, equal_nan=True) for a, b in pairs)
